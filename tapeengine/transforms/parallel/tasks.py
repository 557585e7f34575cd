"""A task: a callable without arguments as a function of the values it captures, with its derivatives.

A task may also capture references to data stored elsewhere. A task and its values can be sent to another process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...default import default_engine
from ...errors import UnsupportedError
from ...forms import Step, flatten, holds_traced, unflatten
from ...structure import Structures
from ...workers import Reference
from ..captures.closures import Snapshot
from ..contract import Engine
from ..derivatives.jacobians import pushed
from ..repeated.rerun import Outcome, Repeatable

Direction = Literal["pull", "push"]
#: The order of derivatives that the tapes of tasks allow. Rules that keep values for higher orders may round
#: differently, so a task uses the same order everywhere, and gives the same bits wherever it runs.
_ORDER = 2


class Task:
    """A function of a list of values, with its derivatives.

    Attributes
    ----------
    count : int
        The number of values.
    name : str
        For errors.
    """

    __slots__ = ("count", "name")

    #: Whether a run did more than compute its value.
    has_effects = False

    def __init__(self, count: int, name: str) -> None:
        self.count = count
        self.name = name

    def __call__(self, values: list[Any]) -> Any:
        """Run the task."""
        raise NotImplementedError

    def pull(self, engine: Engine, values: list[Any]) -> tuple[Any, Callable[[Any], Any]]:
        """Run the task on its own tape; return its value, and the map from its cotangent to those of the values."""
        value, backpropagator = engine.trace(self, (values,), order=_ORDER)
        return value, lambda cotangent: backpropagator(cotangent)[0]

    def recorded(self, engine: Engine, values: list[Any]) -> tuple[Any, Callable[[Any], Any]]:
        """Do the same as `pull` for plain values; the task's value must then be plain as well."""
        value, pull = self.pull(engine, values)
        self._check(engine.structures, value)
        return value, pull

    def push(self, engine: Engine, values: list[Any]) -> Callable[[Any], Any]:
        """Run the task; return the map from tangents of the values to the tangent of its result."""
        backpropagator = engine.trace(self, (values,), order=_ORDER)[1]
        return lambda tangents: pushed(backpropagator, (tangents,))

    def note(self, value: Any) -> None:
        """Store the outcome of a first run in another process."""

    def _check(self, structures: Structures, value: Any) -> None:
        """Refuse a value that is traced although the task's values are plain."""
        if holds_traced(structures, value):
            raise UnsupportedError(
                f"the task {self.name} uses a traced value that is not in its closure, such as one in an attribute "
                "of a class. Pass it as an argument, or capture it as a local variable"
            )


class Closure(Task):
    """A callable as a function of what it captures, run once for its value and again for derivatives.

    `places` are, for each of the call's values, its index among the task's values or a reference.
    """

    __slots__ = ("call", "places")

    def __init__(self, call: Repeatable, places: Sequence[int | Reference] | None = None) -> None:
        self.places = range(len(call.values)) if places is None else places
        super().__init__(sum(type(place) is int for place in self.places), call.name)
        self.call = call

    def __call__(self, values: list[Any]) -> Any:
        """Run the callable with other values."""
        own = [place.value if isinstance(place, Reference) else values[place] for place in self.places]
        return self.call.first(own) if self.call.outcome is None else self.call(own)

    @property
    def has_effects(self) -> bool:  # type: ignore[override]
        """Whether the first run did more than compute its value."""
        return self.call.has_effects

    def note(self, value: Any) -> None:
        """Store the outcome of a first run in another process."""
        self.call.outcome = Outcome(self.call.engine.structures, value)

    def __reduce__(self) -> Any:
        call = self.call.snapshot.again(_numbered(len(self.places)))
        outcome = self.call.outcome
        kept = None if outcome is None else (outcome.leaves, outcome.steps)
        return _closure, (call, self.name, kept, list(self.places))


class Derived(Task):
    """The derivative of a task as a task, which takes the task's values and the leaves of a cotangent or of tangents.

    `steps` rebuild the cotangent, or the tangents, from `count` leaves.
    """

    __slots__ = ("direction", "engine", "steps", "task")

    def __init__(self, engine: Engine, direction: Direction, task: Task, steps: Sequence[Step], count: int) -> None:
        super().__init__(task.count + count, task.name)
        self.engine = engine
        self.direction = direction
        self.task = task
        self.steps = steps

    def __call__(self, values: list[Any]) -> Any:
        """Run the task, and return its cotangents or its tangent."""
        own, given = values[: self.task.count], unflatten(self.steps, values[self.task.count :])
        if self.direction == "pull":
            return self.task.pull(self.engine, own)[1](given)
        return self.task.push(self.engine, own)(given)

    def __reduce__(self) -> Any:
        given = unflatten(self.steps, _numbered(self.count))  # more than are needed
        return _derived, (self.direction, self.task, given)


def derived(engine: Engine, direction: Direction, task: Task, given: Any) -> Derived:
    """Make the derivative of a task for a cotangent, or tangents, of the form of `given`."""
    leaves, steps = flatten(engine.structures, given)
    return Derived(engine, direction, task, steps, len(leaves))


# -- tasks for other processes -----------------------------------------------------------------------------------------
class Captured:
    """Stands for a captured value in a callable that is sent to another process."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _numbered(count: int) -> list[Any]:
    return [Captured(number) for number in range(count)]


def _closure(call: tuple[Any, ...], name: str, outcome: Any, places: Sequence[int | Reference]) -> Closure:
    """Rebuild a task from the call that was sent."""
    engine = engine_here()
    snapshot = Snapshot(engine.structures, call, engine.copies, lambda value: type(value) is Captured, False)
    again = Repeatable(engine, snapshot, name)
    if outcome is not None:
        again.outcome = Outcome(engine.structures, None)
        again.outcome.leaves, again.outcome.steps = outcome
    return Closure(again, [places[place.number] for place in again.values])


def _derived(direction: Direction, task: Task, given: Any) -> Derived:
    return derived(engine_here(), direction, task, given)


def engine_here() -> Engine:
    """The engine that runs tasks received by this process."""
    found: Engine = default_engine()
    return found


def run_task(task: Task, values: list[Any]) -> Any:
    """Run a task, in this process or another."""
    return task(values)
