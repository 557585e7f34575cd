"""Give functions of vectors a loop of their own, after the loop whose steps sum their arguments.

LLVM makes vectors only of innermost loops. Arrays take what the second loop reads of each step of the first one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import changes, named, outs, reads, renamed, walk
from ...intermediate.operations import Scalar
from .lifetimes import Lifetimes

#: Statements of the second loop.
LAST = F.Compute | F.Load | F.Row | F.Size | F.Check | F.Store | F.Add | F.AddAt
#: Both parts of the frames of loops that are split.
Parts = dict[str, list[F.Kept]]


def divided(x: Any, parts: Parts) -> Any:
    """Give functions or parts of them in which loops recall both parts of frames."""
    if isinstance(x, list | tuple):
        return type(x)(z for y in x for z in several(y, parts))
    if isinstance(x, F.Kept) or (hasattr(x, "__dataclass_params__") and not x.__dataclass_params__.frozen):
        return replace(x, **{f.name: divided(getattr(x, f.name), parts) for f in fields(x)})
    return x


def several(x: Any, parts: Parts) -> list[Any]:
    """Give both parts of frames, or what stands for them; what is no frames, alone."""
    if isinstance(x, F.Kept):
        return [divided(k, parts) for k in parts.get(x.frames.name, [x])]
    return [k.frames for k in parts[x.name]] if isinstance(x, F.Var) and x.name in parts else [divided(x, parts)]


class Splitter:
    """Splits the loops of a function, and notes the parts of their frames."""

    def __init__(self, function: F.Function, variants: Collection[str], parts: Parts) -> None:
        self.variants, self.parts, self.lifetimes = variants, parts, Lifetimes(function)
        self.function = replace(function, body=self.block(function.body))

    def block(self, statements: list[F.Statement]) -> list[F.Statement]:
        """Split loops, and those inside them."""
        return [t for s in statements for t in (self.loop(s) if isinstance(s, F.For) else [s])]

    def loop(self, s: F.For) -> list[F.Statement]:
        """Give a loop in two parts, if their steps are independent of each other."""
        s = replace(s, body=self.block(s.body))
        cut = max((k + 1 for k, t in enumerate(s.body) if isinstance(t, F.For)), default=0)
        first, last = [t for t, _ in walk(s.body[:cut])], s.body[cut:]
        made = {v.name: v for t in first for v in outs(t)}
        used = [x for t in last for x in reads(t)] + [x for _, x in s.carried]
        crossing = [v for name, v in made.items() if v in used]
        plain = all(isinstance(t, LAST) for t in last) and all(isinstance(v.type, Scalar) for v in crossing)
        called = any(isinstance(t, F.Compute) and t.operation.name in self.variants for t in last)
        if not (cut and called and plain and s.count) or s.recalled or s.is_parallel or self.meet(s, first, last):
            return [s]
        names: dict[str, F.Var] = {v.name: F.Var(f"{v.name}.last", v.type) for v in (s.index, *crossing)}
        arrays = {v: F.Var(f"{v.name}.each", F.ArrayOf(v.type)) for v in crossing}
        stores = [F.Store(a, (s.index,), v) for v, a in arrays.items()]
        loads = [F.Load(names[v.name], a, (names[s.index.name],), False) for v, a in arrays.items()]
        one, other = (None, None) if s.kept is None else self.halves(s.kept, {*made, s.index.name})
        return [
            *(F.New(a, (s.count,)) for a in arrays.values()),
            replace(s, body=[*s.body[:cut], *stores], carried=[], kept=one),
            replace(renamed(replace(s, body=[*loads, *last], kept=None), names), kept=other),
        ]

    def halves(self, kept: F.Kept, made: Collection[str]) -> list[F.Kept]:
        """Divide frames."""
        frames = kept.frames, F.Var(f"{kept.frames.name}.last", kept.frames.type)
        self.parts[kept.frames.name] = found = [
            F.Kept(v, [f for f in kept.fields if (f.name in made) == (v is frames[0])]) for v in frames
        ]
        return found

    def meet(self, s: F.For, first: list[F.Statement], last: list[F.Statement]) -> bool:
        """Tell whether the end of a step and the beginning of the next one name the same variable or memory."""
        given = {v.name for v, _ in s.carried} | {v.name for t in last for v in outs(t)}
        find, is_before = self.lifetimes.find, self.lifetimes.is_before
        return not given.isdisjoint(v.name for t in first for v in named(t)) or any(
            find(a.name) == find(b.name) and not is_before(b.name, a.name)
            for one, other in ((first, last), (last, first))
            for a in {v for t in one for v in changes(t)}
            for b in {v for t in other for v in named(t) if isinstance(v.type, F.ArrayOf)}
        )
