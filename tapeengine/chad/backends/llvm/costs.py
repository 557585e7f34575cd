"""Account for the time of loops inside one another at once, and find the loops that have to look for interrupts.

Where the numbers of steps are known before a loop, so is the time of all its steps. Code that may stop where it is long
accounts for that time before the loop, instead of in each step, and stops if it is too much to run without a look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ...intermediate import statements as F
from ...intermediate.analysis import blocks
from .before import Before
from .body import Body
from .interrupts import UNCHECKED, charge
from .operations import INLINE
from .writer import LONG

#: Statements of which a step may take any time.
ENDLESS = F.While | F.Call | F.Registered | F.Plus
#: The nanoseconds of a statement, and of a call of a function of numbers.
EACH, CALL = 1, 10


@dataclass
class Cost:
    """The nanoseconds of some statements.

    Attributes
    ----------
    own : int
        The time without that of loops.
    loops : dict of Operand to Cost
        The time of the steps of loops, by the number of steps.
    has_more : bool
        Some loops or calls are not included: they account for themselves.
    """

    own: int = 0
    loops: dict[F.Operand, Cost] = field(default_factory=dict)
    has_more: bool = False

    def add(self, statements: Iterable[F.Statement], is_fixed: Callable[[F.Operand], bool]) -> Cost:
        """Add statements, with loops whose number of steps is the same in all of them."""
        for s in statements:
            self.own += CALL if isinstance(s, F.Compute) and s.operation.name not in INLINE else EACH
            if isinstance(s, F.For) and s.count is not None and is_fixed(s.count):
                self.loops.setdefault(s.count, Cost(1)).add(s.body, is_fixed)
                self.has_more |= self.loops[s.count].has_more
            elif isinstance(s, F.If):
                self.add([t for block in blocks(s) for t in block], is_fixed)
            else:
                self.has_more |= isinstance(s, F.For | ENDLESS)
        return self

    def counts(self) -> set[F.Operand]:
        """Give all numbers of steps."""
        return {*self.loops, *(x for inner in self.loops.values() for x in inner.counts())}

    def write(self, b: Body) -> str:
        """Give the time as a real number, which cannot overflow."""
        total = f"{self.own}.0"
        for x, inner in self.loops.items():
            total = b.op(f"fadd double {total}, {times(b, b.not_negative(b.one(x)), inner.write(b))}")
        return total


def times(b: Body, n: str, each: str) -> str:
    """Multiply a number of steps by the time of each."""
    return b.op(f"fmul double {b.op(f'sitofp i64 {n} to double')}, {each}")


def is_counted(b: Body, s: F.For) -> bool:
    """Tell whether a loop around this one has accounted for it."""
    return s.count is not None and b.accounted is not None and (isinstance(s.count, F.Const) or s.count in b.accounted)


def account(b: Body, s: F.For, around: Before, count: str) -> str:
    """Account for a loop, or for each step of one that has to look for interrupts: give the time of a step."""
    found = Cost(1).add(s.body, around.is_fixed)
    looks = bool(found.loops or found.has_more) and (not b.depth or found.has_more)
    b.accounted = frozenset({*found.counts(), s.count} - {None})
    total = found.write(b) if looks else times(b, count, found.write(b))
    b.stop_if(b.op(f"fcmp ogt double {total}, {UNCHECKED}.0"), LONG, now=True)
    spent = b.op(f"fptosi double {total} to i64")
    if not looks:
        charge(b, spent)
    return spent if looks else ""
