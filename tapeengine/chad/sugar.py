"""Constructors that are defined by others, and folds with special rules."""

from __future__ import annotations

from collections.abc import Callable

from tapeengine.chad.terms import (
    Build,
    Filter,
    Fold,
    Gather,
    If,
    Index,
    Let,
    Map,
    Op,
    Proj,
    Size,
    Term,
    Total,
    Var,
    lets,
    lit,
)
from tapeengine.chad.types import BOOL, INT


def lower_map(t: Map, fresh: Callable[..., Var]) -> Term:
    """Write a map as a build."""
    arrays = [a if isinstance(a, Var) else fresh("xs", a.type) for a in t.arrays]
    i = fresh("i", INT)
    n: Term = Size(arrays[0])
    for other in arrays[1:]:
        n = Op("iequal" if t.broadcasts else "isame", (n, Size(other)), INT)
    body = lets(((var, Index(array, i)) for var, array in zip(t.vars, arrays, strict=True)), t.body)
    named = [(name, bound) for name, bound in zip(arrays, t.arrays, strict=True) if name is not bound]
    return lets(named, Build(n, i, body, t.is_parallel))


def lower_filter(t: Filter, fresh: Callable[..., Var]) -> Term:
    """Write a filter as a gather at the selected indices."""
    a, i, j = fresh("a", t.array.type), fresh("i", INT), fresh("j", INT)
    chosen = Filter(i, Let(t.var, Index(a, i), t.condition), Build(Size(a), j, j))
    return Let(a, t.array, Gather(a, chosen))


def component(pairs: Term, n: Term, j: Var, which: int) -> Build:
    """Give the array of one component of each of `n` tuples; `j` is bound."""
    return Build(n, j, Proj(Index(pairs, j), which))


def wrapped(index: Term, array: Term) -> Op:
    """Count a negative index from the end."""
    return Op("imod", (index, Size(array)), INT)


def is_extreme(t: Fold) -> bool:
    """Tell whether a fold computes a maximum or minimum as numpy does."""
    match t.body:
        case Op("maximum" | "minimum", (Var(a), Var(b))):
            return {a, b} == {t.left.name, t.right.name}
    return False


def equals(xs: Term, m: Term, i: Var) -> Term:
    """Count the elements equal to a number; `i` is bound."""
    return Total(Build(Size(xs), i, If(Op("eq", (Index(xs, i), m), BOOL), lit(1.0), lit(0.0))))
