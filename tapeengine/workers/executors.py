"""What `fork` asks of an executor, and calls run side by side on it: waited for in order, never blocking each other."""

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
    """A call that a worker was given."""

    def result(self) -> Any:
        """Wait for it; what it returned, or the error that it raised."""

    def cancel(self) -> bool:
        """Take it back where it has not begun; whether it will not run."""


class Workers:
    """Where tasks run.

    Attributes
    ----------
    shares_memory : bool
        Whether what a task made, such as its tape, can be used here once it has ended.
    keeps : bool
        Whether it can be used where it is, by a later call that goes to the same worker.
    stores : bool
        Whether data that tasks share goes to each worker once, and not first to be asked for.
    references : tuple of type
        The classes of what stands for data that lies elsewhere.
    """

    shares_memory = False
    keeps = False
    stores = False
    references: tuple[type, ...] = (Reference,)

    def together(self, count: int) -> int:
        """How many of `count` calls go to a worker at once; more than one where that saves messages or switches."""
        return 1

    def submit(self, calls: Sequence[Call], name: str) -> Sequence[Sent | None]:
        """Give calls to workers under a name that people may see; None for each that is to run here."""
        raise NotImplementedError

    def reference(self, value: Any) -> Reference:
        """The reference of a value of one of these classes."""
        return value  # type: ignore[no-any-return]


class Threads(Workers):
    """Threads, which see the context variables of the thread that forks.

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
        """See `Workers.submit`; None where the executor was shut down, or the interpreter is shutting down."""
        return [self._submitted(*call) for call in calls]

    def _submitted(self, function: Callable[..., Any], *args: Any) -> Future[Any] | None:
        try:
            return self.executor.submit(partial(copy_context().run, function), *args)
        except RuntimeError:
            return None


def shares(count: int, executor: Any) -> int:
    """How many of `count` calls go together, so that each worker gets sixteen shares and none waits long at the end.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     shares(8, executor), shares(100, executor)
    (1, 3)
    """
    workers = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None) or os.cpu_count() or 1
    return max(1, count // (16 * workers))


def default_executor() -> Executor:
    """Return as many threads as there are processors; they start with the first tasks."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tapeengine")


def in_order(workers: Workers, calls: Sequence[Call], name: str = "call") -> Iterator[Any]:
    """Run calls side by side and give their results in order.

    On threads, the first one runs in this thread, and so does each that no thread has begun by the time it is waited
    for. So a task that waits for tasks of its own always gets them, however few threads there are. Tasks elsewhere do
    not wait for others of the same executor, which does not travel; there each call goes to a worker, where its data
    and its packages are.

    Raises
    ------
    Exception
        That of the first call, in order, that failed; on threads, all that had begun have ended by then. So they have
        after an interrupt.

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
    """The results of calls that go together; none sees the context variables that another one has set."""
    return [copy_context().run(*call) for call in calls]


def _outcome(sent: list[Sent | None], k: int, call: Call, helps: bool) -> Any:
    """Wait for a call, or run it here; what has been given is kept no longer."""
    one = sent[k]
    if one is None or (helps and one.cancel()):
        sent[k] = None
        return copy_context().run(*call)  # as elsewhere: what it sets there is its own
    result = one.result()
    sent[k] = None
    return result


def _end(sent: Sequence[Any]) -> None:
    """Cancel calls that have not begun, and wait for the others; until then they work on the program's data.

    An interrupt while this waits is raised once they have ended; a second one at once.
    """
    running = [one for one in sent if one is not None and not one.cancel()]
    try:
        wait(running)
    except KeyboardInterrupt:
        wait(running)
        raise
