"""Settings of the interpreter for deep recursion and for many long-lived terms.

Terms are nested as deeply as a program has statements, and data as deeply as the user builds them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

#: The greatest depth of nested data and calls of programs that run.
DEPTH = 2_000_000


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

    Parameters
    ----------
    limit : int
        The required recursion limit.

    Examples
    --------
    >>> before = sys.getrecursionlimit()
    >>> with deep(50_000):
    ...     sys.getrecursionlimit() >= 50_000
    True
    >>> sys.getrecursionlimit() == before
    True
    >>> deep()(gc.isenabled)(), gc.isenabled()
    (False, True)
    """
    _ROOM.enter(limit)
    try:
        yield
    finally:
        _ROOM.leave()
