"""Threads that run the steps of parallel loops of compiled code, which `forks.pxi` gives to them, and lanes.

Python's pools are imported by the first loop that needs them: they take a tenth of the time to import the engine.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor


class Work(Protocol):
    """The steps of a parallel loop."""

    count: int

    def work(self) -> None:
        """Run steps until there is none left, on the thread that runs the loop."""

    def help(self) -> None:
        """Do so on another thread."""

    def stop(self) -> None:
        """Let all threads stop soon."""


class Threads:
    """The threads, which start with the first loop that needs them.

    Attributes
    ----------
    count : int
        How many threads run steps, that of the program included.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all threads; a forked process has none."""
        self.use(os.cpu_count() or 1)

    def use(self, count: int) -> None:
        """Use so many threads."""
        self.count = count
        self.pool: ThreadPoolExecutor | None = None

    def ask(self, work: Work) -> list[Future[None]]:
        """Let threads help."""
        from concurrent.futures import ThreadPoolExecutor

        if self.pool is None:
            self.pool = ThreadPoolExecutor(max(self.count - 1, 1), "tapeengine-native")
        try:
            return [self.pool.submit(work.help) for _ in range(min(work.count - 1, self.count) - 1)]
        except RuntimeError:  # the interpreter ends
            return []


THREADS = Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.forget)


def run(work: Work, ask: Callable[[Work], list[Future[None]]] = THREADS.ask) -> None:
    """Run the steps of a loop on threads, which `ask` lets help; an interrupt stops all of them."""
    from concurrent.futures import wait

    helpers: list[Future[None]] = []
    error: BaseException | None = None
    try:
        helpers = ask(work)
        work.work()
        left: set[Any] = {h for h in helpers if not h.cancel()}
        while left:
            left = wait(left, 0.05).not_done
    except BaseException as found:
        error = found
        work.stop()
    while any(not (h.cancel() or h.done()) for h in helpers):  # steps use the memory of this run until they end
        try:
            wait(helpers)
        except BaseException as found:
            error = found
    if error is not None:
        raise error
