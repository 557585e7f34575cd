"""Arrays as whole-array operations: builds and maps become axes, reads gathers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.boxes import element_at, empty
from tapeengine.chad.generate.collect import collected_array
from tapeengine.chad.generate.lower_lists import collected_list, is_listed, length, replicated
from tapeengine.chad.generate.rows import narrowed, within
from tapeengine.chad.generate.values import (
    Along,
    Boxed,
    Items,
    NotGenerated,
    NotWhole,
    Tup,
    Value,
)
from tapeengine.chad.imperative import Const, Loop, Operand, Ref

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES", "counter", "where"]


def build(L: Lower, t: S.Build, scope: Scope) -> Value:
    size = L.number(t.size, scope)
    return build_over(L, size, lambda i, inner: L(t.body, inner.bind(**{t.index.name: i})), scope)


Body = Callable[[Operand, "Scope"], Value]


# EC section 7: build n (i. t)
def build_over(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build an array: item by item where it is short, at once where that is possible, else in a loop."""
    if isinstance(size, Const) and 0 < size.value <= L.unrolled:
        return Items(tuple(body(Const(i), scope) for i in range(int(size.value))))
    if size.axes:
        return ragged(L, size, body, scope)
    size = natural(L, size)
    mark = L.b.mark()
    try:
        axis = L.axes.fresh(size)
        made = Along(axis, body(counter(L, axis), replace(scope, is_whole=True)))
        if is_listed(L, made.element):
            raise NotWhole("an array of boxes")
        return made
    except NotWhole:
        if scope.is_whole:
            raise
        L.b.rewind(mark)
        return build_loop(L, size, body, scope)


def natural(L: Lower, size: Operand) -> Operand:
    """Take a negative size as zero."""
    if isinstance(size, Const):
        return Const(max(0, size.value))
    along = L.index_of(size)
    if along is not None and isinstance(along[1], Const) and along[1].value >= 0:
        return size
    made = L.b.made.get(size.name)
    if (made is not None and made.op in ("size", "imax")) or size.name in L.naturals:
        return size
    return L.b.emit("imax", (size, Const(0)))


def counter(L: Lower, axis: str) -> Ref:
    """Give the indices along an axis."""
    return L.b.emit("arange", (L.size_of(axis),), (), axes=(axis,), kind="int")


