"""Find elements that are read from memory which is overwritten later, so that keeping the array does not keep them.

A write changes the array that the last run of its `New` made, whose scope is the rest of the block. So an element is
lost only if it is read in that scope, through a name bound there, and the write is later in the text, or in a loop of
the scope that contains both. A name bound earlier, such as that of an array that a loop passes to each step, is other
memory. If it is not known which `New` made the written array, the scope is the whole function, and every name that may
be the array counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...intermediate import statements as F
from ...intermediate.analysis import outs, walk
from ..lifetimes import Lifetimes, is_numbers


@dataclass(frozen=True, eq=False)
class Place:
    """A statement, its number in the text, and its enclosing flow statements."""

    statement: F.Statement
    at: int
    around: tuple[F.Flow, ...]

    def is_within(self, scope: Place) -> bool:
        """Tell whether the place is ``scope``, or follows it in the same block or in a block inside it."""
        n = len(scope.around)
        return self.at >= scope.at and (n == 0 or (len(self.around) >= n and self.around[n - 1] is scope.around[n - 1]))


class Names:
    """The bindings of the names of a function, and the names that share memory."""

    def __init__(self, function: F.Function, places: Iterable[Place]) -> None:
        self.params = {p.name for p in function.params}
        self.bound: dict[str, list[Place]] = {}
        for p in places:
            for v in outs(p.statement):
                self.bound.setdefault(v.name, []).append(p)

    def base(self, name: str) -> str:
        """Give the name of the array that a row is a view of, directly or through other rows."""
        match self.bound.get(name):
            case [Place(statement=F.Row(array=F.Var(name=array)))]:
                return self.base(array)
        return name

    def scope(self, write: Place, base: str) -> Place | None:
        """Give the place that allocates the written memory, if there is exactly one and it is known."""
        match self.bound.get(base):
            case [Place(statement=F.New() | F.ZerosLike() as s) as made] if is_numbers(s.out) and write.is_within(made):
                return made
        return None

    def is_lost(self, read: Place, base: str, write: Place, scope: Place | None) -> bool:
        """Tell whether the read element may be overwritten later."""
        inner = write.around
        if scope is not None:
            inner = inner[len(scope.around) :]
            if not read.is_within(scope) or not any(p.is_within(scope) for p in self.bound.get(base, ())):
                return False
        return read.at < write.at or any(f is g for f in inner if isinstance(f, F.For | F.While) for g in read.around)


def overwritten(function: F.Function, lifetimes: Lifetimes) -> set[str]:
    """Give the elements, by their names, that a function reads and may overwrite afterwards.

    Array arguments are never written.
    """
    places = [Place(s, at, around) for at, (s, around) in enumerate(walk(function.body))]
    names = Names(function, places)
    writes: dict[str, dict[tuple[str, int], Place]] = {}
    for p in places:
        if is_write(p.statement):
            name = names.base(p.statement.array.name)  # type: ignore[union-attr]
            block = id(p.around[-1]) if p.around else 0
            writes.setdefault(lifetimes.find(name), {})[name, block] = p  # the last one of a block is after the others
    scopes = {root: [(p, names.scope(p, name)) for (name, _), p in of.items()] for root, of in writes.items()}
    found: set[str] = set()
    for p in places:
        if isinstance(p.statement, F.Load) and isinstance(p.statement.array, F.Var):
            base = names.base(p.statement.array.name)
            if base not in names.params and any(
                names.is_lost(p, base, w, scope) for w, scope in scopes.get(lifetimes.find(base), ())
            ):
                found.add(p.statement.out.name)
    return found


def is_write(s: F.Statement) -> bool:
    """Tell whether a statement writes numbers; changing references does not change numbers."""
    return isinstance(s, F.AddAll) or (isinstance(s, F.Store | F.AddAt | F.Append | F.Pop) and is_numbers(s.array))
