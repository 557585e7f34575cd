"""Tasks of a fork inside a staged program: each is recorded by itself, so that a replay runs them without Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core.programs.replay import MISS, NotReplayable, Plan, Recording
from .._core.sweeps import trace
from .contract import Engine

if TYPE_CHECKING:
    from .tasks import Task

#: The order of the tape of a recording.
RECORDING = 3
Pull = Callable[[Any], Any]


class RecordedFunction:
    """The recordings of a function without effects, which a replay calls several times.

    One that computes arrays is not replayed: the tapes in a rule, which are of second order, may round differently.
    """

    __slots__ = ("engine", "plan", "refused")

    def __init__(self, engine: Engine) -> None:
        self.engine, self.refused = engine, False
        self.plan: Plan | None = None

    def vjp(self, function: Callable[..., Any], *args: Any) -> tuple[Any, Pull]:
        """Return the value and the backpropagator, by a replay if the arguments take a path that was recorded."""
        engine = self.engine
        if not self.refused:
            found = MISS if self.plan is None else self.plan.vjp(args, None, {})
            if found is MISS and (found := self._recorded(function, args)) is None:
                self.refused, self.plan = True, None
            if found is not None:
                return found  # type: ignore[no-any-return]
        return engine.vjp(function, *args)

    def _recorded(self, function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Pull] | None:
        engine = self.engine
        value, back = trace.vjp(function, args, {}, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING)
        try:
            plan = Plan(Recording(back, value, args, engine.structures))
            if self.plan is None:
                self.plan = plan
            else:
                self.plan.join(plan)
        except NotReplayable:
            return None
        return (value, back) if self.plan.has_numbers_only else None


class RecordedTask:
    """The recordings of one task: a path for each way through its branches.

    Attributes
    ----------
    plan : Plan
    """

    __slots__ = ("plan",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @classmethod
    def of(cls, engine: Engine, task: Task, values: list[Any]) -> tuple[Any, Pull, RecordedTask] | None:
        """Run a task on plain values; return its value, the map to their cotangents, and the recording.

        None if it cannot be replayed: it has effects, or computes arrays, where the tapes of forks, which are of second
        order, may round differently.
        """
        value, back = trace.vjp(task, (values,), {}, engine.structures, engine.max_tape_bytes, engine.rules, RECORDING)
        if task.has_effects:
            return None
        try:
            plan = Plan(Recording(back, value, (values,), engine.structures))
        except NotReplayable:
            return None
        return (value, _of_values(back), cls(plan)) if plan.has_numbers_only else None

    def replayed(self, values: list[Any]) -> tuple[Any, Pull] | None:
        """Return the value and the map to the cotangents of other values; None if the task takes another path."""
        found = self.plan.vjp((values,), None, {})
        return None if found is MISS else (found[0], _of_values(found[1]))

    def join(self, other: RecordedTask) -> None:
        """Share the paths of another recording of the same task."""
        if other.plan is not self.plan:
            self.plan.join(other.plan)
            other.plan = self.plan


def _of_values(back: Any) -> Pull:
    """The cotangents of a task's only argument, the list of its values."""
    return lambda cotangent: back(cotangent)[0]
