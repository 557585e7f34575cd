"""Run the steps of a loop whose indices have the same quotient one after the other, in strips.

A comprehension over two ranges is one loop, whose steps divide their index by the size of the second range. What they
compute from the quotient, such as a row, is computed once for each strip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...intermediate.analysis import walk
from ...intermediate.statements import Compute, If, Operand, Statement, Var
from .before import Before
from .body import Body
from .interrupts import Strip
from .writer import REFER

#: Operations that a loop counts along with its steps: the quotient, and the remainder.
DIVIDING = ("ifloordiv", "imod")


class Quotients:
    """The quotients and remainders of one loop's index by numbers that are the same in all steps.

    * `places`: those of the next strip's first index.
    * `now`: those of this strip; the remainder also counts the number of the step.
    """

    def __init__(self, b: Body, around: Before, count: str, up: bool) -> None:
        self.up, self.around = up, around
        self.places: dict[Operand, tuple[str, str]] = {}
        self.now: dict[Operand, tuple[str, str]] = {}
        for s in running(around.loop.body, lambda flow: not isinstance(flow, If)):
            if isinstance(s, Compute) and s.operation.name in DIVIDING and s.args[0] == around.loop.index:
                by = s.args[1]
                if isinstance(by, Var) and around.is_fixed(by) and by not in self.places:
                    self.places[by] = self.first(b, b.one(by), count)

    def first(self, b: Body, by: str, count: str) -> tuple[str, str]:
        """Give places with the quotient and the remainder of the first step's index."""
        b.stop_if(b.op(f"icmp sle i64 {by}, 0"), REFER, now=True)
        last, found = "0" if self.up else b.op(f"sub nsw i64 {count}, 1"), (b.place("i64"), b.place("i64"))
        for place, divide in zip(found, ("sdiv", "srem"), strict=True):
            b.set(place, "i64", last if self.up else b.op(f"{divide} i64 {last}, {by}"))
        return found

    def strip(self, b: Body, place: str, top: str) -> Strip:
        """Begin a strip at the step that a place holds; no quotient changes in it."""
        label = b.label("strip")
        b.begin(label)
        low = b.get(place, "i64")
        steps = b.op(f"sub nsw i64 {top}, {low}")
        self.now = {by: (b.get(q, "i64"), b.get(r, "i64")) for by, (q, r) in self.places.items()}
        step, back = ("add", "sub") if self.up else ("sub", "add")
        for by, (_, r) in self.now.items():
            steps = b.least(steps, b.op(f"sub nsw i64 {b.one(by)}, {r}" if self.up else f"add nsw i64 {r}, 1"))
        for by, (q, r) in self.now.items():
            end, start = (b.one(by), "0") if self.up else ("-1", b.op(f"sub nsw i64 {b.one(by)}, 1"))
            rest = b.op(f"{step} nsw i64 {r}, {steps}")
            turns = b.op(f"icmp eq i64 {rest}, {end}")
            b.set(self.places[by][0], "i64", b.op(f"{step} nsw i64 {q}, {b.op(f'zext i1 {turns} to i64')}"))
            b.set(self.places[by][1], "i64", b.op(f"select i1 {turns}, i64 {start}, i64 {rest}"))
            self.now[by] = q, b.op(f"{back} nsw i64 {r}, {low}")
        self.begin(b, {}, low)
        self.around.move(running(self.around.loop.body, lambda s: getattr(s, "count", None) in self.places))
        return Strip(label, low, steps, b.op(f"add nsw i64 {low}, {steps}"))

    def begin(self, b: Body, own: Mapping[str, Var], step: str) -> None:
        """Give the values of a step, whose variables may have names of their own."""
        for by, (q, start) in self.now.items():
            rest = b.op(f"{'add' if self.up else 'sub'} nsw i64 {start}, {step}")
            b.naturals |= {q, rest}
            index = self.around.loop.index
            b.quotients[own.get(index.name, index), by] = q, rest


def running(steps: list[Statement], runs: Callable[[Statement], bool]) -> Iterable[Statement]:
    """Iterate over statements and those inside the loops and branches that run."""
    return (s for s, around in walk(steps) if all(map(runs, around)))
