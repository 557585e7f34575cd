"""Find loops whose steps may run in any order: the steps write to different places and carry nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tapeengine.chad.intermediate.analysis import outs, walk
from tapeengine.chad.intermediate.statements import (
    Add,
    AddAll,
    AddAt,
    Append,
    ArrayOf,
    Assign,
    Call,
    For,
    Load,
    Operand,
    Registered,
    Row,
    Statement,
    Store,
    Var,
    While,
)


def is_orderless(loop: For, given: Collection[str] = ()) -> bool:
    """Tell whether the steps of a loop may run in any order with the same bits.

    Parameters
    ----------
    loop : For
    given : collection of str
        Names that have values before the loop. A value that a step assigns to one of them is carried to the next step.

    Examples
    --------
    >>> from tapeengine.chad.intermediate.operations import REAL
    >>> from tapeengine.chad.intermediate.statements import Const
    >>> i, a, b, x = Var("i", REAL), Var("a", ArrayOf(REAL)), Var("b", ArrayOf(REAL)), Var("x", REAL)
    >>> is_orderless(For(i, Const(3, REAL), [Load(x, b, (i,)), AddAt(a, (i,), x)]))
    True
    >>> is_orderless(For(i, Const(3, REAL), [Load(x, b, (i,)), Add(x, x), AddAt(a, (Const(0, REAL),), x)]))
    False
    >>> is_orderless(For(i, Const(3, REAL), [AddAt(a, (i,), x), Assign((x,), (Const(1.0, REAL),))]), given={"x"})
    False
    """
    if loop.carried:
        return False
    inside = list(walk(loop.body))
    made = {v.name for s, _ in inside for v in outs(s) if not isinstance(s, Add)}
    if not made.isdisjoint(given):
        return False
    made |= {f.name for k in loop.recalled for f in k.fields}
    index = names_of(loop.index, [s for s, _ in inside])
    rows: dict[str, tuple[str, tuple[Operand, ...]]] = {}
    places: dict[str, set[int]] = {}
    touched: list[tuple[str, tuple[Operand, ...]]] = []
    for s, _ in inside:
        match s:
            case Add():
                if s.out.name not in made:
                    return False
            case Append() | Call() | Registered() | While():
                return False
            case Row() if isinstance(s.array, Var):
                base, path = rows.get(s.array.name, (s.array.name, ()))
                rows[s.out.name] = (base, (*path, *s.indices))
            case Assign():
                if any(isinstance(x.type, ArrayOf) for x in s.values):
                    return False
            case Load() if isinstance(s.array, Var):
                if isinstance(s.out.type, ArrayOf):
                    return False
                base, path = rows.get(s.array.name, (s.array.name, ()))
                touched.append((base, (*path, *s.indices)))
            case Store() | AddAt() | AddAll():
                base, path = rows.get(s.array.name, (s.array.name, ()))
                path = (*path, *(() if isinstance(s, AddAll) else s.indices))
                if base in made:
                    continue
                found = {k for k, x in enumerate(path) if isinstance(x, Var) and x.name in index}
                places[base] = places.get(base, found) & found
                if isinstance(s, AddAll) and isinstance(s.value, Var):
                    touched.append(rows.get(s.value.name, (s.value.name, ())))
    if not all(places.values()):
        return False
    return all(any(at(path, k, index) for k in places[base]) for base, path in touched if base in places)


def at(path: Sequence[Operand], k: int, index: set[str]) -> bool:
    """Tell whether a path has the loop's index at one position."""
    if k >= len(path):
        return False
    x = path[k]
    return isinstance(x, Var) and x.name in index


def names_of(index: Var, statements: Sequence[Statement]) -> set[str]:
    """Give all names of a loop's index."""
    found = {index.name}
    for s in statements:
        if isinstance(s, Assign):
            found |= {v.name for v, x in zip(s.outs, s.values, strict=True) if isinstance(x, Var) and x.name in found}
    return found
