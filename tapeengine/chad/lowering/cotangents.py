"""Lowering of cotangents and tangents: slots of the environment vector, and accumulation into them (EC section 5).

While all contributions come from the block that opened a slot, its value is an expression. The first contribution from
inside a loop or a branch turns it into a variable, or an array of zeros, to which further contributions are added in
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..intermediate import statements as F
from ..intermediate.analysis import linear
from ..intermediate.operations import REAL, WHOLE
from ..language.terms import MANY
from ..language.types import INT, Array, LArray, Linear, LNamed, LProduct, LReal, LSum, LUnit, Product, Sum, Type
from ..language.written import is_flat
from . import patterns as P
from . import values as V
from .arrays import ZERO_SIZE, Arrays
from .blocks import Block


class Slot:
    """A cell for the cotangent of a variable."""

    def add(self, value: V.Value) -> None:
        """Add a cotangent."""

    def close(self) -> V.Value:
        """Give the sum."""
        return V.ZERO


class TupleSlot(Slot):
    """A slot for each component."""

    def __init__(self, items: list[Slot]) -> None:
        self.items = items

    def add(self, value: V.Value) -> None:
        if isinstance(value, V.Zero):
            return
        for k, item in enumerate(self.items):
            item.add(P.part(value, k))

    def close(self) -> V.Value:
        found = tuple(item.close() for item in self.items)
        likes = tuple(x.like for x in found if isinstance(x, V.Zero))
        return V.Zero(V.Tup(likes)) if len(likes) == len(found) else V.Tup(found)  # type: ignore[arg-type]


class Leaf(Slot):
    """A slot that is no tuple. While the applications of both functions of a branch are written, it may be open again.

    `level`: the number of branches around the slot.
    """

    def __init__(self, lower: Cotangents) -> None:
        self.lower = lower
        self.block = lower.b.block
        self.level = len(lower.branches)

    def add(self, value: V.Value) -> None:
        if isinstance(value, V.Zero):
            return
        slot, branches = self, self.lower.branches
        while slot.level < len(branches) and (inner := branches[slot.level].slot(slot)) is not None:
            slot = inner
        slot.add_here(value)

    def add_here(self, value: V.Value) -> None:
        """Add a cotangent to this slot, and not to the one of a branch."""
        raise NotImplementedError

    def is_open_in(self, block: Block) -> bool:
        """Tell whether the slot has been opened in a block, and is not yet stored in memory."""
        raise NotImplementedError

    def again(self) -> Leaf:
        """Give a slot of the same kind."""
        raise NotImplementedError


class Adding:
    """The slots of one of two branches, for those that are open around it."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.slots: dict[Leaf, Leaf] = {}

    def slot(self, outer: Leaf) -> Leaf | None:
        """Give the slot of the branch for an outer one; None if contributions go to the outer one itself."""
        found = self.slots.get(outer)
        if found is None and self.block.parent is not None and outer.is_open_in(self.block.parent):
            found = self.slots[outer] = outer.again()
            found.block, found.level = self.block, outer.level + 1
        return found


class NumberSlot(Leaf):
    """A slot for a number or the cotangent of a box.

    `is_shared`: whether it is one of many components, most of which get the same in both branches.
    """

    def __init__(self, lower: Cotangents, of: F.Type, is_shared: bool) -> None:
        super().__init__(lower)
        self.of = of
        self.is_shared = is_shared
        self.value: F.Operand | None = None
        self.var: F.Var | None = None

    def is_open_in(self, block: Block) -> bool:
        return self.is_shared and self.block is block and self.var is None

    def again(self) -> NumberSlot:
        return NumberSlot(self.lower, self.of, True)

    def add_here(self, value: V.Value) -> None:
        b, x = self.lower.b, self.lower.operand(value)
        if b.block is not self.block and getattr(x, "name", "") in b.block.alone:
            self.add_before(b.block, x)
            return
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

    def add_before(self, block: Block, x: F.Operand) -> None:
        """Add a number before a loop or branch."""
        assert block.before is not None
        assert block.parent is not None
        with self.lower.b.at(block.before, block.parent):
            self.add_here(x)

    def plus(self, a: F.Operand, b: F.Operand) -> F.Operand:
        if self.of == REAL:
            return self.lower.b.compute("add", a, b)
        out = self.lower.b.fresh("d", self.of)
        self.lower.b.add(F.Plus(out, a, b))
        return out

    def close(self) -> V.Value:
        return self.var or (V.ZERO if self.value is None else self.value)


