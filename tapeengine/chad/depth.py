"""Room for deep recursion: terms nest as deeply as programs have statements, and data as deeply as they are built."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["deep"]


class RecursionLimit:
    """The interpreter's recursion limit, which all threads share: raised with the first that needs more, and put back
    with the last.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0
        self.before = 0

    def enter(self, limit: int) -> None:
        """Raise the limit."""
        with self.lock:
            now = sys.getrecursionlimit()
            if self.users == 0:
                self.before = now
            self.users += 1
            sys.setrecursionlimit(max(now, limit))

    def leave(self) -> None:
        """Put the limit back if nobody else needs it."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                sys.setrecursionlimit(self.before)


_LIMIT = RecursionLimit()


@contextmanager
def deep(limit: int = 100_000) -> Iterator[None]:
    """Allow deep recursion for a while, in any number of threads.

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
    """
    _LIMIT.enter(limit)
    try:
        yield
    finally:
        _LIMIT.leave()
