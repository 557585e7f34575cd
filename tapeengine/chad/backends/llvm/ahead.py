"""Compute elementary functions for many steps of a loop at once, where the steps themselves run one after the other.

LLVM calls the functions of vectors only in loops that it vectorises as a whole. A loop with other loops in its steps is
none. If the argument of a function is known when a step begins, and no step changes what it depends on, a short loop
computes the function for the next steps, into a buffer from which each step reads its value. That loop vectorises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ...intermediate.analysis import outs, reads, renamed, walk
from ...intermediate.statements import Add, Compute, Const, For, Load, Operand, Row, Size, Statement, Var
from .before import Before
from .body import Body
from .helpers import Helpers

#: The number of steps at once: a power of two.
BLOCK = 64


@dataclass(frozen=True)
class Ahead:
    """The functions that are computed ahead, and buffers for their values.

    Attributes
    ----------
    needed : sequence of Statement
        The statements of a step that compute their arguments, and themselves.
    own : mapping of str to Var
        The variables of the steps that are computed ahead.
    """

    functions: Sequence[Compute]
    needed: Sequence[Statement]
    own: Mapping[str, Var]
    buffers: Sequence[str]

    def write(self, b: Body) -> None:
        """Write the functions of the step whose variables have been given, and store their values."""
        b.block(b.copies(self.needed, partial(renamed, names=self.own)))

    def keep(self, b: Body, k: str) -> None:
        """Store the values of a step."""
        for s, buffer in zip(self.functions, self.buffers, strict=True):
            b.line(f"store double {b.one(self.own[s.out.name])}, ptr {element(b, buffer, k)}, align 8")

    def give(self, b: Body, k: str) -> None:
        """Give a step its values; its own statements that compute them are left out."""
        for s, buffer in zip(self.functions, self.buffers, strict=True):
            b.give(s.out, [b.op(f"load double, ptr {element(b, buffer, k)}, align 8")])
            b.hoisted.add(id(s))

    def leave(self, b: Body) -> None:
        """Discard the facts after the loop."""
        b.hoisted -= {id(s) for s in self.functions}


def element(b: Body, buffer: str, k: str) -> str:
    """Give the place of a value in a buffer."""
    return b.op(f"getelementptr inbounds double, ptr {buffer}, i64 {k}")


def ahead(b: Body, s: For, around: Before) -> Ahead | None:
    """Find the functions of a loop's steps that can be computed ahead; None if there are none."""
    known = dict(known_at_first(b, s))
    often = {name for name, n in Counter(v.name for t, _ in walk(s.body) for v in outs(t)).items() if n > 1}
    plain: list[Statement] = []
    for t in done_in_steps(b, s.body):
        if is_plain(t, known, around) and often.isdisjoint(v.name for v in outs(t)):
            known |= {v.name: v for v in outs(t)}
            plain.append(t)
        else:
            for name in {v.name for x, _ in walk([t]) for v in outs(x)}:
                known.pop(name, None)
    functions = [t for t in plain if isinstance(t, Compute) and b.program.is_of_vectors(t)]
    if not functions:
        return None
    needed = list(needed_by(functions, plain))
    buffers = [b.fresh("ahead") for _ in functions]
    b.places += [f"  {buffer} = alloca [{BLOCK} x double], align 64" for buffer in buffers]
    own = {v.name: v for v in (*dict(known_at_first(b, s)).values(), *(v for t in plain for v in outs(t)))}
    return Ahead(functions, needed, b.lane(own, -1), buffers)


def is_chain(program: Helpers, s: For) -> bool:
    """Tell whether an innermost loop calls functions of vectors, but has steps that wait for one another.

    Sums that may be reordered do not wait: LLVM makes vectors of the whole loop.
    """
    waits = s.carried or any(isinstance(t, Add) for t, _ in walk(s.body))
    return bool(waits) and program.is_full and not program.is_loose and any(map(program.is_of_vectors, s.body))


def known_at_first(b: Body, s: For) -> Iterator[tuple[str, Var]]:
    """Iterate over the variables that a step has when it begins: its index, and what it recalls."""
    yield s.index.name, s.index
    for k in s.recalled:
        site = b.program.recomputed.get(k.frames.name)
        again = [] if site is None else [site.index, *(v for t in done_in_steps(b, site.again) for v in outs(t))]
        yield from ((v.name, v) for v in (*k.fields, *again))


def done_in_steps(b: Body, statements: Iterable[Statement]) -> Iterator[Statement]:
    """Iterate over the statements that have not been moved before the loop."""
    return (t for t in statements if id(t) not in b.hoisted)


def is_plain(s: Statement, known: Mapping[str, Var], around: Before) -> bool:
    """Tell whether a statement gives the same value if it runs before the steps that precede its own."""
    if not all(is_known(x, known, around) for x in reads(s)):
        return False
    if isinstance(s, Load):
        return isinstance(s.array, Var) and around.is_unchanged(s.array)
    return isinstance(s, Row | Size) or (isinstance(s, Compute) and s.operation.name not in ("ifloordiv", "imod"))


def is_known(x: Operand, known: Mapping[str, Var], around: Before) -> bool:
    """Tell whether an operand is a value of the step itself, or the same in all steps."""
    return isinstance(x, Const) or x.name in known or around.is_fixed(x)


def needed_by(functions: Iterable[Compute], statements: Sequence[Statement]) -> Iterable[Statement]:
    """Give the statements on which functions depend, and themselves, in their order."""
    found: list[Statement] = []
    names = {s.out.name for s in functions}
    for s in reversed(statements):
        if not names.isdisjoint(v.name for v in outs(s)):
            names |= {x.name for x in reads(s) if isinstance(x, Var)}
            found.append(s)
    return reversed(found)
