"""Threads that run parallel loops of compiled code (`forks.pxi`), lanes and tasks.

Code in C hands the calls to them. Python's own pools do this in Python: an exception of a signal handler, such as an
interrupt, may leave that code with a lock taken, and all later calls would wait for the lock.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Work(Protocol):
    """The steps of a parallel loop."""

    count: int

    def work(self) -> None:
        """Run steps until there is none left, on the thread that runs the loop."""

    def help(self) -> None:
        """Do so on another thread."""

    def stop(self) -> None:
        """Let all threads stop soon."""


class Pool:
    """Threads that make calls, in their order; a thread starts with a call, until there are `most` of them."""

    def __init__(self, most: int) -> None:
        self.most, self.started = most, 0
        self.calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()

    def submit(self, call: Callable[[], object]) -> None:
        """Let a thread make a call, which raises nothing."""
        self.calls.put(call)
        if self.started < self.most:
            start_new_thread(_serve, (self.calls,))
            self.started += 1

    def __del__(self) -> None:
        for _ in range(self.started):
            self.calls.put(None)


def _serve(calls: SimpleQueue[Callable[[], object] | None]) -> None:
    """Make calls until None comes."""
    while (call := calls.get()) is not None:
        call()
        del call


class Helpers:
    """Calls of one function by other threads, which the caller can close and wait for, also after an interrupt."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.function = function
        self.is_open = True
        self.began: list[None] = []
        self.left: list[None] = []
        self.ends: SimpleQueue[None] = SimpleQueue()

    def __call__(self) -> None:
        """Call the function, unless nobody needs it any more."""
        self.began.append(None)  # before the next line, so that either this or `have_ended` sees the other
        try:
            if self.is_open:
                self.function()
        finally:
            self.left.append(None)
            self.ends.put(None)

    def have_ended(self) -> bool:
        """Whether all calls that have begun have ended; none begins from now on."""
        self.is_open = False
        return len(self.left) >= len(self.began)

    def wait(self) -> None:
        """Wait until they have ended."""
        while not self.have_ended():
            with suppress(Empty):
                self.ends.get(timeout=0.05)  # the count tells; an end that an interrupt took away costs this time


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
        self.pool = Pool(max(count - 1, 1))

    def ask(self, work: Work, helpers: Helpers) -> None:
        """Let threads help."""
        with suppress(RuntimeError):  # the interpreter ends
            for _ in range(min(work.count - 1, self.count) - 1):
                self.pool.submit(helpers)


THREADS = Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.forget)


def run(work: Work, ask: Callable[[Work, Helpers], None] = THREADS.ask) -> None:
    """Run the steps of a loop on threads, which `ask` lets help; an interrupt stops all of them."""
    helpers = Helpers(work.help)
    error: BaseException | None = None
    try:
        ask(work, helpers)
        work.work()
        helpers.wait()
    except BaseException as found:
        error = found
        work.stop()
    while not helpers.have_ended():  # steps use the memory of this run until they end
        try:
            helpers.wait()
        except BaseException as found:
            error = found
    if error is not None:
        raise error
