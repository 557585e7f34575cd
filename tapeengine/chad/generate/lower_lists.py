"""Arrays that are lists: what has no form as columns of numbers is read, built and put together element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tapeengine.chad.generate.boxes import canonical, packed, type_of
from tapeengine.chad.generate.values import Boxed, Value
from tapeengine.chad.imperative import Loop, Operand
from tapeengine.chad.types import Array

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower

__all__ = ["collected_list", "concatenated", "is_listed", "length", "replicated"]


def is_listed(L: Lower, *elements: Value) -> bool:
    """Tell whether arrays of some values are lists."""
    return any(L.layout.is_listed(type_of(element)) for element in elements)


def collected_list(L: Lower, loop: Loop, element: Value, write: Callable[[Callable[[], Operand]], Operand]) -> Boxed:
    """Collect what the steps of a loop make; ``write`` writes at the end of its body."""
    of = type_of(element)
    made = write(lambda: packed(L, element, of))
    out = L.b.fresh("xs", (), "list")
    loop.collected.append((out, made))
    return Boxed(out, Array(of))


def length(L: Lower, array: Boxed) -> Operand:
    """Give the size of a list."""
    return L.b.emit("length", (array.ref,), axes=(), kind="int")


def concatenated(L: Lower, first: Value, second: Value) -> Value:
    """Put two lists one after the other."""
    of = first.of if isinstance(first, Boxed) else type_of(second)
    a, b = canonical(L, first, of), canonical(L, second, of)
    assert isinstance(a, Boxed)
    assert isinstance(b, Boxed)
    return Boxed(L.b.emit("join", (a.ref, b.ref), axes=(), kind="list"), of)


def replicated(L: Lower, size: Operand, element: Value) -> Value:
    """Give a list of one element several times."""
    of = type_of(element)
    item = packed(L, element, of)
    return Boxed(L.b.emit("repeat", (item, size), axes=(), kind="list"), Array(of))
