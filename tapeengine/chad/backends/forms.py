"""The forms of Python values: how values of a program's types lie in the leaves that the core takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tapeengine._core.programs.native import Form
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.intermediate.operations import REAL, TRUTH, WHOLE
from tapeengine.chad.intermediate.statements import ArrayOf
from tapeengine.chad.intermediate.statements import Type as FormType
from tapeengine.chad.types import Array, Bool, Float, Int, Named, Product, Sum, Type, numbers_of, rank_of

__all__ = ["Forms", "leaf", "same"]

KINDS: Mapping[FormType, str] = MappingProxyType({REAL: "float", WHOLE: "int", TRUTH: "bool"})
#: The dimensions of an array of the machine (``TE_RANK`` in ``machine.h``).
MOST_AXES = 4


class Forms:
    """The forms of a program's types.

    Parameters
    ----------
    classes : mapping of str to type
        The classes of named products.
    types : mapping of str to Sum, optional
        The definitions of named types. With these, values may have references, which only native code takes: rows of
        any sizes, records of arrays, members of sums. Without them arrays of arrays have rows of equal size.
    """

    def __init__(self, classes: Mapping[str, type], types: Mapping[str, Sum] | None = None) -> None:
        self.classes = classes
        self.types = types
        self.boxes: dict[str, Form] = {}

    def __call__(self, of: Type) -> Form:
        """Give the form of a type.

        Raises
        ------
        NotAssembled
            For types that have none.
        """
        match of:
            case Float() | Int() | Bool():
                return Form(type(of).__name__.lower())
            case Array(element):
                if 0 < rank_of(of) <= (MOST_AXES if self.types is None else 1):
                    return Form(type(numbers_of(of)).__name__.lower(), rank_of(of))
                if self.types is not None:
                    return filled(Form("rows"), (self(element),))
            case Product(items, name, fields) if items or self.types is not None:
                return self.product(name, fields, tuple(map(self, items)))
            case Sum(options) if self.types is not None:
                return filled(Form("sum"), tuple(map(self, options)))
            case Named(name) if self.types is not None:
                if name not in self.boxes:
                    self.boxes[name] = box = Form("box")
                    filled(box, tuple(map(self, self.types[name].options)))
                return self.boxes[name]
        raise NotAssembled(f"a value of type {type(of).__name__}")

    def has(self, of: Type) -> bool:
        """Tell whether a type has a form."""
        try:
            self(of)
        except NotAssembled:
            return False
        return True

    def product(self, name: str, fields: tuple[str, ...], parts: tuple[Form, ...]) -> Form:
        """Give the form of a tuple or a record.

        A record with arrays has none without references, because the passes could not protect it from changes in place.
        """
        if not name:
            return Form("tuple", items=parts)
        if self.types is None and any(leaf.rank for part in parts for leaf in part.leaves()):
            raise NotAssembled("a record of arrays")
        return Form("record", items=parts, cls=self.classes[name], fields=fields)


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
    kind = KINDS.get(of.element if isinstance(of, ArrayOf) else of)
    if kind is None or rank > MOST_AXES:
        raise NotAssembled("a value that is neither a number nor an array of few dimensions")
    return Form(kind, rank)


def same(a: Sequence[Form], b: Sequence[Form]) -> bool:
    """Tell whether leaves have the same kinds and numbers of dimensions."""
    return [(f.kind, f.rank) for f in a] == [(f.kind, f.rank) for f in b]
