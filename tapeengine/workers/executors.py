"""The interface of executors for `fork`, and calls run in parallel on one: awaited in order, without deadlocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

from tapeengine.workers.references import Reference

__all__ = ["Call", "Sent", "Threads", "Workers", "default_executor", "in_order", "shares"]

#: A function and its arguments.
Call = tuple[Any, ...]


class Sent(Protocol):
    """A call that was given to a worker."""

    def result(self) -> Any:
        """Wait for the call; return its result, or raise its error."""

    def cancel(self) -> bool:
        """Cancel the call if it has not begun; return whether it will not run."""


class Workers:
    """The workers that run tasks.

    Attributes
    ----------
    shares_memory : bool
        Whether objects that a task made, such as its tape, can be used here after the task.
    keeps : bool
        Whether a later call to the same worker can use them there.
    stores : bool
        Whether shared data is sent to each worker once without a request from it.
    references : tuple of type
        Classes whose instances refer to data elsewhere.
    """

    shares_memory = False
    keeps = False
    stores = False
    references: tuple[type, ...] = (Reference,)

    def together(self, count: int) -> int:
        """The number of calls, of `count`, to send to a worker at once; more than one saves messages or switches."""
        return 1

    def submit(self, calls: Sequence[Call], name: str) -> Sequence[Sent | None]:
        """Give calls to workers, under a displayed name; None for each call that must run here."""
        raise NotImplementedError

    def reference(self, value: Any) -> Reference:
        """The reference of a value of one of these classes."""
        return value  # type: ignore[no-any-return]


class Threads(Workers):
    """Threads, which get the context variables of the forking thread.

    Parameters
    ----------
    executor : concurrent.futures.ThreadPoolExecutor
    """

    shares_memory = True

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def together(self, count: int) -> int:
        """See `Workers.together`."""
        return shares(count, self.executor)

    def submit(self, calls: Sequence[Call], name: str) -> Sequence[Future[Any] | None]:
        """See `Workers.submit`; None if the executor or the interpreter is shutting down."""
        return [self._submitted(*call) for call in calls]

    def _submitted(self, function: Callable[..., Any], *args: Any) -> Future[Any] | None:
        try:
            return self.executor.submit(partial(copy_context().run, function), *args)
        except RuntimeError:
            return None


def shares(count: int, executor: Any) -> int:
    """The number of calls to send together, so that each worker gets sixteen shares and none waits long at the end.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     shares(8, executor), shares(100, executor)
    (1, 3)
    """
    workers = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None) or os.cpu_count() or 1
    return max(1, count // (16 * workers))


def default_executor() -> Executor:
    """Return an executor with as many threads as processors; threads start with the first tasks."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tapeengine")


def in_order(workers: Workers, calls: Sequence[Call], name: str = "call") -> Iterator[Any]:
    """Run calls in parallel and yield their results in order.

    On threads, this thread runs the first call, and each call that no thread has begun when it is awaited. So a task
    that waits for its own subtasks always makes progress, however few threads there are. Tasks elsewhere cannot wait
    for others on the same executor, because it is not sent to them; there each call goes to a worker, which has the
    data and packages.

    Raises
    ------
    Exception
        The error of the first call, in order, that failed. On threads, all calls that had begun have ended before it is
        raised, and also before an interrupt is raised.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(in_order(Threads(executor), [(pow, 2, n) for n in range(5)]))
    [1, 2, 4, 8, 16]
    """
    helps, size = workers.shares_memory, workers.together(len(calls))
    if size > 1:
        calls = [(_run, calls[k : k + size]) for k in range(0, len(calls), size)]
    sent: list[Sent | None] = [None for _ in calls[: int(helps)]]
    try:
        sent.extend(workers.submit(calls[len(sent) :], name))
        for k, call in enumerate(calls):
            if size > 1:
                yield from _outcome(sent, k, call, helps)
            else:
                yield _outcome(sent, k, call, helps)
    except BaseException:
        if helps:
            _end(sent)
        raise
    finally:
        for one in sent:
            if one is not None:
                one.cancel()


def _run(calls: Sequence[Call]) -> list[Any]:
    """The results of calls that are sent together; each has its own copy of the context variables."""
    return [copy_context().run(*call) for call in calls]


def _outcome(sent: list[Sent | None], k: int, call: Call, helps: bool) -> Any:
    """Wait for a call, or run it here; release its result from the list."""
    one = sent[k]
    if one is None or (helps and one.cancel()):
        sent[k] = None
        return copy_context().run(*call)  # as elsewhere: what it sets there is its own
    result = one.result()
    sent[k] = None
    return result


def _end(sent: Sequence[Any]) -> None:
    """Cancel calls that have not begun, and wait for the others, which use the program's data until they end.

    An interrupt during this wait is raised after they have ended, a second one at once.
    """
    running = [one for one in sent if one is not None and not one.cancel()]
    try:
        wait(running)
    except KeyboardInterrupt:
        wait(running)
        raise
