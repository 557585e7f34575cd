"""Slots of the environment vector during lowering, and accumulation into them (EC section 5).

While all contributions come from the block that opened a slot, its value is an expression. The first contribution from
inside a loop or a branch turns it into a variable, or an array of zeros, to which further contributions are added in
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.analysis import linear
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.lowering.blocks import Block
from tapeengine.chad.lowering.leaves import ZERO_SIZE, Leaves
from tapeengine.chad.lowering.patterns import is_changeable, is_dense, part, parts, stored
from tapeengine.chad.lowering.values import (
    ARRAYS,
    ZERO,
    Bag,
    Items,
    Member,
    NotLowered,
    Nullable,
    Owed,
    Part,
    Pull,
    Rows,
    Scattered,
    Single,
    Tup,
    Value,
    Zero,
)
from tapeengine.chad.types import LArray, Linear, LNamed, LProduct, LReal, LSum, LUnit, Product


class Slot:
    """A cell for the cotangent of a variable."""

    def add(self, value: Value) -> None:
        """Add a cotangent."""

    def close(self) -> Value:
        """Give the sum."""
        return ZERO


class TupleSlot(Slot):
    """A slot for each component."""

    def __init__(self, items: list[Slot]) -> None:
        self.items = items

    def add(self, value: Value) -> None:
        for k, item in enumerate(self.items):
            item.add(part(value, k))

    def close(self) -> Value:
        found = tuple(item.close() for item in self.items)
        likes = tuple(x.like for x in found if isinstance(x, Zero))
        return Zero(Tup(likes)) if len(likes) == len(found) else Tup(found)  # type: ignore[arg-type]


class NumberSlot(Slot):
    """A slot for a number or the cotangent of a box."""

    def __init__(self, lower: Accumulation, of: F.Type) -> None:
        self.lower = lower
        self.of = of
        self.block = lower.b.block
        self.value: F.Operand | None = None
        self.var: F.Var | None = None

    def add(self, value: Value) -> None:
        if isinstance(value, Zero):
            return
        b, x = self.lower.b, self.lower.operand(value)
        if self.var is None and b.block is self.block:
            self.value = x if self.value is None else self.plus(self.value, x)
            return
        if self.var is None:
            inner = inside(self.block, b.block)
            assert inner.before is not None
            with b.at(inner.before, self.block):
                self.var = b.fresh("d", self.of)
                b.add(F.Assign((self.var,), (self.lower.nothing(self.of) if self.value is None else self.value,)))
        b.add(F.Add(self.var, x))

    def plus(self, a: F.Operand, b: F.Operand) -> F.Operand:
        if self.of == REAL:
            return self.lower.b.compute("add", a, b)
        out = self.lower.b.fresh("d", self.of)
        self.lower.b.add(F.Plus(out, a, b))
        return out

    def close(self) -> Value:
        return self.var or (ZERO if self.value is None else self.value)


class ArraySlot(Slot):
    """A slot for an array.

    It can take over the array of a contribution and add to it in place, which saves a copy; ``goes_on`` says whether
    it may take over any array, ``took_over`` whether it has done so.
    """

    def __init__(self, lower: Accumulation, of: LArray, like: Value | None) -> None:
        self.lower = lower
        self.of = of
        self.like = like
        self.block = lower.b.block
        self.values: list[Value] = []
        self.buffer: Rows | None = None
        self.goes_on = False
        self.took_over = False

    def go_on(self, rows: Rows) -> None:
        """Take over an array."""
        known, self.values = self.values, [rows]
        self.goes_on = self.took_over = True
        for value in known:
            self.add(value)

    def add_one(self, value: Single) -> None:
        """Add to one element of the array that the slot has taken over."""
        rows = self.values.pop()
        assert isinstance(rows, Rows)
        old = self.lower.index(rows, value.index)
        total = self.lower.b.compute("add", self.lower.operand(old), self.lower.operand(value.value))
        self.buffer = self.lower.replaced(rows, value.index, True, total)

    def add(self, value: Value) -> None:
        if isinstance(value, Zero):
            return
        b = self.lower.b
        if self.goes_on and self.buffer is None and b.block is self.block:
            if isinstance(value, Single) and len(self.values) == 1 and is_changeable(self.values[0]):
                self.add_one(value)
                return
            if is_changeable(value) and self.values and all(isinstance(x, Single) for x in self.values):
                self.go_on(value)
                return
        if isinstance(value, Owed) and self.buffer is None and b.block is self.block and self.like is not None:
            self.buffer = value.settle(None)
            self.took_over = True
            for known in self.values:
                self.lower.add_rows(self.buffer, known)
            return
        if self.buffer is None and b.block is self.block:
            self.values.append(value)
            return
        if self.buffer is None:
            inner = inside(self.block, b.block)
            assert inner.before is not None
            with b.at(inner.before, self.block):
                self.buffer = self.lower.sum_of(self.values, lambda: self.lower.zeros(self.of, self.like))
        self.lower.add_rows(self.buffer, value)

    def close(self) -> Value:
        if self.buffer is not None:
            return self.buffer
        if not self.values:
            return Zero(self.like)
        only = self.values[0]
        if len(self.values) == 1 and isinstance(only, ARRAYS):
            return only
        if self.lower.b.block is self.block and {True, False} <= set(map(self.is_new, self.values)):
            return self.lower.sum_of(self.values, lambda: self.lower.zeros(self.of, self.like))
        return Bag(tuple(self.values), self.like)

    def is_new(self, value: Value) -> bool | None:
        """Tell whether a cotangent is an array that is made here; None if it is no array in memory."""
        return self.lower.is_new(value) if is_changeable(value) else None


def summands(values: Sequence[Value]) -> Iterator[Value]:
    """Go through cotangents, and those in sums of cotangents."""
    for value in values:
        if isinstance(value, Bag):
            yield from summands(value.parts)
        else:
            yield value


def inside(outer: Block, inner: Block) -> Block:
    """Give the child of a block that contains another block."""
    for block in inner.chain():
        if block.parent is outer:
            return block
    raise NotLowered("a contribution to a slot that is not open here")


class Accumulation(Leaves):
    """Methods of the rules that accumulate."""

    def slot(self, of: Linear, like: Value | None) -> Slot:
        """Open a slot."""
        match of:
            case LUnit():
                return Slot()
            case LReal():
                return NumberSlot(self, REAL)
            case LNamed(name):
                return NumberSlot(self, F.BoxOf(name, linear=True))
            case LArray() if stored(of) == Product(()):
                return Slot()
            case LArray():
                return ArraySlot(self, of, like)
            case LProduct(items):
                likes = like.items if isinstance(like, Tup) else (None,) * len(items)
                return TupleSlot([self.slot(t, x) for t, x in zip(items, likes, strict=True)])
            case LSum(options):
                of_options = like.options if isinstance(like, Member) else (None,) * len(options)
                return TupleSlot([self.slot(t, x) for t, x in zip(options, of_options, strict=True)])
        raise NotLowered(f"a slot of type {of}")

    def sum_of(self, values: Sequence[Value], zeros: Callable[[], Rows]) -> Rows:
        """Give the sum of cotangents of an array as an array of its own: the first array among them, if it can be.

        An array that is made here is no such array: making it takes as long as a sum.
        """
        values = list(summands(values))
        first = next((x for x in values if is_changeable(x) and not self.is_new(x)), None)
        made = zeros() if first is None else self.own(first)
        for value in values:
            if value is not first:
                self.add_rows(made, value)
        return made

    def is_new(self, rows: Rows) -> bool:
        """Tell whether a statement makes an array."""
        return any(isinstance(self.b.made.get(x.array.name), F.New) for x in parts(rows.element))

    # ------------------------------------------------------------ arrays of zeros

    def zeros(self, of: LArray, like: Value | None) -> Rows:
        """Make an array of zeros of the shape of another array."""
        if like is None:
            raise NotLowered("an array of zeros of unknown size")
        rows = self.rows(like) if isinstance(like, Items) else like
        size = self.size(rows)
        return Rows(size, self.zero_elements(of.element, element_of(rows), (size,)))

    def zero_elements(self, of: Linear, like: Value | None, dims: tuple[F.Operand, ...]) -> Value:
        """Give the elements of an array of zeros; elements without a primal are never read."""
        match of:
            case LUnit():
                return Tup(())
            case LReal():
                return Part(self.b.new(F.ArrayOf(REAL, len(dims)), dims))
            case LNamed(name):
                return Part(self.b.new(F.ArrayOf(F.BoxOf(name, linear=True)), dims))
            case LProduct(items):
                return Tup(tuple(self.zero_elements(t, like and part(like, k), dims) for k, t in enumerate(items)))
            case LSum(options):
                assert like is None or isinstance(like, Member)
                each = zip(options, like.options if like else (None,) * len(options), strict=True)
                return Tup(tuple(self.zero_elements(t, x, dims) for t, x in each))
            case LArray() if stored(of) == Product(()):
                return Tup(())
            case LArray(element) if like is None:
                return Rows(ZERO_SIZE, self.zero_elements(element, None, (*dims, ZERO_SIZE)))
            case LArray(element) if like is not None:
                inner = self.rows(like) if isinstance(like, Items) else like
                if isinstance(inner, Rows) and (inner.size is None or not is_dense(inner)):
                    return Rows(None, self.zeros_alike(element, inner.element))
                return Rows(self.size(inner), self.zero_elements(element, element_of(inner), (*dims, self.size(inner))))
        raise NotLowered(f"zeros of type {of}")

    def zeros_alike(self, of: Linear, like: Value) -> Value:
        """Give the elements of rows of zeros with different sizes."""
        match of:
            case LUnit():
                return Tup(())
            case LProduct(items):
                return Tup(tuple(self.zeros_alike(t, part(like, k)) for k, t in enumerate(items)))
            case LSum(options):
                assert isinstance(like, Member)
                each = zip(options, like.options, strict=True)
                return Tup(tuple(ZERO if x is None else self.zeros_alike(t, x) for t, x in each))
            case LArray() if stored(of) == Product(()):
                return Tup(())
            case LArray(element):
                assert isinstance(like, Rows)
                return Rows(None, self.zeros_alike(element, like.element))
        if not isinstance(like, Part):
            raise NotLowered("rows of zeros of unknown sizes")
        whole = self.whole(like)
        of_sum = linear(whole.type)
        assert of_sum is not None
        out = self.b.fresh("d", of_sum)
        self.b.add(F.ZerosLike(out, whole))
        return Part(out)

    # ------------------------------------------------------------ adding in place

    def add_rows(self, buffer: Rows, value: Value) -> None:
        """Add a cotangent to an array."""
        match value:
            case Zero() | Tup():
                return
            case Bag(summands):
                for x in summands:
                    self.add_rows(buffer, x)
            case Single(index, x):
                self.add_element(buffer.element, index, x)
            case Scattered(indices, values):
                with self.b.loop(self.size(indices), hint="k") as body:
                    assert body.index is not None
                    k = body.index
                    self.add_element(buffer.element, self.operand(self.index(indices, k)), self.index(values, k))
            case Owed(_, settle):
                settled = settle(buffer)
                if settled is not buffer:
                    self.add_rows(buffer, settled)
            case Nullable(element):
                for mine, other in zip(parts(buffer.element), parts(element), strict=True):
                    self.b.add(F.AddAll(self.whole(mine), other.array))
            case Items(items):
                for i, x in enumerate(items):
                    self.add_element(buffer.element, F.Const(i, self.size(value).type), x)
            case Rows() if simple(buffer.element) and simple(value.element):
                self.b.add(F.AddAll(self.whole(buffer.element), self.whole(value.element)))  # type: ignore[arg-type]
            case Rows() | Pull():
                with self.b.loop(self.size(value), hint="k") as body:
                    assert body.index is not None
                    self.add_element(buffer.element, body.index, self.index(value, body.index))
            case _:
                raise NotLowered(f"accumulation of a {type(value).__name__}")

    def add_element(self, of: Value, index: F.Operand, value: Value) -> None:
        """Add a cotangent to an element of an array."""
        if isinstance(value, Zero):
            return
        match of:
            case Part(array, indices):
                assert isinstance(array.type, F.ArrayOf)
                assert len(indices) + 1 == array.type.rank
                self.b.add(F.AddAt(array, (*indices, index), self.operand(value)))
            case Tup(items):
                for k, x in enumerate(items):
                    self.add_element(x, index, part(value, k))
            case Rows():
                row = self.element(of, index, True)
                assert isinstance(row, Rows)
                self.add_rows(row, value)
            case Zero():
                raise NotLowered("a cotangent of an option that does not occur")
            case _:
                raise NotLowered("accumulation into a value that is not stored")

    def collected(self, value: Value, size: F.Operand, of: LArray) -> Value:
        """Give a cotangent of an array as an array of cotangents of its elements."""
        match value:
            case Rows() | Items() | Pull():
                return value
            case Zero() | Tup():
                return Pull(size, lambda _: ZERO)
            case _ if (
                isinstance(size, F.Const) and size.value == 0
            ):  # of an element that is not there: a run has failed
                return Pull(size, lambda _: ZERO)
            case Owed(_, settle):
                return settle(None)
            case Bag(_, like) if like is not None:
                return self.sum_of((value,), lambda: self.zeros(of, like))
            case Bag() | Single() | Scattered() | Nullable():
                return self.sum_of((value,), lambda: self.plain_zeros(of, size))
        raise NotLowered(f"a {type(value).__name__} as an array of cotangents")

    def plain_zeros(self, of: LArray, size: F.Operand) -> Rows:
        """Make an array of zeros whose elements have no sizes."""
        return Rows(size, self.plain_elements(of.element, size))

    def plain_elements(self, of: Linear, size: F.Operand) -> Value:
        """Give the elements of such an array."""
        if isinstance(of, LProduct | LSum):
            items = of.items if isinstance(of, LProduct) else of.options
            return Tup(tuple(self.plain_elements(t, size) for t in items))
        if isinstance(of, LArray):
            raise NotLowered("rows of zeros of unknown sizes")
        return self.zero_elements(of, ZERO, (size,))


def element_of(like: Value) -> Value:
    """Give the pattern of the elements of an array."""
    if isinstance(like, Rows):
        return like.element
    if isinstance(like, Pull):
        return like.at(F.Const(0, like.size.type))
    raise NotLowered(f"the elements of a {type(like).__name__}")


def simple(of: Value) -> bool:
    """Tell whether an array is one array of numbers."""
    return isinstance(of, Part) and isinstance(of.array.type, F.ArrayOf)
