"""Account for the time of loops inside one another at once, before the first step.

Code for short runs stops there if the time is too much to run without a look for interrupts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...intermediate import statements as F
from ...intermediate.analysis import blocks
from .before import Before
from .body import Body
from .interrupts import UNCHECKED, charge, nanoseconds
from .writer import LONG


@dataclass
class Cost:
    """The nanoseconds of statements: without loops, and of the steps of loops by their number; if some are left out."""

    own: int = 1
    loops: dict[F.Operand, Cost] = field(default_factory=dict)
    has_more: bool = False

    def add(self, statements: Iterable[F.Statement], is_fixed: Callable[[F.Operand], bool]) -> Cost:
        """Add statements, with loops whose number of steps is fixed; others, and calls, account for themselves."""
        for s in statements:
            self.own += nanoseconds(s)
            if isinstance(s, F.For) and s.count is not None and is_fixed(s.count):
                self.has_more |= self.loops.setdefault(s.count, Cost()).add(s.body, is_fixed).has_more
            elif isinstance(s, F.If):
                self.add([t for block in blocks(s) for t in block], is_fixed)
            else:
                self.has_more |= isinstance(s, F.For | F.While | F.Call | F.Registered | F.Plus)
        return self

    def write(self, b: Body, found: set[F.Operand | None]) -> str:
        """Give the time as a real number, which cannot overflow, and record the numbers of steps."""
        total = f"{self.own}.0"
        for x, inner in self.loops.items():
            each = times(b, b.not_negative(b.one(x)), inner.write(b, found))
            total = b.op(f"fadd double {total}, {each}")
            found.add(x)
        return total


def times(b: Body, n: str, each: str) -> str:
    """Multiply a number of steps by the time of each."""
    return b.op(f"fmul double {b.op(f'sitofp i64 {n} to double')}, {each}")


def account(b: Body, s: F.For, around: Before, count: str) -> str:
    """Give the time of each step of a loop that has to look for interrupts; account for others, unless it is done."""
    if b.accounted and s.count is not None and (isinstance(s.count, F.Const) or s.count in b.accounted):
        return ""
    found, b.accounted = Cost().add(s.body, around.is_fixed), {s.count}
    if not found.loops and not found.has_more:
        b.stop_if(b.op(f"icmp sgt i64 {count}, {UNCHECKED // found.own}"), LONG, now=True)
        charge(b, b.product([count, found.own]))
        return ""
    looks = found.has_more or not b.depth
    total = found.write(b, b.accounted)
    if not looks:
        total = times(b, count, total)
    b.stop_if(b.op(f"fcmp ogt double {total}, {UNCHECKED}.0"), LONG, now=True)
    spent = b.op(f"fptosi double {total} to i64")
    if not looks:
        charge(b, spent)
    return spent if looks else ""
