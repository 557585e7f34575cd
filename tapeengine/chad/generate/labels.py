"""The names that readers see: those of the program, where it names a thing."""

from __future__ import annotations

__all__ = ["is_temporary", "plain"]


def plain(label: str) -> str:
    """Give what a variable is called in the text: its label, or x where that is no name.

    Examples
    --------
    >>> plain("speed"), plain("<lambda>")
    ('speed', 'x')
    """
    return label if label.isidentifier() and label.isascii() else "x"


def is_temporary(name: str) -> bool:
    """Tell whether a variable has the name of an intermediate value: a program may give it a better one.

    Examples
    --------
    >>> is_temporary("t_12"), is_temporary("total")
    (True, False)
    """
    return name.rstrip("0123456789_") == "t"
