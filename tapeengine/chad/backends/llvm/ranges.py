"""Integers that are never negative, or fit in 64 bits, whatever the arguments are: of literals, sizes, and indices.

The largest value of each is found from the largest size of an array argument. Code that relies on it stops if an
argument is larger; code that checks each operation then replaces it. Checks would be half of the work of an index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ...intermediate import statements as F
from ...intermediate.analysis import outs, walk
from ...intermediate.operations import WHOLE, Scalar

#: The largest size of an array argument.
LARGEST = 1 << 30
#: What fits in a word.
MOST = (1 << 63) - 1
#: The largest absolute value of an operation, from those of its operands.
RULES: Mapping[str, Callable[[int, int], int]] = {
    "iadd": lambda a, b: a + b,
    "isub": lambda a, b: a + b,
    "imul": lambda a, b: a * b,
    "ifloordiv": lambda a, b: a,
    "imod": lambda a, b: b,
    "imin": max,
    "imax": max,
}
#: Operations whose results are not negative if their operands are not.
KEEPING = ("iadd", "imul", "ifloordiv", "imod", "imin")


def naturals(functions: Iterable[F.Function]) -> frozenset[str]:
    """Give the variables of functions, the later of which may use those of earlier ones, that are never negative."""
    found: set[str] = set()
    for f in functions:
        once = names_given_once(f)
        for s, _ in walk(f.body):
            found |= {v.name for v in natural(s, found)} & once
    return frozenset(found)


def natural(s: F.Statement, known: Collection[str]) -> Iterator[F.Var]:
    """Iterate over the variables to which a statement gives integers that are not negative."""

    def is_known(x: F.Operand) -> bool:
        if isinstance(x, F.Var):
            return x.type == WHOLE and x.name in known
        return isinstance(x.value, int) and x.value >= 0

    match s:
        case F.Size():
            yield s.out
        case F.For():
            yield s.index
        case F.Assign():
            yield from (v for v, x in zip(s.outs, s.values, strict=True) if is_known(x))
        case F.Compute(out, operation, args) if operation.name in KEEPING and all(map(is_known, args)):
            yield out
        case F.Compute(out, operation, args) if operation.name == "imax" and any(map(is_known, args)):
            yield out


def fitting(function: F.Function) -> frozenset[str]:
    """Give the variables whose operations cannot overflow."""
    once = names_given_once(function)
    arrays = {p.name for p in function.params if isinstance(p.type, F.ArrayOf) and isinstance(p.type.element, Scalar)}
    bounds: dict[str, int] = {}
    found = set()
    for s, _ in walk(function.body):
        if isinstance(s, F.Row) and not isinstance(s.array, F.Const) and s.array.name in arrays & once:
            arrays |= {s.out.name}
        for name, bound in bounded(s, bounds, arrays & once):
            if name in once and bound <= MOST:
                bounds[name] = bound
                found |= {name} if isinstance(s, F.Compute) else set()
    return frozenset(found)


def names_given_once(function: F.Function) -> set[str]:
    """Give the variables that have one value for each step that assigns them."""
    times = Counter(p.name for p in function.params)
    for s, _ in walk(function.body):
        times.update(v.name for v in outs(s))
        if isinstance(s, F.For | F.While):
            times.update(v.name for v, _ in s.carried for _ in range(2))
    return {name for name, n in times.items() if n == 1}


def bounded(s: F.Statement, bounds: Mapping[str, int], arrays: Collection[str]) -> Iterator[tuple[str, int]]:
    """Iterate over the integers that a statement gives, and their largest absolute values."""
    match s:
        case F.Size() if not isinstance(s.array, F.Const) and s.array.name in arrays:
            yield s.out.name, LARGEST
        case F.For() if s.count is not None:
            count = largest(s.count, bounds)
            if count is not None:
                yield s.index.name, count
        case F.Compute() if s.operation.name in RULES and s.out.type == WHOLE and len(s.args) == 2:
            a, b = (largest(x, bounds) for x in s.args)
            if a is not None and b is not None:
                yield s.out.name, RULES[s.operation.name](a, b)


def largest(x: F.Operand, bounds: Mapping[str, int]) -> int | None:
    """Give the largest absolute value of an integer; None if it is not known."""
    if isinstance(x, F.Const):
        return abs(x.value) if isinstance(x.value, int) else None
    return bounds.get(x.name)
