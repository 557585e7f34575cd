"""Writing statements: fresh names, one name for one value, axes and their sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tapeengine.chad.generate.values import NotGenerated
from tapeengine.chad.imperative import Assign, Const, Operand, Ref, Statement, renamed
from tapeengine.chad.primitives import DISCRETE
from tapeengine.chad.traverse import Names
from tapeengine.chad.types import BOOL, FLOAT, INT

__all__ = ["Axes", "Builder"]

KINDS = {FLOAT: "float", INT: "int", BOOL: "bool"}


class Axes:
    """The axes of a function: their order, outermost first, and their sizes."""

    def __init__(self) -> None:
        self.sizes: dict[str, Operand] = {}
        self._rank: dict[str, int] = {}

    def fresh(self, size: Operand) -> str:
        """Make a new innermost axis."""
        name = f"a{len(self.sizes)}"
        self.sizes[name] = size
        self._rank[name] = len(self._rank)
        return name

    def ordered(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Sort axes from the outermost to the innermost."""
        return tuple(sorted(set(axes), key=self._rank.__getitem__))

    def union(self, *operands: Operand) -> tuple[str, ...]:
        """Give all axes of some operands."""
        if not any(x.axes for x in operands):
            return ()
        return self.ordered(a for x in operands for a in x.axes)


