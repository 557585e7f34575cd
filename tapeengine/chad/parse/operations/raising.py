"""``raise``, ``assert`` and variables that may have no value: a run that reaches one fails.

Where a derivative fails, the plain function runs, and what it raises is what the derivative raises. So a path that
raises needs no value of its own: it reads an element that is not there.
"""

from __future__ import annotations

from ...language.terms import Elements, If, Index, Literal, Proj, Term, Tuple, Update, Var, lit
from ...language.traverse import children
from ...language.types import NEVER, Type


def failing(of: Type = NEVER) -> Term:
    """Give a term of any type that fails where it is evaluated."""
    return Index(Elements((), of), lit(0))


def is_read(term: Term) -> bool:
    """Tell whether a term only reads variables and literals, or joins their values, and so cannot fail."""
    return isinstance(term, Var | Literal | Tuple | Proj | Update) and all(is_read(x) for x, _ in children(term))


def absent(of: Type = NEVER) -> Term:
    """Give a term that fails where a number is wanted and the variable is None."""
    return Index(Elements((), of), lit(-1))


def guarded(has: Term, value: Term, is_none: bool) -> If:
    """Give the value of a variable; on paths where it has none, it `is_none`, or a use fails."""
    return If(has, value, (absent if is_none else failing)(value.type))


def unguarded(term: object) -> tuple[Term, Term] | None:
    """Recognise a result of `guarded`: whether there is a value, and which; None for any other term."""
    if isinstance(term, If) and term.orelse in (failing(term.type), absent(term.type)):
        return term.condition, term.then
    return None


def may_be_none(term: object) -> bool:
    """Tell whether a term is that of a variable that was None before a loop which gives it values."""
    return isinstance(term, Term) and absent(term.type) in (term, getattr(term, "orelse", term))
