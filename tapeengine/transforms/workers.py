"""Tasks on workers: run side by side on an executor, waited for in their order, without ever blocking each other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import Any

__all__ = ["default_executor", "in_order", "shares_memory"]

#: A function and its arguments.
Call = tuple[Any, ...]


def default_executor() -> Executor:
    """Return as many threads as there are processors; they start with the first tasks."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tapeengine")


def shares_memory(executor: Executor) -> bool:
    """Tell whether what a task made, such as its tape, can be used here once it has ended."""
    return isinstance(executor, ThreadPoolExecutor)


def in_order(executor: Executor, calls: Sequence[Call]) -> Iterator[Any]:
    """Run calls side by side and give their results in order.

    The first one runs in this thread, and so does each that no thread has begun by the time it is waited for. So a task
    that waits for tasks of its own always gets them, however few threads there are. Tasks elsewhere do not wait for
    others of the same executor, which does not travel.

    Raises
    ------
    Exception
        That of the first call, in order, that failed; all that had begun have ended by then. So they have after an
        interrupt, on executors that share memory.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(in_order(executor, [(pow, 2, n) for n in range(5)]))
    [1, 2, 4, 8, 16]
    """
    futures: list[Future[Any] | None] = [None for _ in calls[:1]]
    helps = shares_memory(executor)
    try:
        futures.extend(_submitted(executor, call) for call in calls[1:])
        for k, call in enumerate(calls):
            yield _outcome(futures, k, call, helps)
    except BaseException as error:
        if helps or isinstance(error, Exception):
            _end(futures)
        raise
    finally:
        for f in futures:
            if f is not None:
                f.cancel()


def _outcome(futures: list[Future[Any] | None], k: int, call: Call, helps: bool) -> Any:
    """Wait for a call, or run it here; what has been given is kept no longer."""
    future = futures[k]
    if future is None or (helps and future.cancel()):
        futures[k] = None
        return call[0](*call[1:])
    result = future.result()
    futures[k] = None
    return result


def _end(futures: Sequence[Future[Any] | None]) -> None:
    """Cancel calls that have not begun, and wait for the others; until then they work on the program's data.

    An interrupt while this waits is raised once they have ended; a second one at once.
    """
    running = [f for f in futures if f is not None and not f.cancel()]
    try:
        wait(running)
    except KeyboardInterrupt:
        wait(running)
        raise


def _submitted(executor: Executor, call: Call) -> Future[Any] | None:
    """Hand a call to a worker, which sees the context variables of this thread; None where no worker takes it."""
    try:
        function, *args = call
        return executor.submit(partial(copy_context().run, function) if shares_memory(executor) else function, *args)
    except BrokenExecutor:
        raise
    except RuntimeError:  # it was shut down, or the interpreter is shutting down
        return None