class Builder:
    """Appends statements to the current block.

    A pure operation on the same operands is written once: the second time, the name it has is given back, as long as
    it is in scope.

    Attributes
    ----------
    block : list of Statement
        Where statements go now.
    made : dict of str to Assign
        What each name was made by.
    most : int
        The most operations that may be written.
    """

    def __init__(self, names: Names, axes: Axes) -> None:
        self.names = names
        self.axes = axes
        self.block: list[Statement] = []
        self.made: dict[str, Assign] = {}
        self.depth: dict[str, int] = {}
        self.most = sys.maxsize
        self._known: list[dict[Any, Ref]] = [{}]

    @contextmanager
    def inner(self) -> Iterator[list[Statement]]:
        """Open a block of its own, for the body of a loop or a branch."""
        outer, self.block = self.block, []
        self._known.append({})
        try:
            yield self.block
        finally:
            self.block = outer
            self._known.pop()

    def know(self, statements: Iterable[Statement]) -> None:
        """Let values that the forward pass has computed be used again."""
        for s in statements:
            if isinstance(s, Assign):
                self._known[-1][self._key(s.op, s.args, s.params, s.out.axes)] = s.out

    def mark(self) -> tuple[int, dict[Any, Ref]]:
        """Remember the state of the current block."""
        return len(self.block), dict(self._known[-1])

    def rewind(self, mark: tuple[int, dict[Any, Ref]]) -> None:
        """Take back what was written since a mark."""
        del self.block[mark[0] :]
        self._known[-1] = mark[1]

    def fresh(self, hint: str, axes: Sequence[str] = (), kind: str = "float") -> Ref:
        """Make a variable."""
        if len(self.made) >= self.most:
            raise NotGenerated(f"more than {self.most} operations")
        ref = Ref(self.names(hint), tuple(axes), kind)
        self.depth[ref.name] = len(self._known)
        return ref

    def is_inside(self, name: str, depth: int) -> bool:
        """Tell whether a variable belongs to a block deeper than a depth."""
        return self.depth.get(name, 0) > depth

    @property
    def level(self) -> int:
        """How deep the current block is."""
        return len(self._known)

    def emit(
        self,
        op: str,
        args: Sequence[Operand],
        params: tuple[Any, ...] = (),
        axes: Sequence[str] | None = None,
        kind: str | None = None,
        hint: str = "",
    ) -> Ref:
        """Write ``out = op(args)``, or find the name that has this value already."""
        args = tuple(args)
        if op == "neg" and isinstance(args[0], Ref) and self.is_negative(args[0]):
            inner = self.made[args[0].name]
            x = renamed(inner.args[0], inner.out.axes, args[0].axes)
            return x if isinstance(x, Ref) else self.emit("add", (x, Const(0.0)))
        axes = self.axes.union(*args) if axes is None else tuple(axes)
        key = self._key(op, args, params, axes)
        for known in self._known:
            if key in known:
                found = known[key]
                return Ref(found.name, axes, found.kind)
        out = self.fresh(hint or "t", axes, kind or self._kind(op, args))
        assign = Assign(out, op, args, params)
        self.block.append(assign)
        self.made[out.name] = assign
        self._known[-1][key] = out
        return out

    def knows(self, op: str, args: Sequence[Operand], params: tuple[Any, ...], axes: Sequence[str]) -> bool:
        """Tell whether an operation has been written where its value is in scope."""
        key = self._key(op, args, params, axes)
        return any(key in known for known in self._known)

    def _key(self, op: str, args: Sequence[Operand], params: tuple[Any, ...], axes: Sequence[str]) -> Any:
        """Describe an operation by all but the names of its axes: axes of one size stand for one another."""
        order: dict[str, int] = {}
        for x in args:
            for a in x.axes:
                order.setdefault(a, len(order))
        for a in axes:
            order.setdefault(a, len(order))

        def plain(p: Any) -> Any:
            if isinstance(p, tuple):
                return tuple(map(plain, p))
            return order.get(p, p) if isinstance(p, str) else p

        operands = tuple(
            (x.name, *(order[a] for a in x.axes)) if isinstance(x, Ref) else (type(x.value), x.value) for x in args
        )
        sizes = tuple(self.axes.sizes.get(a, a) for a in order)
        return (op, operands, plain(params), tuple(order[a] for a in axes), sizes)

    def _kind(self, op: str, args: Sequence[Operand]) -> str:
        return KINDS[DISCRETE[op][1]] if op in DISCRETE else "float"

    def is_negative(self, x: Operand) -> bool:
        """Tell whether a value was made by a change of sign."""
        made = self.made.get(x.name) if isinstance(x, Ref) else None
        return made is not None and made.op == "neg" and isinstance(made.args[0], Ref)

    def total(self, parts: Sequence[Operand]) -> Operand:
        """Add values up, subtracting those whose sign was changed."""
        if len(parts) > 1 and parts[0].kind in ("box", "list"):
            return self.emit("plus", (self.total(parts[:-1]), parts[-1]), axes=(), kind=parts[0].kind)
        parts = sorted(parts, key=self.is_negative)
        result = parts[0]
        for part in parts[1:]:
            if self.is_negative(part):
                result = self.emit("sub", (result, self.emit("neg", (part,))))
            else:
                result = self.emit("add", (result, part))
        return result

    def product(self, factors: Sequence[Operand]) -> Operand:
        """Multiply any number of factors."""
        result = factors[0]
        for factor in factors[1:]:
            result = self.emit("imul" if result.kind == "int" else "mul", (result, factor))
        return result

    def contract(self, factors: Sequence[Operand], axes: Sequence[str]) -> Ref:
        """Sum a product over the axes that are not among ``axes``, two factors at a time, the smallest first.

        A change of sign is made after the sum, where there is less to change.
        """
        negative = [self.is_negative(f) for f in factors]
        factors = [self.emit("neg", (f,)) if sign else f for f, sign in zip(factors, negative, strict=True)]
        while len(factors) > 2:
            pairs = [
                (len(self.axes.union(a, b)), i, j) for j, b in enumerate(factors) for i, a in enumerate(factors[:j])
            ]
            _, i, j = min(pairs)
            merged = self.emit("mul", (factors[i], factors[j]))
            factors = [f for k, f in enumerate(factors) if k not in (i, j)] + [merged]
        made = self.correlation(factors, axes) or self.emit("contract", factors, (), axes=axes, kind=factors[0].kind)
        return self.emit("neg", (made,)) if sum(negative) % 2 else made

    def correlation(self, factors: Sequence[Operand], axes: Sequence[str]) -> Ref | None:
        """Recognise a sum over windows of a vector."""
        for x, w in (factors, factors[::-1]) if len(factors) == 2 else ():
            made = self.made.get(x.name) if isinstance(x, Ref) else None
            if made is None or made.op != "windows" or not isinstance(made.args[0], Ref) or len(axes) != 1:
                continue
            if sorted(x.axes) == sorted((*w.axes, *axes)) and x.kind == w.kind == "float":
                sizes = self.axes.sizes
                return self.emit("correlate", (made.args[0], w, sizes[axes[0]]), (), axes=axes)
        return None

    # ------------------------------------------------------------ integers, simplified where they are written

    def plus(self, a: Operand, b: Operand) -> Operand:
        """The sum of two scalar integers, with constants collected."""
        if isinstance(a, Const):
            a, b = b, a
        if isinstance(b, Const):
            if isinstance(a, Const):
                return Const(a.value + b.value)
            if b.value == 0:
                return a
            inner = self.made.get(a.name)
            if inner is not None and inner.op == "iadd" and isinstance(inner.args[1], Const):
                return self.plus(inner.args[0], Const(inner.args[1].value + b.value))
        return self.emit("iadd", (a, b))

    def minus(self, a: Operand, b: Operand) -> Operand:
        """The difference of two scalar integers, with constants collected."""
        if a == b:
            return Const(0)
        if isinstance(b, Const):
            return self.plus(a, Const(-b.value))
        if isinstance(a, Ref):
            inner = self.made.get(a.name)
            if inner is not None and inner.op == "iadd" and b in inner.args:
                return inner.args[1 - inner.args.index(b)]
        return self.emit("isub", (a, b))
