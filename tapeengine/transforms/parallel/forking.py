"""`fork` and `fork_map`: concurrent tasks whose derivatives run concurrently as well (DN section 12, n-ary).

Each task records on its own tape, so a dual is identified by its job's tape and its id there (DN 12.2). Tasks may fork
further tasks. The trace that forked gets one record for all its tasks, with references to their tapes: that is the job
graph. The reverse pass forks where the primal joined, one resolve per task, and joins where the primal forked (DN Fig.
15). Cotangents of values that tasks share are added in the order of the tasks, so the bits do not depend on the number
of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..._core.sweeps.linear import is_recorded, is_swept_back_only
from ...errors import StructureError
from ...forms import flatten, form_of, is_traced
from ...naming import attribute_of
from ...workers import Gone, Reference, Shared, Workers, stamp_of, workers_of
from ..calls import Derivative, call_with_rule
from ..captures.closures import Snapshot
from ..contract import Engine
from ..progress import Progress
from ..repeated.recorded_tasks import RecordedFunction
from ..repeated.rerun import Repeatable
from ..transformed import whole
from .far import Reply, first, pull_again, pull_kept, push_again
from .jobs import Job, combined, is_zero
from .tasks import Closure, Direction, Task, derived, run_task

#: Workers keep arrays of at least this many bytes for several tasks of a fork; for smaller ones sharing costs more.
_LARGE = 1 << 18


def fork(
    engine: Engine, tasks: Sequence[Callable[[], Any]], executor: Any, progress: Progress | None = None
) -> tuple[Any, ...]:
    """See `Engine.fork`."""
    for task in tasks:
        if not callable(task):
            raise StructureError(
                f"fork takes callables without arguments, not {task!r}; write fork(lambda: f(x), lambda: g(x))"
            )
    captures = Captures(engine, workers_of(executor, stamp_of(engine.registry)))
    found = [captures.task(captures.snapshot((task, (), ())), _name(task)) for task in tasks]
    return tuple(captures.fork(found, progress))


def fork_map(
    engine: Engine,
    f: Callable[..., Any],
    iterables: Sequence[Iterable[Any]],
    chunksize: int,
    executor: Any,
    progress: Progress | None = None,
) -> list[Any]:
    """See `Engine.fork_map`."""
    if not callable(f):
        raise StructureError(f"fork_map takes a function and its items, not {f!r}: write fork_map(f, xs)")
    chunksize = whole("fork_map", "chunksize", chunksize)
    for items in iterables:
        if not isinstance(items, Iterable) and not hasattr(items, "__getitem__"):
            raise StructureError(f"fork_map takes sequences of arguments, not {items!r}: write fork_map(f, [x, y])")
    items = list(zip(*iterables, strict=True))
    calls: list[tuple[Any, ...]] = [(f, item, ()) for item in items]
    if chunksize > 1:
        chunks = [tuple(items[k : k + chunksize]) for k in range(0, len(items), chunksize)]
        calls = [(_each, (f, chunk), ()) for chunk in chunks]
    captures = Captures(engine, workers_of(executor, stamp_of(engine.registry)))
    shared, name = captures.snapshot(f), _name(f)
    found = captures.fork([captures.task(shared.beside(call), name) for call in calls], progress)
    return [x for part in found for x in part] if chunksize > 1 else found


def _each(f: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [f(*item) for item in items]


def _name(f: Any) -> str:
    """The name of the program's function that a task runs."""
    while isinstance(f, partial):
        f = f.func
    return str(attribute_of(f, "__name__", type(f).__name__))


