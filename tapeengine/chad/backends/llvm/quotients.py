"""Count quotients and remainders of a loop's index along with its steps, instead of dividing in each.

A comprehension over two ranges is one loop, whose steps divide their index by the size of the second range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...intermediate.analysis import walk
from ...intermediate.statements import Compute, For, If, Statement, Var
from .before import Before
from .body import Body
from .writer import REFER


class Quotients:
    """The quotients and remainders of one loop's index by numbers that are the same in all steps."""

    def __init__(self, b: Body, around: Before, count: str, up: bool) -> None:
        self.up, self.indices = up, around.indices
        self.places: dict[str, tuple[str, str]] = {}
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

    def begin(self, b: Body, own: Mapping[str, Var]) -> None:
        """Give the values of a step, whose variables may have names of their own, and count on."""
        for by, (quotient, rest) in self.places.items():
            q, r = b.get(quotient, "i64"), b.get(rest, "i64")
            b.naturals |= {q, r}
            for index in self.indices:
                self.given.append((own.get(index.name, index).name, by))
                b.quotients[self.given[-1]] = (q, r)
            step, turn, start = ("add", b.op(f"sub i64 {by}, 1"), "0") if self.up else ("sub", "0", "")
            start = start or b.op(f"sub i64 {by}, 1")
            turns = b.op(f"icmp eq i64 {r}, {turn}")
            b.set(rest, "i64", b.op(f"select i1 {turns}, i64 {start}, i64 {b.op(f'{step} i64 {r}, 1')}"))
            b.set(quotient, "i64", b.op(f"{step} i64 {q}, {b.op(f'zext i1 {turns} to i64')}"))

    def end(self, b: Body) -> None:
        """Discard the values after the steps."""
        for key in self.given:
            b.quotients.pop(key, None)
        self.given.clear()


def divisions(b: Body, steps: Sequence[Statement]) -> Iterator[Compute]:
    """Iterate over the divisions of steps, including those by which inner loops recompute what frames omit."""
    for s in with_recomputed(b, steps):
        if isinstance(s, Compute) and s.operation.name in ("ifloordiv", "imod"):
            yield s


def with_recomputed(b: Body, steps: Sequence[Statement]) -> Iterable[Statement]:
    """Iterate over statements and those inside their loops, which each step runs."""
    for s, around in walk(list(steps)):
        if any(isinstance(flow, If) for flow in around):
            continue
        yield s
        for k in s.recalled if isinstance(s, For) else ():
            site = b.program.recomputed.get(k.frames.name)
            yield from () if site is None else site.again
