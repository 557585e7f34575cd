"""The interpreter's recursion limit, for trees of source code and terms, which are as deep as a program is long.

The limit belongs to all threads, so one place alone changes it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from ._core.programs.callables import calls_by_c


class Room:
    """The interpreter's recursion limit and garbage collector, which all threads share.

    The first user raises the limit and stops the collector; the last restores both.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0
        self.before = 0
        self.collects = True

    def enter(self, limit: int) -> None:
        """Raise the limit; stop the collector."""
        with self.lock:
            now = sys.getrecursionlimit()
            if self.users == 0:
                self.before, self.collects = now, gc.isenabled()
                gc.disable()
            self.users += 1
            sys.setrecursionlimit(max(now, limit))

    def leave(self) -> None:
        """Restore both if there is no other user."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                sys.setrecursionlimit(self.before)
                if self.collects:
                    gc.enable()


_ROOM = Room()


@contextmanager
def deep(limit: int = 100_000) -> Iterator[None]:
    """Allow deep recursion, in any number of threads; also usable as a decorator.

    The garbage collector is stopped, because it would visit all the terms and deep data made meanwhile repeatedly, and
    free none.

    `limit`: the required recursion limit.
    """
    _ROOM.enter(limit)
    more = max(0, limit - calls_by_c(0))
    calls_by_c(more)
    try:
        yield
    finally:
        calls_by_c(-more)
        _ROOM.leave()
