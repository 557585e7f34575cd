"""The error for constructs outside the language of programs."""

from __future__ import annotations

from typing import Any

from ..._core.programs.replay import Checks
from ...errors import UnsupportedError


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
    checks : tuple of Checks
        Compares everything that the refusal may depend on with its earlier state.
    is_known : bool
        Whether the parser has looked for a part that fails before the construct is reached.

    Examples
    --------
    >>> import tapeengine as te
    >>> print(te.ProgramError("no break here", "use while", "f.py", 3, "    break", 4))
    no break here
      File "f.py", line 3
        break
        ^
    use while
    """

    def __init__(self, message: str, advice: str, filename: str, lineno: int, line: str, column: int, *checks: Checks):
        super().__init__(message, advice, filename, lineno, line, column)
        self.message, self.advice, self.filename, self.lineno, self.line, self.column = self.args
        self.checks = checks
        self.is_known = False

    def __str__(self) -> str:
        if not self.lineno:  # the text is not known
            return f"{self.message}; {self.advice}"
        shown = self.line.strip()
        caret = " " * max(0, self.column - (len(self.line) - len(self.line.lstrip()))) + "^"
        return f'{self.message}\n  File "{self.filename}", line {self.lineno}\n    {shown}\n    {caret}\n{self.advice}'

    def __reduce__(self) -> Any:
        return type(self), self.args  # checks stay in this process


class OnDuals(ProgramError):
    """A program uses an object that the language does not follow: its derivatives run on dual numbers."""
