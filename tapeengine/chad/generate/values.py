"""What the value of a source term looks like while it is turned into the imperative form.

Products exist at generation time only. An array is an axis and a value that may depend on it, so that an array of
tuples is a tuple of arrays, and reading it at the index of a loop that became an axis is a renaming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapeengine.chad.imperative import Const, Operand, Ref
from tapeengine.errors import UnsupportedError

__all__ = ["Along", "Items", "NotGenerated", "NotWhole", "Pending", "Tup", "Value", "leaves", "rebuild", "same_form"]


class NotGenerated(UnsupportedError):
    """A program has no imperative form yet; its derivative terms are evaluated instead."""


class NotWhole(NotGenerated):
    """A build has no form as whole-array operations, and becomes a loop."""


@dataclass(frozen=True)
class Tup:
    """A tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Items:
    """An array of a size known at generation time, item by item."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Along:
    """An array: ``element`` at each index of ``axis``.

    Where the size differs from row to row, the rows lie in rows of the largest size, and ``sizes`` says how many of the
    positions exist: an integer along the axes around this one.
    """

    axis: str
    element: Value
    sizes: Operand | Pending | None = None


@dataclass(frozen=True)
class Pending:
    """A read that has not happened: ``base`` with axes replaced by indices. Reads of ``a[i][j]`` become one."""

    base: Ref
    indices: tuple[tuple[str, Operand], ...]


Value = Operand | Pending | Tup | Items | Along


def leaves(value: Value) -> Iterator[Operand | Pending]:
    """Go through the scalars and arrays of a value."""
    match value:
        case Tup(items) | Items(items):
            for item in items:
                yield from leaves(item)
        case Along(_, element, sizes):
            yield from leaves(element)
            if sizes is not None:
                yield sizes
        case _:
            yield value


def rebuild(value: Value, f: Callable[[Operand | Pending], Value]) -> Value:
    """Apply a function to each leaf of a value."""
    match value:
        case Tup(items):
            return Tup(tuple(rebuild(item, f) for item in items))
        case Items(items):
            return Items(tuple(rebuild(item, f) for item in items))
        case Along(axis, element, sizes):
            made = None if sizes is None else f(sizes)
            assert made is None or isinstance(made, Const | Ref | Pending)
            return Along(axis, rebuild(element, f), made)
        case _:
            return f(value)


def same_form(a: Value, b: Value) -> bool:
    """Tell whether two values have the same structure."""
    match a, b:
        case (Tup(xs), Tup(ys)) | (Items(xs), Items(ys)):
            return len(xs) == len(ys) and all(map(same_form, xs, ys))
        case Along(), Along():
            return same_form(a.element, b.element) and (a.sizes is None) == (b.sizes is None)
        case ((Const() | Ref() | Pending()), (Const() | Ref() | Pending())):
            return True
        case _:
            return False
