"""Tasks that run in other processes, and their replies.

A task is recorded where it runs. Its reply contains its value and what its derivative needs. If the value is few
numbers, these are rows of cotangents, and the reverse pass sends nothing. If the tape can stay on the worker, it is a
reference to the tape. Otherwise the reverse pass sends the task again, with its cotangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...workers import Gone, Reference
from .jobs import Job, Rows
from .tasks import Task, engine_here


class Reply:
    """The reply to a task's first run.

    Parameters
    ----------
    value : object
    rows : list, optional
        The rows of the task's derivative.
    job : Job, optional
        The task's derivative. It stays in the process that made it; the pickle contains a flag only.
    is_kept : bool
        Whether the process that ran the task keeps its tape.

    Attributes
    ----------
    home : Reference or None
        The reference to that derivative, set when the reply arrives.
    """

    __slots__ = ("home", "is_kept", "job", "rows", "value")

    def __init__(self, value: Any, rows: Rows | None = None, job: Job | None = None, is_kept: bool = False) -> None:
        self.value = value
        self.rows = rows
        self.job = job
        self.is_kept = is_kept or job is not None
        self.home: Reference | None = None

    def __reduce__(self) -> Any:
        return Reply, (self.value, self.rows, None, self.is_kept)


def recorded(task: Task, values: list[Any]) -> tuple[Any, Job]:
    """Run a task on its own tape."""
    engine, own = engine_here(), found(values)
    value, pull = task.recorded(engine, own)
    return value, Job(engine.structures, value, own, pull)


def found(values: list[Any]) -> list[Any]:
    """The values of a task; references to values in this process are replaced by these."""
    return [x.value if isinstance(x, Reference) else x for x in values]


def first(task: Task, values: list[Any], is_swept_once: bool, keeps: bool) -> Reply:
    """Run a task for the first time.

    Parameters
    ----------
    task : Task
    values : list
    is_swept_once : bool
        Whether the caller is differentiated once, by cotangents. Only then will the derivative certainly be used.
    keeps : bool
        Whether a later call can be sent to this process.
    """
    if not values:
        return Reply(task(values))
    value, job = recorded(task, values)
    if is_swept_once:
        job.compute_rows()
    return Reply(value, job.rows, job if keeps and is_swept_once and not job.is_few else None)


def pull_kept(home: Reference, cotangent: Any) -> Any:
    """Sweep the tape that a task has left in this process."""
    job = home.value.job
    return Gone() if job is None else job(cotangent)


def pull_again(task: Task, values: list[Any], cotangent: Any) -> tuple[Any, Rows | None]:
    """Run a task again; return the cotangents of its values, and the rows if they were computed from rows."""
    job = recorded(task, values)[1]
    return job(cotangent), job.rows


def push_again(task: Task, values: list[Any], tangents: Sequence[Any]) -> Any:
    """Run a task again, and return the tangent of its result."""
    return task.push(engine_here(), found(values))(list(tangents))
