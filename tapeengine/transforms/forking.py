"""`fork` and `fork_map`: tasks side by side, whose derivatives run side by side too (DN section 12, n-ary).

Each task records on a tape of its own, so that a dual is known by its job's tape and its id in it (DN 12.2), and tasks
fork further ones. The trace that forked has one record for them all, which keeps their tapes: that is the job graph.
The reverse pass forks where the primal joined, one resolve for each task, and joins where it forked (DN Fig. 15); the
cotangents of what tasks share are added in the order of the tasks, so that any number of workers gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeengine.errors import StructureError
from tapeengine.transforms.calls import Derivative, call_with_rule
from tapeengine.transforms.forms import flatten, form_of, is_traced
from tapeengine.transforms.rerun import Repeatable
from tapeengine.transforms.tasks import Closure, Direction, Task, derived, remote_pull, remote_push, run_task
from tapeengine.transforms.workers import in_order, shares_memory

if TYPE_CHECKING:
    from tapeengine.engine import Engine

__all__ = ["fork", "fork_map"]


def fork(engine: Engine, tasks: Sequence[Callable[[], Any]], executor: Executor) -> tuple[Any, ...]:
    """See `Engine.fork`."""
    for task in tasks:
        if not callable(task):
            raise StructureError(
                f"fork takes callables without arguments, not {task!r}; write fork(lambda: f(x), lambda: g(x))"
            )
    shared = Shared()
    found = [shared.task(engine, task, shares_memory(executor)) for task in tasks]
    return tuple(Fork(engine, executor, *zip(*found, strict=True)).run(shared.values)) if tasks else ()


def fork_map(
    engine: Engine, f: Callable[..., Any], iterables: Sequence[Iterable[Any]], chunksize: int, executor: Executor
) -> list[Any]:
    """See `Engine.fork_map`."""
    if chunksize < 1:
        raise StructureError(f"fork_map needs a chunksize of at least 1, not {chunksize}")
    items = list(zip(*iterables, strict=True))
    chunks = [items[k : k + chunksize] for k in range(0, len(items), chunksize)]
    return [x for part in fork(engine, [partial(_each, f, chunk) for chunk in chunks], executor) for x in part]


def _each(f: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [f(*item) for item in items]


class Shared:
    """The traced values that tasks capture, each once.

    Attributes
    ----------
    values : list
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[int, int] = {}

    def task(self, engine: Engine, f: Callable[[], Any], is_local: bool) -> tuple[Task, list[int]]:
        """Make a task of a callable; with it the numbers of the values that it captures."""
        program = f.args[0] if isinstance(f, partial) and f.func is _each else f
        name = getattr(program, "__name__", type(program).__name__)
        call = Repeatable(engine, (f, (), {}), name, with_globals=is_local)
        return Closure(call), [self._number(value) for value in call.values]

    def _number(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


@dataclass(slots=True)
class Fork:
    """Tasks, and which of the values that they share each of them takes.

    Attributes
    ----------
    engine : Engine
    executor : Executor
    tasks : sequence of Task
    places : sequence of list of int
        For each task the numbers of its values among the shared ones.
    """

    engine: Engine
    executor: Executor
    tasks: Sequence[Task]
    places: Sequence[Sequence[int]]

    def run(self, values: list[Any]) -> list[Any]:
        """Run the tasks; on traced values they leave one record."""
        traced, results = call_with_rule(self.engine, (values,), self._call, "fork")
        return results if traced else self.calls(run_task, values)

    def _call(self, args: tuple[Any, ...]) -> tuple[list[Any], Derivative]:
        (values,) = args
        if any(map(is_traced, values)):  # by a trace further out, which is forked on as well
            return self.run(values), Again(self, values)
        if not shares_memory(self.executor):
            found = self.calls(run_task, values)
            for task, value in zip(self.tasks, found, strict=True):
                task.note(value)
            return found, Remote(self, values)
        found = self.calls(lambda task, own: task.recorded(self.engine, own), values)
        return [value for value, _ in found], Jobs(self, values, [pull for _, pull in found])

    def own(self, values: Sequence[Any]) -> list[list[Any]]:
        """The values of each task."""
        return [[values[k] for k in places] for places in self.places]

    def calls(self, function: Callable[[Task, list[Any]], Any], values: list[Any]) -> list[Any]:
        """Call a function of each task and its values, on the workers."""
        pairs = zip(self.tasks, self.own(values), strict=True)
        return list(in_order(self.executor, [(function, task, own) for task, own in pairs]))

    def totals(self, values: list[Any], found: Iterable[Sequence[Any] | None]) -> tuple[list[Any]]:
        """Add up the cotangents of the shared values, task by task; None is zero."""
        total: dict[int, Any] = {}
        mine: set[int] = set()
        for places, cotangents in zip(self.places, found, strict=True):
            for number, ct in zip(places, cotangents, strict=True) if cotangents is not None else ():
                if number not in total:
                    total[number] = ct
                elif number in mine and type(ct) is np.ndarray:
                    total[number] += ct
                else:
                    total[number] = total[number] + ct
                    mine.add(number)
        zeros = form_of(self.engine.structures, values).zeros() if len(total) < len(values) else values
        return ([total.get(number, zero) for number, zero in enumerate(zeros)],)


@dataclass(slots=True)
class Jobs:
    """The derivative of tasks whose tapes are here."""

    fork: Fork
    values: list[Any]
    pulls: list[Callable[[Any], Any]]
    maps: list[Callable[[Any], Any]] = field(default_factory=list)

    def pull(self, cotangent: list[Any]) -> Any:
        """Resolve the tasks side by side; in this thread where their cotangents are traced."""
        fork = self.fork
        leaves = [flatten(fork.engine.structures, ct)[0] for ct in cotangent]
        calls = [
            (_nothing,) if all(map(_is_zero, parts)) else (pull, ct)
            for pull, ct, parts in zip(self.pulls, cotangent, leaves, strict=True)
        ]
        if any(is_traced(x) for parts in leaves for x in parts):
            return fork.totals(self.values, (call[0](*call[1:]) for call in calls))
        return fork.totals(self.values, in_order(fork.executor, calls))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Sweep the tasks forwards, on tapes that keep what tangents need."""
        fork, own = self.fork, self.fork.own(tangents[0])
        if not self.maps:
            self.maps = fork.calls(lambda task, given: task.push(fork.engine, given), self.values)
        if any(map(is_traced, tangents[0])):
            return [m(t) for m, t in zip(self.maps, own, strict=True)]
        return list(in_order(fork.executor, [(m, t) for m, t in zip(self.maps, own, strict=True)]))


@dataclass(slots=True)
class Remote:
    """The derivative of tasks that run elsewhere: they are sent again, with cotangents or tangents."""

    fork: Fork
    values: list[Any]

    def pull(self, cotangent: list[Any]) -> Any:
        """Send each task with its cotangent."""
        return self.fork.totals(self.values, self._sent(remote_pull, cotangent))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Send each task with the tangents of its values."""
        return list(self._sent(remote_push, self.fork.own(tangents[0])))

    def _sent(self, function: Callable[..., Any], given: Sequence[Any]) -> Iterable[Any]:
        fork = self.fork
        calls = zip(fork.tasks, fork.own(self.values), given, strict=True)
        if any(is_traced(x) for x in flatten(fork.engine.structures, list(given))[0]):
            return [function(*call) for call in calls]
        return in_order(fork.executor, [(function, *call) for call in calls])


@dataclass(slots=True)
class Again:
    """The derivative of tasks on values that are traced further out: a fork on that trace, which runs them again."""

    fork: Fork
    values: list[Any]

    def pull(self, cotangent: list[Any]) -> Any:
        """Fork into the backpropagators of the tasks."""
        return self.fork.totals(self.values, self._forked("pull", cotangent))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Fork into the forward sweeps of the tasks."""
        return self._forked("push", self.fork.own(tangents[0]))

    def _forked(self, direction: Direction, given: Sequence[Any]) -> list[Any]:
        """Fork into the derivatives of the tasks; what is given for each joins the shared values."""
        fork, shared = self.fork, list(self.values)
        tasks: list[Task] = []
        places: list[list[int]] = []
        for task, numbers, more in zip(fork.tasks, fork.places, given, strict=True):
            leaves = flatten(fork.engine.structures, more)[0]
            tasks.append(derived(fork.engine, direction, task, more))
            places.append([*numbers, *range(len(shared), len(shared) + len(leaves))])
            shared.extend(leaves)
        return Fork(fork.engine, fork.executor, tasks, places).run(shared)


def _is_zero(leaf: Any) -> bool:
    """Whether a cotangent is exactly zero, or that of something discrete."""
    if type(leaf) is float:
        return leaf == 0.0
    return leaf is None or (isinstance(leaf, np.ndarray) and not leaf.any())


def _nothing() -> None:
    """What a task contributes whose value has no cotangent: a linear map sends zero to zero."""
