"""Cotangents of tuples, as another tuple and the components in which they differ from it.

So a sum of cotangents that are zero but for a few components is written in proportion to these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..language.target import LProj, LTuple, LUpdate, Plus, Zero, linear_type
from ..language.terms import Term, Var


def components(term: Term) -> tuple[Term, dict[int, Term]]:
    """Give the tuple from which a linear tuple differs, and the components in which it does."""
    found: dict[int, Term] = {}
    while isinstance(term, LUpdate):
        found.setdefault(term.index, term.item)
        term = term.term
    if isinstance(term, LTuple) and term.items:
        return Zero(linear_type(term)), {**dict(enumerate(term.items)), **found}
    return term, found


def of_components(rest: Term, each: Mapping[int, Term]) -> Term:
    """Give a linear tuple that differs from another one in some components."""
    if isinstance(rest, Zero) and len(each) == len(rest.of.items):  # type: ignore[attr-defined]
        return LTuple(tuple(each[k] for k in range(len(each))))
    for k, item in each.items():
        rest = LUpdate(rest, k, item)
    return rest


def sum_of_components(a: Term, b: Term, plus: Callable[[Term, Term], Term] = Plus) -> Term | None:
    """Add two linear tuples by components; None if that would not be shorter than their sum."""
    (rest, xs), (other, ys) = components(a), components(b)
    if not (xs and ys) or not (isinstance(rest, Zero) or isinstance(other, Zero)):
        return None
    if not isinstance(other, Zero):
        return sum_of_components(b, a, lambda y, x: plus(x, y))
    if not isinstance(rest, Zero | Var):
        return None
    return of_components(rest, {**xs, **{k: added(rest, xs.get(k), k, y, plus) for k, y in ys.items()}})


def added(rest: Term, x: Term | None, k: int, y: Term, plus: Callable[[Term, Term], Term]) -> Term:
    """Add to a component, which is that of the rest if it is not known."""
    if x is None:
        return y if isinstance(rest, Zero) else plus(LProj(rest, k), y)
    return plus(x, y)
