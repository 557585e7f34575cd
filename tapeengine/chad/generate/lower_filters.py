"""Filters and concatenation: the elements that a condition holds for, and one array after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.boxes import canonical
from tapeengine.chad.generate.lower_arrays import Body, at, build_loop, natural, size_of, where
from tapeengine.chad.generate.lower_lists import concatenated
from tapeengine.chad.generate.rows import evened
from tapeengine.chad.generate.values import Along, Boxed, Choice, Items, Member, NotWhole, Tup, Value
from tapeengine.chad.imperative import Operand, Ref

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES"]


def filter_(L: Lower, t: S.Filter, scope: Scope) -> Value:
    if scope.is_whole:
        return filter_for_all(L, t, scope)
    array = L.stacked(L(t.array, scope))
    mark = L.b.mark()
    try:
        test = condition_along(L, t, array, scope)
    except NotWhole:
        L.b.rewind(mark)
        test = condition_stepwise(L, t, array, scope)
    chosen, axis = where(L, test)
    if isinstance(array, Boxed):
        size, positions = L.size_of(axis), Along(axis, chosen)
        return build_loop(L, size, lambda i, inner: at(L, array, L.force(at(L, positions, i, inner)), inner), scope)
    assert isinstance(array, Along)
    return Along(axis, L.all_forced(L.at(array.element, array.axis, chosen, scope)))


def filter_for_all(L: Lower, t: S.Filter, scope: Scope) -> Value:
    """Filter inside a build by a condition that does not depend on its index: what is left is of one size."""
    array = L.stacked(L(t.array, scope))
    if not isinstance(array, Along) or array.sizes is not None or scope.mask is not None:
        raise NotWhole("a filter inside a build")
    chosen, axis = where(L, condition_along(L, t, array, scope))
    return Along(axis, L.all_forced(L.at(array.element, array.axis, chosen, scope)))


def condition_along(L: Lower, t: S.Filter, array: Value, scope: Scope) -> Operand:
    """Compute the condition of a filter for all elements at once."""
    if not isinstance(array, Along):
        raise NotWhole("a filter of boxes")
    inner = replace(scope, is_whole=True)  # the elements carry the array's own axis already
    test = L.number(t.condition, inner.bind(**{t.var.name: array.element}))
    if not set(test.axes) <= {array.axis}:
        raise NotWhole("a filter whose condition depends on the index of a build")
    return L.spread(test, (array.axis,))


def condition_stepwise(L: Lower, t: S.Filter, array: Value, scope: Scope) -> Operand:
    """Compute the condition of a filter element by element."""
    size = natural(L, size_of(L, array))
    body: Body = lambda i, inner: L(t.condition, inner.bind(**{t.var.name: at(L, array, i, inner)}))  # noqa: E731
    made = L.settled(build_loop(L, size, body, scope))
    assert isinstance(made, Along)
    return L.force(made.element)


def concatenate(L: Lower, t: S.Concatenate, scope: Scope) -> Value:
    first, second = L(t.first, scope), L(t.second, scope)
    if isinstance(first, Items) and isinstance(second, Items):
        return Items((*first.items, *second.items))
    first, second = L.stacked(first), L.stacked(second)
    if isinstance(first, Boxed):
        return concatenated(L, first, second)
    assert isinstance(first, Along)
    assert isinstance(second, Along)
    if first.sizes is not None or second.sizes is not None:
        raise NotWhole("rows of different sizes are put together")
    axis = L.axes.fresh(L.b.plus(L.size_of(first.axis), L.size_of(second.axis)))
    return Along(axis, joined(L, first.element, second.element, first.axis, second.axis, axis))


def joined(L: Lower, a: Value, b: Value, axis_a: str, axis_b: str, axis: str) -> Value:
    """Put two values one after the other along an axis."""
    match a, b:
        case Tup(xs), Tup(ys):
            return Tup(tuple(joined(L, x, y, axis_a, axis_b, axis) for x, y in zip(xs, ys, strict=True)))
        case Along(), Along():
            a, b = evened(L, [a, b])
            both = None if a.sizes is None or b.sizes is None else joined(L, a.sizes, b.sizes, axis_a, axis_b, axis)
            assert both is None or isinstance(both, Ref)
            return Along(a.axis, joined(L, a.element, b.element, axis_a, axis_b, axis), both)
        case ((Member(of) | Choice(of)), (Member() | Choice())):
            return joined_sums(L, canonical(L, a, of), canonical(L, b, of), (axis_a, axis_b, axis))
    x, y = L.force(a), L.force(b)
    rest = tuple(n for n in L.axes.union(x, y) if n not in (axis_a, axis_b))
    parts = (L.spread(x, (*rest, axis_a)), L.spread(y, (*rest, axis_b)))
    sizes = (L.size_of(axis_a), L.size_of(axis_b))
    return L.b.emit("concatenate", (*parts, *sizes), (), axes=(*rest, axis), kind=x.kind)


def joined_sums(L: Lower, a: Value, b: Value, axes: tuple[str, str, str]) -> Value:
    """Put members of sums one after the other along an axis."""
    assert isinstance(a, Choice)
    assert isinstance(b, Choice)
    tag = joined(L, a.tag, b.tag, *axes)
    assert isinstance(tag, Ref)
    return Choice(a.of, tag, tuple(joined(L, x, y, *axes) for x, y in zip(a.options, b.options, strict=True)))


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.Filter: filter_, S.Concatenate: concatenate})
