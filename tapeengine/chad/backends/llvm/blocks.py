"""Read rows of numbers by vectors where several steps of a loop sum along them side by side.

Sums of different steps, one number each, are a vector; the numbers that they read lie in different rows. Where each
sum reads the next numbers of its row, some steps of the inner loop are taken at once: each row is read as a vector, and
the vectors are transposed. The order of additions is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...intermediate.operations import REAL
from ...intermediate.statements import Add, Compute, For, Load, Row, Statement, Var
from .body import Body
from .interrupts import poll, weight
from .writer import ELEMENT

#: The number of steps at once, and of sums: vectors of as many numbers are transposed.
SIDE = 4
#: Operations that never stop a run, and are instructions on vectors.
PLAIN = frozenset(("add", "sub", "mul", "neg", "abs"))
#: How two vectors are interleaved: first elements by twos or in halves.
LOW, HIGH, FRONT, REAR = ((0, 4, 2, 6), (1, 5, 3, 7), (0, 1, 4, 5), (2, 3, 6, 7))
VECTOR = f"<{SIDE} x double>"


@dataclass(frozen=True)
class Rows:
    """Reads of rows by several sums.

    Attributes
    ----------
    loops : sequence of For
        The inner loop of each sum.
    reads : sequence of sequence of Load
        The reads of all sums, for each statement that reads a row.
    """

    loops: Sequence[For]
    reads: Sequence[Sequence[Load]]

    def write(self, b: Body, loop: For, count: str) -> str:
        """Write steps of the joined loop, some at once, while there are as many; give the step that is next."""
        head, body, after = b.label("rows"), b.label("block"), b.label("single")
        place = b.place("i64")
        b.set(place, "i64", "0")
        b.begin(head)
        step = b.get(place, "i64")
        following = b.op(f"add nuw nsw i64 {step}, {SIDE}")
        b.jump_if(b.op(f"icmp sle i64 {following}, {count}"), body, after)
        b.start(body)
        b.give(loop.index, [step])
        found = {id(s): x for together in self.reads for s, x in zip(together, columns(b, together), strict=True)}
        for k in range(SIDE):
            self.step(b, loop, b.op(f"add nuw nsw i64 {step}, {k}"), {key: x[k] for key, x in found.items()})
        b.set(place, "i64", following)
        poll(b, SIDE * weight(loop.body))
        b.line(f"br label %{head}")
        b.start(after)
        return step

    def step(self, b: Body, loop: For, index: str, found: Mapping[int, str]) -> None:
        """Write one step with the numbers that it has read."""
        b.give(loop.index, [index])
        for s in loop.body:
            if isinstance(s, Load) and id(s) in found:
                b.give(s.out, [found[id(s)]])
            else:
                b.block([s])


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
    if id(s) in b.hoisted:
        return True
    if isinstance(s, Load):
        return s.out.type == REAL and (not s.checked or id(s) in b.checked)
    return is_arithmetic(s) or (isinstance(s, Add) and s.out.type == REAL)


def is_arithmetic(s: Statement) -> bool:
    """Tell whether a statement is arithmetic of real numbers."""
    return isinstance(s, Compute) and s.operation.name in PLAIN and all(x.type == REAL for x in s.args)


def is_along(b: Body, s: Load, index: Var) -> bool:
    """Tell whether a statement reads the elements of a row one after the other."""
    return id(s) not in b.hoisted and s.indices[-1:] == (index,) and index not in s.indices[:-1]


def is_same(reads: Sequence[Load]) -> bool:
    """Tell whether all sums read one row."""
    return all(s.array == reads[0].array and s.indices == reads[0].indices for s in reads)


def columns(b: Body, reads: Sequence[Load]) -> list[list[str]]:
    """Read a vector of each row; return the numbers of each sum, in the order of the steps."""
    if is_same(reads):
        return [b.unpacked("double", row(b, reads[0]), SIDE)] * len(reads)
    first, second, third, fourth = (row(b, s) for s in reads)
    low, high = ([mixed(b, x, y, how) for x, y in ((first, second), (third, fourth))] for how in (LOW, HIGH))
    steps = [mixed(b, x, y, how) for how in (FRONT, REAR) for x, y in (low, high)]
    numbers = [b.unpacked("double", v, SIDE) for v in steps]
    return [list(of_sum) for of_sum in zip(*numbers, strict=True)]


def row(b: Body, s: Load) -> str:
    """Read the next numbers of a row."""
    place = b.read_at(s)
    with b.accessing(s.array):
        return b.op(f"load {VECTOR}, ptr {place}, align 8{b.tag('double', ELEMENT)}")


def mixed(b: Body, x: str, y: str, places: Sequence[int]) -> str:
    """Interleave two vectors."""
    mask = ", ".join(f"i32 {k}" for k in places)
    return b.op(f"shufflevector {VECTOR} {x}, {VECTOR} {y}, <{SIDE} x i32> <{mask}>")
