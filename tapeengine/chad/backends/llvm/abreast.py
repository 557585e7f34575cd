"""Run several steps of a loop at once if each step sums numbers in inner loops.

In a sum in program order each addition waits for the previous one, but sums of different steps are independent: their
inner loops are joined into one, which adds to all of them in turn. Each sum keeps its order. So do elements of arrays
to which all steps add, if each step of the inner loop adds to different elements. The rest of each step runs after
these loops, in the order of the steps, so no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...intermediate import statements as F
from ...intermediate.analysis import changes, name_of, outs, reads, recalls, walk
from ...intermediate.operations import Scalar
from .before import Before
from .fuse import Summed
from .helpers import COLUMNS, Helpers
from .largest import reading
from .order import is_orderless

#: The number of steps at once: the number of additions that a processor executes concurrently.
LANES = 4


@dataclass
class Abreast:
    """A division of the steps into a concurrent and a sequential part.

    * `first`: its loops run for all steps at once, the statements between them for each step in turn.
    * `own`: the variables of which each step has its own copy.
    * `few`: the numbers of steps of sums in pairs and largest numbers, which run at once where these are below eight.
    """

    first: list[F.Statement]
    rest: list[F.Statement]
    own: Mapping[str, F.Var]
    few: Sequence[F.Operand]


def abreast(s: F.For, given: Collection[str], around: Before, program: Helpers) -> Abreast | None:
    """Find out how the steps of a loop can run concurrently; None if they cannot, or have nothing to sum."""
    if not all(isinstance(v.type, Scalar) for v, _ in s.carried):
        return None
    finder = Finder({v.name for v, _ in s.carried}, given, around, program)
    found = 0
    for k, t in enumerate(s.body):
        if not (finder.is_sum(t) if isinstance(t, F.For) else finder.is_own(t)):
            break
        if isinstance(t, F.For):
            found = k + 1
    first, rest = s.body[:found], s.body[found:]
    if not any(is_waiting(x, s, around) for x, _ in walk(first)):
        return None
    if any(isinstance(x, F.For | F.While) for x, _ in walk(rest)):  # there would be many copies
        return None
    if not finder.are_apart(first, rest):
        return None
    shared = finder.shared & {v.name for t, _ in walk(first) for v in outs(t)}
    own = {v.name: v for v in own_variables(s) if v.name not in shared and v.name not in given}
    return Abreast(first, rest, own, finder.few)


def is_waiting(s: F.Statement, loop: F.For, around: Before) -> bool:
    """Tell whether a statement adds to what all steps of a loop, or all of an inner loop, add to.

    Rows that steps select mostly differ; LLVM makes vectors of loops along them if they are not joined.
    """
    if isinstance(s, F.AddAt):
        rows = (row for row, _ in walk(loop.body) if isinstance(row, F.Row) and row.out == s.array)
        return all(around.is_fixed(row.out) for row in rows)
    return isinstance(s, F.Add) or (isinstance(s, F.For) and bool(s.carried))


def own_variables(s: F.For) -> Iterator[F.Var]:
    """Iterate over the variables that a step assigns."""
    yield from (s.index, *recalls(s))
    for x, _ in walk(s.body):
        yield from (*outs(x), *(recalls(x) if isinstance(x, F.For) else ()))


class Finder:
    """Finds statements that only compute values for their own step."""

    def __init__(self, carried: Collection[str], given: Collection[str], around: Before, program: Helpers) -> None:
        self.carried, self.given, self.around, self.program = carried, given, around, program
        self.made: set[str] = set()
        self.shared: set[str] = set()
        self.few: list[F.Operand] = []

    def is_own(self, s: F.Statement) -> bool:
        """Tell whether a statement reads only values that no step changes, and is used only in its own step."""
        if any(isinstance(x, F.Var) and x.name in self.carried for x in reads(s)):
            return False
        match s:
            case F.Load() | F.Row():
                plain = isinstance(s.array, F.Var) and (isinstance(s, F.Row) or isinstance(s.out.type, Scalar))
                return plain and (isinstance(s, F.Row) or self.is_local(s) or self.around.is_unchanged(s.array))  # type: ignore[arg-type]
            case F.Size() if isinstance(s.array, F.Var):
                return self.around.is_fixed(s.array) or self.around.is_unchanged(s.array)
            case F.Compute():
                if all(map(self.is_shared, s.args)):
                    self.shared.add(s.out.name)
                return True
            case F.New():
                self.made.add(s.out.name)
                return bool(s.sizes) and all(map(self.around.is_fixed, s.sizes))
            case F.Add() | F.Assign():
                return all(isinstance(v.type, Scalar) and v.name not in self.given for v in outs(s))
        return False

    def is_shared(self, x: F.Operand) -> bool:
        """Tell whether a value is the same in the steps that run at once."""
        return isinstance(x, F.Const) or x.name in self.shared or self.around.is_fixed(x)

    def is_sum(self, s: F.For) -> bool:
        """Tell whether an inner loop has the same number of steps in all outer steps, and only adds."""
        if s.count is None or not self.is_shared(s.count):
            return False
        if isinstance(s, Summed) or reading(s) is not None:
            self.few.append(s.count)
            if not self.around.is_fixed(s.count):
                return False
        self.shared.add(s.index.name)
        if any(self.program.sites.get(k.frames.name) != COLUMNS for k in s.recalled):
            return False
        own = all(isinstance(v.type, Scalar) and v.name not in self.given for v, _ in s.carried)
        own = own and not any(isinstance(x, F.Var) and x.name in self.carried for x in reads(s))
        own = own and all(self.is_added(x) or self.is_own(x) or self.is_uneven(x) for x in s.body)
        return own and self.in_any_order(s)

    def is_uneven(self, s: F.Statement) -> bool:
        """Tell whether a statement is a loop inside of a loop, the number of whose steps varies, and adds numbers."""
        if not isinstance(s, F.For) or s.count is None or self.around.is_fixed(s.count):
            return False
        return self.is_sum(s) and not any(isinstance(x, F.AddAt) for x in s.body)

    def is_added(self, s: F.Statement) -> bool:
        """Tell whether a statement adds a number of its own step to an element, or writes it to an array of its own."""
        if not isinstance(s, F.AddAt | F.Store) or not isinstance(s.value.type, Scalar):
            return False
        if isinstance(s, F.Store) and not self.is_local(s):
            return False
        return not any(isinstance(x, F.Var) and x.name in self.carried for x in reads(s))

    def in_any_order(self, s: F.For) -> bool:
        """Tell whether the steps of a loop add to different elements of the arrays that all outer steps share."""
        body: list[F.Statement] = [x for x in s.body if not isinstance(x, F.Add) and not self.is_local(x)]
        arrays = {v for x in body for v in self.added(x)}
        if len(set(map(self.around.memory, arrays))) < len(arrays):  # one memory under two names
            return False
        return not arrays or is_orderless(replace(s, body=body, carried=[]))

    def is_local(self, s: F.Statement) -> bool:
        """Tell whether a statement reads or changes an array of its own step."""
        return isinstance(s, F.AddAt | F.Store | F.Load) and name_of(s.array) in self.made

    def are_apart(self, first: Sequence[F.Statement], rest: Sequence[F.Statement]) -> bool:
        """Tell whether no other statement accesses the memory to which the loops add."""
        memory = self.around.memory
        loops = [{memory(v) for x in s.body for v in self.added(x)} for s in first if isinstance(s, F.For)]
        touched = [
            memory(v) for x, _ in walk(list(rest)) for v in (*reads(x), *changes(x)) if isinstance(v.type, F.ArrayOf)
        ]
        each = [name for memory in loops for name in memory]
        return len(set(each)) == len(each) and set(each).isdisjoint(touched)

    def added(self, s: F.Statement) -> tuple[F.Var, ...]:
        """Give the array that a statement adds to, if all steps share it."""
        return (s.array,) if isinstance(s, F.AddAt) and not self.is_local(s) else ()


@dataclass(slots=True)
class Beside(F.For):
    """The loops of several steps, joined into one, without the frames that they keep."""

    lanes: Sequence[F.For] = ()


def side_by_side(loops: Sequence[F.For]) -> Beside:
    """Join loops with the same number of steps into one, with the loops inside them."""
    first, carried = loops[0], [pair for s in loops for pair in s.carried]
    body = [t for found in zip(*(s.body for s in loops), strict=True) for t in joined(found)]
    recalled = [k for s in loops for k in s.recalled]
    return Beside(first.index, first.count, body, first.down, carried, None, recalled, lanes=loops)


def joined(steps: Sequence[F.Statement]) -> Sequence[F.Statement]:
    """Give the same statement of several steps: one loop, one statement that all share, or each in turn."""
    if isinstance(steps[0], F.For):
        return [side_by_side([s for s in steps if isinstance(s, F.For)])]
    return steps[:1] if all(s == steps[0] for s in steps) else steps
