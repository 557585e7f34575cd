"""Functions that a replay calls and that have recordings of their own: tasks of a fork, steps of an iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core.programs.replay import MISS, NotReplayable, Plan, Recording
from ..._core.sweeps import trace
from ..contract import Engine

#: The order of the tape of a recording.
RECORDING = 3
Pull = Callable[[Any], Any]


class RecordedFunction:
    """The recordings of a function of plain values without effects: a path for each way through its branches.

    One that computes arrays is not replayed: the tapes of forks and rules, which are of second order, may round
    differently.

    Attributes
    ----------
    plan : Plan or None
    """

    __slots__ = ("engine", "is_refused", "plan")

    def __init__(self, engine: Engine) -> None:
        self.engine, self.is_refused = engine, False
        self.plan: Plan | None = None

    def recorded(self, function: Callable[..., Any], *args: Any) -> tuple[Any, Pull] | None:
        """Run the function, and return its value and backpropagator; None if it cannot be replayed."""
        engine = self.engine
        value, back = trace.vjp(function, args, {}, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING)
        try:
            plan = Plan(Recording(back, value, args, engine.structures))
            if self.plan is not None:
                self.plan.join(plan)
        except NotReplayable:
            return None
        self.plan = self.plan or plan
        return (value, back) if plan.has_numbers_only else None

    def replayed(self, *args: Any) -> tuple[Any, Pull] | None:
        """Return the value and the backpropagator at other arguments; None if they take another path."""
        found = MISS if self.plan is None else self.plan.vjp(args, None, {})
        return None if found is MISS else found

    def vjp(self, function: Callable[..., Any], *args: Any) -> tuple[Any, Pull]:
        """Return the value and the backpropagator, by a replay if possible."""
        found = None if self.is_refused else self.replayed(*args) or self.recorded(function, *args)
        self.is_refused = found is None
        return found or self.engine.vjp(function, *args)

    def join(self, other: RecordedFunction) -> None:
        """Share the paths of another recording of the same function."""
        if self.plan is not None and other.plan not in (None, self.plan):
            self.plan.join(other.plan)
            other.plan = self.plan
