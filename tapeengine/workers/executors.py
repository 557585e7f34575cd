"""The interface of executors for `fork`, and calls run in parallel on one: awaited in order, without deadlocks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, Protocol

from .._core.programs.threads import Helpers, Pool
from .references import Reference

#: A function and its arguments.
Call = tuple[Any, ...]
#: The number of a call, its result, and the error that it raised instead.
Outcome = tuple[int, Any, BaseException | None]


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

    def submit(self, calls: Sequence[Call], name: str) -> Sequence[Sent]:
        """Give calls to workers, under a displayed name."""
        raise NotImplementedError

    def run(self, calls: Sequence[Call], name: str) -> Iterator[Any]:
        """Run calls in parallel and yield their results in order.

        Each call goes to a worker, which has the data and packages. It cannot wait for others on the same executor,
        because that is not sent to it.

        Raises
        ------
        Exception
            The error of the first call, in order, that failed. On threads, all calls that had begun have ended before
            it is raised, and also before an interrupt is raised.
        """
        size = self.together(len(calls))
        if size > 1:
            calls = [(_run, calls[k : k + size]) for k in range(0, len(calls), size)]
        sent: list[Sent | None] = list(self.submit(calls, name))
        try:
            for k in range(len(sent)):
                yield from _outcome(sent, k) if size > 1 else (_outcome(sent, k),)
        finally:
            for one in sent:
                if one is not None:
                    one.cancel()

    def reference(self, value: Any) -> Reference:
        """The reference of a value of one of these classes."""
        return value  # type: ignore[no-any-return]


class Threads(Workers):
    """Threads, which get the context variables of the forking thread.

    Parameters
    ----------
    executor : concurrent.futures.ThreadPoolExecutor

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(Threads(executor).run([(pow, 2, n) for n in range(5)], "power"))
    [1, 2, 4, 8, 16]
    """

    shares_memory = True

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def run(self, calls: Sequence[Call], name: str) -> Iterator[Any]:
        """See `Workers.run`; this thread runs calls as well, the first one among them.

        This thread and those of the executor take the next call as soon as they have ended one. So a task that waits
        for its own subtasks always makes progress, however few threads there are, and short tasks have no cost of
        their own to hand over.
        """
        crew = Crew(calls)
        first = crew.take()
        try:
            self._ask_for_help(crew)
            yield from crew.results(first)
        except BaseException:
            crew.left.clear()
            crew.end()
            raise

    def _ask_for_help(self, crew: Crew) -> None:
        """Ask threads for help; none where the executor or the interpreter is shutting down."""
        with suppress(RuntimeError):
            for _ in range(min(len(crew.left), count_of(self.executor))):
                self.executor.submit(crew.helpers)


class Crew:
    """Calls that several threads take in their order.

    Attributes
    ----------
    left : collections.deque
        Those that nobody has begun, with their numbers.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self.left = deque(enumerate(calls))
        self._count = len(calls)
        self._context = copy_context()
        self._ended: SimpleQueue[Outcome] = SimpleQueue()
        self.helpers = Helpers(self.work)

    def take(self) -> tuple[int, Call] | None:
        """Take the next call off the queue; None if it is empty."""
        try:
            return self.left.popleft()
        except IndexError:
            return None

    def work(self) -> None:
        """Make calls, in a thread that helps, until none is left."""
        while (taken := self.take()) is not None:
            self._ended.put(self._made(*taken, BaseException))

    def end(self) -> None:
        """Wait for helpers that have begun, whose calls use the program's data until they end.

        An interrupt during this wait is raised after they have ended, a second one at once.
        """
        try:
            self.helpers.wait()
        except KeyboardInterrupt:
            self.helpers.wait()
            raise

    def results(self, taken: tuple[int, Call] | None) -> Iterator[Any]:
        """The results of all calls in order; this thread makes its own call, and further ones while it waits."""
        found: dict[int, Outcome] = {}
        for number in range(self._count):
            while number not in found:
                taken = taken or self.take()
                # An interrupt of this thread is no outcome of the call: it is raised at once.
                outcome = self._ended.get() if taken is None else self._made(*taken, Exception)
                found[outcome[0]] = outcome
                del outcome
                taken = None
            yield _result(found.pop(number))

    def _made(self, number: int, call: Call, caught: type[BaseException]) -> Outcome:
        try:
            return number, self._context.copy().run(*call), None
        except caught as error:
            self.left.clear()  # what is left comes after it
            return number, None, error


def _result(outcome: Outcome) -> Any:
    """The result of a call; its error is raised."""
    _, value, error = outcome
    if error is None:
        return value
    try:
        raise error
    finally:
        del error, outcome  # which the error's traceback would hold


def shares(count: int, executor: Any) -> int:
    """The number of calls to send together, so that each worker gets sixteen shares and none waits long at the end."""
    return max(1, count // (16 * count_of(executor)))


def count_of(executor: Any) -> int:
    """The number of an executor's workers; that of the processors where it does not tell."""
    return getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None) or os.cpu_count() or 1


class OwnThreads(ThreadPoolExecutor):
    """The threads of an engine, which no exception of a signal handler leaves with a lock taken."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._pool = Pool(count)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor.submit`."""
        future: Future[Any] = Future()

        def call() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        self._pool.submit(call)
        return future


def default_executor() -> Executor:
    """Return an executor with as many threads as processors; threads start with the first tasks."""
    return OwnThreads(os.cpu_count() or 1)


def _outcome(sent: list[Sent | None], k: int) -> Any:
    """The result of a call that was sent, which the list then holds no longer."""
    one = sent[k]
    assert one is not None
    result = one.result()
    sent[k] = None
    return result


def _run(calls: Sequence[Call]) -> list[Any]:
    """The results of calls that are sent together; each has its own copy of the context variables."""
    return [copy_context().run(*call) for call in calls]
