"""Control: conditionals become branches, or a choice between whole arrays; loops stay loops over what they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.values import (
    Along,
    Items,
    NotGenerated,
    NotWhole,
    Pending,
    Tup,
    Value,
    leaves,
    rebuild,
    same_form,
)
from tapeengine.chad.imperative import Branch, Carried, Const, Joined, Loop, Operand, Ref, Statement

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES", "counted"]


def if_(L: Lower, t: S.If, scope: Scope) -> Value:
    condition = L.number(t.condition, scope)
    if isinstance(condition, Const):
        return L(t.then if condition.value else t.orelse, scope)
    if condition.axes:
        return choice(L, condition, t, scope)
    return branch(L, condition, t, scope)


def branch(L: Lower, condition: Operand, t: S.If, scope: Scope) -> Value:
    """Only the branch taken is computed."""
    with L.b.inner() as then:
        a = L.settled(L.all_forced(L(t.then, scope)))
    with L.b.inner() as orelse:
        b = L.settled(L.all_forced(L(t.orelse, scope)))
    statement = Branch(condition, then, orelse)
    result = joined(L, statement, a, b, ())
    L.b.block.append(statement)
    return result


def joined(L: Lower, statement: Branch, a: Value, b: Value, outer: tuple[str, ...]) -> Value:
    """Give what two branches give, under one name."""
    match a, b:
        case (Tup(xs), Tup(ys)) if len(xs) == len(ys):
            return Tup(tuple(joined(L, statement, x, y, outer) for x, y in zip(xs, ys, strict=True)))
        case (Items(xs), Items(ys)) if len(xs) == len(ys):
            return Items(tuple(joined(L, statement, x, y, outer) for x, y in zip(xs, ys, strict=True)))
        case Along(), Along():
            if L.size_of(a.axis) != L.size_of(b.axis) or a.valid or b.valid:
                raise NotGenerated("branches that give arrays of different sizes")
            other = L.renamed(b.element, b.axis, a.axis)
            return Along(a.axis, joined(L, statement, a.element, other, (*outer, a.axis)))
        case ((Const() | Ref()), (Const() | Ref())):
            axes = L.axes.union(a, b)
            if a.axes != b.axes and (a.axes or b.axes):
                a, b = _spread_in(L, statement.then, a, axes), _spread_in(L, statement.orelse, b, axes)
            out = L.b.fresh("y", a.axes, a.kind)
            statement.joined.append(Joined(out, a, b))
            return out
    raise NotGenerated("branches of different form")


def _spread_in(L: Lower, block: list[Statement], x: Operand, axes: tuple[str, ...]) -> Operand:
    outer, L.b.block = L.b.block, block
    try:
        return L.spread(x, axes)
    finally:
        L.b.block = outer


def choice(L: Lower, condition: Operand, t: S.If, scope: Scope) -> Value:
    """Both branches are computed along the axes of the condition, each masked by where it counts."""

    def masked(test: Operand) -> Scope:
        mask = test if scope.mask is None else L.b.emit("and", (scope.mask, test), kind="bool")
        return replace(scope, mask=mask)

    a = L(t.then, masked(condition))
    b = L(t.orelse, masked(L.b.emit("not", (condition,))))
    return chosen(L, condition, a, b)


def chosen(L: Lower, condition: Operand, a: Value, b: Value) -> Value:
    """Choose between two values leaf by leaf."""
    match a, b:
        case (Tup(xs), Tup(ys)) if len(xs) == len(ys):
            return Tup(tuple(chosen(L, condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case (Items(xs), Items(ys)) if len(xs) == len(ys):
            return Items(tuple(chosen(L, condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case Along(), Along():
            if L.size_of(a.axis) != L.size_of(b.axis) or a.valid or b.valid:
                raise NotWhole("a choice between arrays of different sizes")
            return Along(a.axis, chosen(L, condition, a.element, L.renamed(b.element, b.axis, a.axis)))
        case ((Const() | Ref() | Pending()), (Const() | Ref() | Pending())):
            x, y = L.force(a), L.force(b)
            return x if x == y else L.b.emit("where", (condition, x, y), kind=x.kind)
    raise NotWhole("a choice between values of different form")


def for_(L: Lower, t: S.For, scope: Scope) -> Value:
    count = L.number(t.size, scope)
    if count.axes:
        raise NotWhole("a loop whose number of steps depends on an index")
    init = L(t.init, scope)

    def step(i: Operand, state: Value, inner: Scope) -> Value:
        return L(t.body, inner.bind(**{t.index.name: i, t.state.name: state}))

    return counted(L, count, init, step, scope)[0]


Step = Callable[[Operand, Value, "Scope"], Value]


def counted(
    L: Lower, count: Operand, init: Value, step: Step, scope: Scope, collect: bool = False
) -> tuple[Value, Value]:
    """Write a counted loop; give the last state and, if asked for, the array of all states."""
    init = L.all_forced(init)
    while True:
        mark = L.b.mark()
        start = L.settled(init)
        with L.b.inner() as block:
            index = L.b.fresh("i", (), "int")
            state = rebuild(start, lambda x: L.b.fresh("s", x.axes, x.kind))  # type: ignore[union-attr]
            reached = L.all_forced(step(index, state, scope))
            last = fitted(L, state, reached)
        if last is not None:
            break
        L.b.rewind(mark)
        init = widened(L, init, state, reached)
    loop = Loop(block, index, count)
    out = carry(L, loop, start, state, last)
    L.b.block.append(loop)
    return out, collected(L, loop, last, count) if collect else out


def carry(L: Lower, loop: Loop, start: Value, state: Value, last: Value) -> Value:
    """Pair up what a loop carries; give what it leaves."""
    out = rebuild(state, lambda x: L.b.fresh("r", x.axes, x.kind))  # type: ignore[union-attr]
    for parts in zip(leaves(state), leaves(start), leaves(last), leaves(out), strict=True):
        loop.carried.append(Carried(*parts))  # type: ignore[arg-type]
    return out


def collected(L: Lower, loop: Loop, last: Value, count: Operand) -> Value:
    """Collect the state after each step along a new axis."""
    axis = L.axes.fresh(count)

    def collect(x: Any) -> Value:
        out = L.b.fresh("xs", (axis, *x.axes), x.kind)
        loop.collected.append((out, x))
        return out

    return Along(axis, rebuild(last, collect))


def fitted(L: Lower, state: Value, reached: Value) -> Value | None:
    """Bring what a step gives into the form of the state; None where the state has to be wider."""
    match state, reached:
        case (Tup(xs), Tup(ys)) | (Items(xs), Items(ys)) if len(xs) == len(ys):
            parts = [fitted(L, x, y) for x, y in zip(xs, ys, strict=True)]
            if any(p is None for p in parts):
                return None
            return (Tup if isinstance(state, Tup) else Items)(tuple(p for p in parts if p is not None))
        case Along(), Items():
            return fitted(L, state, L.stacked(reached))
        case Along(), Along():
            if L.size_of(state.axis) != L.size_of(reached.axis) or reached.valid:
                raise NotGenerated("a loop that carries an array whose size changes")
            element = fitted(L, state.element, L.renamed(reached.element, reached.axis, state.axis))
            return None if element is None else Along(state.axis, element)
        case Ref(), (Const() | Ref()):
            return L.spread(reached, state.axes) if set(reached.axes) <= set(state.axes) else None
    return None


def widened(L: Lower, init: Value, state: Value, reached: Value) -> Value:
    """Give an initial state with the axes and the form that a step gives."""
    match init, reached:
        case Tup(xs), Tup(ys):
            assert isinstance(state, Tup)
            each = zip(xs, state.items, ys, strict=True)
            return Tup(tuple(widened(L, x, s, y) for x, s, y in each))
        case Items(), Items() if same_form(init, reached):
            return init
        case Items(), _:
            return L.stacked(init)
        case Along(), Along():
            assert isinstance(state, Along)
            other = L.renamed(reached.element, reached.axis, init.axis)
            return Along(init.axis, widened(L, init.element, state.element, other))
        case ((Const() | Ref()), (Const() | Ref())):
            return L.spread(init, L.axes.union(init, reached))
    raise NotGenerated("a loop that carries values of different form")


def while_(L: Lower, t: S.While, scope: Scope) -> Value:
    if scope.is_whole:
        raise NotWhole("a while loop inside a build")
    start = L.settled(L.all_forced(L(t.init, scope)))
    with L.b.inner() as test:
        state = rebuild(start, lambda x: L.b.fresh("s", x.axes, x.kind))  # type: ignore[union-attr]
        inner = scope.bind(**{t.state.name: state})
        condition = L.number(t.condition, inner)
    with L.b.inner() as block:
        last = fitted(L, state, L.all_forced(L(t.body, inner)))
    if last is None:
        raise NotGenerated("a while loop whose state changes its form")
    loop = Loop(block, None, None, test, condition)
    out = carry(L, loop, start, state, last)
    L.b.block.append(loop)
    return out


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.If: if_, S.For: for_, S.While: while_})
