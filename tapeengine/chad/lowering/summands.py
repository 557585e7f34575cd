"""Add to an array in place of adding up another array first, which is then added to it (EC section 5, 7).

The reverse derivative of a call gives the cotangent of an array argument as an array of its own, to which its loops
add: it costs the size of the array, although the loops may read few elements of it. If this array is only added to
another one, the loops add to that one: both belong to the one environment, and the order of additions to it does not
matter.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeGuard

from ..intermediate import statements as F
from ..intermediate.analysis import blocks, named, outs, reads, walk
from ..intermediate.operations import WHOLE

#: The index of a change that changes nothing; see `Arrays.own`.
NOWHERE = F.Const(-1, WHOLE)


def in_sums(function: F.Function) -> None:
    """Let loops add to the sums of which an array of zeros is a part."""
    sums = Sums(function)
    sums.block(function.body)


class Sums:
    """Finds the arrays of a function that are only added to another one."""

    def __init__(self, function: F.Function) -> None:
        self.uses: defaultdict[str, list[F.Statement]] = defaultdict(list)
        self.around: dict[int, tuple[F.Flow, ...]] = {}
        self.order: dict[int, int] = {}
        for k, (s, around) in enumerate(walk(function.body)):
            self.around[id(s)], self.order[id(s)] = around, k
            for v in named(s):
                self.uses[v.name].append(s)
        self.results = {x.name for x in function.results if isinstance(x, F.Var)}

    def block(self, statements: list[F.Statement]) -> None:
        """Rewrite a list of statements, and those inside."""
        for s in statements:
            for inner in blocks(s):
                self.block(inner)
        for new in [s for s in statements if isinstance(s, F.New) and s.sizes]:
            end = self.only_added(new)
            if end is not None and place(statements, end) is not None:
                self.rewrite(statements, new, end)

    def only_added(self, new: F.New) -> F.AddAll | None:
        """Give the statement that adds an array to another one, if all others only add to this array."""
        name = new.out.name
        others = [s for s in self.uses[name] if s is not new and not is_addition(s, name)]
        if len(others) != 1 or name in self.results:
            return None
        (end,) = others
        return end if isinstance(end, F.AddAll) and end.array.name != name else None

    def rewrite(self, statements: list[F.Statement], new: F.New, end: F.AddAll) -> None:
        """Add to the sum from the place on where the array of zeros was made, if nothing looks at the sum meanwhile."""
        i, j = place(statements, new), place(statements, end)
        assert i is not None
        assert j is not None
        own = next((s for s in statements[i:j] if is_row(s, end.array) or is_own(s, end.array.name)), None)
        between = [s for s in statements[i + 1 : j] if s is not own]
        inside = [s for s, _ in walk(between)]
        adding = [s for s in self.uses[new.out.name] if s is not new and s is not end]
        may = self.may_begin(own, new, inside) if isinstance(own, F.Row) else self.is_untouched(new, end, own, inside)
        if any(place(inside, s) is None for s in adding) or not may:
            return
        for s in adding:
            assert isinstance(s, F.AddAt | F.AddAll)
            s.array = end.array
        into = self.uses[end.array.name]
        into[:] = [s for s in into if s is not end] + adding
        statements[i : j + 1] = [*([] if own is None else [own]), *between]
        if own is not None:
            self.order[id(own)] = self.order[id(new)]

    def is_untouched(self, new: F.New, end: F.AddAll, own: F.Changed | None, inside: list[F.Statement]) -> bool:
        """Tell whether the sum exists where the zeros are made, and is only added to until they are added to it."""
        name = end.array.name
        if own is not None:
            rest = [s for s in inside if not is_addition(s, name)]
            return not any(v.name in (name, own.array.name) for s in rest for v in named(s))
        others = [s for s in self.uses[name] if not is_addition(s, name)]
        made = next((s for s in others if isinstance(s, F.New | F.Changed) and s.out.name == name), None)
        if made is None or self.order[id(made)] > self.order[id(new)]:
            return False
        return all(s is made or self.is_later(s, made, end) for s in others)

    def may_begin(self, row: F.Row, new: F.New, inside: list[F.Statement]) -> bool:
        """Tell whether a row may be taken where the zeros are made: nothing else accesses the array, or other rows."""
        assert isinstance(row.array, F.Var)
        uses = self.uses[row.array.name]
        made = [
            s for s in uses if isinstance(s, F.New) and s.out == row.array and self.order[id(s)] < self.order[id(new)]
        ]
        rows = {row.array, *(s.out for s in uses if isinstance(s, F.Row))}
        if not made or any(isinstance(s, F.Assign | F.For | F.While | F.Call) for s in uses):
            return False
        given = {v for s in inside for v in outs(s)}
        return given.isdisjoint(row.indices) and not any(v in rows for s in inside for v in named(s))

    def is_later(self, s: F.Statement, made: F.Statement, end: F.Statement) -> bool:
        """Tell whether a statement runs after another one; what a loop carries is read at the end of a step."""
        around, outer = self.around[id(s)], self.around[id(made)]
        if any(f is s for f in outer):
            return True
        repeated = [f for f in self.around[id(end)] if not any(f is g for g in outer)]
        return self.order[id(s)] > self.order[id(end)] and not any(f is g for f in around for g in repeated)


def place(statements: list[F.Statement], s: F.Statement) -> int | None:
    """Give the place of a statement."""
    return next((k for k, x in enumerate(statements) if x is s), None)


def is_addition(s: F.Statement, name: str) -> bool:
    """Tell whether a statement only adds something else to an array."""
    if not isinstance(s, F.AddAt | F.AddAll) or s.array.name != name:
        return False
    return all(x.name != name for x in reads(s)[1:] if isinstance(x, F.Var))


def is_row(s: F.Statement, x: F.Var) -> TypeGuard[F.Row]:
    """Tell whether a statement gives a row of an array, by this name."""
    return isinstance(s, F.Row) and s.out == x and isinstance(s.array, F.Var)


def is_own(s: F.Statement, name: str) -> TypeGuard[F.Changed]:
    """Tell whether a statement gives an array to change, and changes nothing."""
    return isinstance(s, F.Changed) and s.out.name == name and s.index == NOWHERE and not s.is_there
