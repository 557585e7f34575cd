"""Cotangents and tangents as values: sums of them, all their leaves, and how they lie in boxes."""

from __future__ import annotations

from collections.abc import Iterator

from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.intermediate.statements import (
    BoxOf,
    Const,
    Plus,
    Var,
)
from tapeengine.chad.lowering.patterns import part, stored
from tapeengine.chad.lowering.slots import Accumulation
from tapeengine.chad.lowering.values import (
    ARRAYS,
    Bag,
    Member,
    Nullable,
    Owed,
    Rows,
    Scattered,
    Single,
    Tup,
    Value,
    Zero,
)
from tapeengine.chad.types import (
    Array,
    LArray,
    Linear,
    LNamed,
    LProduct,
    LReal,
    LSum,
    LUnit,
    Product,
    Type,
)

__all__ = ["Cotangents"]


class Cotangents(Accumulation):
    """What the rules use to handle cotangents and tangents."""

    def plus(self, a: Value, b: Value, of: Linear) -> Value:
        """Add two cotangents or tangents."""
        if isinstance(a, Zero) or isinstance(b, Zero):
            return b if isinstance(a, Zero) else a
        match of:
            case LReal():
                return self.b.compute("add", self.operand(a), self.operand(b))
            case LNamed(name):
                out = self.b.fresh("d", BoxOf(name, linear=True))
                self.b.add(Plus(out, self.operand(a), self.operand(b)))
                return out
            case LProduct(items) | LSum(items):
                return Tup(tuple(self.plus(part(a, k), part(b, k), t) for k, t in enumerate(items)))
            case LArray() if isinstance(a, ARRAYS) and isinstance(b, Single | Scattered | Bag):
                made = self.copy(a, Array(of.element))
                self.add_rows(made, b)
                return made
            case LArray() if isinstance(b, ARRAYS) and isinstance(a, Single | Scattered | Bag):
                return self.plus(b, a, of)
            case LArray(element) if isinstance(a, ARRAYS) and isinstance(b, ARRAYS):
                x, y = a, b
                return self.build(self.size(x), lambda i: self.plus(self.index(x, i), self.index(y, i), element))
            case LArray():
                return Bag((a, b), next((x.like for x in (a, b) if isinstance(x, Bag)), None))
        return a

    def full(self, value: Value, of: Linear, like: Value | None) -> Value:
        """Give a cotangent whose leaves are there."""
        match of:
            case LReal():
                return Const(0.0, REAL) if isinstance(value, Zero) else value
            case LProduct(items):
                likes = like.items if isinstance(like, Tup) else (None,) * len(items)
                return Tup(tuple(self.full(part(value, k), t, likes[k]) for k, t in enumerate(items)))
            case LSum(options):
                of_options = like.options if isinstance(like, Member) else (None,) * len(options)
                return Tup(tuple(self.full(part(value, k), t, of_options[k]) for k, t in enumerate(options)))
            case LUnit():
                return Tup(())
            case LNamed(name):
                return Const(None, BoxOf(name, linear=True)) if isinstance(value, Zero) else value
            case LArray() if stored(of) == Product(()):
                return Tup(())
            case LArray():
                if isinstance(value, ARRAYS):
                    return value
                if isinstance(value, Bag | Zero) and value.like is not None:
                    like = value.like
                if isinstance(value, Owed):
                    return value.settle(None)
                made = self.zeros(of, like)
                self.add_rows(made, value)
                return made
        return value

    def completed(self, value: Value, of: Type) -> Value:
        """Give a value whose tangents have all their leaves; a tangent stands beside the value that it belongs to."""
        if isinstance(of, Linear):
            return self.full(value, of, None)
        if not isinstance(of, Product) or not any(isinstance(t, Linear | Product) for t in of.items):
            return value
        found = [self.completed(part(value, k), t) for k, t in enumerate(of.items) if not isinstance(t, Linear)]
        if len(of.items) == 2 and isinstance(of.items[1], Linear) and not isinstance(of.items[0], Linear):
            return Tup((found[0], self.full(part(value, 1), of.items[1], found[0])))
        return Tup(tuple(self.completed(part(value, k), t) for k, t in enumerate(of.items)))

    def in_box(self, value: Value, of: Linear) -> Value:
        """Give a cotangent as it lies in a box: where there is none of an array, it is null."""
        match of:
            case LProduct(items) | LSum(items):
                return Tup(tuple(self.in_box(part(value, k), t) for k, t in enumerate(items)))
            case LArray() if stored(of) == Product(()):
                return Tup(())
            case LArray() if not isinstance(value, Zero | Rows):
                return self.full(value, of, None)
            case LUnit():
                return Tup(())
        return value

    def from_box(self, of: Type, leaves: Iterator[Var]) -> Value:
        """Give the cotangent that a box holds."""
        match of:
            case Product(items):
                return Tup(tuple(self.from_box(t, leaves) for t in items))
            case Array(element):
                return Nullable(self.pattern(element, leaves, False, 1))
        return next(leaves)
