"""Loops that carry one number and have a whole-array form: largest elements and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...intermediate.analysis import blocks, outs, reads
from ...intermediate.operations import REAL
from ...intermediate.statements import Assign, Compute, For, If, Operand, Statement, Var
from .values import Axis, NotWhole, Number, Value, union
from .writer import Home, Writer

Body = Callable[[Writer, For, Callable[[], None]], Axis]


def fold(w: Writer, s: For, loop: Body) -> bool:
    """Write a loop that carries a number as whole-array operations; return whether it has one of the known forms."""
    if len(s.carried) == 2:
        return extreme_with_other(w, s, loop)
    if len(s.carried) != 1 or s.carried[0][0].type != REAL:
        return False
    found = running_sum(s)
    if found is not None:
        found(w, s, loop)
    return found is not None


def depending(s: For, name: str) -> list[Statement]:
    """Give the statements of a body that need a variable."""
    tainted, found = {name}, []
    for t in s.body:
        if used(t) & tainted:
            found.append(t)
            tainted |= given(t)
    return found


def used(s: Statement) -> set[str]:
    """Give the names that a statement reads, including in its blocks."""
    return {x.name for x in reads(s) if isinstance(x, Var)} | {n for b in blocks(s) for t in b for n in used(t)}


def given(s: Statement) -> set[str]:
    """Give the names that a statement assigns, including in its blocks."""
    return {v.name for v in outs(s)} | {n for b in blocks(s) for t in b for n in given(t)}


# ------------------------------------------------------------ the largest element


def extreme_with_other(w: Writer, s: For, loop: Body) -> bool:
    """Write the largest element with its tangent, or with its place, if a loop carries these."""
    for (acc, following), (along, after_along) in (s.carried, s.carried[::-1]):
        needing = {id(t) for v in (acc, along) for t in depending(s, v.name)}
        rest = [t for t in s.body if id(t) in needing]
        if s.down or s.kept is not None or len(rest) != 2:
            continue
        test, choice = rest
        if not isinstance(test, Compute) or not isinstance(choice, If) or choice.condition != test.out:
            continue
        then, orelse = (assigned(b) for b in (choice.then, choice.orelse))
        function = SIGNS.get(test.operation.name)
        if function is None or test.args[1] != acc or then is None or orelse is None:
            continue
        if then.get(following) != test.args[0] or orelse != {following: acc, after_along: along}:
            continue
        write_with_other(w, s, loop, (test, choice, acc, along, then[after_along], function))
        return True
    return False


def write_with_other(w: Writer, s: For, loop: Body, what: tuple[Compute, If, Var, Var, Operand, str]) -> None:
    """Write the largest element with what it carries."""
    test, choice, acc, along, other, function = what
    first, first_other = (w.number(w.value(v)) for v in (acc, along))
    found: list[Number] = []

    def body() -> None:
        w.statements([t for t in s.body if t is not test and t is not choice])
        axis = w.axes[-1]
        x, d = w.number(w.value(test.args[0])), w.number(w.value(other))
        found.append(reduced(w, f"ops.extreme({function}, ", first, x, axis))
        axes = union(x.axes, d.axes, first.axes, first_other.axes, (axis,))
        rest = tuple(a for a in axes if a is not axis)
        given_ = ", ".join((w.aligned(first, rest), w.aligned(first_other, rest), w.full(x, axes), w.full(d, axes)))
        found.append(w.emit(f"ops.other_of_extreme({function}, {given_}, {axes.index(axis)})", rest, d.kind, "d"))

    loop(w, s, body)
    after(w, acc, found[0])
    after(w, along, found[1])


#: The numpy function that selects as a comparison does.
SIGNS = {"gt": "np.maximum", "lt": "np.minimum"}


def assigned(statements: Sequence[Statement]) -> dict[Operand, Operand] | None:
    """Give the assignments of a branch, if it does nothing else."""
    found: dict[Operand, Operand] = {}
    for t in statements:
        if not isinstance(t, Assign):
            return None
        found |= dict(zip(t.outs, t.values, strict=True))
    return found


def reduced(w: Writer, call: str, first: Number, x: Number, axis: Axis) -> Number:
    """Write the reduction of a first value and all elements."""
    axes = union(x.axes, first.axes, (axis,))
    rest = tuple(a for a in axes if a is not axis)
    text = f"{call}{w.aligned(first, rest)}, {w.full(x, axes)}, {axes.index(axis)})"
    return w.emit(text, rest, REAL, "largest", raises=True)


def after(w: Writer, acc: Var, x: Value) -> None:
    """Assign the carried variable's value after the loop."""
    w.env[acc.name] = x
    w.homes[acc.name] = Home(w.axes, len(w.masks), w.block)


# ------------------------------------------------------------ running sums


def running_sum(s: For) -> Callable[[Writer, For, Body], None] | None:
    """Find ``total = total + x``."""
    (acc, following) = s.carried[0]
    rest = depending(s, acc.name)
    made = next((t for t in s.body if isinstance(t, Compute) and t.out == following), None)
    if made is None or made.operation.name != "add" or made not in rest or acc not in made.args:
        return None
    x = made.args[1] if made.args[0] == acc else made.args[0]
    if x == acc or any(x in outs(t) for t in rest):
        return None

    def write(w: Writer, s: For, loop: Body) -> None:
        first = w.number(w.value(acc))
        elements: list[Number] = []

        def body() -> None:
            needing = set(map(id, rest))
            w.statements([t for t in s.body if id(t) not in needing])
            elements.append(w.number(w.value(x)))
            if w.masks:
                raise NotWhole("a running sum of some steps")
            axis = w.axes[-1]
            axes = union(elements[0].axes, first.axes, (axis,))
            others = tuple(a for a in axes if a is not axis)
            text = f"ops.running(np.add, {w.full(first, others) if others else first.text}, "
            text += f"{w.full(elements[0], axes)}, {axes.index(axis)}, {s.down})"
            w.env[acc.name] = w.emit(text, axes, REAL, acc.name)
            w.statements(rest)

        axis = loop(w, s, body)
        whole = elements[0]
        over = [axis] if axis in whole.axes else []
        rest_axes = tuple(a for a in whole.axes if a is not axis)
        dims = [k for k, a in enumerate(whole.axes) if a is axis]
        total = f"{whole.text}.sum({dims[0]})" if over else f"{whole.text} * {axis.count}"
        axes = union(rest_axes, first.axes)
        part = w.emit(total, rest_axes, REAL, "total", atom=bool(over))
        after(w, acc, w.emit(f"{w.aligned(first, axes)} + {w.aligned(part, axes)}", axes, REAL, "total", atom=False))

    return write
