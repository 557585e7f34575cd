"""Symbolic execution of computations that accumulate: their contributions to each slot, and their other steps.

A `Frame` records a computation: the contributions to each slot (EC Fig. 6: ``one``) and the other steps, in order. When
a slot is closed, its contributions are looked up and become a sum, independently of the steps in between. So the cost
of a slot is the number of its contributions, not the size of the program.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from ..language.target import Bind, One, Return, Then, Zero
from ..language.terms import Apply, Let, Term, Var, unit
from ..language.traverse import children
from ..language.types import EVM, UNIT, remembered
from .rules import components, of_components


@dataclass(frozen=True)
class Step:
    """A step of a computation: a let (``is_let``), or a computation whose result may be bound to a variable."""

    term: Term
    var: Var | None = None
    is_let: bool = False


@dataclass
class Frame:
    """The record of a computation.

    * `steps`: the steps in order; None for contributions that have been summed.
    * `given`: for each slot, the places of its contributions in ``steps``.
    * `others`: the places of steps that are neither contributions nor lets.
    """

    steps: list[Step | None] = field(default_factory=list)
    given: dict[str, list[int]] = field(default_factory=dict)
    others: list[int] = field(default_factory=list)

    def add(self, var: Var, bound: Term) -> None:
        """Bind a variable after the steps so far."""
        self.steps.append(Step(bound, var, is_let=True))

    def bindings(self) -> list[tuple[Var, Term]]:
        """Give the bindings of a block, which has no other steps."""
        return [(s.var, s.term) for s in self.steps if s and s.var]

    def contribute(self, term: One) -> None:
        """Add a contribution, together with the one before it to other parts of the same slot."""
        places = self.given.setdefault(term.slot, [])
        if places and places[-1] >= (self.others or [0])[-1]:
            before = self.steps[places[-1]]
            if before and (both := of_other_parts(before.term.term, term.term)):  # type: ignore[attr-defined]
                self.steps[places.pop()] = None
                term = One(term.slot, both)
        places.append(len(self.steps))
        self.steps.append(Step(term))

    def do(self, term: Term, var: Var | None) -> None:
        """Add a step that is not a contribution."""
        self.others.append(len(self.steps))
        self.steps.append(Step(term, var))

    def taken(self, places: list[int]) -> list[Term]:
        """Remove contributions and return them."""
        found = []
        for place in places:
            step = self.steps[place]
            assert step is not None
            assert isinstance(step.term, One)
            found.append(step.term.term)
            self.steps[place] = None
        return found

    def since(self, mark: int) -> list[Term]:
        """Give the steps from a place on that are not contributions."""
        return [s.term for place in self.others[bisect_left(self.others, mark) :] if (s := self.steps[place])]

    def cut(self, mark: int) -> list[Step | None]:
        """Remove all steps from a place on, and return them."""
        steps = self.steps[mark:]
        del self.steps[mark:]
        for places in (self.others, *self.given.values()):
            del places[bisect_left(places, mark) :]
        return steps


def of_other_parts(first: Term, second: Term) -> Term | None:
    """Join two cotangents of a tuple if one of them is zero at each part; otherwise None."""
    (rest, xs), (other, ys) = components(first), components(second)
    is_apart = isinstance(rest, Zero) and isinstance(other, Zero) and xs.keys().isdisjoint(ys)
    return of_components(rest, xs | ys) if is_apart and xs and ys else None


def sequence(steps: list[Step | None], value: Term) -> Term:
    """Write a sequence of steps that ends with a value."""
    result: Term = Return(value)
    for step in reversed([s for s in steps if s is not None]):
        if step.is_let:
            assert step.var is not None
            result = Let(step.var, step.term, result)
        elif step.var is not None:
            result = step.term if result == Return(step.var) else Bind(step.var, step.term, result)
        elif isinstance(result, Return) and result.term == unit() and step.term.type == EVM(UNIT):
            result = step.term
        else:
            result = Then(step.term, result)
    return result


@remembered
def slots_of(term: Term) -> frozenset[str]:
    """Give the slots to which a term contributes."""
    own = {term.slot} if isinstance(term, One) else set()
    return frozenset(own.union(*(slots_of(child) for child, _ in children(term))))


@remembered
def is_opaque(term: Term) -> bool:
    """Tell whether a term calls functions that it does not contain."""
    return isinstance(term, Apply) or any(is_opaque(child) for child, _ in children(term))
