"""The free variables and the parts of terms, for all constructors: `Term.BINDS` defines the scopes of binders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from tapeengine.chad.terms import Term, Var

__all__ = ["free", "free_variables", "size", "subterms"]


def parts(term: Term) -> Iterator[tuple[str, tuple[Term, ...]]]:
    """The fields of a term that hold subterms, paired with these; binders are not included."""
    binders = {name for names in term.BINDS.values() for name in names}
    for item in fields(term):
        value = getattr(term, item.name)
        found = value if isinstance(value, tuple) else (value,)
        if item.name not in binders and found and isinstance(found[0], Term):
            yield item.name, found


def binders_of(term: Term, field: str) -> set[str]:
    """The names that a term binds in one of its fields."""
    bound = [getattr(term, name) for name in term.BINDS.get(field, ())]
    return {var.name for item in bound for var in (item if isinstance(item, tuple) else (item,))}


def free_variables(term: Term) -> dict[str, Var]:
    """The free variables of a term, by name.

    Examples
    --------
    >>> from tapeengine.chad.terms import Let, Op
    >>> from tapeengine.chad.types import FLOAT
    >>> x, y = Var("x", FLOAT), Var("y", FLOAT)
    >>> sorted(free_variables(Let(y, x, Op("mul", (y, y)))))
    ['x']
    """
    if isinstance(term, Var):
        return {term.name: term}
    found: dict[str, Var] = {}
    for name, terms in parts(term):
        hidden = binders_of(term, name)
        for inner in terms:
            found |= {x: var for x, var in free_variables(inner).items() if x not in hidden}
    return found


def free(term: Term) -> frozenset[str]:
    """The names of the free variables of a term."""
    return frozenset(free_variables(term))


def subterms(term: Term) -> tuple[Term, ...]:
    """The direct parts of a term."""
    return tuple(inner for _, terms in parts(term) for inner in terms)


def size(term: Term) -> int:
    """The number of constructors of a term, without binders."""
    return 1 + sum(map(size, subterms(term)))
