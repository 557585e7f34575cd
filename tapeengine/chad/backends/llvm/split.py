"""Give functions of vectors a loop of their own, after the loop whose steps sum their arguments.

LLVM makes vectors only of innermost loops. If the steps of a loop first sum in inner loops and then call functions that
are compiled for vectors, the loop is split in two. The second one reads what the first has computed from arrays, and
frames are split as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import changes, named, outs, reads, renamed, walk
from ...intermediate.operations import Scalar
from .lifetimes import Lifetimes

#: Statements that may follow the inner loops, and those before.
LAST = F.Compute | F.Load | F.Row | F.Size | F.Check | F.Store | F.Add | F.AddAt
FIRST = LAST | F.For | F.New | F.Assign
Halves = dict[str, tuple[F.Kept, F.Kept]]


def split(functions: Mapping[str, F.Function], is_of_vectors: Callable[[F.Statement], bool]) -> tuple[Any, Halves]:
    """Give functions with loops that are split, and both parts of the frames of these."""
    halves: Halves = {}
    found = {f.name: Splitter(f, is_of_vectors, halves).function for f in functions.values()}
    return ({name: divided(f, halves) for name, f in found.items()} if halves else found), halves


def divided(x: Any, halves: Halves) -> Any:
    """Give a function, or a part of one, in which frames are in two parts."""
    if isinstance(x, F.Kept):
        return F.Kept(x.frames, both(x.fields, halves))
    if isinstance(x, F.For):
        x = replace(x, recalled=[part for k in x.recalled for part in halves.get(k.frames.name, (k,))])
    if isinstance(x, list | tuple):
        return type(x)(divided(y, halves) for y in x)
    if hasattr(x, "__dataclass_params__") and not x.__dataclass_params__.frozen:
        return replace(x, **{f.name: divided(getattr(x, f.name), halves) for f in fields(x)})
    return x


def both(variables: Iterable[F.Var], halves: Halves) -> list[F.Var]:
    """Give variables, with both parts of frames."""
    return [v for x in variables for v in ((k.frames for k in halves[x.name]) if x.name in halves else (x,))]


class Splitter:
    """Splits the loops of a function."""

    def __init__(self, function: F.Function, is_of_vectors: Callable[[F.Statement], bool], halves: Halves) -> None:
        self.is_of_vectors, self.halves = is_of_vectors, halves
        self.lifetimes = Lifetimes(function)
        self.function = replace(function, body=self.block(function.body))

    def block(self, statements: list[F.Statement]) -> list[F.Statement]:
        """Split the loops of a block, and those inside them."""
        return [t for s in statements for t in (self.loop(s) if isinstance(s, F.For) else (s,))]

    def loop(self, s: F.For) -> list[F.Statement]:
        """Give the two parts of a loop, if it can be split."""
        cut = 1 + max((k for k, t in enumerate(s.body) if isinstance(t, F.For)), default=-1)
        first, last = s.body[:cut], s.body[cut:]
        if s.count is None or s.recalled or s.is_parallel or not any(map(self.is_of_vectors, last)):
            return [replace(s, body=self.block(s.body))]
        if not cut or not self.are_apart(s, first, last):
            return [replace(s, body=self.block(s.body))]
        made = {v.name for t, _ in walk(first) for v in outs(t)}
        used = [x for t in last for x in reads(t)] + [x for _, x in s.carried]
        crossing = list({x.name: x for x in used if isinstance(x, F.Var) and x.name in made}.values())
        if not all(isinstance(v.type, Scalar) for v in crossing):
            return [replace(s, body=self.block(s.body))]
        return self.parts(s, self.block(first), last, crossing, made)

    def parts(
        self, s: F.For, first: list[F.Statement], last: list[F.Statement], crossing: list[F.Var], made: set[str]
    ) -> list[F.Statement]:
        """Write both loops, and the arrays between them."""
        assert s.count is not None
        names: dict[str, F.Operand] = {v.name: F.Var(f"{v.name}.last", v.type) for v in (s.index, *crossing)}
        index = renamed(s.index, names)
        arrays = [F.Var(f"{v.name}.each", F.ArrayOf(v.type)) for v in crossing]
        stores = [F.Store(a, (s.index,), v) for a, v in zip(arrays, crossing, strict=True)]
        loads = [F.Load(renamed(v, names), a, (index,), False) for a, v in zip(arrays, crossing, strict=True)]
        kept = (None, None) if s.kept is None else self.halved(s.kept, {*made, s.index.name})
        return [
            *(F.New(a, (s.count,)) for a in arrays),
            replace(s, body=[*first, *stores], carried=[], kept=kept[0]),
            replace(
                s,
                index=index,
                body=[*loads, *renamed(last, names)],
                carried=[(v, renamed(x, names)) for v, x in s.carried],
                kept=kept[1],
            ),
        ]

    def halved(self, kept: F.Kept, made: set[str]) -> tuple[F.Kept, F.Kept]:
        """Divide frames: what the first loop makes, and the rest."""
        frames = F.Var(f"{kept.frames.name}.last", kept.frames.type)
        one = F.Kept(kept.frames, [v for v in kept.fields if v.name in made])
        other = F.Kept(frames, [v for v in kept.fields if v.name not in made])
        self.halves[kept.frames.name] = one, other
        return one, other

    def are_apart(self, s: F.For, first: list[F.Statement], last: list[F.Statement]) -> bool:
        """Tell whether the end of each step may run after the beginning of the next one."""
        begin, end = [t for t, _ in walk(first)], last
        if not all(isinstance(t, FIRST) for t in begin) or not all(isinstance(t, LAST) for t in end):
            return False
        given = {v.name for v, _ in s.carried} | {v.name for t in end for v in outs(t)}
        if not all(isinstance(v.type, Scalar) for v, _ in s.carried):
            return False
        if not given.isdisjoint(v.name for t in begin for v in named(t)):
            return False
        return not any(
            self.lifetimes.find(a) == self.lifetimes.find(b) and not self.lifetimes.is_before(b, a)
            for one, other in ((begin, end), (end, begin))
            for a in {v.name for t in one for v in changes(t)}
            for b in {v.name for t in other for v in named(t) if isinstance(v.type, F.ArrayOf)}
        )
