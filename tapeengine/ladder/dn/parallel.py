"""Fork and join (DN section 12, Fig. 12 to 15).

    D[s * t] = D[s] *' D[t]            the only additional rule; ids are compound: (job, number within the job)
    S = (History, job, next number)    History = Start | Fork S S S: the job before, and the tasks that it forked
    genID (h, j, i) = ((j, i), (h, j, i + 1))
    (f *' g) s = run f and g in parallel from (Start, j1, 0) and (Start, j2, 0), to s1 and s2; go on in a job j3
                 from (Fork s s1 s2, j3, 0)               j1, j2, j3 fresh
    resolveTask (h, j, i) = the ids i - 1, ..., 0 of job j; then, where h = Fork s s1 s2:
                            resolveTask s1 and resolveTask s2 in parallel, and then resolveTask s

The reverse pass joins where the forward pass forked, and forks where it joined. Ids of jobs that ran in parallel do not
depend on each other. Both may contribute to an earlier id, so contributions are atomic: here, under a lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import count
from threading import Lock, Thread
from typing import Any, NamedTuple

from ..derivative import Inputs
from .contrib import Contrib

Compound = tuple[int, int]


class Job(NamedTuple):
    """A job: its history, its id and the number of ids it has assigned."""

    history: tuple[Job, Job, Job] | None
    job: int
    ids: int


def in_parallel(left: Callable[[], Any], right: Callable[[], Any]) -> tuple[Any, Any]:
    """Run two tasks, one of them in another thread; an error in either is raised."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def task() -> None:
        try:
            results.append(left())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=task)
    thread.start()
    try:
        second = right()
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return results[0], second


class Parallel(Contrib):
    """The step, with the contributions of `contrib`."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.jobs = count()
        self.lock = Lock()

    def start(self) -> Job:
        """The initial job."""
        return Job(None, next(self.jobs), 0)

    def identify(self, state: Job) -> tuple[Compound, Job]:
        """GenID."""
        with self.lock:
            self.counts.records += 1
        return (state.job, state.ids), state._replace(ids=state.ids + 1)

    def fork(self, left: Callable[..., Any], right: Callable[..., Any], state: Job) -> tuple[Any, Job]:
        """The monad's parallel pair."""
        with self.lock:
            first, second, joined = (Job(None, next(self.jobs), 0) for _ in range(3))
        (x, one), (y, other) = in_parallel(lambda: left(first), lambda: right(second))
        return (x, y), joined._replace(history=(state, one, other))

    def contribute(self, link: tuple[Compound, Any], a: float) -> None:
        """Add to the cell of a compound id, atomically."""
        (job, i), parts = link
        with self.lock:
            self.counts.step()
            self.counts.additions += 1
            self.staged[job][i] = (parts, self.staged[job][i][1] + a)

    def resolve(self, calls: list[tuple[Any, float]], last: Job) -> Callable[[int], float]:
        """SResolve."""
        self.staged: dict[int, dict[int, tuple[Any, float]]] = defaultdict(lambda: defaultdict(lambda: ((), 0.0)))
        for link, z in calls:
            self.contribute(link, z)
        self.counts.span = self.resolve_task(last)
        return lambda place: self.staged[0][place][1]

    def resolve_task(self, job: Job | None) -> int:
        """Resolve all jobs of a task, the last one first; return the number of calls on its longest path."""
        span = 0
        while job is not None:
            span += self.resolve_job(job)
            if job.history is None:
                return span
            before, one, other = job.history
            span += max(in_parallel(partial(self.resolve_task, one), partial(self.resolve_task, other)))
            job = before
        return span

    def resolve_job(self, job: Job) -> int:
        """Resolve the ids of one job, from the last to the first."""
        for i in range(job.ids - 1, -1, -1):
            parts, d = self.staged[job.job][i]
            with self.lock:
                self.counts.calls += 1
            for a, link in parts:
                self.contribute(link, a * d)
        return job.ids
