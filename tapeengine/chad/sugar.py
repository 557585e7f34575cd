"""Constructors that are defined by others, and folds with special rules."""

from __future__ import annotations

from collections.abc import Callable

from tapeengine.chad.terms import Build, Fold, If, Index, Let, Map, Op, Size, Term, Total, Var, lit
from tapeengine.chad.types import BOOL, INT

__all__ = ["equals", "is_extreme", "lower_map"]


def lower_map(t: Map, fresh: Callable[..., Var]) -> Term:
    """Write a map as a build."""
    arrays = [a if isinstance(a, Var) else fresh("xs", a.type) for a in t.arrays]
    i = fresh("i", INT)
    body = t.body
    for var, array in reversed(list(zip(t.vars, arrays, strict=True))):
        body = Let(var, Index(array, i), body)
    n: Term = Size(arrays[0])
    for other in arrays[1:]:
        n = Op("iequal" if t.broadcasts else "isame", (n, Size(other)), INT)
    term: Term = Build(n, i, body)
    for name, bound in reversed(list(zip(arrays, t.arrays, strict=True))):
        if name is not bound:
            term = Let(name, bound, term)
    return term


def is_extreme(t: Fold) -> bool:
    """Tell whether a fold computes a maximum or minimum as numpy does."""
    match t.body:
        case Op("maximum" | "minimum", (Var(a), Var(b))):
            return {a, b} == {t.left.name, t.right.name}
    return False


def equals(xs: Term, m: Term, i: Var) -> Term:
    """Count the elements equal to a number; `i` is bound."""
    return Total(Build(Size(xs), i, If(Op("eq", (Index(xs, i), m), BOOL), lit(1.0), lit(0.0))))