def ragged(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build rows of different sizes in rows of the largest size, with a mask of what exists."""
    axis = L.axes.fresh(bound(L, size))
    index = counter(L, axis)
    valid: Operand = L.b.emit("lt", (index, size))
    mask = valid if scope.mask is None else L.b.emit("and", (scope.mask, valid), kind="bool")
    for n in (size, natural(L, size)):
        if isinstance(n, Ref):
            L.bounds.setdefault(n.name, L.size_of(axis))
    return Along(axis, body(index, replace(scope, mask=mask, is_whole=True)), natural(L, size))


def bound(L: Lower, size: Operand) -> Operand:
    """Give a number that none of some sizes exceeds: for a triangle, the side of the square around it."""
    if isinstance(size, Ref) and size.name in L.bounds:
        return L.bounds[size.name]
    along = L.index_of(size)
    if along is not None and isinstance(along[1], Const):
        return L.b.plus(L.size_of(along[0]), Const(max(0, along[1].value)))
    return L.b.emit("largest", (size,), (), axes=(), kind="int")


def build_loop(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build an array step by step."""
    with L.b.inner() as block:
        index = L.b.fresh("i", (), "int")
        loop = Loop(block, index, size)
        made = L.settled(L.stacked(L.all_forced(body(index, scope))))
        listed = collected_list(L, loop, made, lambda write: write()) if is_listed(L, made) else None
    L.b.block.append(loop)
    return collected_array(L, loop, made, size) if listed is None else listed


def elements(L: Lower, t: S.Elements, scope: Scope) -> Value:
    if not t.items:
        return empty(L, t.type)
    return Items(tuple(L(item, scope) for item in t.items))


def index(L: Lower, t: S.Index, scope: Scope) -> Value:
    return at(L, L(t.array, scope), L.number(t.index, scope), scope)


def at(L: Lower, array: Value, i: Operand, scope: Scope, is_within: bool = False) -> Value:
    """Read an array; ``is_within`` says that an index is known not to be out of range."""
    if isinstance(array, Items):
        if isinstance(i, Const) and -len(array.items) <= i.value < len(array.items):
            return array.items[int(i.value)]
        array = L.stacked(array)
    if isinstance(array, Boxed):
        return element_at(L, array, i)
    assert isinstance(array, Along)
    if array.sizes is not None and not is_within:
        i = within(L, i, L.force(array.sizes), scope)
    return narrowed(L, L.at(array.element, array.axis, i, scope))


def size(L: Lower, t: S.Size, scope: Scope) -> Value:
    return size_of(L, L(t.array, scope))


def size_of(L: Lower, array: Value) -> Operand:
    """Give the size of an array."""
    if isinstance(array, Items):
        return Const(len(array.items))
    if isinstance(array, Boxed):
        return length(L, array)
    assert isinstance(array, Along)
    return L.size_of(array.axis) if array.sizes is None else L.force(array.sizes)


def map_(L: Lower, t: S.Map, scope: Scope) -> Value:
    arrays, n = matching(L, [L(a, scope) for a in t.arrays])

    def body(i: Operand, inner: Scope) -> Value:
        unmasked = replace(inner, mask=None)
        items = {v.name: at(L, a, i, unmasked, is_within=True) for v, a in zip(t.vars, arrays, strict=True)}
        return L(t.body, inner.bind(**items))

    if isinstance(n, Ref):
        L.naturals.add(n.name)
    return build_over(L, n, body, scope)


def matching(L: Lower, arrays: list[Value]) -> tuple[list[Value], Operand]:
    """Give arrays that run side by side, and the size of the shortest.

    Where that is not known they are taken to be of one size, which is checked when the program runs; the general form
    and that of lists takes the smallest size.
    """
    sizes = list(dict.fromkeys(size_of(L, a) for a in arrays))
    if len(sizes) == 1:
        return arrays, sizes[0]
    if L.is_sized:
        raise NotGenerated("arrays of different sizes")
    if all(isinstance(n, Const) for n in sizes):
        return arrays, Const(min(n.value for n in sizes if isinstance(n, Const)))
    stacked = [a if isinstance(a, Along | Boxed) else L.stacked(a) for a in arrays]
    rows = [a for a in stacked if isinstance(a, Along)]
    if L.general or len(rows) < len(arrays) or any(r.sizes is not None for r in rows):
        for n in sizes[1:]:
            sizes[0] = L.b.emit("imin", (sizes[0], n))
        return stacked, sizes[0]
    even = [Along(rows[0].axis, L.matched(a.element, a.axis, rows[0].axis)) for a in rows]
    return list(even), L.size_of(rows[0].axis)


def gather(L: Lower, t: S.Gather, scope: Scope) -> Value:
    array, indices = L.stacked(L(t.array, scope)), L.stacked(L(t.indices, scope))
    assert isinstance(indices, Along)
    if isinstance(array, Boxed):
        size = size_of(L, indices)
        return build_over(L, size, lambda i, _: at(L, array, L.force(at(L, indices, i, scope)), scope), scope)
    assert isinstance(array, Along)
    i = L.force(indices.element)
    if array.sizes is not None:
        i = within(L, i, L.force(array.sizes), scope)
    return Along(indices.axis, L.at(array.element, array.axis, i, scope), indices.sizes)


def scatter(L: Lower, t: S.Scatter, scope: Scope) -> Value:
    array, indices = L.stacked(L(t.array, scope)), L.stacked(L(t.indices, scope))
    values = L.stacked(L(t.values, scope))
    assert isinstance(array, Along)
    assert isinstance(indices, Along)
    assert isinstance(values, Along)
    if scope.is_whole:
        raise NotWhole("a scatter inside a build")
    if array.sizes is not None:
        raise NotGenerated("a scatter into rows of different sizes")
    moved = L.renamed(values.element, values.axis, indices.axis)
    places = L.spread(L.force(indices.element), (indices.axis,))
    return Along(array.axis, scattered(L, array.element, places, moved, (array.axis, indices.axis)))


def scattered(L: Lower, base: Value, where: Operand, values: Value, axes: tuple[str, str]) -> Value:
    """Add values, whose axis is the second one, into an array along the first one."""
    match base, values:
        case Tup(xs), Tup(ys):
            return Tup(tuple(scattered(L, x, where, y, axes) for x, y in zip(xs, ys, strict=True)))
        case (Items(), _) | (_, Items()):
            return scattered(L, L.stacked(base), where, L.stacked(values), axes)
        case Along(axis, element, None), Along(other, added, None):
            return Along(axis, scattered(L, element, where, L.matched(added, other, axis), axes))
        case Along(), Along():
            raise NotGenerated("a scatter of rows of different sizes")
    x, y = L.force(base), L.force(values)
    rest = tuple(a for a in L.axes.union(x, y) if a not in axes)
    parts = (L.spread(x, (axes[0], *rest)), where, L.spread(y, (axes[1], *rest)))
    return L.b.emit("scatter", parts, (), axes=(axes[0], *rest), kind=x.kind)


def replicate(L: Lower, t: S.Replicate, scope: Scope) -> Value:
    n = L.number(t.size, scope)
    if n.axes:
        raise NotWhole("an array whose size depends on an index")
    term = L.all_forced(L(t.term, scope))
    return replicated(L, n, term) if is_listed(L, term) else Along(L.axes.fresh(natural(L, n)), term)


def where(L: Lower, test: Operand) -> tuple[Ref, str]:
    """Give the positions where a condition holds, counted through all its axes, along an axis of their own."""
    indices = L.b.emit("nonzero", (test,), (), axes=("?",), kind="int")
    axis = L.axes.fresh(L.b.emit("size", (indices,), (0,), axes=(), kind="int"))
    return Ref(indices.name, (axis,), "int"), axis


RULES: Mapping[type[S.Term], Any] = MappingProxyType(
    {
        S.Build: build,
        S.Elements: elements,
        S.Index: index,
        S.Size: size,
        S.Map: map_,
        S.Gather: gather,
        S.Scatter: scatter,
        S.Replicate: replicate,
    }
)
