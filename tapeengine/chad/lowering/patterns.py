"""The types of the leaves of values, and the patterns of the elements of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from ..intermediate.operations import REAL, TRUTH, WHOLE, Scalar
from ..intermediate.statements import ArrayOf, BoxOf, Const, Var
from ..intermediate.statements import Type as FormType
from ..language.types import (
    Array,
    Bool,
    Float,
    Int,
    LArray,
    Linear,
    LNamed,
    LProduct,
    LReal,
    LSum,
    LUnit,
    Named,
    Product,
    Sum,
    Type,
    remembered,
    with_parts,
)
from . import values as V


@remembered
def stored(of: Type) -> Type:
    """Give the type in which values of a linear type are stored; other types are unchanged."""
    match of:
        case LReal():
            return Float()
        case LUnit():
            return Product(())
        case LProduct(items) | LSum(items):
            return Product(tuple(map(stored, items)))
        case LArray(element):
            inner = stored(element)
            return Array(inner) if has_leaves(inner) else Product(())
        case Array() | Product():
            return with_parts(of, stored)
    return of


@remembered
def are_numbers(of: LProduct) -> bool:
    """Tell whether cotangents are tuples of numbers; discrete parts have none."""
    return all(isinstance(t, LReal | LUnit) for t in of.items)


def has_leaves(of: Type) -> bool:
    """Tell whether values of a type have leaves."""
    return not isinstance(of, Product) or any(map(has_leaves, of.items))


def leaf_type(of: Type) -> FormType:
    """Give the type of a scalar or a box."""
    match of:
        case Float() | LReal():
            return REAL
        case Int():
            return WHOLE
        case Bool():
            return TRUTH
        case Named(name):
            return BoxOf(name)
        case LNamed(name):
            return BoxOf(name, linear=True)
    raise V.NotLowered(f"a value of type {of}")


def part(value: V.Value, k: int) -> V.Value:
    """Give a component of a tuple; zero for a zero, and the unit for a tuple without leaves (stored as the unit)."""
    if isinstance(value, V.Zero):
        like = value.like
        parts_ = like.items if isinstance(like, V.Tup) else like.options if isinstance(like, V.Member) else ()
        return V.Zero(parts_[k]) if k < len(parts_) else V.Zero()
    if isinstance(value, V.Tup):
        return value.items[k] if value.items else value
    raise V.NotLowered(f"a component of a {type(value).__name__}")


def changed(value: V.Value, parts: Mapping[int, V.Value], n: int) -> V.Tup:
    """Give a tuple of n components with others in some places."""
    items = list(items_of(value, n))
    for k, item in parts.items():
        items[k] = item
    return V.Changed(tuple(items), tuple(parts), value == V.ZERO)


def items_of(value: V.Value, n: int) -> Sequence[V.Value]:
    """Give the components of a tuple of n."""
    if isinstance(value, V.Tup) and len(value.items) == n:
        return value.items
    return (value,) * n if value == V.ZERO else [part(value, k) for k in range(n)]


def options(of: Type) -> tuple[Type, ...]:
    """Give the types of the parts of a product, or of the options of a sum; nothing for another type."""
    return of.items if isinstance(of, Product | LProduct) else of.options if isinstance(of, Sum | LSum) else ()


def likes(of: Type, like: V.Value | None) -> Iterator[tuple[int, Any, V.Value | None]]:
    """Iterate over the parts of a product or the options of a sum: number, type, and primal if it is known."""
    types = options(of)
    match like:
        case V.Member(_, known):
            pass
        case V.Tup() | V.Zero():
            known = tuple(part(like, k) for k in range(len(types)))
        case _:
            known = (None,) * len(types)
    return zip(range(len(types)), types, known, strict=True)


def is_zero(value: V.Value) -> bool:
    """Tell whether all of a cotangent is known to be zero."""
    match value:
        case V.Tup(items) | V.Items(items, _):
            return bool(items) and all(map(is_zero, items))
        case V.Rows(_, element):
            return is_zero(element)
    return isinstance(value, V.Zero)


def tangent_type(of: Type) -> Linear | None:
    """Give the type of the tangent in the type of a pair of value and tangent; None for another type."""
    match of:
        case Product((value, Linear() as d)) if not isinstance(value, Linear):
            return d
    return None


def variables(value: V.Value | None) -> Iterator[Var | None]:
    """Iterate over the variables of a value; None stands for unknown ones."""
    match value:
        case Var():
            yield value
        case V.Part(array, indices):
            yield array
            yield from (i for i in indices if isinstance(i, Var))
        case V.Rows(size, element):
            yield from variables(size)
            yield from variables(element)
        case V.Tup(items) | V.Items(items, _):
            for x in items:
                yield from variables(x)
        case V.Member(tag, options):
            for y in (tag, *options):
                yield from variables(y)
        case V.Zero(like):
            yield from variables(like)
        case Const() | None:
            return
        case _:
            yield None


def parts(of: V.Value) -> Iterator[V.Part]:
    """Iterate over the stored leaves of an element."""
    if isinstance(of, V.Part):
        yield of
    for x in V.inside(of):
        yield from parts(x)


def first_part(of: V.Value) -> V.Part | None:
    """Give the first stored leaf of an element."""
    return next(parts(of), None)


def first_rows(of: V.Value) -> V.Rows | None:
    """Give the first array inside an element."""
    return of if isinstance(of, V.Rows) else next((r for x in V.inside(of) if (r := first_rows(x)) is not None), None)


def all_parts(of: V.Value) -> bool:
    """Tell whether every leaf of an element is stored."""
    if isinstance(of, V.Member) and None in of.options:
        return False
    return isinstance(of, V.Part) or (isinstance(of, V.Tup | V.Member | V.Rows) and all(map(all_parts, V.inside(of))))


def is_dense(value: V.Value) -> bool:
    """Tell whether no array inside a value has rows of different sizes."""
    if isinstance(value, V.Items):
        return all(not isinstance(x, V.ARRAYS) and is_dense(x) for x in value.items)
    return not (isinstance(value, V.Rows) and value.size is None) and all(map(is_dense, V.inside(value)))


def is_changeable(value: V.Value) -> TypeGuard[V.Rows]:
    """Tell whether the leaves of an array are complete arrays of numbers, whose elements can be changed."""

    def stored_(of: V.Value) -> bool:
        if isinstance(of, V.Tup):
            return all(map(stored_, of.items))
        if not isinstance(of, V.Part) or of.indices or not isinstance(of.array.type, ArrayOf):
            return False
        return of.array.type.rank == 1 and isinstance(of.array.type.element, Scalar)

    return isinstance(value, V.Rows) and value.size is not None and stored_(value.element)


def holds_boxes(value: V.Value) -> bool:
    """Tell whether a leaf of a value is an array of boxes or of references, which has one dimension."""
    if isinstance(value, V.Part):
        return isinstance(value.array.type, ArrayOf) and isinstance(value.array.type.element, ArrayOf | BoxOf)
    return any(map(holds_boxes, value.items if isinstance(value, V.Items) else V.inside(value)))


def leaf_types(of: Type, dense: bool) -> list[FormType]:
    """Give the types of the operands of a value."""
    match stored(of):
        case Product(items):
            return [x for t in items for x in leaf_types(t, dense)]
        case Sum(options):
            return [WHOLE, *(x for t in options for x in leaf_types(t, dense))]
        case Array() as array:
            return list(array_types(array, dense)) or [WHOLE]
        case scalar:
            return [leaf_type(scalar)]


def array_types(of: Array, dense: bool) -> list[ArrayOf]:
    """Give the types of the arrays of the leaves of an array."""
    element = stored(of.element)
    match element:
        case Product(items):
            return [x for t in items for x in array_types(Array(t), dense)]
        case Sum(options):
            return [ArrayOf(WHOLE), *(x for t in options for x in array_types(Array(t), dense))]
        case Array():
            inner = array_types(element, dense)
            if not inner:
                raise V.NotLowered("rows without elements")
            if dense:
                return [ArrayOf(t.element, t.rank + 1) for t in inner]
            return [ArrayOf(t) for t in inner]
    return [ArrayOf(leaf_type(element))]
