"""The form that a value of a type has where nothing else is known of it: scalars, arrays, choices, boxes and lists."""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine.chad.types import Array, Bool, Float, Int, Named, Product, Sum, Type

__all__ = ["Layout"]


class Layout:
    """Tells which types have values that are boxed.

    A recursive sum type has boxes. An array is a list where its elements have no form as columns of numbers: elements
    that are boxed, hold arrays inside a sum, or hold nothing at all.

    Parameters
    ----------
    types : mapping of str to Sum
        What each `Named` type stands for.

    Examples
    --------
    >>> from tapeengine.chad.types import FLOAT
    >>> chain = Sum((Product(), Product((FLOAT, Named("Chain")))), "Chain")
    >>> layout = Layout({"Chain": chain, "Pair": Sum((FLOAT, FLOAT))})
    >>> layout.is_boxed(Named("Chain")), layout.is_boxed(Array(Named("Chain"))), layout.is_boxed(Named("Pair"))
    (True, True, False)
    """

    def __init__(self, types: Mapping[str, Sum]) -> None:
        self.types = types
        self.recursive = frozenset(name for name in types if name in _reached(types, types[name], set()))

    def options(self, of: Type) -> tuple[Type, ...]:
        """Give the options of a sum type."""
        found = self.types[of.name] if isinstance(of, Named) else of
        assert isinstance(found, Sum)
        return found.options

    def is_boxed(self, of: Type) -> bool:
        """Tell whether a value of a type is one box or list."""
        match of:
            case Named(name):
                return name in self.recursive
            case Array(element):
                return self.is_listed(element)
        return False

    def is_listed(self, element: Type) -> bool:
        """Tell whether an array of such elements is a list."""
        match element:
            case Product(items):
                return not items or any(map(self.is_listed, items))
            case Sum() | Named():
                return self.is_boxed(element) or not all(map(self.is_flat, self.options(element)))
            case Array(inner):
                return self.is_listed(inner)
        return False

    def is_flat(self, of: Type) -> bool:
        """Tell whether a value of a type consists of scalars only."""
        match of:
            case Product(items):
                return all(map(self.is_flat, items))
            case Sum() | Named():
                return not self.is_boxed(of) and all(map(self.is_flat, self.options(of)))
        return isinstance(of, Float | Int | Bool)

    def has_sums(self, of: Type) -> bool:
        """Tell whether sums occur in a type, or arrays of nothing."""
        match of:
            case Product(items):
                return any(map(self.has_sums, items))
            case Array(element):
                return self.is_listed(element) or self.has_sums(element)
        return isinstance(of, Sum | Named)

    def kind(self, of: Type) -> str:
        """Give the kind of the variable that holds a scalar or a boxed value."""
        if isinstance(of, Float | Int | Bool):
            return type(of).__name__.lower()
        return "list" if isinstance(of, Array) else "box"


def _reached(types: Mapping[str, Sum], of: Type, found: set[str]) -> set[str]:
    """Collect the named types that occur inside a type."""
    match of:
        case Named(name) if name not in found:
            found.add(name)
            _reached(types, types[name], found)
        case Product(items) | Sum(items):
            for item in items:
                _reached(types, item, found)
        case Array(element):
            _reached(types, element, found)
    return found
