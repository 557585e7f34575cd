"""Control: conditionals become branches, or a choice between whole arrays; loops stay loops over what they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from tapeengine.chad import terms as S
from tapeengine.chad.generate.boxes import canonical, type_of
from tapeengine.chad.generate.collect import UNKNOWN, collected_array, measure
from tapeengine.chad.generate.lower_lists import collected_list, is_listed
from tapeengine.chad.generate.rows import evened, narrowed, with_sizes
from tapeengine.chad.generate.values import (
    Along,
    Boxed,
    Choice,
    Items,
    Member,
    NotGenerated,
    NotWhole,
    Pending,
    Tup,
    Value,
    leaves,
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
    choose = choice if condition.axes else branch
    return choose(L, condition, lambda inner: L(t.then, inner), lambda inner: L(t.orelse, inner), scope)


Body = Callable[["Scope"], Value]


def branch(L: Lower, condition: Operand, then_body: Body, orelse_body: Body, scope: Scope) -> Value:
    """Only the branch taken is computed."""
    with L.b.inner() as then:
        a = L.settled(L.all_forced(then_body(scope)))
    with L.b.inner() as orelse:
        b = L.settled(L.all_forced(orelse_body(scope)))
    statement = Branch(condition, then, orelse)
    result = joined(L, statement, a, b, ())
    L.b.block.append(statement)
    measure(L, result)
    return narrowed(L, result)


#: For each array around a value: its axis after a branch, and in either branch.
Around = tuple[tuple[str, str, str], ...]


def joined(L: Lower, statement: Branch, a: Value, b: Value, around: Around) -> Value:
    """Give what two branches give, under one name."""
    match a, b:
        case (Tup(xs), Tup(ys)) if len(xs) == len(ys):
            return Tup(tuple(joined(L, statement, x, y, around) for x, y in zip(xs, ys, strict=True)))
        case (Items(xs), Items(ys)) if len(xs) == len(ys):
            return Items(tuple(joined(L, statement, x, y, around) for x, y in zip(xs, ys, strict=True)))
        case (Items(), Items() | Along()) | (Along(), Items()):
            x, y = (
                in_block(L, statement.then, lambda: L.stacked(a)),
                in_block(L, statement.orelse, lambda: L.stacked(b)),
            )
            return joined(L, statement, x, y, around)
        case Along(), Along():
            size = L.size_of(a.axis)
            axis = L.axes.fresh(size if size == L.size_of(b.axis) else UNKNOWN)
            made = joined(L, statement, a.element, b.element, (*around, (axis, a.axis, b.axis)))
            if a.sizes is None and b.sizes is None:
                return Along(axis, made)
            size_a, size_b = (with_sizes(L, v).sizes for v in (a, b))
            assert isinstance(size_a, Const | Ref)
            assert isinstance(size_b, Const | Ref)
            return Along(axis, made, joined_leaf(L, statement, size_a, size_b, around))
        case ((Const() | Ref()), (Const() | Ref())):
            return joined_leaf(L, statement, a, b, around)
        case (Member(of, k, x), Member(_, j, y)) if j == k:
            return Member(of, k, joined(L, statement, x, y, around))
        case (Choice(of, tag, xs), Choice(_, other, ys)):
            chosen = joined(L, statement, tag, other, around)
            assert isinstance(chosen, Ref)
            return Choice(of, chosen, tuple(joined(L, statement, x, y, around) for x, y in zip(xs, ys, strict=True)))
        case Boxed(ref, of), Boxed(other):
            return Boxed(joined_leaf(L, statement, ref, other, around), of)
        case ((Member() | Choice() | Boxed()), _) | (_, Boxed()):
            of = type_of(a if isinstance(a, Member | Choice | Boxed) else b)
            x = in_block(L, statement.then, lambda: L.settled(canonical(L, a, of), tuple(n for _, n, _ in around)))
            y = in_block(L, statement.orelse, lambda: L.settled(canonical(L, b, of), tuple(n for _, _, n in around)))
            return joined(L, statement, x, y, around)
    raise NotGenerated("branches of different form")


def joined_leaf(L: Lower, statement: Branch, a: Operand, b: Operand, around: Around) -> Ref:
    """Join two arrays of equally many dimensions."""
    out, in_a, in_b = (tuple(axes[k] for axes in around) for k in range(3))
    rest = L.axes.ordered({*(n for n in a.axes if n not in in_a), *(n for n in b.axes if n not in in_b)})
    x = in_block(L, statement.then, lambda: L.spread(a, (*rest, *in_a)))
    y = in_block(L, statement.orelse, lambda: L.spread(b, (*rest, *in_b)))
    made = L.b.fresh("y", (*rest, *out), a.kind)
    statement.joined.append(Joined(made, x, y))
    return made


T = TypeVar("T")


def in_block(L: Lower, block: list[Statement], write: Callable[[], T]) -> T:
    """Write at the end of a block that has been closed."""
    with L.b.inner() as more:
        value = write()
    block.extend(more)
    return value


def choice(L: Lower, condition: Operand, then_body: Body, orelse_body: Body, scope: Scope) -> Value:
    """Both branches are computed along the axes of the condition, each masked by where it counts."""

    def masked(test: Operand) -> Scope:
        mask = test if scope.mask is None else L.b.emit("and", (scope.mask, test), kind="bool")
        return replace(scope, mask=mask)

    a = then_body(masked(condition))
    b = orelse_body(masked(L.b.emit("not", (condition,))))
    return chosen(L, condition, a, b)


def chosen(L: Lower, condition: Operand, a: Value, b: Value) -> Value:
    """Choose between two values leaf by leaf."""
    match a, b:
        case (Tup(xs), Tup(ys)) if len(xs) == len(ys):
            return Tup(tuple(chosen(L, condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case (Items(xs), Items(ys)) if len(xs) == len(ys):
            return Items(tuple(chosen(L, condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case Along(), Along():
            a, b = evened(L, [a, b])
            sizes = None if a.sizes is None or b.sizes is None else chosen(L, condition, a.sizes, b.sizes)
            assert sizes is None or isinstance(sizes, Const | Ref)
            return Along(a.axis, chosen(L, condition, a.element, b.element), sizes)
        case ((Const() | Ref() | Pending()), (Const() | Ref() | Pending())):
            u, v = L.force(a), L.force(b)
            return u if u == v else L.b.emit("where", (condition, u, v), kind=u.kind)
        case (Member(of, k, one), Member(_, j, two)) if j == k:
            return Member(of, k, chosen(L, condition, one, two))
        case (Choice(of, tag, xs), Choice(_, other, ys)):
            which = L.force(chosen(L, condition, tag, other))
            return Choice(of, which, tuple(chosen(L, condition, x, y) for x, y in zip(xs, ys, strict=True)))
        case ((Member(of) | Choice(of)), (Member() | Choice())):
            some, more = canonical(L, a, of), canonical(L, b, of)
            if isinstance(some, Choice) and isinstance(more, Choice):
                return chosen(L, condition, some, more)
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

    def body(state: Value, inner: Loop) -> Value:
        inner.index = L.b.fresh("i", (), "int")
        return L.all_forced(step(inner.index, state, scope))

    loop, out, last = carrying(L, Loop([], None, count), init, body)
    return out, collected(L, loop, last, count) if collect else out


def carrying(L: Lower, loop: Loop, init: Value, body: Callable[[Value, Loop], Value]) -> tuple[Loop, Value, Value]:
    """Write a loop that carries a state, whose form is widened until each step keeps it."""
    init = opened_sums(L, L.all_forced(init))
    resizes = False
    while True:
        mark = L.b.mark()
        start = L.settled(init)
        with L.b.inner() as block:
            state = opened(L, start, "s", resizes, {})
            reached = body(state, loop)
            fits = fitted(L, state, reached, resizes, {})
        if isinstance(fits, Fits):
            break
        L.b.rewind(mark)
        resizes = resizes or fits == "size"
        if fits == "form":
            init = widened(L, init, reached)
    loop.body = block
    L.b.block.append(loop)
    out = opened(L, state, "r", resizes, {})
    for parts in zip(leaves(state), leaves(start), leaves(fits.value), leaves(out), strict=True):
        loop.carried.append(Carried(*parts))  # type: ignore[arg-type]
    return loop, out, fits.value


def opened_sums(L: Lower, value: Value) -> Value:
    """Give a state whose sums are of any option."""
    match value:
        case Tup(items):
            return Tup(tuple(opened_sums(L, item) for item in items))
        case Items(items):
            parts = Items(tuple(opened_sums(L, item) for item in items))
            return L.stacked(parts) if is_listed(L, *items) else parts
        case Along(axis, element, sizes):
            return Along(axis, opened_sums(L, element), sizes)
        case Member(of) | Choice(of):
            return canonical(L, value, of)
    return value


def opened(L: Lower, value: Value, hint: str, resizes: bool, to: Mapping[str, str]) -> Value:
    """Make variables of the form of a value; where it resizes, their sizes are read off them."""
    match value:
        case Tup(items):
            return Tup(tuple(opened(L, item, hint, resizes, to) for item in items))
        case Items(items):
            return Items(tuple(opened(L, item, hint, resizes, to) for item in items))
        case Along(axis, element, sizes) if resizes:
            mine = L.axes.fresh(Const(0))
            made = opened(L, element, hint, resizes, {**to, axis: mine})
            of_rows = opened_sizes(L, sizes, hint, to)
            first = next(leaves(made))
            assert isinstance(first, Ref)
            L.axes.sizes[mine] = L.b.emit("size", (first,), (first.axes.index(mine),), axes=(), kind="int")
            return Along(mine, made, of_rows)
        case Along(axis, element, sizes):
            return Along(axis, opened(L, element, hint, resizes, to), opened_sizes(L, sizes, hint, to))
        case Choice(of, tag, options):
            number = opened(L, tag, hint, resizes, to)
            assert isinstance(number, Ref)
            return Choice(of, number, tuple(opened(L, option, hint, resizes, to) for option in options))
        case Boxed(ref, of):
            return Boxed(L.b.fresh(hint, (), ref.kind), of)
    assert isinstance(value, Const | Ref)
    return L.b.fresh(hint, tuple(to.get(a, a) for a in value.axes), value.kind)


def opened_sizes(L: Lower, sizes: Operand | Pending | None, hint: str, to: Mapping[str, str]) -> Ref | None:
    """Make a variable for the sizes of rows, if they differ."""
    if sizes is None:
        return None
    made = opened(L, sizes, hint, False, to)
    assert isinstance(made, Ref)
    L.naturals.add(made.name)
    return made


@dataclass(frozen=True)
class Fits:
    """What a step gives, in the form of the state."""

    value: Value


def collected(L: Lower, loop: Loop, last: Value, count: Operand) -> Value:
    """Collect the state after each step along a new axis."""
    if is_listed(L, last):
        return collected_list(L, loop, last, lambda write: in_block(L, loop.body, write))
    return collected_array(L, loop, last, count)


def fitted(L: Lower, state: Value, reached: Value, resizes: bool, to: Mapping[str, str]) -> Fits | str:
    """Bring what a step gives into the form of the state; say where that fails: "size" or "form"."""
    match state, reached:
        case (Tup(xs), Tup(ys)) | (Items(xs), Items(ys)) if len(xs) == len(ys):
            parts = [fitted(L, x, y, resizes, to) for x, y in zip(xs, ys, strict=True)]
            failed = [p for p in parts if isinstance(p, str)]
            if failed:
                return "form" if "form" in failed else failed[0]
            return Fits(
                (Tup if isinstance(state, Tup) else Items)(tuple(p.value for p in parts if isinstance(p, Fits)))
            )
        case Along(), Items():
            return fitted(L, state, L.stacked(reached), resizes, to)
        case Boxed(_, of), _:
            return Fits(canonical(L, reached, of))
        case Choice(of), (Member() | Choice()):
            same = canonical(L, reached, of)
            assert isinstance(same, Choice)
            return fitted_options(L, state, same, resizes, to)
        case Along(), Along():
            return fitted_rows(L, state, reached, resizes, to)
        case Ref(), (Const() | Ref()):
            axes = tuple(to.get(a, a) for a in state.axes)
            return Fits(L.spread(reached, axes)) if set(reached.axes) <= set(axes) else "form"
    return "form"


def fitted_rows(L: Lower, state: Along, reached: Along, resizes: bool, to: Mapping[str, str]) -> Fits | str:
    """Bring an array that a step gives into the form of the state."""
    if state.sizes is None and reached.sizes is not None:
        return "form"
    if not resizes and L.size_of(state.axis) != L.size_of(reached.axis):
        return "size"
    axis = reached.axis if resizes else state.axis
    element = reached.element if resizes else L.renamed(reached.element, reached.axis, state.axis)
    inner = {**to, state.axis: reached.axis} if resizes else to
    part = fitted(L, state.element, element, resizes, inner)
    if isinstance(part, str) or state.sizes is None:
        return Fits(Along(axis, part.value)) if isinstance(part, Fits) else part
    sizes = with_sizes(L, reached).sizes
    assert sizes is not None
    found = fitted(L, state.sizes, L.force(sizes), resizes, to)
    if isinstance(found, str):
        return found
    assert isinstance(found.value, Const | Ref)
    return Fits(Along(axis, part.value, found.value))


def fitted_options(L: Lower, state: Choice, reached: Choice, resizes: bool, to: Mapping[str, str]) -> Fits | str:
    """Bring a member of a sum into the form of the state."""
    whole = fitted(L, Tup((state.tag, *state.options)), Tup((reached.tag, *reached.options)), resizes, to)
    if isinstance(whole, str):
        return whole
    assert isinstance(whole.value, Tup)
    tag, *options = whole.value.items
    assert isinstance(tag, Const | Ref)
    return Fits(Choice(state.of, tag, tuple(options)))


def widened(L: Lower, init: Value, reached: Value) -> Value:
    """Give an initial state the axes and the form that a step gives."""
    match init, reached:
        case Tup(xs), Tup(ys):
            return Tup(tuple(widened(L, x, y) for x, y in zip(xs, ys, strict=True)))
        case Items(), Items() if same_form(init, reached):
            return init
        case Items(), _:
            return L.stacked(init)
        case Boxed(), _:
            return init
        case Choice(of, tag, options), (Member() | Choice()):
            same = canonical(L, reached, of)
            assert isinstance(same, Choice)
            number = widened(L, tag, same.tag)
            assert isinstance(number, Const | Ref)
            return Choice(of, number, tuple(widened(L, x, y) for x, y in zip(options, same.options, strict=True)))
        case Along(), Along():
            element = widened(L, init.element, L.renamed(reached.element, reached.axis, init.axis))
            if init.sizes is None and reached.sizes is None:
                return Along(init.axis, element)
            sizes = widened(L, *(L.force(with_sizes(L, v).sizes or Const(0)) for v in (init, reached)))
            assert isinstance(sizes, Const | Ref)
            return Along(init.axis, element, sizes)
        case ((Const() | Ref()), (Const() | Ref())):
            missing = set(reached.axes) - set(init.axes)
            if any(isinstance(n := L.size_of(a), Ref) and L.b.is_inside(n.name, L.b.level) for a in missing):
                raise NotGenerated("a loop that carries values of different form")
            return L.spread(init, L.axes.union(init, reached))
    raise NotGenerated("a loop that carries values of different form")


def while_(L: Lower, t: S.While, scope: Scope) -> Value:
    if scope.is_whole:
        raise NotWhole("a while loop inside a build")

    def body(state: Value, loop: Loop) -> Value:
        inner = scope.bind(**{t.state.name: state})
        with L.b.inner() as test:
            loop.condition = L.number(t.condition, inner)
        loop.test = test
        return L.all_forced(L(t.body, inner))

    return carrying(L, Loop([]), L(t.init, scope), body)[1]


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.If: if_, S.For: for_, S.While: while_})
