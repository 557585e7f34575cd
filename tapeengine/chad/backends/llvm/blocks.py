"""Read rows of numbers by vectors where several steps of a loop sum along them side by side.

Sums of different steps, one number each, are a vector; the numbers that they read lie in different rows. Where each
sum reads the next numbers of its row, some steps of the inner loop are taken at once: each row is read as a vector, and
the vectors are transposed. The order of additions is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...intermediate.operations import REAL
from ...intermediate.statements import Add, Compute, For, Load, Operand, Row, Statement, Var
from .body import Body, key
from .interrupts import poll
from .writer import ELEMENT

#: The number of steps at once, and of sums: vectors of as many numbers are transposed.
SIDE = 4
VECTOR = f"<{SIDE} x double>"
#: Operations that never stop a run.
PLAIN = frozenset(("add", "sub", "mul", "neg", "abs"))
#: How two vectors are interleaved: first elements by twos or in halves.
LOW, HIGH, FRONT, REAR = ((0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7))


@dataclass(frozen=True)
class Rows:
    """Reads of rows by several sums.

    * `loops`: the inner loop of each sum.
    * `reads`: the reads of all sums, for each statement that reads a row.
    """

    loops: Sequence[For]
    reads: Sequence[Sequence[Load]]

    def write(self, b: Body, loop: For, count: str, cost: str) -> None:
        """Write the steps of the joined loop: some at once while there are as many, and then single ones."""
        place, steps = b.place("i64"), list(zip(*(s.body for s in self.loops), strict=True))
        adds = [x for x in steps if isinstance(x[0], Add)]
        sums = {x[0].out.name: b.place(VECTOR) for x in adds}
        b.set(place, "i64", "0")
        for x in adds:
            b.set(sums[x[0].out.name], VECTOR, b.packed("double", [b.one(s.out) for s in x]))
        self.some(b, loop, (place, count, cost), steps, sums, SIDE)
        step = b.get(place, "i64")
        left = b.least(b.op(f"sub nsw i64 {count}, {step}"), str(SIDE - 1))
        self.some(b, loop, (place, b.op(f"add nsw i64 {step}, {left}"), ""), steps, sums, 1)
        for x in adds:
            total = b.get(sums[x[0].out.name], VECTOR)
            for s, value in zip(x, b.unpacked("double", total, SIDE), strict=True):
                b.give(s.out, [value])

    def some(
        self, b: Body, loop: For, bounds: tuple[str, str, str], steps: Sequence[Any], sums: Mapping[str, str], each: int
    ) -> None:
        """Write steps of the joined loop, so many at once."""
        place, top, cost = bounds
        head, body, after = b.label("rows"), b.label("block" if each == SIDE else "single"), b.label("after")
        b.begin(head)
        step = b.get(place, "i64")
        last = b.op(f"add nuw nsw i64 {step}, {each - 1}")
        b.jump_if(b.op(f"icmp slt i64 {last}, {top}"), body, after)
        b.start(body)
        b.give(loop.index, [step])
        found = {id(x[0]): columns(b, x) for x in self.reads} if each == SIDE else {}
        known = {name: b.get(total, VECTOR) for name, total in sums.items()}
        for k in range(each):
            b.give(loop.index, [b.op(f"add nuw nsw i64 {step}, {k}")])
            for x in steps:
                if id(x[0]) in found:
                    known[x[0].out.name] = found[id(x[0])][k]
                else:
                    together(b, x, known)
        for name, total in sums.items():
            b.set(total, VECTOR, known[name])
        b.set(place, "i64", b.op(f"add nuw nsw i64 {step}, {each}"))
        poll(b, cost, each)
        b.line(f"br label %{head}")
        b.start(after)


def together(b: Body, steps: Sequence[Any], known: dict[str, str]) -> None:
    """Write the same statement of all sums: arithmetic on vectors, or each in turn."""

    def vector(xs: Sequence[Operand]) -> str:
        found = known.get(getattr(xs[0], "name", ""))
        return found or b.packed("double", [b.one(x) for x in xs])

    s = steps[0]
    if isinstance(s, Load) or key(s) in b.hoisted:
        b.block(steps)
        return
    is_sum = isinstance(s, Add)
    args = zip(*((x.out, x.value) if is_sum else x.args for x in steps), strict=True)
    known[s.out.name] = arithmetic(b, "add" if is_sum else s.operation.name, SIDE, list(map(vector, args)))


def arithmetic(b: Body, name: str, n: int, args: Sequence[str]) -> str:
    """Write an operation on vectors of n numbers."""
    of = f"<{n} x double>"
    return b.op(f"call {of} @llvm.fabs.v{n}f64({of} {args[0]})" if name == "abs" else f"f{name} {of} {', '.join(args)}")


def may_read_rows(loops: Sequence[For]) -> bool:
    """Tell whether sums may read rows side by side: `rows_of` looks closer, once indices are checked."""
    if len(loops) != SIDE or any(s.down or s.carried or s.recalled or len(s.body) != len(loops[0].body) for s in loops):
        return False
    parts = [t for s in loops for t in s.body]
    if not all(isinstance(t, Row | Load | Add) or is_arithmetic(t) for t in parts):
        return False
    return any(isinstance(t, Load) and t.indices[-1] == loops[0].index for t in parts)


def rows_of(b: Body, loops: Sequence[For]) -> Rows | None:
    """Find the rows that sums read side by side; None if there are none, or a step does something else.

    The indices that are the same in all steps are checked before.
    """
    if not all(is_plain(b, t) for s in loops for t in s.body):
        return None
    together = [[t for t in found if isinstance(t, Load)] for found in zip(*(s.body for s in loops), strict=True)]
    reads = [found for found in together if len(found) == SIDE and all(is_along(b, t, loops[0].index) for t in found)]
    return Rows(loops, reads) if any(not is_same(found) for found in reads) else None


def is_plain(b: Body, s: Statement) -> bool:
    """Tell whether a statement is arithmetic of real numbers, or a read that is checked already."""
    if key(s) in b.hoisted:
        return True
    if isinstance(s, Load):
        return s.out.type == REAL and (not s.checked or id(s) in b.checked)
    return is_arithmetic(s) or (isinstance(s, Add) and s.out.type == REAL)


def is_arithmetic(s: Statement) -> bool:
    """Tell whether a statement is arithmetic of real numbers."""
    return isinstance(s, Compute) and s.operation.name in PLAIN and all(x.type == REAL for x in s.args)


def is_along(b: Body, s: Load, index: Var) -> bool:
    """Tell whether a statement reads the elements of a row one after the other."""
    return key(s) not in b.hoisted and s.indices[-1:] == (index,) and index not in s.indices[:-1]


def is_same(reads: Sequence[Load]) -> bool:
    """Tell whether all sums read one row."""
    return all(s.array == reads[0].array and s.indices == reads[0].indices for s in reads)


def columns(b: Body, reads: Sequence[Load]) -> list[str]:
    """Read a vector of each row; return the numbers of all sums in each step."""
    if is_same(reads):
        found = row(b, reads[0])
        return [mixed(b, found, found, [k] * SIDE) for k in range(SIDE)]
    first, second, third, fourth = (row(b, s) for s in reads)
    low, high = ([mixed(b, x, y, how) for x, y in ((first, second), (third, fourth))] for how in (LOW, HIGH))
    return [mixed(b, x, y, how) for how in (FRONT, REAR) for x, y in (low, high)]


def row(b: Body, s: Load, n: int = SIDE) -> str:
    """Read the next numbers of a row."""
    place = b.read_at(s)
    with b.accessing(s.array):
        return b.op(f"load <{n} x double>, ptr {place}, align 8{b.tag('double', ELEMENT)}")


def mixed(b: Body, x: str, y: str, places: Sequence[int]) -> str:
    """Interleave two vectors."""
    mask = ", ".join(f"i32 {k}" for k in places)
    return b.op(f"shufflevector {VECTOR} {x}, {VECTOR} {y}, <{SIDE} x i32> <{mask}>")
