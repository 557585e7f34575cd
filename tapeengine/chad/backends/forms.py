"""The forms of Python values: how values of a program's types lie in the leaves that the core takes and gives."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ..._core.programs.native import Form
from ..intermediate.operations import Scalar
from ..intermediate.statements import ArrayOf
from ..intermediate.statements import Type as FormType
from ..language.kinds import Kind, ListOf, TupleOf, list_axes
from ..language.types import (
    EMPTY,
    UNIT,
    Array,
    Bool,
    Fixed,
    Float,
    Int,
    Named,
    Product,
    Sum,
    Type,
    are_distinct,
    is_discrete,
    numbers_of,
    rank_of,
)
from ..language.written import is_flat
from .machine import MOST_DIMENSIONS, NotAssembled


class Forms:
    """The forms of a program's types.

    * `classes`: the classes of named products.
    * `types`: the definitions of named types. With these, values may have references, which only native code takes:
      rows of any sizes, members of sums. Without them arrays of arrays have rows of equal size.
    """

    def __init__(self, classes: Mapping[str, type], types: Mapping[str, Sum] | None = None) -> None:
        self.classes = classes
        self.types = types
        self.boxes: dict[str, Form] = {}

    def __call__(self, of: Type) -> Form:
        """Give the form of a type; it raises `NotAssembled` for types that have none."""
        match of:
            case Float() | Int() | Bool():
                return Form(type(of).__name__.lower())
            case Array(element):
                if 0 < rank_of(of) <= (MOST_DIMENSIONS if self.types is None else 1):
                    return Form(type(numbers_of(of)).__name__.lower(), rank_of(of))
                if self.types is not None or is_flat(element):
                    return filled(Form("rows"), (self(element),))
            case Product(items, name, fields) if items or name or (self.types is not None and of != EMPTY):
                parts = tuple(map(self, items))
                return Form("record", 0, parts, self.classes[name], fields) if name else Form("tuple", items=parts)
            case Sum(options) if self.types is not None and are_distinct(options):
                return filled(Form("sum"), tuple(map(self, options)))
            case Named(name) if self.types is not None:
                if name not in self.boxes:
                    self.boxes[name] = box = Form("box")
                    filled(box, tuple(map(self, self.types[name].options)))
                return self.boxes[name]
        raise NotAssembled(f"a value of type {type(of).__name__}")

    def built(self, of: Type, kind: Kind, is_linear: bool = False) -> Form:
        """Give the form of a value that the core builds alone, with the lists that it has in Python if it can.

        Of a cotangent, which is linear, parts without real numbers are None.
        It raises `NotAssembled` for rows, which it builds as their primals, other than lists of records of numbers.
        """
        match of:
            case _ if is_linear and is_discrete(of):
                return Form("tuple", values=(None,))
            case Array(Product(items) as element):
                numbers = all(isinstance(item, Float | Int | Bool) for item in items)
                if numbers and isinstance(kind, ListOf) and kind.made is list:
                    return filled(Form("rows"), (self(element),))
            case Array() if 0 < rank_of(of) <= MOST_DIMENSIONS:
                return Form(type(numbers_of(of)).__name__.lower(), rank_of(of), lists=list_axes(kind, rank_of(of)) or 0)
            case Fixed(value=value):
                return Form("tuple", values=(value,))
            case Sum(options) if len(values := [o.value for o in options if isinstance(o, Fixed)]) == len(options):
                return Form("int", values=tuple(values))
            case Product(items, name, fields) if of != UNIT:
                kinds = (
                    kind.items if isinstance(kind, TupleOf) and len(kind.items) == len(items) else [None] * len(items)
                )
                parts = tuple(map(self.built, items, kinds, itertools.repeat(is_linear)))
                return Form("record", 0, parts, self.classes[name], fields) if name else Form("tuple", items=parts)
            case Float() | Int() | Bool():
                return self(of)
        raise NotAssembled("rows or optional parts in a value")

    def find(self, of: Type) -> Form | None:
        """Give the form of a type; None if it has none."""
        try:
            return self(of)
        except NotAssembled:
            return None


def has_rows(of: Type) -> bool:
    """Tell whether a type has arrays of other elements than numbers."""
    if isinstance(of, Array):
        return not rank_of(of)
    return isinstance(of, Product) and any(map(has_rows, of.items))


def may_have_rows(of: Type) -> bool:
    """Tell whether lists of a type may have rows of different sizes, or parts of it such lists."""
    return rank_of(of) > 1 if isinstance(of, Array) else isinstance(of, Product) and any(map(may_have_rows, of.items))


def filled(form: Form, items: tuple[Form, ...]) -> Form:
    """Set the parts of a form with references, which have a limited number of leaves."""
    try:
        form.fill(items)
    except ValueError as reason:
        raise NotAssembled(str(reason)) from None
    return form


def leaf(of: FormType) -> Form:
    """Give the form of a number or an array of numbers."""
    rank = of.rank if isinstance(of, ArrayOf) else 0
    number = of.element if isinstance(of, ArrayOf) else of
    if not isinstance(number, Scalar) or rank > MOST_DIMENSIONS:
        raise NotAssembled("a value that is neither a number nor an array of few dimensions")
    return Form(number.python, rank)


def same(a: Sequence[Form], b: Sequence[Form]) -> bool:
    """Tell whether leaves have the same kinds and numbers of dimensions."""
    return [(f.kind, f.rank) for f in a] == [(f.kind, f.rank) for f in b]
