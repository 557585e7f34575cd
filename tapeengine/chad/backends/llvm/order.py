"""Find loops whose steps may run in any order: the steps write to different places and carry nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...intermediate import statements as F
from ...intermediate.analysis import outs, walk


def is_orderless(loop: F.For, given: Collection[str] = ()) -> bool:
    """Tell whether the steps of a loop may run in any order with the same bits."""
    if loop.carried:
        return False
    inside = list(walk(loop.body))
    made = {v.name for s, _ in inside for v in outs(s) if not isinstance(s, F.Add)}
    if not made.isdisjoint(given):
        return False
    made |= {f.name for k in loop.recalled for f in k.fields}
    index = names_of(loop.index, [s for s, _ in inside])
    rows: dict[str, tuple[str, tuple[F.Operand, ...]]] = {}
    places: dict[str, set[int]] = {}
    touched: list[tuple[str, tuple[F.Operand, ...]]] = []
    for s, _ in inside:
        match s:
            case F.Add():
                if s.out.name not in made:
                    return False
            case F.Append() | F.Pop() | F.Call() | F.Registered() | F.While():
                return False
            case F.Row() if isinstance(s.array, F.Var):
                base, path = rows.get(s.array.name, (s.array.name, ()))
                rows[s.out.name] = (base, (*path, *s.indices))
            case F.Assign():
                if any(isinstance(x.type, F.ArrayOf) for x in s.values):
                    return False
            case F.Load() if isinstance(s.array, F.Var):
                if isinstance(s.out.type, F.ArrayOf):
                    return False
                base, path = rows.get(s.array.name, (s.array.name, ()))
                touched.append((base, (*path, *s.indices)))
            case F.Store() | F.AddAt() | F.AddAll():
                base, path = rows.get(s.array.name, (s.array.name, ()))
                path = (*path, *(() if isinstance(s, F.AddAll) else s.indices))
                if base in made:
                    continue
                found = {k for k, x in enumerate(path) if isinstance(x, F.Var) and x.name in index}
                places[base] = places.get(base, found) & found
                if isinstance(s, F.AddAll) and isinstance(s.value, F.Var):
                    touched.append(rows.get(s.value.name, (s.value.name, ())))
    if not all(places.values()):
        return False
    return all(any(at(path, k, index) for k in places[base]) for base, path in touched if base in places)


def at(path: Sequence[F.Operand], k: int, index: set[str]) -> bool:
    """Tell whether a path has the loop's index at one position."""
    if k >= len(path):
        return False
    x = path[k]
    return isinstance(x, F.Var) and x.name in index


def names_of(index: F.Var, statements: Sequence[F.Statement]) -> set[str]:
    """Give all names of a loop's index."""
    found = {index.name}
    for s in statements:
        if isinstance(s, F.Assign):
            found |= {v.name for v, x in zip(s.outs, s.values, strict=True) if isinstance(x, F.Var) and x.name in found}
    return found