class NumbersSlot(Leaf):
    """A slot for a tuple of many numbers: a tuple that is added, and what is added to some components.

    `root`: the slot outside of all branches, which has the slots of the components.
    """

    def __init__(self, lower: Cotangents, types: tuple[Linear, ...], root: NumbersSlot | None = None) -> None:
        super().__init__(lower)
        self.types = types
        self.root = root or self
        self.whole: V.Tup | None = None
        self.numbers: dict[int, NumberSlot] = {}

    def is_open_in(self, block: Block) -> bool:
        return self.block is block

    def again(self) -> NumbersSlot:
        return NumbersSlot(self.lower, self.types, self.root)

    def number(self, k: int) -> NumberSlot:
        """Give the slot of a component."""
        if k not in self.numbers:
            slot = self.numbers[k] = NumberSlot(self.lower, REAL, True)
            slot.block, slot.level = self.block, self.level
            known = P.part(self.whole or V.ZERO, k)
            slot.value = None if isinstance(known, V.Zero) else self.lower.operand(known)
        return self.numbers[k]

    def add_here(self, value: V.Value) -> None:
        items, places = P.items_of(value, len(self.types)), range(len(self.types))
        if isinstance(value, V.Changed) and value.is_of_zero:
            places = value.places  # type: ignore[assignment]
        elif self.whole is None and self.lower.b.block is self.block:
            is_made = isinstance(value, V.Tup) and value.items is items
            self.whole, places = value if is_made else V.Tup(tuple(items)), self.numbers  # type: ignore[assignment]
        for k in places:
            if isinstance(self.types[k], LReal):
                self.root.number(k).add(items[k])

    def close(self) -> V.Value:
        found = {k: slot.close() for k, slot in self.numbers.items()}
        return P.changed(self.whole or V.ZERO, found, len(self.types)) if found else self.whole or V.ZERO


class ArraySlot(Leaf):
    """A slot for an array.

    It can take over the array of a contribution and add to it in place, which saves a copy; ``goes_on`` says whether
    it may take over any array, ``took_over`` whether it has done so.
    """

    def __init__(self, lower: Cotangents, of: LArray, like: V.Value | None) -> None:
        super().__init__(lower)
        self.of = of
        self.like = like
        self.values: list[V.Value] = []
        self.buffer: V.Rows | None = None
        self.goes_on = False
        self.took_over = False

    def go_on(self, rows: V.Rows) -> None:
        """Take over an array."""
        known, self.values = self.values, [rows]
        self.goes_on = self.took_over = True
        for value in known:
            self.add(value)

    def add_one(self, value: V.Single) -> None:
        """Add to one element of the array that the slot has taken over."""
        rows = self.values.pop()
        assert isinstance(rows, V.Rows)
        old = self.lower.index(rows, value.index)
        total = self.lower.plus(old, value.value, self.of.element)
        self.buffer = self.lower.replaced(rows, value.index, True, total)

    def is_open_in(self, block: Block) -> bool:
        is_here = self.block is block and self.buffer is None and self.like is not None and is_flat(self.of.element)
        return is_here and not any(map(P.is_changeable, self.values))

    def again(self) -> ArraySlot:
        made = ArraySlot(self.lower, self.of, self.like)
        made.goes_on = True
        return made

    def add_here(self, value: V.Value) -> None:
        b = self.lower.b
        if self.goes_on and self.buffer is None and b.block is self.block:
            if isinstance(value, V.Single) and len(self.values) == 1 and P.is_changeable(self.values[0]):
                self.add_one(value)
                return
            if P.is_changeable(value) and self.values and all(isinstance(x, V.Single) for x in self.values):
                self.go_on(value)
                return
        if isinstance(value, V.Owed) and self.buffer is None and b.block is self.block and self.like is not None:
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

    def close(self) -> V.Value:
        if self.buffer is not None:
            return self.buffer
        if not self.values:
            return V.Zero(self.like)
        only = self.values[0]
        if len(self.values) == 1 and isinstance(only, V.ARRAYS):
            return only
        if self.lower.b.block is self.block and {True, False} <= set(map(self.is_new, self.values)):
            return self.lower.sum_of(self.values, lambda: self.lower.zeros(self.of, self.like))
        return V.Bag(tuple(self.values), self.like)

    def is_new(self, value: V.Value) -> bool | None:
        """Tell whether a cotangent is an array that is made here; None if it is not an array in memory."""
        return self.lower.is_new(value) if P.is_changeable(value) else None


