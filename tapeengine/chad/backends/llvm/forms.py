"""Forms of Python values of any type, for programs whose rows may have different sizes."""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine._core.programs.native import Form
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.types import Array, Bool, Float, Int, Named, Product, Sum, Type

__all__ = ["Forms"]


class Forms:
    """The forms of a program's types.

    Parameters
    ----------
    types : mapping of str to Sum
        The definitions of named types.
    classes : mapping of str to type
        The classes of named products.
    """

    def __init__(self, types: Mapping[str, Sum], classes: Mapping[str, type]) -> None:
        self.types = types
        self.classes = classes
        self.boxes: dict[str, Form] = {}

    def __call__(self, of: Type) -> Form:
        """Give the form of a type.

        Raises
        ------
        NotAssembled
            For types without leaves, such as functions.
        """
        match of:
            case Float() | Int() | Bool():
                return Form(type(of).__name__.lower())
            case Array(Float() | Int() | Bool() as element):
                return Form(type(element).__name__.lower(), 1)
            case Array(element):
                return Form("rows", items=(self(element),))
            case Product(items, name, fields):
                parts = tuple(map(self, items))
                return (
                    Form("record", items=parts, cls=self.classes[name], fields=fields)
                    if name
                    else Form("tuple", items=parts)
                )
            case Sum(options):
                return Form("sum", items=tuple(map(self, options)))
            case Named(name):
                if name not in self.boxes:
                    self.boxes[name] = made = Form("box")
                    made.fill(tuple(map(self, self.types[name].options)))
                return self.boxes[name]
        raise NotAssembled(f"a value of type {type(of).__name__}")
