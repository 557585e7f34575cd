"""Write a function of the intermediate form as whole-array operations."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ....primitive import Primitive
from ...intermediate import statements as F
from ...intermediate.analysis import keeps, reads, walk
from ...intermediate.operations import REAL, TRUTH, WHOLE, Scalar
from ...language.traverse import Names
from . import values as V
from .text import Block, Line, names_in


@dataclass(frozen=True)
class Home:
    """The place of the first assignment of a number."""

    axes: tuple[V.Axis, ...]
    masks: int
    block: Block


class Writer:
    """Writes functions.

    * `env`: the symbolic value of each variable.
    * `axes`: the enclosing loops whose steps run at once.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = Names(names)
        self.block = Block()
        self.env: dict[str, Any] = {}
        self.homes: dict[str, Home] = {}
        self.pinned: set[str] = set()
        self.axes: tuple[V.Axis, ...] = ()
        self.masks: list[V.Number] = []
        self.memo: list[dict[Any, Any]] = [{}]
        self.around: list[Block] = []
        self.unnamed: list[list[tuple[V.Axis, str]]] = [[]]
        self.assigned: list[set[str]] = []
        self.lazy: set[str] = set()
        self.may_raise = True
        self.called: list[F.Registered] = []
        self.steps: dict[str, V.Number] = {}
        self.sources: dict[str, str] = {}
        self.sizes: set[str] = set()
        self.results: dict[F.Operand, Any] = {}
        self.uses: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.order: tuple[V.Axis, ...] = ()
        self.primitives: Mapping[str, Primitive] = {}
        self.matrix_products = self.vector_products = 0
        self.write: Mapping[type[object], Callable[[Writer, Any], None]] = {}

    # ------------------------------------------------------------ lines

    def fresh(self, hint: str) -> str:
        """Give an unused name."""
        return self.names(re.sub(r"\W", "_", hint))

    def emit(
        self,
        text: str,
        axes: tuple[V.Axis, ...],
        kind: Scalar,
        hint: str = "t",
        raises: bool = False,
        atom: bool = True,
    ) -> V.Number:
        """Write a line that assigns a value to a name."""
        name = self.fresh(hint)
        self.block.lines.append(Line(name, text, raises and self.may_raise, is_atom=atom))
        self.sources[name] = text
        return V.Number(name, axes, kind)

    def change(self, text: str, what: str) -> None:
        """Write a line that changes an array; what was computed of the array before is not known for it any more."""
        self.block.lines.append(Line("", text, changes=what))
        changed = {what}
        for name, source in self.sources.items():  # in the order in which they were written
            changed |= set() if changed.isdisjoint(names_in(source)) else {name}
        for memo in self.memo:
            for key in [k for k, made in memo.items() if not changed.isdisjoint(names_in(written(made)))]:
                del memo[key]

    def set(self, name: str, text: str) -> None:
        """Write a line that assigns a mutable variable."""
        self.block.lines.append(Line(name, text))

    def check(self, text: str) -> None:
        """Write a line that is needed only for its errors."""
        self.block.lines.append(Line("", text, raises=self.may_raise))

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Give the value written earlier for a key if it is in scope; otherwise write it."""
        for memo in reversed(self.memo):
            if key in memo:
                return memo[key]
        made = make()
        self.memo[-1][key] = made
        return made

    def same(self, a: str, b: str) -> str:
        """Write a check that two sizes are equal; return the size."""
        if not self.equal(a, b):
            self.check(f"if {a} != {b}: raise ops.DifferentSizes")
            self.memo[-1]["same", self.size(b)] = self.size(a)
        return self.size(a)

    def size(self, text: str) -> str:
        """Give the first name of a size."""
        for memo in reversed(self.memo):
            if ("same", text) in memo:
                return self.size(memo["same", text])
        return text

    def name_size(self, axis: V.Axis, hint: str) -> None:
        """Write the size of a dimension to a variable, which represents it until the end of the block."""
        self.unnamed[-1].append((axis, axis.count))
        axis.count = self.emit(axis.count, (), WHOLE, hint).text
        self.sizes.add(axis.count)

    def is_size(self, x: V.Affine) -> bool:
        """Tell whether an integer is known to be non-negative."""
        return not x.terms and (x.offset.isdigit() or x.offset in self.sizes or x.offset.endswith("]"))

    def equal(self, a: str, b: str) -> bool:
        """Tell whether two sizes are known to be the same."""
        return self.size(a) == self.size(b)

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Write into a branch of the written program."""
        self.around.append(self.block)
        self.block = block
        self.memo.append({})
        self.unnamed.append([])
        try:
            yield
        finally:
            self.block = self.around.pop()
            self.memo.pop()
            for axis, count in self.unnamed.pop():
                axis.count = count

    @contextmanager
    def before(self, block: object) -> Iterator[None]:
        """Write into a block around this one, before its branch, where other branches see it as well."""
        kept = self.block, self.around, self.memo, self.unnamed
        depth = next((k for k, outer in enumerate(self.around) if outer is block), None)
        inner = [] if depth is None else [x for named in self.unnamed[depth + 1 :] for x in named]
        named = [(axis, axis.count) for axis, _ in inner]
        if depth is not None:
            self.block, self.around = self.around[depth], self.around[:depth]
            self.memo, self.unnamed = self.memo[: depth + 1], self.unnamed[: depth + 1]
        for axis, count in reversed(inner):
            axis.count = count
        try:
            yield
        finally:
            self.block, self.around, self.memo, self.unnamed = kept
            for axis, count in named:
                axis.count = count

    def statements(self, statements: Sequence[F.Statement]) -> None:
        """Write statements."""
        for s in statements:
            write = self.write.get(type(s))
            if write is None:
                raise V.NotWhole(f"the statement {type(s).__name__}")
            write(self, s)

    def made(self, x: V.Local) -> V.Local:
        """Record where an array is made."""
        x.block = self.block
        return x

    # ------------------------------------------------------------ values

    def value(self, x: F.Operand) -> Any:
        """Give the symbolic value of an operand."""
        if isinstance(x, F.Const):
            return literal(x)
        found = self.env.get(x.name)
        if found is None:
            raise V.NotWhole("a value that not every path assigns")
        if isinstance(found, V.Number) and x.name in self.pinned:
            found = self.emit(found.text, found.axes, found.kind, x.name)
        return found

    def number(self, x: Any, hint: str = "t") -> V.Number:
        """Give a value as an array."""
        if isinstance(x, V.Number):
            return x
        if isinstance(x, V.Affine):
            return self.once(("number", x), lambda: self.indices(x))  # type: ignore[no-any-return]
        if isinstance(x, V.Product):
            return self.once(("number", x), lambda: self.multiplied(x, hint))  # type: ignore[no-any-return]
        raise V.NotWhole("a value that is not a number")

    def indices(self, x: V.Affine) -> V.Number:
        """Materialise a sum of indices."""
        axes = V.union(x.terms)
        parts = []
        for a in sorted(x.terms, key=lambda a: a.level):
            parts.append(self.aligned(self.steps_of(a), axes))
        if x.offset != "0" or not parts:
            parts.append(x.offset)
        if not axes:
            return V.Number(x.offset, (), WHOLE)
        if len(parts) == 1:
            return V.Number(parts[0], axes, WHOLE)
        return self.emit(" + ".join(parts), axes, WHOLE, "at", atom=False)

    def steps_of(self, a: V.Axis) -> V.Number:
        """Materialise the indices of the steps of a loop."""
        made = self.once(("arange", a.count), lambda: self.emit(f"np.arange({a.count})", (a,), WHOLE, "at"))
        return V.Number(made.text, (a,), WHOLE)

    def multiplied(self, x: V.Product, hint: str = "t") -> V.Number:
        """Multiply factors, the small ones first."""
        scale = math.prod(float(f.text) for f in x.factors if is_real_literal(f.text))
        rest = [f for f in x.factors if not is_real_literal(f.text)]
        if scale == -1.0 and len(rest) == 1:
            return self.emit(f"-{rest[0].text}", rest[0].axes, REAL, hint, atom=False)
        if scale != 1.0 or not rest:
            rest.append(V.Number(repr(scale)))
        rest.sort(key=lambda f: len(f.axes))
        found = rest[0]
        for k, f in enumerate(rest[1:]):
            axes = V.union(found.axes, f.axes)
            found = self.emit(self.times(found, f, axes), axes, REAL, hint if k == len(rest) - 2 else "t", atom=False)
        return found

    def times(self, a: V.Number, b: V.Number, axes: Sequence[V.Axis]) -> str:
        """Write a product; that of two vectors by a kernel where overflows are found in the results only."""
        if not self.may_raise and len(a.axes) == len(b.axes) == 1 and a.axes != b.axes:
            first, second = (a, b) if a.axes[0] is axes[0] else (b, a)
            return f"ops.outer({first.text}, {second.text})"
        return f"{self.aligned(a, axes)} * {self.aligned(b, axes)}"

    def aligned(self, x: V.Number, axes: Sequence[V.Axis]) -> str:
        """Write a value with its dimensions aligned to those of a result."""
        if not x.axes:
            return x.text
        order = [a for a in axes if a in x.axes]
        if len(order) < len(x.axes):
            raise V.NotWhole("a value that varies along a loop that has ended")
        text = x.text
        if tuple(order) != x.axes:
            moved = ", ".join(str(x.axes.index(a)) for a in order)
            text = f"{text}.T" if len(order) == 2 else f"{text}.transpose({moved})"
        shown = list(axes)[list(axes).index(order[0]) :]
        if len(shown) == len(order):
            return text
        return f"{text}[{', '.join(':' if a in order else 'None' for a in shown)}]"

    def full(self, x: V.Number, axes: Sequence[V.Axis]) -> str:
        """Write a value with all dimensions of some axes."""
        if x.axes == tuple(axes):
            return x.text
        shape = ", ".join(a.count for a in axes)
        if not axes:
            return x.text
        if not x.axes:
            kind = "" if x.kind == REAL else f", {x.kind.python}"
            return f"np.full(({shape},), {x.text}{kind})" if len(axes) > 1 else f"np.full({shape}, {x.text}{kind})"
        return f"np.broadcast_to({self.aligned(x, axes)}, ({shape},))"

    # ------------------------------------------------------------ indices

    def substituted(self, x: V.Value, at: Mapping[V.Axis, V.Value]) -> V.Value:
        """Give the elements of a value at indices along some of its axes."""
        at = {a: i for a, i in at.items() if a in x.axes}
        if not at:
            return x
        if isinstance(x, V.Product):
            return V.Product(tuple(self.number(self.substituted(f, at)) for f in x.factors))
        if isinstance(x, V.Affine):
            return self.substituted_index(x, at)
        return self.once(("at", x, tuple(at.items())), lambda: self.taken_at(x, at))  # type: ignore[no-any-return]

    def substituted_index(self, x: V.Affine, at: Mapping[V.Axis, V.Value]) -> V.Value:
        """Give a sum of indices with some of them replaced."""
        kept = V.Affine(tuple(a for a in x.terms if a not in at), x.offset)
        found: V.Value = kept
        for a in x.terms:
            if a in at:
                found = self.sum_of_indices(found, at[a])
        return found

    def sum_of_indices(self, x: V.Value, y: V.Value) -> V.Value:
        """Add two integers, as indices if they are indices."""
        if isinstance(y, V.Number) and not y.axes:
            y = V.Affine((), y.text)
        if isinstance(x, V.Number) and not x.axes:
            x = V.Affine((), x.text)
        if isinstance(x, V.Affine) and isinstance(y, V.Affine) and not set(x.terms) & set(y.terms):
            return V.Affine((*x.terms, *y.terms), self.sum_of_texts(x.offset, y.offset))
        a, b = self.number(x), self.number(y)
        axes = V.union(a.axes, b.axes)
        return self.emit(f"{self.aligned(a, axes)} + {self.aligned(b, axes)}", axes, WHOLE, "at", atom=False)

    def sum_of_texts(self, a: str, b: str) -> str:
        """Add two integers that are names or literals."""
        if a == "0" or b == "0":
            return b if a == "0" else a
        if is_literal(a) and is_literal(b):
            return str(int(a) + int(b))
        return self.once(("sum", a, b), lambda: self.emit(f"{a} + {b}", (), WHOLE, "at", atom=False)).text  # type: ignore[no-any-return]

    def taken_at(self, x: V.Number, at: Mapping[V.Axis, V.Value]) -> V.Number:
        """Read an array: a view along loops, copies of elements at other indices."""
        others = {a for a in x.axes if a not in at}
        used: set[V.Axis] = set()
        gathered: dict[V.Axis, V.Number] = {}
        fixed: dict[int, str] = {}
        axes: list[V.Axis] = []
        found = x
        for d, a in enumerate(x.axes):
            i = at.get(a)
            if i is None:
                axes.append(a)
            elif isinstance(i, V.Affine) and len(i.terms) == 1 and i.terms[0] not in others | used and not clash(i, at):
                used.add(i.terms[0])
                found = self.window(found, d, a, i)
                axes.append(i.terms[0])
            elif not i.axes:
                fixed[d] = i.offset if isinstance(i, V.Affine) else self.number(i).text
                axes.append(a)
            else:
                gathered[a] = self.within_masks(self.number(i))
                axes.append(a)
        found = V.Number(found.text, tuple(axes), x.kind)
        if fixed:
            found = self.fixed(found, {x.axes[d]: text for d, text in fixed.items()})
        return self.gather(found, gathered) if gathered else found

    def window(self, x: V.Number, d: int, a: V.Axis, i: V.Affine) -> V.Number:
        """Read the elements of one dimension along which a loop runs."""
        b = i.terms[0]
        if i.offset == "0" and (self.equal(a.count, b.count) or (a.steps and a.steps == b.steps)):
            return x
        if a.steps or (b.steps and i.offset != "0"):
            return self.gather_ragged()
        text = f"ops.window({x.text}, {i.offset}, {b.count}, {d})"
        found = self.once(("text", text), lambda: self.emit(text, x.axes, x.kind, "x", raises=True))
        return V.Number(found.text, x.axes, x.kind)

    def gather_ragged(self) -> V.Number:
        """Refuse an index into a row of varying size, other than the index of its own loop."""
        raise V.NotWhole("an index into a row whose size varies")

    def fixed(self, x: V.Number, at: Mapping[V.Axis, str]) -> V.Number:
        """Read at loop-invariant indices; a whole number stays numpy's, whose overflow is an error."""
        rest = tuple(a for a in x.axes if a not in at)
        if not rest:
            indices = ", ".join(at[a] for a in x.axes)
            text = f"{x.text}[{indices}]" if x.kind == WHOLE else f"{x.text}.item({indices})"
            return self.emit(text, (), x.kind, "x", raises=True)
        last = max(k for k, a in enumerate(x.axes) if a in at)
        index = ", ".join(at.get(a, ":") for a in x.axes[: last + 1])
        return self.emit(f"{x.text}[{index}]", rest, x.kind, "x", raises=True)

    def gather(self, x: V.Number, at: Mapping[V.Axis, V.Number]) -> V.Number:
        """Read elements at indices that are known only at run time."""
        if any(a.steps for a in at):
            self.gather_ragged()
        others = tuple(a for a in x.axes if a not in at)
        if len(at) == 1:
            i, d = next(iter(at.values())), next(k for k, b in enumerate(x.axes) if b in at)
            if not set(i.axes) & set(others):
                axes = (*x.axes[:d], *i.axes, *x.axes[d + 1 :])
                index = ", ".join([":"] * d + [i.text])
                return self.emit(f"{x.text}[{index}]", axes, x.kind, "x", raises=True)
        axes = V.union(others, *(i.axes for i in at.values()))
        index = ", ".join(self.aligned(at.get(a) or self.number(V.Affine((a,))), axes) for a in x.axes)
        return self.emit(f"{x.text}[{index}]", axes, x.kind, "x", raises=True)

    def within_masks(self, i: V.Number, axes: Sequence[V.Axis] | None = None) -> V.Number:
        """Give indices that are in range even in lanes that are masked, along these axes only."""
        for mask in self.masks:
            if axes is None or set(mask.axes) <= set(axes):
                i = self.masked(mask, i)
        return i

    def masked(self, mask: V.Number, x: V.Number) -> V.Number:
        """Give a value where a condition holds, and zero elsewhere."""
        axes, zero = V.union(mask.axes, x.axes), "0.0" if x.kind == REAL else "0"
        text = f"np.where({self.aligned(mask, axes)}, {self.aligned(x, axes)}, {zero})"
        return self.once(("where", mask, x), lambda: self.emit(text, axes, x.kind))  # type: ignore[no-any-return]

    # ------------------------------------------------------------ what stays lazy

    def survey(self, functions: Sequence[F.Function]) -> None:
        """Find the products that need not be materialised: those used once, or only in sums."""
        uses: Counter[str] = Counter()
        others: Counter[str] = Counter()
        for s in (s for f in functions for s, _ in walk(f.body)):
            if isinstance(s, F.Store | F.AddAt | F.AddAll):
                self.written[s.array.name] += 1
            is_twice = isinstance(s, F.Compute) and s.operation.name == "add" and s.args[0] == s.args[1]
            is_sum = (
                isinstance(s, F.Add | F.AddAt) or (isinstance(s, F.Compute) and s.operation.name == "neg") or is_twice
            )
            for x in reads(s)[: 1 if is_twice else None]:
                if isinstance(x, F.Var):
                    uses[x.name] += 1
                    others[x.name] += not is_sum
            for f in keeps(s):
                uses[f.name] += 2
                others[f.name] += 2
        self.uses = uses
        self.lazy = {n for n in uses if uses[n] == 1 or not others[n]}


def written(made: Any) -> str:
    """Give the text of a value that was written."""
    return str(getattr(made, "text", getattr(made, "offset", made)))


def clash(i: V.Affine, at: Mapping[V.Axis, V.Value]) -> bool:
    """Tell whether the index of one dimension occurs in that of another."""
    return any(j is not i and set(i.terms) & set(j.axes) for j in at.values())


def literal(x: F.Const) -> V.Number | V.Affine:
    """Write a literal."""
    if x.value is None:
        raise V.NotWhole("a null")
    if x.type == WHOLE:
        return V.Affine((), str(int(x.value)))
    text = repr(bool(x.value)) if x.type == TRUTH else repr(float(x.value))
    if x.type == REAL and text.lstrip("-") in ("inf", "nan"):
        text = f"float('{text}')"
    return V.Number(text, (), x.type)  # type: ignore[arg-type]


def is_real_literal(text: str) -> bool:
    """Tell whether a text is a finite real literal."""
    return text.lstrip("-")[:1].isdigit()


def is_literal(text: str) -> bool:
    """Tell whether a text is an integer literal."""
    return text.lstrip("-").isdigit()