def summands(values: Sequence[V.Value]) -> Iterator[V.Value]:
    """Go through cotangents, and those in sums of cotangents."""
    for value in values:
        if isinstance(value, V.Bag):
            yield from summands(value.parts)
        else:
            yield value


def inside(outer: Block, inner: Block) -> Block:
    """Give the child of a block that contains another block."""
    for block in inner.chain():
        if block.parent is outer:
            return block
    raise V.NotLowered("a contribution to a slot that is not open here")


def element_of(like: V.Value) -> V.Value:
    """Give the pattern of the elements of an array."""
    if isinstance(like, V.Rows):
        return like.element
    if isinstance(like, V.Pull):
        return like.at(F.Const(0, like.size.type))
    raise V.NotLowered(f"the elements of a {type(like).__name__}")


def are_alike(a: V.Value, b: V.Value) -> bool:
    """Tell whether the elements of two arrays are numbers, or tuples of numbers, that are stored in the same form."""
    if isinstance(a, V.Tup) and isinstance(b, V.Tup):
        return len(a.items) == len(b.items) and all(map(are_alike, a.items, b.items))
    return all(isinstance(x, V.Part) and isinstance(x.array.type, F.ArrayOf) for x in (a, b))


def lacks_rows(value: V.Value, of: Linear) -> bool:
    """Tell whether rows in an element are a symbolic zero."""
    match of:
        case LArray(element):
            return isinstance(value, V.Zero) or (isinstance(value, V.Rows) and lacks_rows(value.element, element))
        case LProduct(types) | LSum(types):
            return any(lacks_rows(P.part(value, k), t) for k, t in enumerate(types))
    return False


