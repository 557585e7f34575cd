"""What a reverse pass computes again instead of reading it from frames: elements of arguments, sums and products.

A field of a loop's frames is left out where it is an element of an array that was handed in, at indices that are known
there, or a cheap operation on such values, on fields that stay, and on fields of the loops around. The same operations
on the same numbers give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tapeengine.chad.intermediate.analysis import outs, walk
from tapeengine.chad.intermediate.statements import (
    ArrayOf,
    Compute,
    Const,
    For,
    Function,
    Load,
    Operand,
    Row,
    Scalar,
    Statement,
    Var,
)

__all__ = ["Site", "recomputed"]

CHEAP = frozenset(("add", "sub", "mul", "neg", "real", "lt", "le", "gt", "ge", "eq", "ne", "not", "and"))
CHEAP |= {"iadd", "isub", "ilt", "ile", "igt", "ige", "ieq", "ine", "imin", "imax"}


@dataclass
class Site:
    """What the frames of one loop hold, and what is computed again.

    Attributes
    ----------
    index : Var
        The index of the loop that kept them.
    fields : list of Var
        What is kept.
    again : list of Statement
        What gives the other fields.
    """

    index: Var
    fields: list[Var]
    again: list[Statement] = field(default_factory=list)


class Finder:
    """Finds what need not be kept in a forward pass."""

    def __init__(self, forward: Function) -> None:
        self.params = {
            p.name for p in forward.params if isinstance(p.type, ArrayOf) and isinstance(p.type.element, Scalar)
        }
        self.used: set[str] = set()
        self.outer: set[str] = set()
        self.relied: set[str] = set()
        self.sites: dict[str, Site] = {}
        self.made: dict[str, Statement] = {}
        changed: set[str] = set()
        for s, _ in walk(forward.body):
            for v in outs(s):
                if v.name in self.made:
                    changed.add(v.name)
                self.made[v.name] = s
            if isinstance(s, For):
                changed |= {v.name for v, _ in s.carried}
        for name in changed:
            self.made.pop(name, None)
        self.top = set() if forward.kept is None else {f.name for f in forward.kept.fields}
        for s, around in walk(forward.body):
            if isinstance(s, For) and s.kept is not None:
                loops = [f for f in around if isinstance(f, For)]
                if len(loops) == len(around):
                    self.sites[s.kept.frames.name] = self.site(s, loops)

    def site(self, s: For, around: list[For]) -> Site:
        """Decide what one loop keeps."""
        assert s.kept is not None
        inner = {v.name for x, _ in walk(s.body) for v in outs(x)}
        given = {f.name for f in s.kept.fields}
        indices = {f.index.name for f in (*around, s)}
        self.outer = {f.name for loop in around if loop.kept is not None for f in loop.kept.fields}
        self.outer |= indices - {s.index.name} | self.top
        found = Site(s.index, list(s.kept.fields))
        done: set[str] = set()
        for relies in (False, True):  # on no other field first
            for f in list(found.fields):
                needed: list[Statement] = []
                relied: set[str] = set()
                again = f.name in inner and f.name not in self.relied
                others = given - {f.name} if relies else set()
                if again and self.gives(f, indices, others, needed, set(), relied):
                    self.relied |= relied
                    found.again += [x for x in needed if x.out.name not in done]  # type: ignore[union-attr]
                    done |= {x.out.name for x in needed}  # type: ignore[union-attr]
                    given -= {f.name}
                    found.fields.remove(f)
        return found

    def gives(
        self, x: Operand, indices: set[str], given: set[str], needed: list[Statement], seen: set[str], relied: set[str]
    ) -> bool:
        """Tell whether a value can be computed again; note how, and on which fields that stay it relies."""
        if isinstance(x, Const):
            return True
        if x.name in indices or x.name in self.outer or x.name in seen:
            return True
        if x.name in given:
            relied.add(x.name)
            return True
        s = self.made.get(x.name)
        match s:
            case Load() | Row() if isinstance(s.array, Var):
                plain = all(at_index(i, indices) for i in s.indices)
                if not plain and not all(self.gives(i, indices, given, needed, seen, relied) for i in s.indices):
                    return False
                if s.array.name in self.params:
                    self.used.add(s.array.name)
                elif not (
                    isinstance(self.made.get(s.array.name), Row)
                    and self.gives(s.array, indices, given, needed, seen, relied)
                ):
                    return False
                needed.append(replace(s, checked=not plain))
            case Compute() if self.is_cheap(s) and len(seen) < 4:
                if not all(self.gives(a, indices, given, needed, seen, relied) for a in s.args):
                    return False
                needed.append(s)
            case _:
                return False
        seen.add(x.name)
        return True

    def is_cheap(self, s: Compute) -> bool:
        """Tell whether to compute something takes no longer than to read it; a division does if all steps share it."""
        if s.operation.name in ("ifloordiv", "imod"):
            return all(isinstance(a, Const) or a.name in self.outer for a in s.args)
        return s.operation.name in CHEAP


def at_index(x: Operand, indices: set[str]) -> bool:
    """Tell whether an index is that of a loop, or a literal that counts from the beginning."""
    if isinstance(x, Const):
        return isinstance(x.value, int) and x.value >= 0
    return x.name in indices


def recomputed(forward: Function) -> tuple[Mapping[str, Site], list[Var]]:
    """Give what each site of a forward pass keeps, and the arguments that the reverse pass reads again."""
    finder = Finder(forward)
    kept = set() if forward.kept is None else {f.name for f in forward.kept.fields}
    more = [p for p in forward.params if p.name in finder.used and p.name not in kept]
    return MappingProxyType(finder.sites), more
