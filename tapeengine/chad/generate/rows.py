"""Rows of different sizes: they lie in rows of the largest size, beside an array of their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeengine.chad.generate.values import Along, Items, Pending, Tup, Value, rebuild
from tapeengine.chad.imperative import Const, Operand, Ref, renamed

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["evened", "is_implied", "narrowed", "padded", "validity", "with_sizes", "within"]


def with_sizes(L: Lower, array: Along) -> Along:
    """Give an array whose sizes are spelt out, also where its rows are of one size."""
    return array if array.sizes is not None else Along(array.axis, array.element, L.size_of(array.axis))


def validity(L: Lower, array: Along) -> Ref:
    """Give what says which positions along an array's axis exist."""
    assert array.sizes is not None
    index = L.b.emit("arange", (L.size_of(array.axis),), (), axes=(array.axis,), kind="int")
    return L.b.emit("lt", (index, L.force(array.sizes)))


def evened(L: Lower, rows: Sequence[Along]) -> list[Along]:
    """Give arrays a common axis: the first one's where all are of one size, else one as long as the longest."""
    sizes = {L.size_of(r.axis) for r in rows}
    differ = len(sizes) > 1 and (L.general or all(isinstance(n, Const) for n in sizes))
    if not differ and all(r.sizes is None for r in rows):
        return [Along(rows[0].axis, L.matched(r.element, r.axis, rows[0].axis)) for r in rows]
    longest = L.size_of(rows[0].axis)
    for r in rows[1:]:
        n = L.size_of(r.axis)
        longest = longest if n == longest else L.b.emit("imax", (longest, n))
    axis = L.axes.fresh(longest)
    return [padded(L, with_sizes(L, r), axis) for r in rows]


def padded(L: Lower, array: Along, axis: str) -> Along:
    """Give an array along an axis that is at least as long as its own, with zeros behind its elements."""

    def leaf(x: Operand | Pending) -> Value:
        x = L.force(x)
        if not isinstance(x, Ref) or array.axis not in x.axes:
            return x
        dim, axes = x.axes.index(array.axis), tuple(axis if a == array.axis else a for a in x.axes)
        return L.b.emit("pad", (x, L.size_of(axis)), (dim,), axes=axes, kind=x.kind)

    return Along(axis, rebuild(array.element, leaf), array.sizes)


def narrowed(L: Lower, value: Value) -> Value:
    """Give a row that has become one of known size without the positions that do not exist."""
    match value:
        case Tup(items):
            return Tup(tuple(narrowed(L, item) for item in items))
        case Items(items):
            return Items(tuple(narrowed(L, item) for item in items))
        case Along(axis, element, sizes) if sizes is not None:
            size = L.force(sizes)
            if not size.axes:
                return _cut(L, axis, element, size)
            return Along(axis, element, size)
    return value


def _cut(L: Lower, axis: str, element: Value, size: Operand) -> Value:
    if isinstance(size, Ref):
        L.naturals.add(size.name)
    to = L.axes.fresh(size)

    def leaf(x: Operand | Pending) -> Value:
        x = L.force(x)
        if not isinstance(x, Ref) or axis not in x.axes:
            return x
        axes = tuple(to if a == axis else a for a in x.axes)
        return L.b.emit("window", (x, Const(0), size), (x.axes.index(axis),), axes=axes, kind=x.kind)

    return Along(to, rebuild(element, leaf))


def within(L: Lower, index: Operand, sizes: Operand, scope: Scope) -> Operand:
    """Give indices into rows of different sizes, which are checked where they count."""
    if is_implied(L, scope.mask, index, sizes):
        return index
    args = (index, sizes) if scope.mask is None else (index, sizes, scope.mask)
    return L.b.emit("within", args, kind="int")


def is_implied(L: Lower, mask: Operand | None, index: Operand, sizes: Operand) -> bool:
    """Tell whether a mask says that an index is below the sizes of rows."""
    made = L.b.made.get(mask.name) if isinstance(mask, Ref) else None
    if made is None or not isinstance(mask, Ref):
        return False
    args = [renamed(a, made.out.axes, mask.axes) for a in made.args]
    if made.op == "and":
        return any(is_implied(L, a, index, sizes) for a in args)
    return made.op == "lt" and args == [index, sizes]
