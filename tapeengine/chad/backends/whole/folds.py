"""Loops that carry a running sum, as whole-array operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...intermediate.analysis import blocks, outs, reads
from ...intermediate.operations import REAL
from ...intermediate.statements import Compute, For, Operand, Statement, Var
from .values import Axis, NotWhole, Number, union
from .writer import Home, Writer

Body = Callable[[Writer, For, Callable[[], None]], Axis]


def fold(w: Writer, s: For, loop: Body) -> bool:
    """Write a loop that carries a running sum as whole-array operations; return whether it is one."""
    if len(s.carried) != 1 or s.carried[0][0].type != REAL:
        return False
    (acc, following), rest = s.carried[0], depending(s, s.carried[0][0].name)
    made = next((t for t in s.body if isinstance(t, Compute) and t.out == following), None)
    if made is None or made.operation.name != "add" or made not in rest or acc not in made.args:
        return False
    x = made.args[1] if made.args[0] == acc else made.args[0]
    if x == acc or any(x in outs(t) for t in rest):
        return False
    running_sum(w, s, loop, rest, x)
    return True


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


def running_sum(w: Writer, s: For, loop: Body, rest: Sequence[Statement], x: Operand) -> None:
    """Write the statements that add, and those that need the sums, after the others."""
    acc, first = s.carried[0][0], w.number(w.value(s.carried[0][0]))
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
        text = f"ops.running({w.full(first, others) if others else first.text}, "
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
    w.env[acc.name] = w.emit(f"{w.aligned(first, axes)} + {w.aligned(part, axes)}", axes, REAL, "total", atom=False)
    w.homes[acc.name] = Home(w.axes, len(w.masks), w.block)
