"""``raise``, ``assert`` and variables that may have no value: a run that reaches one fails.

Where a derivative fails, the plain function runs, and what it raises is what the derivative raises. So a path that
raises needs no value of its own: it reads an element that is not there.
"""

from __future__ import annotations

from ..terms import Elements, If, Index, Term, lit
from ..types import NEVER, Type


def failing(of: Type = NEVER) -> Term:
    """Give a term of any type that fails where it is evaluated."""
    return Index(Elements((), of), lit(0))


def guarded(has: Term, value: Term) -> If:
    """Give the value of a variable, where it has one."""
    return If(has, value, failing(value.type))


def unguarded(term: object) -> tuple[Term, Term] | None:
    """Recognise a result of `guarded`: whether there is a value, and which; None for any other term.

    Examples
    --------
    >>> unguarded(guarded(lit(True), lit(2.0)))[1].value
    2.0
    """
    if isinstance(term, If) and term.orelse == failing(term.type):
        return term.condition, term.then
    return None
