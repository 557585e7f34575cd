"""Exchange two loops that go down the columns of a matrix, so that the inner one goes along its rows.

A step of the outer loop uses a column, and computes numbers before or after that. What it computes before goes into an
array first; sums of columns are the elements of an array, to which each row is added. Each sum keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from ...intermediate import statements as F
from ...intermediate.analysis import changes, name_of, outs, reads, renamed, rewritten, walk
from ...intermediate.operations import REAL
from .order import names_of

#: Statements of the steps of the inner loop, and of the outer one before it.
PLAIN = F.Assign | F.Compute | F.Load | F.Row | F.Add | F.AddAt
BEFORE = F.Assign | F.Compute | F.Load | F.Size


def by_rows(function: F.Function) -> F.Function:
    """Give a function with such loops exchanged."""
    own = own_arrays(function)
    return replace(function, body=rewritten(function.body, lambda s: in_rows(s, own) if isinstance(s, F.For) else [s]))


def own_arrays(function: F.Function) -> Mapping[F.Var, bool]:
    """Give the arrays whose memory has no other name in a function, and whether it makes them."""
    own = dict.fromkeys((*function.params, *([] if function.recalled is None else function.recalled.fields)), False)
    return own | {s.out: True for s, _ in walk(function.body) if isinstance(s, F.New)}


def in_rows(s: F.For, own: Mapping[F.Var, bool]) -> list[F.Statement]:
    """Give a loop with the one inside of it exchanged, if they go down columns."""
    places = [k for k, t in enumerate(s.body) if isinstance(t, F.Flow)]
    inner = s.body[places[0]] if places else None
    if s.carried or s.is_parallel or type(inner) is not F.For or len(places) > 1 or isinstance(s.count, F.Const):
        return [s]
    return Columns(s, inner, s.body[: places[0]], s.body[places[0] + 1 :], own).exchanged()


@dataclass
class Columns:
    """Two loops, with the statements of the outer one before and after the inner one.

    `own`: the arrays whose memory has no other name here, and whether the function makes them.
    """

    outer: F.For
    inner: F.For
    before: Sequence[F.Statement]
    after: Sequence[F.Statement]
    own: Mapping[F.Var, bool]

    def __post_init__(self) -> None:
        self.made = {v for t in self.before for v in outs(t)}
        self.across = names_of(self.outer.index, [*self.before])
        self.down = names_of(self.inner.index, self.inner.body)
        self.sums = [t.outs[0] for t in self.before if self.begins(t)]
        used = [x for t in self.inner.body for x in reads(t) if x in self.made and x not in self.sums]
        self.needed = [x for x in dict.fromkeys(used) if isinstance(x, F.Var) and x.name not in self.across]

    def begins(self, s: F.Statement) -> TypeGuard[F.Assign]:
        """Tell whether a statement begins a sum, to which the inner loop adds."""
        adds = [t.out for t in self.inner.body if isinstance(t, F.Add)]
        return isinstance(s, F.Assign) and s.values == (F.Const(0.0, REAL),) and s.outs[0] in adds

    def may_be(self) -> bool:
        """Tell whether the steps may run in the order of rows, with arrays for sums or for what they need."""
        inner, made = self.inner, {v for t in self.inner.body for v in outs(t)}
        if inner.carried or inner.kept or inner.recalled or inner.count is None or inner.count in self.made:
            return False
        if not all(isinstance(t, PLAIN) for t in inner.body) or not all(isinstance(t, BEFORE) for t in self.before):
            return False
        if any(isinstance(t, F.Assign) and {v.name for v in t.outs} - self.down for t in inner.body):
            return False
        if any(isinstance(t, F.Add) and t.out not in self.sums for t in inner.body) or (self.sums and self.needed):
            return False
        if not all(x.type == REAL for x in self.needed) or (self.needed and self.after):
            return False
        later = {x for t, _ in walk(list(self.after)) for x in reads(t)} & (made - {*self.sums})
        return not later and self.are_columns({v.name for t, _ in walk(list(self.after)) for v in changes(t)})

    def are_columns(self, changed: set[str]) -> bool:
        """Tell whether all accesses with two indices are to columns, and no array is both read and changed."""
        reading: set[str] = set()
        adding: set[str] = set()
        for t, base, path in self.accesses():
            is_column = path[-1] in self.across and not self.down.isdisjoint(path[:-1])
            is_load = isinstance(t, F.Load)
            if not (is_column or (is_load and len(path) == 1 and path[0] in self.down)):
                return False
            if not isinstance(base, F.Var) or not (base in self.own if is_load else self.own.get(base)):
                return False
            (reading if is_load else adding).add(base.name)
        return bool(adding or self.sums) and reading.isdisjoint(adding | changed)

    def accesses(self) -> Iterator[tuple[F.Load | F.AddAt, F.Operand, tuple[str, ...]]]:
        """Iterate over accesses to elements: the array, and the names of indices."""
        rows: dict[F.Operand, tuple[F.Operand, tuple[str, ...]]] = {}
        for t in self.inner.body:
            if isinstance(t, F.Load | F.AddAt | F.Row):
                base, path = rows.get(t.array, (t.array, ()))
                path = (*path, *map(name_of, t.indices))
                if isinstance(t, F.Row):
                    rows[t.out] = (base, path)
                else:
                    yield t, base, path

    def exchanged(self) -> list[F.Statement]:
        """Give both loops in the new order."""
        s, inner = self.outer, self.inner
        if not self.may_be():
            return [s]
        index = F.Var(f"{s.index.name}.across", s.index.type)
        arrays = {x: F.Var(f"{x.name}.each", F.ArrayOf(REAL)) for x in (*self.sums, *self.needed)}
        made: list[F.Statement] = [F.New(a, (s.count,)) for a in arrays.values()]  # type: ignore[arg-type]
        body: list[F.Statement] = [F.Load(x, arrays[x], (index,), False) for x in self.needed]
        body += [F.AddAt(arrays[t.out], (index,), t.value) if isinstance(t, F.Add) else t for t in inner.body]
        names = dict.fromkeys(self.across, index) | {x.name: F.Var(f"{x.name}.again", REAL) for x in self.needed}
        body = renamed(body, names)
        along = [t for t in body if self.is_of_row(t)]
        rest = [t for t in body if t not in along]
        rows = replace(inner, body=[*along, F.For(index, s.count, rest)])
        if self.sums:
            loads: list[F.Statement] = [F.Load(x, arrays[x], (s.index,), False) for x in self.sums]
            begun = [t for t in self.before if not self.begins(t)]
            return [*made, rows, replace(s, body=[*begun, *loads, *self.after])]
        stores = [F.Store(arrays[x], (s.index,), x) for x in self.needed]
        return [*made, replace(s, body=[*self.before, *stores]), rows]

    def is_of_row(self, s: F.Statement) -> bool:
        """Tell whether a statement is the same for all elements of a row."""
        is_vector = isinstance(s, F.Load) and len(s.indices) == 1 and name_of(s.indices[0]) in self.down
        return isinstance(s, F.Row | F.Assign) or is_vector
