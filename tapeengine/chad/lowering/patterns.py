"""The types of the leaves of values, and the patterns of the elements of arrays."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TypeGuard

from tapeengine.chad.intermediate.operations import REAL, TRUTH, WHOLE
from tapeengine.chad.intermediate.statements import (
    ArrayOf,
    BoxOf,
    Const,
    Scalar,
    Var,
)
from tapeengine.chad.intermediate.statements import Type as FormType
from tapeengine.chad.lowering.values import (
    ARRAYS,
    Items,
    Member,
    NotLowered,
    Part,
    Rows,
    Tup,
    Value,
    Zero,
)
from tapeengine.chad.types import (
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
)


@functools.cache
def stored(of: Type) -> Type:
    """Give the type in which values of a linear type are stored; other types are unchanged.

    Examples
    --------
    >>> stored(LProduct((LReal(), LUnit())))
    Product(items=(Float(), Product(items=(), name='', fields=())), name='', fields=())
    """
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
        case Array(element):
            return Array(stored(element))
        case Product(items, name, fields):
            return Product(tuple(map(stored, items)), name, fields)
    return of


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
    raise NotLowered(f"a value of type {of}")


def part(value: Value, k: int) -> Value:
    """Give a component of a tuple; zero for a zero, and the unit for a tuple without leaves (stored as the unit)."""
    if isinstance(value, Zero):
        like = value.like
        parts_ = like.items if isinstance(like, Tup) else like.options if isinstance(like, Member) else ()
        return Zero(parts_[k]) if k < len(parts_) else Zero()
    if isinstance(value, Tup):
        return value.items[k] if value.items else value
    raise NotLowered(f"a component of a {type(value).__name__}")


def is_zero(value: Value) -> bool:
    """Tell whether all of a cotangent is known to be zero."""
    match value:
        case Tup(items) | Items(items, _):
            return bool(items) and all(map(is_zero, items))
        case Rows(_, element):
            return is_zero(element)
    return isinstance(value, Zero)


def tangent_type(of: Type) -> Linear | None:
    """Give the type of the tangent in the type of a pair of value and tangent; None for another type."""
    match of:
        case Product((value, Linear() as d)) if not isinstance(value, Linear):
            return d
    return None


def variables(value: Value | None) -> Iterator[Var | None]:
    """Iterate over the variables of a value; None stands for unknown ones."""
    match value:
        case Var():
            yield value
        case Part(array, indices):
            yield array
            yield from (i for i in indices if isinstance(i, Var))
        case Rows(size, element):
            yield from variables(size)
            yield from variables(element)
        case Tup(items) | Items(items, _):
            for x in items:
                yield from variables(x)
        case Member(tag, options):
            for y in (tag, *options):
                yield from variables(y)
        case Zero(like):
            yield from variables(like)
        case Const() | None:
            return
        case _:
            yield None


def parts(of: Value) -> Iterator[Part]:
    """Iterate over the stored leaves of an element."""
    match of:
        case Part():
            yield of
        case Tup(items):
            for x in items:
                yield from parts(x)
        case Member(tag, options):
            yield from parts(tag)
            for y in options:
                if y is not None:
                    yield from parts(y)
        case Rows(_, element):
            yield from parts(element)


def first_part(of: Value) -> Part | None:
    """Give the first stored leaf of an element."""
    return next(parts(of), None)


def first_rows(of: Value) -> Rows | None:
    """Give the first array inside an element."""
    match of:
        case Rows():
            return of
        case Tup(items):
            return next((r for x in items if (r := first_rows(x)) is not None), None)
        case Member(_, options):
            return next((r for x in options if x is not None and (r := first_rows(x)) is not None), None)
    return None


def all_parts(of: Value) -> bool:
    """Tell whether every leaf of an element is stored."""
    match of:
        case Part():
            return True
        case Tup(items):
            return all(map(all_parts, items))
        case Member(tag, options):
            return all_parts(tag) and all(x is not None and all_parts(x) for x in options)
        case Rows(_, element):
            return all_parts(element)
    return False


def is_dense(value: Value) -> bool:
    """Tell whether no array inside a value has rows of different sizes."""
    match value:
        case Rows(size, element):
            return size is not None and is_dense(element)
        case Tup(items):
            return all(map(is_dense, items))
        case Member(_, options):
            return all(x is None or is_dense(x) for x in options)
        case Items(items):
            return all(not isinstance(x, ARRAYS) and is_dense(x) for x in items)
    return True


def is_changeable(value: Value) -> TypeGuard[Rows]:
    """Tell whether the leaves of an array are complete arrays of numbers, whose elements can be changed."""

    def stored_(of: Value) -> bool:
        if isinstance(of, Tup):
            return all(map(stored_, of.items))
        if not isinstance(of, Part) or of.indices or not isinstance(of.array.type, ArrayOf):
            return False
        return of.array.type.rank == 1 and isinstance(of.array.type.element, Scalar)

    return isinstance(value, Rows) and value.size is not None and stored_(value.element)


def holds_boxes(value: Value) -> bool:
    """Tell whether a leaf of a value is an array of boxes or of references, which has one dimension."""
    match value:
        case Part(array):
            return isinstance(array.type, ArrayOf) and isinstance(array.type.element, ArrayOf | BoxOf)
        case Rows(_, element):
            return holds_boxes(element)
        case Tup(items) | Items(items, _):
            return any(map(holds_boxes, items))
        case Member(_, options):
            return any(x is not None and holds_boxes(x) for x in options)
    return False


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
                raise NotLowered("rows without elements")
            if dense:
                return [ArrayOf(t.element, t.rank + 1) for t in inner]
            return [ArrayOf(t) for t in inner]
    return [ArrayOf(leaf_type(element))]
