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

    ``valid`` says which positions exist, where the size differs from row to row.
    """

    axis: str
    element: Value
    valid: Operand | None = None


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
        case Along(_, element, _):
            yield from leaves(element)
        case _:
            yield value


def rebuild(value: Value, f: Callable[[Operand | Pending], Value]) -> Value:
    """Apply a function to each leaf of a value."""
    match value:
        case Tup(items):
            return Tup(tuple(rebuild(item, f) for item in items))
        case Items(items):
            return Items(tuple(rebuild(item, f) for item in items))
        case Along(axis, element, valid):
            return Along(axis, rebuild(element, f), valid)
        case _:
            return f(value)


def same_form(a: Value, b: Value) -> bool:
    """Tell whether two values have the same structure."""
    match a, b:
        case (Tup(xs), Tup(ys)) | (Items(xs), Items(ys)):
            return len(xs) == len(ys) and all(map(same_form, xs, ys))
        case Along(), Along():
            return same_form(a.element, b.element)
        case ((Const() | Ref() | Pending()), (Const() | Ref() | Pending())):
            return True
        case _:
            return False
