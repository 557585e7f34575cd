"""Taping (DN section 10.3).

    S = Array [(R, Z)]                 the tape, which replaces the state of the monad that generates ids
    D[R] = (R, Z)                      an id is the position of a record on the tape
    D[op(t1, ..., tn)] = ... let (n, tape') = record [(d1 op(x..)(1), i1), ..., (dn op(x..)(1), in)] tape in ...
    SResolve: for i from the last id down to 0, for (a, j) in tape[i]: cotangents[j] += a cotangents[i]

The contributions of a backpropagator are known in the forward pass, so they are recorded there. The core of this
project uses this form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...chad.language.terms import Term, Tuple
from ...chad.language.types import Named, Product
from ..target import Interface, unpack
from .contrib import Contributions
from .monadic import ID, STATE
from .wrapper import Step

Tape = list[tuple[tuple[float, int], ...]]


class ToTape(Contributions):
    """The transformation: a record is the list of contributions, of partials and ids."""

    back = Named("Record")
    link = ID

    def identify(self, primal: Term, back: Term, state: Term) -> Term:
        """``let (n, tape') = record back tape in ((primal, n), tape')``."""
        n, after = self.fresh("n", ID), self.fresh("i", STATE)
        pair = Tuple((Tuple((primal, n)), after))
        return unpack(self.fresh, (n, after), Interface("record", (back, state), Product((ID, STATE))), pair)


class Taping(Step):
    """The step."""

    transformation = ToTape

    def start(self) -> Tape:
        """An empty tape."""
        return []

    def record(self, parts: tuple[tuple[float, int], ...], tape: Tape) -> tuple[int, Tape]:
        """Append one record; the tape is changed in place."""
        self.counts.records += 1
        tape.append(parts)
        return len(tape) - 1, tape

    def dual(self, x: float, place: int, state: Any) -> tuple[Any, Any]:
        """Record an input, without contributions."""
        n, tape = self.record((), state)
        return (x, n), tape

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The constructor of records, and the operation that appends them to the tape."""
        return {"Record": lambda *parts: parts, "record": self.record}

    def resolve(self, calls: list[tuple[Any, float]], last: Tape) -> Callable[[int], float]:
        """SResolve."""
        cotangents = [0.0] * len(last)
        self.counts.step(len(last))
        for i, z in calls:
            cotangents[i] += z
        for i in range(len(last) - 1, -1, -1):
            self.counts.calls += 1
            for a, j in last[i]:
                self.counts.additions += 1
                cotangents[j] += a * cotangents[i]
        return cotangents.__getitem__
