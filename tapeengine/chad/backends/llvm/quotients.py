"""Run the steps of a loop whose indices have the same quotient one after the other, in strips.

A comprehension over two ranges is one loop, whose steps divide their index by the size of the second range. What they
compute from the quotient, such as a row, is computed once for each strip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ...intermediate.analysis import walk
from ...intermediate.statements import Compute, For, If, Statement, Var
from .before import Before
from .body import Body
from .interrupts import Strip
from .writer import REFER


class Quotients:
    """The quotients and remainders of one loop's index by numbers that are the same in all steps."""

    def __init__(self, b: Body, around: Before, count: str, up: bool) -> None:
        self.up, self.around, self.indices = up, around, around.indices
        self.places: dict[str, tuple[str, str]] = {}
        self.now: dict[str, tuple[str, str]] = {}
        self.given: list[tuple[str, str]] = []
        for s in divisions(b, around.steps):
            index, by = s.args
            if index in self.indices and isinstance(by, Var) and around.is_fixed(by) and b.one(by) not in self.places:
                self.places[b.one(by)] = self.first(b, b.one(by), count)

    def first(self, b: Body, by: str, count: str) -> tuple[str, str]:
        """Give places with the quotient and the remainder of the first step's index."""
        b.stop_if(b.op(f"icmp sle i64 {by}, 0"), REFER, now=True)
        quotient, rest = b.place("i64"), b.place("i64")
        last = "" if self.up else b.op(f"sub nsw i64 {count}, 1")
        b.set(quotient, "i64", "0" if self.up else b.op(f"sdiv i64 {last}, {by}"))
        b.set(rest, "i64", "0" if self.up else b.op(f"srem i64 {last}, {by}"))
        return quotient, rest

    def strip(self, b: Body, place: str, top: str) -> Strip:
        """Begin a strip at the step that a place holds; no quotient changes in it."""
        label = b.label("strip")
        b.begin(label)
        low = b.get(place, "i64")
        steps, found = b.op(f"sub nsw i64 {top}, {low}"), {}
        for by, places in self.places.items():
            q, r = found[by] = [b.get(x, "i64") for x in places]
            steps = b.least(steps, b.op(f"sub nsw i64 {by}, {r}" if self.up else f"add nsw i64 {r}, 1"))
            b.naturals.add(q)
        for by, (q, r) in found.items():
            self.turn(b, by, (q, r), steps)
            self.now[by] = q, b.op(f"{'sub' if self.up else 'add'} nsw i64 {r}, {low}")
            self.give(b, by, {}, "")
        self.around.move(with_recomputed(b, self.around.steps, lambda flow: self.has_step(b, flow)))
        return Strip(label, low, steps, b.op(f"add nsw i64 {low}, {steps}"))

    def has_step(self, b: Body, s: Statement) -> bool:
        """Tell whether a statement is a loop that has a step wherever this one has."""
        return isinstance(s, For) and s.count is not None and b.has(s.count) and b.one(s.count) in self.places

    def turn(self, b: Body, by: str, now: Sequence[str], steps: str) -> None:
        """Set the quotient and the remainder of the strip after one with the given ones."""
        step, end, start = ("add", by, "0") if self.up else ("sub", "-1", b.op(f"sub nsw i64 {by}, 1"))
        rest = b.op(f"{step} nsw i64 {now[1]}, {steps}")
        turns = b.op(f"icmp eq i64 {rest}, {end}")
        for place, value in zip(
            self.places[by],
            (
                b.op(f"{step} nsw i64 {now[0]}, {b.op(f'zext i1 {turns} to i64')}"),
                b.op(f"select i1 {turns}, i64 {start}, i64 {rest}"),
            ),
            strict=True,
        ):
            b.set(place, "i64", value)

    def give(self, b: Body, by: str, own: Mapping[str, Var], rest: str) -> None:
        """Give the quotient and the remainder, whose variables may have names of their own."""
        for index in self.indices:
            self.given.append((own.get(index.name, index).name, by))
            b.quotients[self.given[-1]] = self.now[by][0], rest

    def begin(self, b: Body, own: Mapping[str, Var], step: str) -> None:
        """Give the values of a step, whose variables may have names of their own."""
        for by, (_, start) in self.now.items():
            rest = b.op(f"{'add' if self.up else 'sub'} nsw i64 {start}, {step}")
            b.naturals.add(rest)
            self.give(b, by, own, rest)

    def end(self, b: Body) -> None:
        """Discard the values after the steps."""
        for key in self.given:
            b.quotients.pop(key, None)
        self.given.clear()


def divisions(b: Body, steps: Sequence[Statement]) -> Iterator[Compute]:
    """Iterate over the divisions of steps, including those by which inner loops recompute what frames omit."""
    for s in with_recomputed(b, steps, lambda flow: not isinstance(flow, If)):
        if isinstance(s, Compute) and s.operation.name in ("ifloordiv", "imod"):
            yield s


def with_recomputed(b: Body, steps: Sequence[Statement], runs: Callable[[Statement], bool]) -> Iterable[Statement]:
    """Iterate over statements and those inside the loops and branches that run."""
    for s, around in walk(list(steps)):
        if all(map(runs, around)):
            yield s
            for k in s.recalled if isinstance(s, For) and runs(s) else ():
                site = b.program.recomputed.get(k.frames.name)
                yield from () if site is None else site.again
