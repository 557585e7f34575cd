"""Look for interrupts: a budget of time that loops use up, and strips of inner loops.

A vectorised loop cannot look in its steps. It runs in strips, with a look after each. Strips take time to compile, and
cost short loops some percent, so code for short runs has none; code with strips replaces it where a run is long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...intermediate.analysis import walk
from ...intermediate.statements import Compute, Statement
from .operations import INLINE
from .writer import Writer

#: Steps between two checks for interrupts.
STRIP = 1 << 14
#: The estimated nanoseconds that a loop may run without a check.
UNCHECKED = 20_000_000
#: The nanoseconds of a call of a function of numbers; other statements take one.
CALL = 10
#: The offset of the budget in `te_native`; see `machine.h`.
BUDGET = 48


def nanoseconds(s: Statement) -> int:
    """Estimate the time of a statement, without those inside."""
    return CALL if isinstance(s, Compute) and s.operation.name not in INLINE else 1


def weight(body: Sequence[Statement]) -> int:
    """Estimate the nanoseconds of a step."""
    return 1 + sum(nanoseconds(s) for s, _ in walk(list(body)))


def charge(w: Writer, cost: str | int) -> str:
    """Decrease the budget; return the rest."""
    budget = w.state(BUDGET)
    left = w.op(f"sub i64 {w.op(f'load i64, ptr {budget}, !tbaa !17')}, {cost}")
    w.line(f"store i64 {left}, ptr {budget}, !tbaa !17")
    return left


def poll(w: Writer, cost: str | int, steps: int = 1) -> None:
    """Decrease the budget by the cost of steps, if they have one; if it is used up, check for interrupts."""
    if not cost:
        return
    left = charge(w, w.product([cost, steps]))
    look, go = w.label("look"), w.label("go")
    w.jump_if(w.op(f"icmp slt i64 {left}, 0"), look, go, unlikely=True)
    w.start(look)
    w.check_status(w.op("call i32 @te_poll(ptr %ctx)"), go)
    w.start(go)


@dataclass(frozen=True)
class Strip:
    """A part of a loop.

    * `label`: where the next strip begins.
    * `low`, `steps`, `top`: its first step, the number of its steps, and the first step after it.
    """

    label: str
    low: str
    steps: str
    top: str

    def end(self, w: Writer, count: str, done: str) -> None:
        """Check for interrupts, and go on with the next strip."""
        more = w.label("more")
        w.jump_if(w.op(f"icmp slt i64 {self.top}, {count}"), more, done, unlikely=True)
        w.start(more)
        w.check_status(w.op("call i32 @te_poll(ptr %ctx)"), self.label)

    def next(self, w: Writer, count: str, done: str) -> None:
        """Go on with the next strip, without a check."""
        w.jump_if(w.op(f"icmp slt i64 {self.top}, {count}"), self.label, done)


def strip(w: Writer, place: str, count: str, length: int = STRIP) -> Strip:
    """Begin a strip at the step that a place holds."""
    label = w.label("strip")
    w.begin(label)
    low = w.get(place, "i64")
    steps = w.least(w.op(f"sub nsw i64 {count}, {low}"), str(length))
    return Strip(label, low, steps, w.op(f"add nsw i64 {low}, {steps}"))
