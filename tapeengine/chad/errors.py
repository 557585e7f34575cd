"""The error for constructs outside the language of programs."""

from __future__ import annotations

from tapeengine.errors import UnsupportedError


class ProgramError(UnsupportedError):
    """A program uses a construct that the language of programs does not have.

    Attributes
    ----------
    message : str
        What is refused.
    filename : str
    lineno, column : int
        The place of the construct; lines count from 1, columns from 0.
    advice : str
        A suggestion for a replacement.

    Examples
    --------
    >>> print(ProgramError("no break here", "use while", "f.py", 3, "    break", 4))
    no break here
      File "f.py", line 3
        break
        ^
    use while
    """

    def __init__(self, message: str, advice: str, filename: str, lineno: int, line: str, column: int) -> None:
        shown = line.strip()
        caret = " " * max(0, column - (len(line) - len(line.lstrip()))) + "^"
        super().__init__(f'{message}\n  File "{filename}", line {lineno}\n    {shown}\n    {caret}\n{advice}')
        self.message = message
        self.filename = filename
        self.lineno = lineno
        self.column = column
        self.advice = advice
