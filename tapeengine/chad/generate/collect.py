"""What the steps of a loop give, put side by side along a new axis; rows may differ in size from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tapeengine.chad.generate.values import Along, Choice, Items, Member, NotGenerated, Tup, Value, leaves
from tapeengine.chad.imperative import Const, Loop, Operand, Ref

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower

__all__ = ["UNKNOWN", "collected_array", "measure"]

#: Stands for the size of an axis until there is a variable to read it off.
UNKNOWN = Const(-1)


def collected_array(L: Lower, loop: Loop, value: Value, size: Operand) -> Along:
    """Collect what each step of a loop, which has been written, gives."""
    axis = L.axes.fresh(size)
    to = {a: L.axes.fresh(UNKNOWN) for a in L.all_axes(value) if depends(L, a)}

    def collect(x: Any) -> Ref:
        out = L.b.fresh("xs", (axis, *(to.get(a, a) for a in x.axes)), x.kind)
        loop.collected.append((out, x))
        return out

    result = Along(axis, collected_rows(L, value, to, collect))
    measure(L, result)
    remember(L, result)
    return result


def collected_rows(L: Lower, value: Value, to: Mapping[str, str], collect: Callable[[Any], Ref]) -> Value:
    """Give what a loop collects; arrays whose size is known in its steps only are collected with their sizes."""
    match value:
        case Tup(items):
            return Tup(tuple(collected_rows(L, item, to, collect) for item in items))
        case Items(items):
            return Items(tuple(collected_rows(L, item, to, collect) for item in items))
        case Member(of, option, payload):
            return Member(of, option, collected_rows(L, payload, to, collect))
        case Choice(of, tag, options):
            return Choice(of, collect(tag), tuple(collected_rows(L, option, to, collect) for option in options))
        case Along(axis, element, sizes) if axis in to:
            made = collected_rows(L, element, to, collect)
            each = collect(L.size_of(axis) if sizes is None else sizes)
            L.naturals.add(each.name)
            return Along(to[axis], made, each)
        case Along(axis, element, sizes):
            made = collected_rows(L, element, to, collect)
            return Along(axis, made, None if sizes is None else collect(sizes))
    return collect(value)


def depends(L: Lower, axis: str) -> bool:
    """Tell whether the size of an axis is only known inside the loop."""
    size = L.size_of(axis)
    return isinstance(size, Ref) and L.b.is_inside(size.name, L.b.level)


def measure(L: Lower, value: Value) -> None:
    """Read sizes that differ between branches or steps off what was given."""
    match value:
        case Tup(items) | Items(items):
            for item in items:
                measure(L, item)
        case Member(_, _, payload):
            measure(L, payload)
        case Choice(_, _, options):
            for option in options:
                measure(L, option)
        case Along(axis, element):
            first = next(leaves(element), None)
            if L.size_of(axis) == UNKNOWN:
                if not isinstance(first, Ref):
                    raise NotGenerated("arrays of different sizes without elements")
                L.axes.sizes[axis] = L.b.emit("size", (first,), (first.axes.index(axis),), axes=(), kind="int")
            measure(L, element)


def remember(L: Lower, value: Value) -> None:
    """Remember that no row is longer than the axis that rows of different sizes lie along."""
    match value:
        case Tup(items) | Items(items) | Choice(_, _, items):
            for item in items:
                remember(L, item)
        case Member(_, _, payload):
            remember(L, payload)
        case Along(axis, element, sizes):
            if isinstance(sizes, Ref):
                L.bounds[sizes.name] = L.size_of(axis)
            remember(L, element)