class Cotangents(Arrays):
    """Methods of the rules that handle cotangents and tangents, and accumulate them."""

    branches: list[Adding]

    def slot(self, of: Linear, like: V.Value | None, is_shared: bool = False) -> Slot:
        """Open a slot; `is_shared` tells whether it is one of many components."""
        match of:
            case LUnit():
                return Slot()
            case LReal():
                return NumberSlot(self, REAL, is_shared)
            case LNamed(name):
                return NumberSlot(self, F.BoxOf(name, linear=True), is_shared)
            case LArray() if P.stored(of) == Product(()):
                return Slot()
            case LArray():
                return ArraySlot(self, of, like)
            case LProduct(types) if len(types) >= MANY and P.are_numbers(of):
                return NumbersSlot(self, types)
            case LProduct() | LSum():
                is_shared = is_shared or (isinstance(of, LProduct) and len(of.items) >= MANY)
                return TupleSlot([self.slot(t, x, is_shared) for _, t, x in P.likes(of, like)])
        raise V.NotLowered(f"a slot of type {of}")

    def sum_of(self, values: Sequence[V.Value], zeros: Callable[[], V.Rows]) -> V.Rows:
        """Give the sum of cotangents of an array as an array of its own: the first array among them, if it can be.

        An array that is made here is no such array: making it takes as long as a sum.
        """
        values = list(summands(values))
        first = next((x for x in values if P.is_changeable(x) and not self.is_new(x)), None)
        made = zeros() if first is None else self.own(first)
        for value in values:
            if value is not first:
                self.add_rows(made, value)
        return made

    def is_new(self, rows: V.Rows) -> bool:
        """Tell whether a statement makes an array."""
        return any(isinstance(self.b.made.get(x.array.name), F.New) for x in P.parts(rows.element))

    # ------------------------------------------------------------ arrays of zeros

    def zeros(self, of: LArray, like: V.Value | None) -> V.Rows:
        """Make an array of zeros of the shape of another array."""
        if like is None:
            raise V.NotLowered("an array of zeros of unknown size")
        rows = self.rows(like) if isinstance(like, V.Items) else like
        size = self.size(rows)
        return V.Rows(size, self.zero_elements(of.element, element_of(rows), (size,)))

    def zero_elements(self, of: Linear, like: V.Value | None, dims: tuple[F.Operand, ...]) -> V.Value:
        """Give the elements of an array of zeros; elements without a primal are never read."""
        match of:
            case LUnit():
                return V.Tup(())
            case LReal():
                return V.Part(self.b.new(F.ArrayOf(REAL, len(dims)), dims))
            case LNamed(name):
                return V.Part(self.b.new(F.ArrayOf(F.BoxOf(name, linear=True)), dims))
            case LProduct() | LSum():
                return V.Tup(tuple(self.zero_elements(t, x, dims) for _, t, x in P.likes(of, like)))
            case LArray() if P.stored(of) == Product(()):
                return V.Tup(())
            case LArray(element) if like is None:
                return V.Rows(ZERO_SIZE, self.zero_elements(element, None, (*dims, ZERO_SIZE)))
            case LArray(element) if like is not None:
                inner = self.rows(like) if isinstance(like, V.Items) else like
                if isinstance(inner, V.Rows) and (inner.size is None or not P.is_dense(inner)):
                    return V.Rows(None, self.zeros_alike(element, inner.element))
                return V.Rows(
                    self.size(inner), self.zero_elements(element, element_of(inner), (*dims, self.size(inner)))
                )
        raise V.NotLowered(f"zeros of type {of}")

    def zeros_alike(self, of: Linear, like: V.Value) -> V.Value:
        """Give the elements of rows of zeros with different sizes."""
        match of:
            case LUnit():
                return V.Tup(())
            case LProduct() | LSum():
                each = P.likes(of, like)
                return V.Tup(tuple(V.ZERO if x is None else self.zeros_alike(t, x) for _, t, x in each))
            case LArray() if P.stored(of) == Product(()):
                return V.Tup(())
            case LArray(element):
                assert isinstance(like, V.Rows)
                return V.Rows(None, self.zeros_alike(element, like.element))
        if not isinstance(like, V.Part):
            raise V.NotLowered("rows of zeros of unknown sizes")
        whole = self.whole(like)
        of_sum = linear(whole.type)
        assert of_sum is not None
        out = self.b.fresh("d", of_sum)
        self.b.add(F.ZerosLike(out, whole))
        return V.Part(out)

    # ------------------------------------------------------------ adding in place

    def add_rows(self, buffer: V.Rows, value: V.Value) -> None:
        """Add a cotangent to an array."""
        match value:
            case V.Zero() | V.Tup():
                return
            case V.Bag(summands):
                for x in summands:
                    self.add_rows(buffer, x)
            case V.Single(index, x):
                self.add_element(buffer.element, index, x)
            case V.Scattered(indices, values):
                with self.b.loop(self.size(indices), hint="k") as body:
                    at = self.operand(self.index(indices, body.step))
                    self.add_element(buffer.element, at, self.index(values, body.step))
            case V.Owed(_, settle):
                settled = settle(buffer)
                if settled is not buffer:
                    self.add_rows(buffer, settled)
            case V.Nullable(element):
                for mine, other in zip(P.parts(buffer.element), P.parts(element), strict=True):
                    self.b.add(F.AddAll(self.whole(mine), other.array))
            case V.Items(items):
                for i, x in enumerate(items):
                    self.add_element(buffer.element, F.Const(i, self.size(value).type), x)
            case V.Rows() if are_alike(buffer.element, value.element):
                for mine, other in zip(P.parts(buffer.element), P.parts(value.element), strict=True):
                    self.b.add(F.AddAll(self.whole(mine), self.whole(other)))
            case V.Rows() | V.Pull():
                with self.b.loop(self.size(value), hint="k") as body:
                    self.add_element(buffer.element, body.step, self.index(value, body.step))
            case _:
                raise V.NotLowered(f"accumulation of a {type(value).__name__}")

    def is_put_back(self, x: F.Operand, array: F.Var, index: F.Operand) -> bool:
        """Leave an element unchanged if it was set to zero only to add its old value again."""
        match self.b.made.get(array.name):
            case F.Changed(_, before, at, F.Const(0.0), True) as made if index in (at, self.unreduced(at)):
                if self.is_element(x, before, at) and self.b.homes[array.name] is self.b.block:
                    made.index, made.is_there = F.Const(-1, WHOLE), False
                    return True
        return False

    def add_element(self, of: V.Value, index: F.Operand, value: V.Value) -> None:
        """Add a cotangent to an element of an array."""
        if isinstance(value, V.Zero):
            return
        match of:
            case V.Part(array, indices):
                assert isinstance(array.type, F.ArrayOf)
                assert len(indices) + 1 == array.type.rank
                d = self.operand(value)
                if not self.is_put_back(d, array, index):
                    self.b.add(F.AddAt(array, (*indices, index), d))
            case V.Tup(items):
                for k, x in enumerate(items):
                    self.add_element(x, index, P.part(value, k))
            case V.Rows():
                row = self.element(of, index, True)
                assert isinstance(row, V.Rows)
                self.add_rows(row, value)
            case V.Zero():
                raise V.NotLowered("a cotangent of an option that does not occur")
            case _:
                raise V.NotLowered("accumulation into a value that is not stored")

    def collected(self, value: V.Value, size: F.Operand, of: LArray) -> V.Value:
        """Give a cotangent of an array as an array of cotangents of its elements."""
        match value:
            case V.Rows() | V.Items() | V.Pull():
                return value
            case V.Zero() | V.Tup():
                return V.Pull(size, lambda _: V.ZERO)
            case _ if isinstance(size, F.Const) and size.value == 0:  # unreachable: the forward pass has failed
                return V.Pull(size, lambda _: V.ZERO)
            case V.Owed(_, settle):
                return settle(None)
            case V.Bag(_, like) if like is not None:
                return self.sum_of((value,), lambda: self.zeros(of, like))
            case V.Bag() | V.Single() | V.Scattered() | V.Nullable():
                given = [x.value if isinstance(x, V.Single) else None for x in summands((value,))]
                return self.sum_of((value,), lambda: V.Rows(size, self.plain_elements(of.element, size, given)))
        raise V.NotLowered(f"a {type(value).__name__} as an array of cotangents")

    def plain_elements(self, of: Linear, size: F.Operand, given: Sequence[V.Value | None]) -> V.Value:
        """Give the elements of an array of zeros, which have no sizes; zero for parts to which nothing is added."""
        if all(isinstance(x, V.Zero) for x in given):
            return V.ZERO
        if isinstance(of, LProduct | LSum):
            items = of.items if isinstance(of, LProduct) else of.options
            each = ([x if x is None else P.part(x, k) for x in given] for k in range(len(items)))
            return V.Tup(tuple(self.plain_elements(t, size, xs) for t, xs in zip(items, each, strict=True)))
        if isinstance(of, LArray):
            raise V.NotLowered("rows of zeros of unknown sizes")
        return self.zero_elements(of, V.ZERO, (size,))

    # ------------------------------------------------------------ sums, missing leaves, boxes

    def plus(self, a: V.Value, b: V.Value, of: Linear) -> V.Value:
        """Add two cotangents or tangents."""
        if isinstance(a, V.Zero) or isinstance(b, V.Zero):
            return b if isinstance(a, V.Zero) else a
        match of:
            case LReal():
                return self.b.compute("add", self.operand(a), self.operand(b))
            case LNamed(name):
                out = self.b.fresh("d", F.BoxOf(name, linear=True))
                self.b.add(F.Plus(out, self.operand(a), self.operand(b)))
                return out
            case LProduct(items) | LSum(items):
                return V.Tup(tuple(self.plus(P.part(a, k), P.part(b, k), t) for k, t in enumerate(items)))
            case LArray() if isinstance(a, V.ARRAYS) and isinstance(b, V.Single | V.Scattered | V.Bag):
                made = self.copy(a)
                self.add_rows(made, b)
                return made
            case LArray() if isinstance(b, V.ARRAYS) and isinstance(a, V.Single | V.Scattered | V.Bag):
                return self.plus(b, a, of)
            case LArray(element) if isinstance(a, V.ARRAYS) and isinstance(b, V.ARRAYS):
                x, y = a, b
                return self.build(self.size(x), lambda i: self.plus(self.index(x, i), self.index(y, i), element))
            case LArray():
                return V.Bag((a, b), next((x.like for x in (a, b) if isinstance(x, V.Bag)), None))
        return a

    def full(self, value: V.Value, of: Linear, like: V.Value | None) -> V.Value:
        """Give a cotangent with all leaves."""
        match of:
            case LReal():
                return F.Const(0.0, REAL) if isinstance(value, V.Zero) else value
            case LProduct():
                return V.Tup(tuple(self.full(P.part(value, k), t, x) for k, t, x in P.likes(of, like)))
            case LSum():
                has = isinstance(like, V.Member)
                return V.Tup(tuple(self.full_option(P.part(value, k), t, x, has) for k, t, x in P.likes(of, like)))
            case LUnit():
                return V.Tup(())
            case LNamed(name):
                return F.Const(None, F.BoxOf(name, linear=True)) if isinstance(value, V.Zero) else value
            case LArray() if P.stored(of) == Product(()):
                return V.Tup(())
            case LArray():
                if isinstance(value, V.ARRAYS):
                    return self.full_elements(value, of, like)
                if isinstance(value, V.Bag | V.Zero) and value.like is not None:
                    like = value.like
                if isinstance(value, V.Owed):
                    return value.settle(None)
                return self.sum_of((value,), lambda: self.zeros(of, like))
        return value

    def full_elements(self, value: V.Rows | V.Pull | V.Items, of: LArray, like: V.Value | None) -> V.Value:
        """Give an array of cotangents in which rows are not symbolic zeros."""
        elements = (value.element,) if isinstance(value, V.Rows) else getattr(value, "items", ())
        if not isinstance(like, V.ARRAYS) or not any(lacks_rows(x, of.element) for x in elements):
            return value
        return V.Pull(self.size(value), lambda i: self.full(self.index(value, i), of.element, self.index(like, i)))

    def full_option(self, value: V.Value, of: Linear, like: V.Value | None, is_known: bool) -> V.Value:
        """Give the cotangent of an option of a sum; that of an option known not to occur is never read."""
        if is_known and like is None and isinstance(value, V.Zero):
            leaves = iter([self.nothing(t) for t in P.leaf_types(P.stored(of), True)])
            return self.restored(P.stored(of), leaves, True)  # type: ignore[arg-type]
        return self.full(value, of, like)

    def beside(self, d: V.Value, of: Linear, value: V.Value) -> V.Value:
        """Give a tangent for pairing with its value: arrays are complete, and zeros know their primals."""
        if isinstance(d, V.Zero):
            return V.Zero(value)
        if is_flat(of):
            return d
        if isinstance(d, V.Single | V.Scattered | V.Bag | V.Nullable | V.Owed):
            return self.full(d, of, value)
        if not isinstance(value, V.Tup | V.Member) or not P.options(of) or value == V.Tup(()):
            return d
        each = P.likes(of, value)
        return V.Tup(tuple(P.part(d, k) if x is None else self.beside(P.part(d, k), t, x) for k, t, x in each))

    def completed(self, value: V.Value, of: Type) -> V.Value:
        """Give a value whose tangents have all leaves; each tangent is paired with its value."""
        if isinstance(of, Linear):
            return self.full(value, of, None)
        if not isinstance(of, Product) or not any(isinstance(t, Linear | Product) for t in of.items):
            return value
        found = [self.completed(P.part(value, k), t) for k, t in enumerate(of.items) if not isinstance(t, Linear)]
        d = P.tangent_type(of)
        if d is not None:
            return V.Tup((found[0], self.full(P.part(value, 1), d, found[0])))
        return V.Tup(tuple(self.completed(P.part(value, k), t) for k, t in enumerate(of.items)))

    def in_box(self, value: V.Value, of: Linear) -> V.Value:
        """Give a cotangent in the form stored in a box: null for an array without one."""
        match of:
            case LProduct(items) | LSum(items):
                return V.Tup(tuple(self.in_box(P.part(value, k), t) for k, t in enumerate(items)))
            case LArray() if P.stored(of) == Product(()):
                return V.Tup(())
            case LArray() if not isinstance(value, V.Zero | V.Rows):
                return self.full(value, of, None)
            case LUnit():
                return V.Tup(())
        return value

    def from_box(self, of: Type, leaves: Iterator[F.Var]) -> V.Value:
        """Give the cotangent stored in a box."""
        match of:
            case Product(items):
                return V.Tup(tuple(self.from_box(t, leaves) for t in items))
            case Array(element):
                return V.Nullable(self.restored(element, leaves, False, depth=1))
        return next(leaves)

    # ------------------------------------------------------------ arrays given by their items

    def stacked(self, items: tuple[V.Value, ...], of: Type) -> V.Rows:
        """Store items side by side."""
        if not items:
            return self.empty(P.stored(of))
        size = F.Const(len(items), WHOLE)
        if all(isinstance(x, V.Zero) for x in items):
            return V.Rows(size, V.ZERO)
        if not P.has_leaves(P.stored(of)):
            return V.Rows(size, V.Tup(()))
        match of:
            case Product(types) | LProduct(types) | LSum(types):
                columns = [self.stacked(tuple(P.part(x, k) for x in items), t).element for k, t in enumerate(types)]
                return V.Rows(size, V.Tup(tuple(columns)))
            case Sum(options):
                return V.Rows(size, self.stacked_members(items, options))
        full = [self.full(x, of, None) if isinstance(of, Linear) else x for x in items]
        arrays = [self.column(leaves) for leaves in zip(*(self.flat(x, of, False) for x in full), strict=True)]
        return V.Rows(size, self.restored(of, iter(arrays), False, depth=1))

    def column(self, items: Sequence[F.Operand]) -> F.Var:
        """Store operands of one type in an array."""
        array = self.b.new(F.ArrayOf(items[0].type), (F.Const(len(items), WHOLE),))
        for k, x in enumerate(items):
            self.b.add(F.Store(array, (F.Const(k, WHOLE),), x))
        return array

    def stacked_members(self, items: Sequence[V.Value], options: Sequence[Type]) -> V.Member:
        """Store members of a sum option by option; the fields of an item's other options are never read."""
        members = [x for x in items if isinstance(x, V.Member)]
        assert len(members) == len(items)
        columns: list[V.Value | None] = []
        for k, t in enumerate(options):
            given = [x.options[k] for x in members]
            like = next((x for x in given if x is not None), None)
            full = [like and self.default(like) if x is None else x for x in given]
            columns.append(None if like is None else self.stacked(tuple(full), t).element)  # type: ignore[arg-type]
        return V.Member(self.stacked(tuple(x.tag for x in members), INT).element, tuple(columns))