class Captures:
    """What tasks capture: traced `values`, each once, and references to data stored elsewhere."""

    def __init__(self, engine: Engine, workers: Workers) -> None:
        self.values: list[Any] = []
        self._engine = engine
        self._workers = workers
        self._numbers: dict[int, int] = {}

    def snapshot(self, value: Any) -> Snapshot:
        """Take the snapshot of an object."""
        engine, workers = self._engine, self._workers
        return Snapshot(engine.structures, value, engine.copies, self._is_lifted, with_globals=workers.shares_memory)

    def _is_lifted(self, value: Any) -> bool:
        return is_traced(value) or isinstance(value, self._workers.references)

    def task(self, snapshot: Snapshot, name: str) -> tuple[Task, list[int]]:
        """Make a task from a call; return it with the numbers of the values that it captures."""
        workers, references = self._workers, self._workers.references
        call = Repeatable(self._engine, snapshot, name)
        numbers: list[int] = []
        places: list[int | Reference] = []
        for value in call.values:
            if isinstance(value, references):
                places.append(workers.reference(value))
            else:
                places.append(len(numbers))
                numbers.append(self._number(value))
        return Closure(call, places), numbers

    def fork(self, found: Sequence[tuple[Task, list[int]]], progress: Progress | None) -> list[Any]:
        """Run tasks and return their values."""
        return Fork(self._engine, self._workers, progress, *zip(*found, strict=True)).run(self.values) if found else []

    def _number(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


class _Stopped(Exception):
    """A StopIteration of a task, which generators do not pass on."""


def _ran(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except StopIteration as error:
        raise _Stopped(error) from None


@dataclass(slots=True)
class Fork:
    """Tasks, and for each of them the numbers of its values among the shared ones, its `places`."""

    engine: Engine
    workers: Workers
    progress: Progress | None
    tasks: Sequence[Task]
    places: Sequence[Sequence[int]]

    def run(self, values: list[Any]) -> list[Any]:
        """Run the tasks; on traced values this leaves one record."""
        traced, results = call_with_rule(self.engine, (values,), self._call, "fork")
        return results if traced else self.each(run_task, "value", values)

    def _call(self, args: tuple[Any, ...]) -> tuple[list[Any], Derivative]:
        (values,) = args
        if any(map(is_traced, values)):  # by an enclosing trace, on which the tasks are forked as well
            return self.run(values), Again(self, values)
        if self.workers.shares_memory:
            found = self.each(self._recorded, "value", values, is_recorded(False))
            kept = [recording for _, _, recording in found if recording is not None]
            again = Replayed(self, kept) if len(kept) == len(found) else None
            return [value for value, _, _ in found], Near(self, values, [job for _, job, _ in found], again)
        sent = self.sent(values)
        replies = self.each(first, "value", sent, is_swept_back_only(), self.workers.keeps)
        for task, reply in zip(self.tasks, replies, strict=True):
            task.note(reply.value)
        return [reply.value for reply in replies], Far(self, values, sent, replies)

    def sent(self, values: list[Any]) -> list[Any]:
        """The values in the form in which workers get them: a large array of several tasks is sent once per worker."""
        if not self.workers.stores:
            return values
        taken = Counter(number for places in self.places for number in places)
        return [
            Shared(x) if type(x) is np.ndarray and x.nbytes >= _LARGE and taken[k] > 1 else x
            for k, x in enumerate(values)
        ]

    def _recorded(self, task: Task, own: list[Any], to_replay: bool) -> tuple[Any, Job, RecordedFunction | None]:
        recording = RecordedFunction(self.engine)
        found = recording.recorded(task, own) if to_replay else None
        if found is None or task.has_effects:
            value, pull = task.recorded(self.engine, own)
            return value, Job(self.engine.structures, value, own, pull), None
        return found[0], Job(self.engine.structures, found[0], own, _of_values(found[1])), recording

    def own(self, values: Sequence[Any]) -> list[list[Any]]:
        """The values of each task."""
        return [[values[k] for k in places] for places in self.places]

    def each(self, function: Callable[..., Any], what: str, values: list[Any], *more: Any) -> list[Any]:
        """Call a function on the workers, once per task, with the task, its values and further arguments."""
        pairs = zip(self.tasks, self.own(values), strict=True)
        try:
            return list(self.calls([(_ran, function, task, own, *more) for task, own in pairs], what))
        except _Stopped as error:
            raise error.args[0] from None

    def calls(self, calls: Sequence[tuple[Any, ...]], what: str) -> Iterable[Any]:
        """Run calls on the workers and return their results in order."""
        name = f"{self.tasks[0].name}_{what}"
        found = self.workers.run(calls, name)
        return found if self.progress is None else self.progress(found, total=len(calls), desc=name)

    def totals(self, values: list[Any], found: Iterable[Sequence[Any] | None]) -> tuple[list[Any]]:
        """Add up the cotangents of the shared values, in the order of the tasks; None stands for zero."""
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
class Near:
    """The derivative of tasks whose tapes are in this process."""

    fork: Fork
    values: list[Any]
    jobs: list[Job]
    again: Replayed | None = None
    maps: list[Callable[[Any], Any]] = field(default_factory=list)

    def pull(self, cotangent: list[Any]) -> Any:
        """Resolve the tasks concurrently, or in this thread if their cotangents are traced."""
        fork = self.fork
        leaves = [flatten(fork.engine.structures, ct)[0] for ct in cotangent]
        calls = [
            (_nothing,) if all(map(is_zero, parts)) else (job, ct)
            for job, ct, parts in zip(self.jobs, cotangent, leaves, strict=True)
        ]
        if any(is_traced(x) for parts in leaves for x in parts):
            return fork.totals(self.values, (call[0](*call[1:]) for call in calls))
        return fork.totals(self.values, fork.calls(calls, "cotangents"))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Sweep the tasks forward, on tapes that keep what tangents need."""
        fork, own = self.fork, self.fork.own(tangents[0])
        if not self.maps:
            self.maps = fork.each(lambda task, given: task.push(fork.engine, given), "value", self.values)
        if any(map(is_traced, tangents[0])):
            return [m(t) for m, t in zip(self.maps, own, strict=True)]
        return list(fork.calls([(m, t) for m, t in zip(self.maps, own, strict=True)], "tangents"))


def _of_values(back: Any) -> Callable[[Any], Any]:
    """The cotangents of a task's only argument, the list of its values."""
    return lambda cotangent: back(cotangent)[0]


@dataclass(slots=True, eq=False, repr=False)
class Replayed:
    """The tasks of a fork in replays of the staged program that forks: they run as recordings, on the workers."""

    fork: Fork
    tasks: list[RecordedFunction]

    def __call__(self, args: tuple[Any, ...]) -> tuple[list[Any], Near] | None:
        """Return the tasks' values and derivative; None if a task takes a path that has not been recorded."""
        fork, (values,) = self.fork, args
        own = fork.own(values)
        calls = [(task.replayed, given) for task, given in zip(self.tasks, own, strict=True)]
        jobs = []
        for given, found in zip(own, list(fork.calls(calls, "value")), strict=True):
            if found is None:
                return None
            jobs.append((found[0], Job(fork.engine.structures, found[0], given, _of_values(found[1]))))
        return [value for value, _ in jobs], Near(fork, values, [job for _, job in jobs])

    def join(self, other: Replayed) -> None:
        """Share the paths of another recording of the same fork."""
        for task, recorded in zip(self.tasks, other.tasks, strict=True):
            task.join(recorded)


@dataclass(slots=True)
class Far:
    """The derivative of tasks that run in other processes."""

    fork: Fork
    values: list[Any]
    sent: list[Any]
    replies: list[Reply]

    def pull(self, cotangent: list[Any]) -> Any:
        """Combine the rows that arrived, sweep the tapes that workers keep, and send the other tasks again."""
        fork = self.fork
        structures = fork.engine.structures
        found: dict[int, Any] = {}
        for k, (reply, ct) in enumerate(zip(self.replies, cotangent, strict=True)):
            leaves = flatten(structures, ct)[0]
            if not fork.places[k] or all(map(is_zero, leaves)):
                found[k] = None
            elif reply.rows is not None:
                found[k] = combined(structures, reply.rows, ct)
            elif any(map(is_traced, leaves)):
                found[k] = self._again(k, pull_again(*self._given(k), ct))
        kept = [k for k, reply in enumerate(self.replies) if k not in found and reply.home is not None]
        swept = self._called([(pull_kept, self.replies[k].home, cotangent[k]) for k in kept])
        found |= {k: one for k, one in zip(kept, swept, strict=True) if type(one) is not Gone}
        left = [k for k in range(len(self.replies)) if k not in found]
        again = self._called([(pull_again, *self._given(k), cotangent[k]) for k in left])
        found |= {k: self._again(k, one) for k, one in zip(left, again, strict=True)}
        return fork.totals(self.values, (found[k] for k in range(len(self.replies))))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Send each task again, with the tangents of its values."""
        fork = self.fork
        calls = [(push_again, *self._given(k), own) for k, own in enumerate(fork.own(tangents[0]))]
        if any(map(is_traced, tangents[0])):
            return [call[0](*call[1:]) for call in calls]
        return list(fork.calls(calls, "tangents"))

    def _given(self, k: int) -> tuple[Task, list[Any]]:
        return self.fork.tasks[k], [self.sent[number] for number in self.fork.places[k]]

    def _again(self, k: int, answer: tuple[Any, Any]) -> Any:
        """Return the cotangents of a task that was run again; store its rows for later calls."""
        cotangents, self.replies[k].rows = answer
        return cotangents

    def _called(self, calls: Sequence[tuple[Any, ...]]) -> Iterable[Any]:
        return self.fork.calls(calls, "cotangents") if calls else ()


@dataclass(slots=True)
class Again:
    """The derivative of tasks whose values an enclosing trace follows: a fork on that trace, which runs them again."""

    fork: Fork
    values: list[Any]

    def pull(self, cotangent: list[Any]) -> Any:
        """Fork into the backpropagators of the tasks."""
        return self.fork.totals(self.values, self._forked("pull", cotangent))

    def push(self, tangents: tuple[list[Any]]) -> Any:
        """Fork into the forward sweeps of the tasks."""
        return self._forked("push", self.fork.own(tangents[0]))

    def _forked(self, direction: Direction, given: Sequence[Any]) -> list[Any]:
        """Fork into the derivatives of the tasks; their cotangents or tangents join the shared values."""
        fork, shared = self.fork, list(self.values)
        tasks: list[Task] = []
        places: list[list[int]] = []
        for task, numbers, more in zip(fork.tasks, fork.places, given, strict=True):
            leaves = flatten(fork.engine.structures, more)[0]
            tasks.append(derived(fork.engine, direction, task, more))
            places.append([*numbers, *range(len(shared), len(shared) + len(leaves))])
            shared.extend(leaves)
        return Fork(fork.engine, fork.workers, fork.progress, tasks, places).run(shared)


def _nothing() -> None:
    """The contribution of a task whose value has no cotangent: a linear map sends zero to zero."""
