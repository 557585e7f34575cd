"""Integers that are never negative, whatever the arguments are: of literals, sizes, and indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from ...intermediate import statements as F
from ...intermediate.analysis import outs, walk
from ...intermediate.operations import WHOLE

#: Operations whose results are not negative if their operands are not.
KEEPING = ("iadd", "imul", "ifloordiv", "imod", "imin")


def naturals(functions: Iterable[F.Function]) -> frozenset[str]:
    """Give the variables of functions that are never negative; later functions may use those of earlier ones."""
    found: set[str] = set()
    for f in functions:
        times = assigned(f)
        for s, _ in walk(f.body):
            found |= {v.name for v in natural(s, found) if times[v.name] == 1}
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


def assigned(function: F.Function) -> Counter[str]:
    """Count the values of each variable: one where each step that assigns it gives it one value."""
    times = Counter(p.name for p in function.params)
    for s, _ in walk(function.body):
        times.update(v.name for v in outs(s))
        if isinstance(s, F.For | F.While):
            times.update(v.name for v, _ in s.carried for _ in range(2))
    return times
