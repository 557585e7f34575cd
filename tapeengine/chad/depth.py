"""Room for deep recursion, and for many terms that all stay.

Terms nest as deeply as programs have statements, and data as deeply as they are built.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["deep"]


class Room:
    """The interpreter's recursion limit and its collector of cycles, which all threads share.

    The limit is raised and the collector stopped with the first that needs it; the last puts both back.
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
        """Put both back if nobody else needs them."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                sys.setrecursionlimit(self.before)
                if self.collects:
                    gc.enable()


_ROOM = Room()


@contextmanager
def deep(limit: int = 100_000) -> Iterator[None]:
    """Allow deep recursion for a while, in any number of threads; a decorator as well.

    What is made meanwhile, terms and deep data, all stays: the collector of cycles would go through it again and again.

    Parameters
    ----------
    limit : int
        The recursion limit that is needed.

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
