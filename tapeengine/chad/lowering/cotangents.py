"""Lowering of cotangents and tangents: sums, completion of missing leaves, and storage in boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.lowering import values as V
from tapeengine.chad.lowering.patterns import has_leaves, leaf_types, part, stored, tangent_type
from tapeengine.chad.lowering.slots import Accumulation
from tapeengine.chad.types import (
    INT,
    Array,
    LArray,
    Linear,
    LNamed,
    LProduct,
    LReal,
    LSum,
    LUnit,
    Product,
    Sum,
    Type,
)


class Cotangents(Accumulation):
    """Methods of the rules that handle cotangents and tangents."""

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
                return V.Tup(tuple(self.plus(part(a, k), part(b, k), t) for k, t in enumerate(items)))
            case LArray() if isinstance(a, V.ARRAYS) and isinstance(b, V.Single | V.Scattered | V.Bag):
                made = self.copy(a, Array(of.element))
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
            case LProduct(items):
                likes = like.items if isinstance(like, V.Tup) else (None,) * len(items)
                return V.Tup(tuple(self.full(part(value, k), t, likes[k]) for k, t in enumerate(items)))
            case LSum(options):
                return V.Tup(tuple(self.full_option(part(value, k), t, like, k) for k, t in enumerate(options)))
            case LUnit():
                return V.Tup(())
            case LNamed(name):
                return F.Const(None, F.BoxOf(name, linear=True)) if isinstance(value, V.Zero) else value
            case LArray() if stored(of) == Product(()):
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

    def full_option(self, value: V.Value, of: Linear, like: V.Value | None, k: int) -> V.Value:
        """Give the cotangent of an option of a sum; that of an option that does not occur is never read."""
        if isinstance(like, V.Member) and like.options[k] is None and isinstance(value, V.Zero):
            leaves = iter([self.nothing(t) for t in leaf_types(stored(of), True)])
            return self.restored(stored(of), leaves, True)  # type: ignore[arg-type]
        return self.full(value, of, like.options[k] if isinstance(like, V.Member) else None)

    def beside(self, d: V.Value, of: Linear, value: V.Value) -> V.Value:
        """Give a tangent for pairing with its value: arrays are complete, and zeros know their primals."""
        if isinstance(d, V.Zero):
            return V.Zero(value)
        if isinstance(d, V.Single | V.Scattered | V.Bag | V.Nullable | V.Owed):
            return self.full(d, of, value)
        types = of.items if isinstance(of, LProduct) else of.options if isinstance(of, LSum) else ()
        values = value.items if isinstance(value, V.Tup) else value.options if isinstance(value, V.Member) else ()
        if not types or len(types) != len(values):
            return d
        each = enumerate(zip(types, values, strict=True))
        return V.Tup(tuple(part(d, k) if x is None else self.beside(part(d, k), t, x) for k, (t, x) in each))

    def completed(self, value: V.Value, of: Type) -> V.Value:
        """Give a value whose tangents have all leaves; each tangent is paired with its value."""
        if isinstance(of, Linear):
            return self.full(value, of, None)
        if not isinstance(of, Product) or not any(isinstance(t, Linear | Product) for t in of.items):
            return value
        found = [self.completed(part(value, k), t) for k, t in enumerate(of.items) if not isinstance(t, Linear)]
        d = tangent_type(of)
        if d is not None:
            return V.Tup((found[0], self.full(part(value, 1), d, found[0])))
        return V.Tup(tuple(self.completed(part(value, k), t) for k, t in enumerate(of.items)))

    def in_box(self, value: V.Value, of: Linear) -> V.Value:
        """Give a cotangent in the form stored in a box: null for an array without one."""
        match of:
            case LProduct(items) | LSum(items):
                return V.Tup(tuple(self.in_box(part(value, k), t) for k, t in enumerate(items)))
            case LArray() if stored(of) == Product(()):
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
                return V.Nullable(self.pattern(element, leaves, False, 1))
        return next(leaves)

    # ------------------------------------------------------------ arrays given by their items

    def stacked(self, items: tuple[V.Value, ...], of: Type) -> V.Rows:
        """Store items side by side."""
        if not items:
            return self.empty(stored(of))
        size = F.Const(len(items), WHOLE)
        if all(isinstance(x, V.Zero) for x in items):
            return V.Rows(size, V.ZERO)
        if not has_leaves(stored(of)):
            return V.Rows(size, V.Tup(()))
        match of:
            case Product(types) | LProduct(types) | LSum(types):
                columns = [self.stacked(tuple(part(x, k) for x in items), t).element for k, t in enumerate(types)]
                return V.Rows(size, V.Tup(tuple(columns)))
            case Sum(options):
                return V.Rows(size, self.stacked_members(items, options))
            case Array() | LArray():
                return V.Rows(size, self.stacked_rows(items, of))
        return V.Rows(size, self.stacked_scalars([self.flat(x, of, True)[0] for x in items]))

    def stacked_scalars(self, items: Sequence[F.Operand]) -> V.Part:
        """Store operands of one type in an array."""
        array = self.b.new(F.ArrayOf(items[0].type), (F.Const(len(items), WHOLE),))
        for k, x in enumerate(items):
            self.b.add(F.Store(array, (F.Const(k, WHOLE),), x))
        return V.Part(array)

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

    def stacked_rows(self, items: Sequence[V.Value], of: Array | LArray) -> V.Rows:
        """Store references to the arrays of rows, leaf by leaf."""
        full = [self.full(x, of, None) if isinstance(of, Linear) else x for x in items]
        leaves = zip(*(self.flat(x, stored(of), False) for x in full), strict=True)
        columns = iter([self.stacked_scalars(column).array for column in leaves])
        return V.Rows(None, self.pattern(stored(of).element, columns, False, 2))  # type: ignore[attr-defined]


def lacks_rows(value: V.Value, of: Linear) -> bool:
    """Tell whether rows in an element are a symbolic zero."""
    match of:
        case LArray(element):
            return isinstance(value, V.Zero) or (isinstance(value, V.Rows) and lacks_rows(value.element, element))
        case LProduct(types) | LSum(types):
            return any(lacks_rows(part(value, k), t) for k, t in enumerate(types))
    return False
