"""Choose values that a reverse pass recomputes instead of reading them from frames: elements, sums and products.

A field of a loop's frames is omitted if it is an element of an array argument, at indices that are known there, or a
cheap operation on such values, on remaining fields, and on fields of enclosing loops. The same operations on the same
numbers give the same bits. An element of an array that the program has made is also read again, if the loop is inside
another one that reads the same array, and the element is not overwritten later: the loop around both keeps the array
itself, once. If one loop has filled the array with cheap values, the element is computed again instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import blocks, changes, named, outs, renamed, walk, with_blocks
from ...intermediate.operations import WHOLE, Scalar
from ..lifetimes import Lifetimes
from .fuse import filled_by
from .overwritten import overwritten
from .ranges import assigned

#: The largest numbers of statements by which a real number, and an integer, is computed again. Integers are indices.
NUMBERS, INDICES = 4, 16


@dataclass
class Site:
    """The contents of the frames of one loop, and the values that are recomputed.

    * `index`: the index of the loop that kept them.
    * `fields`: the kept variables.
    * `again`: the statements that recompute the other fields.
    """

    index: F.Var
    fields: list[F.Var]
    again: list[F.Statement] = field(default_factory=list)


@dataclass
class Trial:
    """What computing a value again takes: statements, the variables that they make, and kept fields that they use."""

    needed: list[F.Statement] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    relied: set[str] = field(default_factory=set)


class Finder:
    """Finds the values that a forward pass need not keep.

    `indices`, `given`: the indices of loops, and the kept fields, that a value of the present site may use.
    """

    def __init__(self, forward: F.Function, is_alone: bool) -> None:
        self.kept = forward.kept if is_alone else None
        self.params = {
            p.name for p in forward.params if isinstance(p.type, F.ArrayOf) and isinstance(p.type.element, Scalar)
        }
        self.used: set[str] = set()
        self.outer: set[str] = set()
        self.relied: set[str] = set()
        self.sites: dict[str, Site] = {}
        self.made: dict[str, F.Statement] = {}
        self.within: dict[str, tuple[F.Flow, ...]] = {}
        self.held: dict[str, dict[str, F.Var]] = {}
        self.loops: list[F.For] = []
        lifetimes = Lifetimes(forward)
        own, times = set(lifetimes.grown), assigned(forward)
        for s, around in walk(forward.body):
            for v in outs(s):
                if times[v.name] == 1:
                    self.made[v.name], self.within[v.name] = s, around
            if isinstance(s, F.For | F.While):
                own |= {v.name for v, x in s.carried if v == x}
            if isinstance(s, F.For):
                self.within |= {v.name: (*around, s) for v, _ in s.carried}
        growing = {lifetimes.find(name) for name in own}
        self.within = {name: x for name, x in self.within.items() if lifetimes.find(name) not in growing}
        self.overwritten = overwritten(forward, lifetimes)
        writes = Counter(lifetimes.find(v.name) for s, _ in walk(forward.body) for v in changes(s))
        self.fills = {v: x for v, x in fills(forward.body) if writes[lifetimes.find(v)] == 1}
        self.top = set() if forward.kept is None else {f.name for f in forward.kept.fields}
        for s, around in walk(forward.body):
            if isinstance(s, F.For) and s.kept is not None:
                loops = [f for f in around if isinstance(f, F.For)]
                if len(loops) == len(around):
                    self.loops = loops
                    self.sites[s.kept.frames.name] = self.site(s, loops)

    def site(self, s: F.For, around: list[F.For]) -> Site:
        """Choose the variables that one loop keeps."""
        assert s.kept is not None
        inner = {v.name for x, _ in walk(s.body) for v in outs(x)}
        given = {f.name for f in s.kept.fields}
        self.indices = {f.index.name for f in (*around, s)}
        self.outer = {f.name for loop in around if loop.kept is not None for f in loop.kept.fields}
        self.outer |= self.indices - {s.index.name} | self.top
        found = Site(s.index, list(s.kept.fields))
        done: set[str] = set()
        for relies in (False, True):  # first without relying on other fields
            for f in list(found.fields):
                trial, self.given = Trial(), given - {f.name} if relies else set()
                if f.name in inner and f.name not in self.relied and self.gives(f, trial):
                    self.relied |= trial.relied
                    self.hold(trial.needed)
                    found.again += [x for x in trial.needed if x.out.name not in done]  # type: ignore[union-attr]
                    done |= {x.out.name for x in trial.needed}  # type: ignore[union-attr]
                    given -= {f.name}
                    found.fields.remove(f)
        return found

    def gives(self, x: F.Operand, trial: Trial) -> bool:
        """Tell whether a value can be recomputed; record how."""
        if isinstance(x, F.Const) or x.name in self.indices or x.name in self.outer or x.name in trial.seen:
            return True
        if x.name in self.given:
            trial.relied.add(x.name)
            return True
        made = self.made.get(x.name)
        for s in (self.filling(made), made):
            own = Trial([*trial.needed], {*trial.seen}, {*trial.relied})
            if self.computes(s, own):
                trial.needed, trial.seen, trial.relied = own.needed, own.seen | {x.name}, own.relied
                return True
        return False

    def filling(self, s: F.Statement | None) -> F.Statement | None:
        """Give the statement that has computed the element that another one reads, in variables of the latter."""
        if not isinstance(s, F.Load) or not isinstance(s.array, F.Var) or not at_index(s.indices[0], self.indices):
            return None
        body, index, value = self.fills.get(s.array.name, ([], s.out, s.out))
        names: dict[str, Any] = {v.name: F.Var(f"{v.name}.{s.out.name}", v.type) for t in body for v in outs(t)}
        if value.name not in names or not self.overwritten.isdisjoint(names):
            return None
        names |= {index.name: s.indices[0], value.name: s.out}
        again = {v.name: t for t in renamed(body, names) for v in outs(t)}
        found: F.Statement = again.pop(s.out.name)
        self.made |= again
        return found

    def computes(self, s: F.Statement | None, trial: Trial) -> bool:
        """Tell whether a statement can be run again; record it, and what it needs."""
        match s:
            case F.Load() | F.Row() if isinstance(s.array, F.Var) and s.out.name not in self.overwritten:
                plain = all(at_index(i, self.indices) for i in s.indices)
                if not plain and not all(self.gives(i, trial) for i in s.indices):
                    return False
                if s.array.name in self.params:
                    self.used.add(s.array.name)
                elif self.holder(s.array) is None and not (
                    isinstance(self.made.get(s.array.name), F.Row) and self.gives(s.array, trial)
                ):
                    return False
                trial.needed.append(replace(s, checked=not plain))
            case F.Compute() if self.is_cheap(s) and len(trial.seen) < (INDICES if s.out.type == WHOLE else NUMBERS):
                if not all(self.gives(a, trial) for a in s.args):
                    return False
                trial.needed.append(s)
            case _:
                return False
        return True

    def holder(self, array: F.Var) -> str | None:
        """Give the frames of the loop that may keep an array, with at least one loop between it and its reader."""
        within = self.within.get(array.name)
        if within is None or len(within) >= len(self.loops):
            return None
        if not isinstance(array.type, F.ArrayOf) or not isinstance(array.type.element, Scalar):
            return None
        if any(a is not b for a, b in zip(within, self.loops, strict=False)):
            return None
        kept = self.loops[len(within) - 1].kept if within else self.kept
        return None if kept is None else kept.frames.name

    def hold(self, needed: Iterable[F.Statement]) -> None:
        """Record the arrays that must be kept for elements that are read again."""
        for s in needed:
            frames = self.holder(s.array) if isinstance(s, F.Load | F.Row) and isinstance(s.array, F.Var) else None
            if frames is not None:
                assert isinstance(s, F.Load | F.Row) and isinstance(s.array, F.Var)
                self.held.setdefault(frames, {})[s.array.name] = s.array

    def is_cheap(self, s: F.Compute) -> bool:
        """Tell whether computing a value costs no more than reading it.

        A division does if all steps share it, or if it is by a power of two.
        """
        if s.operation.name in ("ifloordiv", "imod"):
            shared = all(isinstance(a, F.Const) or a.name in self.outer for a in s.args)
            return shared or is_power_of_two(s.args[1])
        return s.operation.is_total


def fills(statements: list[F.Statement]) -> Iterator[tuple[str, tuple[list[F.Statement], F.Var, F.Var]]]:
    """Iterate over arrays that one loop fills before any other statement uses them: its steps, index, and value."""
    for k, s in enumerate(statements):
        for inner in blocks(s):
            yield from fills(inner)
        if isinstance(s, F.New) and len(s.sizes) == 1:
            uses = ((t, sum(v == s.out for x, _ in walk([t]) for v in named(x))) for t in statements[k + 1 :])
            loop, times = next((x for x in uses if x[1]), (None, 0))
            store = filled_by(loop, s.out, s.sizes[0]) if isinstance(loop, F.For) and not loop.carried else None
            if isinstance(loop, F.For) and store is not None and times == 1 and isinstance(store.value, F.Var):
                yield s.out.name, (loop.body, loop.index, store.value)


def is_power_of_two(x: F.Operand) -> bool:
    """Tell whether an operand is a literal that can be divided by with a shift."""
    return isinstance(x, F.Const) and isinstance(x.value, int) and x.value > 0 and x.value.bit_count() == 1


def at_index(x: F.Operand, indices: set[str]) -> bool:
    """Tell whether an index is that of a loop, or a literal that counts from the beginning."""
    if isinstance(x, F.Const):
        return isinstance(x.value, int) and x.value >= 0
    return x.name in indices


def recomputed(
    forward: F.Function, is_alone: bool = True
) -> tuple[Mapping[str, Site], list[F.Var], Mapping[str, Sequence[F.Var]]]:
    """Give the variables that each site of a forward pass keeps, and the arrays that are kept for the reverse pass."""
    finder = Finder(forward, is_alone)
    held = {name: list(arrays.values()) for name, arrays in finder.held.items()}
    kept = set() if forward.kept is None else {f.name for f in forward.kept.fields}
    own = [] if forward.kept is None else held.get(forward.kept.frames.name, [])
    more = [p for p in (*(p for p in forward.params if p.name in finder.used), *own) if p.name not in kept]
    return MappingProxyType(finder.sites), more, held


class Omitting:
    """Rewrites a function: its loops do not keep what the steps that recall it compute again, and keep held arrays.

    `made`: the variables that have been computed again; another loop has variables of its own for them.
    """

    def __init__(self, sites: Mapping[str, Site], held: Mapping[str, Sequence[F.Var]]) -> None:
        self.sites, self.held, self.made = sites, held, set[str]()

    def __call__(self, x: Any, indices: Mapping[str, F.Var] = MappingProxyType({})) -> Any:
        """Give a function, or statements in loops whose indices are those of some sites."""
        match x:
            case F.Kept(frames, fields):
                fields = self.sites[frames.name].fields if frames.name in self.sites else fields
                return F.Kept(frames, [*fields, *(v for v in self.held.get(frames.name, ()) if v not in fields)])
            case list():
                return [self(y, indices) for y in x]
            case F.Function():
                return replace(x, body=self(x.body), kept=self(x.kept), recalled=self(x.recalled))
            case F.For():
                return replace(x, body=self.steps(x, indices), kept=self(x.kept), recalled=self(x.recalled))
        return x if x is None else with_blocks(x, lambda body: self(body, indices))

    def steps(self, s: F.For, indices: Mapping[str, F.Var]) -> list[F.Statement]:
        """Give the body of a loop, which first computes what its sites omit."""
        own = [self.sites[k.frames.name] for k in s.recalled if k.frames.name in self.sites]
        indices = {**indices, **{site.index.name: s.index for site in own}}
        again = renamed([t for site in own for t in site.again], indices)
        names = {v.name: F.Var(f"{v.name}.{s.index.name}", v.type) for t in again for v in outs(t)}
        body = [*again, *(t for t in self(s.body, indices) if names.keys().isdisjoint(v.name for v in outs(t)))]
        is_first = self.made.isdisjoint(names)
        self.made |= names.keys()
        return body if is_first else renamed(body, names)
