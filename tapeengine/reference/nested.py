"""Nesting: an inner trace that used duals of an outer one is recorded on the outer tape when it ends.

`copy_out` repeats on the outer tape those records of the inner one that depend on it. `resolve_recorded` is the reverse
sweep with every step recorded there, with the partials that the opcode table gives as expressions. No dual holds
another dual.
"""

import math
from typing import NamedTuple

from . import ops
from .tape import Operand, Tape


class Scalar(NamedTuple):
    """A number on a tape, or a constant with the id 0."""

    value: float
    id: int = 0


class Copies(NamedTuple):
    """The outer tape, and the id there of each id of the inner tape that depends on the outer trace."""

    outer: Tape
    ids: dict[int, int]


class Recorder:
    """The algebra of scalars recorded on one tape; operations on constants give constants."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def constant(self, number: float) -> Scalar:
        """A constant."""
        return Scalar(number)

    def apply(self, name: str, *operands: Scalar) -> Scalar:
        """Record an opcode, unless the result is a constant or one of the operands."""
        if ops.OPERATIONS[name].is_discrete or not any(x.id for x in operands):
            return Scalar(ops.value(name, *[x.value for x in operands]))
        for x, other in zip(operands, reversed(operands), strict=True):
            if x == Scalar(0.0) and name == "add":
                return other
            if x == Scalar(0.0) and name == "mul" and math.isfinite(other.value):
                return Scalar(0.0)
            if x == Scalar(1.0) and name == "mul":
                return other
        value = ops.value(name, *[x.value for x in operands])
        return Scalar(value, self.tape.add(name, tuple(x.id or x.value for x in operands), value))


def copy_out(tape: Tape) -> Copies | None:
    """Repeat on the innermost live outer tape the records that depend on its duals; None if none does."""
    live = [link for link in tape.outer_duals if link[1].is_open]
    if not live:
        return None
    outer = max((source for _, source, _ in live), key=lambda source: source.serial)
    ids = {i: outer.operand(source, j, tape[i].value) for i, source, j in live}
    for i in range(tape.inputs + 1, tape.end):
        record = tape[i]
        if any(isinstance(x, int) and x in ids for x in record.operands):
            operands = tuple(on_outer(tape, ids, x) for x in record.operands)
            ids[i] = outer.add(record.op, operands, record.value)
    return Copies(outer, ids)


def on_outer(tape: Tape, ids: dict[int, int], x: Operand) -> Operand:
    """An operand of the inner tape as an operand on the outer one."""
    if isinstance(x, int):
        return ids.get(x, tape[x].value)
    return x


def copies_on(outer: Tape, tape: Tape, copies: Copies | None) -> Copies:
    """The same copies as a later trace sees them, through links; none if their trace is over."""
    if copies is None or not copies.outer.is_open:
        return Copies(outer, {})
    return Copies(outer, {i: outer.operand(copies.outer, j, tape[i].value) for i, j in copies.ids.items()})


def resolve_recorded(tape: Tape, copies: Copies, cotangents: list[Scalar], top: int) -> None:
    """The reverse sweep, in place, with each step recorded on the outer tape."""
    algebra = Recorder(copies.outer)

    def seen(x: Operand) -> Scalar:
        return Scalar(tape[x].value, copies.ids.get(x, 0)) if isinstance(x, int) else Scalar(x)

    for i in range(top, tape.inputs, -1):
        record, cotangent = tape[i], cotangents[i]
        if cotangent == Scalar(0.0) or not record.contributions:
            continue
        if i not in copies.ids:  # the partials are constants
            for parent, number in record.contributions:
                contribute(algebra, cotangents, parent, cotangent, Scalar(number))
            continue
        a, b, *_ = (*map(seen, record.operands), Scalar(0.0))
        names = {"a": a, "b": b, "v": seen(i)}
        for x, term in zip(record.operands, ops.OPERATIONS[record.op].partials, strict=True):
            if isinstance(x, int):
                contribute(algebra, cotangents, x, cotangents[i], ops.interpret(term, names, algebra))


def contribute(algebra: Recorder, cotangents: list[Scalar], parent: int, cotangent: Scalar, partial: Scalar) -> None:
    """Add cotangent * partial; a zero cotangent contributes zero even where the partial is not finite."""
    if cotangent.value == 0.0 and not math.isfinite(partial.value):
        return
    if partial == Scalar(-1.0):
        product = algebra.apply("neg", cotangent)
    else:
        product = algebra.apply("mul", cotangent, partial)
    cotangents[parent] = algebra.apply("add", cotangents[parent], product)
