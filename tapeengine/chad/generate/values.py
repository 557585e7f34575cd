"""What the value of a source term looks like while it is turned into the imperative form.

Products exist at generation time only. An array is an axis and a value that may depend on it, so that an array of
tuples is a tuple of arrays, and reading it at the index of a loop that became an axis is a renaming.

A member of a sum type is a `Member` where its option is known at generation time, else a `Choice` of the payloads of
all options, of which one counts. A value of a recursive type has no such form: it is `Boxed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tapeengine.chad.imperative import Const, Operand, Ref
from tapeengine.chad.types import Type
from tapeengine.errors import UnsupportedError

__all__ = [
    "Along",
    "Boxed",
    "Choice",
    "Items",
    "Member",
    "NotGenerated",
    "NotWhole",
    "Pending",
    "Tup",
    "Uneven",
    "Value",
    "leaves",
    "rebuild",
    "same_form",
]


class NotGenerated(UnsupportedError):
    """A program has no imperative form yet; its derivative terms are evaluated instead."""


class NotWhole(NotGenerated):
    """A build has no form as whole-array operations, and becomes a loop."""


class Uneven(NotGenerated):
    """Arrays side by side are of different sizes: the shortest counts in a zip, and elsewhere it is an error."""


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


@dataclass(frozen=True)
class Member:
    """A member of the sum type ``of`` whose option is known at generation time: the option is no leaf."""

    of: Type
    option: int
    payload: Value


@dataclass(frozen=True)
class Choice:
    """A member of the sum type ``of``: ``tag`` says which of the payloads ``options`` counts."""

    of: Type
    tag: Operand | Pending
    options: tuple[Value, ...]


@dataclass(frozen=True)
class Boxed:
    """A value of the type ``of`` in a variable of kind "box" or "list" (`tapeengine.chad.generate.boxes`)."""

    ref: Ref
    of: Type


Value = Operand | Pending | Tup | Items | Along | Member | Choice | Boxed


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
        case Member(_, _, payload):
            yield from leaves(payload)
        case Choice(_, tag, options):
            yield tag
            for option in options:
                yield from leaves(option)
        case Boxed(ref):
            yield ref
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
            of_rows = None if sizes is None else f(sizes)
            assert of_rows is None or isinstance(of_rows, Const | Ref | Pending)
            return Along(axis, rebuild(element, f), of_rows)
        case Member(of, option, payload):
            return Member(of, option, rebuild(payload, f))
        case Choice(of, tag, options):
            chosen = f(tag)
            assert isinstance(chosen, Const | Ref | Pending)
            return Choice(of, chosen, tuple(rebuild(option, f) for option in options))
        case Boxed(ref, of):
            made = f(ref)
            assert isinstance(made, Ref)
            return Boxed(made, of)
        case _:
            return f(value)


def same_form(a: Value, b: Value) -> bool:
    """Tell whether two values have the same structure."""
    match a, b:
        case (Tup(xs), Tup(ys)) | (Items(xs), Items(ys)):
            return len(xs) == len(ys) and all(map(same_form, xs, ys))
        case Along(), Along():
            return same_form(a.element, b.element) and (a.sizes is None) == (b.sizes is None)
        case Member(), Member():
            return a.option == b.option and same_form(a.payload, b.payload)
        case Choice(), Choice():
            return all(map(same_form, a.options, b.options))
        case Boxed(), Boxed():
            return True
        case ((Const() | Ref() | Pending()), (Const() | Ref() | Pending())):
            return True
        case _:
            return False
