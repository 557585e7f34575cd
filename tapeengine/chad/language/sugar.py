"""Constructors that are defined by others, and folds with special rules."""

from __future__ import annotations

from collections.abc import Callable

from . import terms as S
from .types import BOOL, INT


def lower_map(t: S.Map, fresh: Callable[..., S.Var]) -> S.Term:
    """Write a map as a build."""
    arrays = [a if isinstance(a, S.Var) else fresh("xs", a.type) for a in t.arrays]
    i = fresh("i", INT)
    n: S.Term = S.Size(arrays[0])
    for other in arrays[1:]:
        n = S.Op("iequal" if t.broadcasts else "isame", (n, S.Size(other)), INT)
    body = S.lets(((var, S.Index(array, i)) for var, array in zip(t.vars, arrays, strict=True)), t.body)
    named = [(name, bound) for name, bound in zip(arrays, t.arrays, strict=True) if name is not bound]
    return S.lets(named, S.Build(n, i, body, t.is_parallel))


def lower_filter(t: S.Filter, fresh: Callable[..., S.Var]) -> S.Term:
    """Write a filter as a gather at the selected indices."""
    a, i, j = fresh("a", t.array.type), fresh("i", INT), fresh("j", INT)
    chosen = S.Filter(i, S.Let(t.var, S.Index(a, i), t.condition), S.Build(S.Size(a), j, j))
    return S.Let(a, t.array, S.Gather(a, chosen))


def lower_fold(t: S.Fold, fresh: Callable[..., S.Var]) -> S.Term:
    """Write a fold as a loop from the left."""
    if not isinstance(t.array, S.Var):
        a = fresh("a", t.array.type)
        return S.Let(a, t.array, lower_fold(S.Fold(t.left, t.right, t.body, a), fresh))
    i = fresh("i", INT)
    step = S.Let(t.right, S.Index(t.array, S.Op("iadd", (i, S.lit(1)), INT)), t.body)
    return S.For(S.Op("isub", (S.Size(t.array), S.lit(1)), INT), i, t.left, S.Index(t.array, S.lit(0)), step)


def component(pairs: S.Term, n: S.Term, j: S.Var, which: int) -> S.Build:
    """Give the array of one component of each of `n` tuples; `j` is bound."""
    return S.Build(n, j, S.Proj(S.Index(pairs, j), which))


def wrapped(index: S.Term, array: S.Term) -> S.Op:
    """Count a negative index from the end."""
    return S.Op("imod", (index, S.Size(array)), INT)


def is_extreme(t: S.Fold) -> bool:
    """Tell whether a fold computes a maximum or minimum as numpy does."""
    match t.body:
        case S.Op("maximum" | "minimum", (S.Var(a), S.Var(b))):
            return {a, b} == {t.left.name, t.right.name}
    return False


def equals(xs: S.Term, m: S.Term, i: S.Var) -> S.Term:
    """Count the elements equal to a number; `i` is bound."""
    ones = S.Build(S.Size(xs), i, S.If(S.Op("eq", (S.Index(xs, i), m), BOOL), S.lit(1.0), S.lit(0.0)))
    return S.Total(ones, in_pairs=True)
