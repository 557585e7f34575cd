"""Room for deep recursion, and for many terms that all stay.

Terms nest as deeply as programs have statements, and data as deeply as they are built.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import ParamSpec, TypeVar

__all__ = ["deep", "keeping"]


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


P = ParamSpec("P")
R = TypeVar("R")


def keeping(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function run without the collector of cycles: of the many terms that it makes none is garbage yet.

    Examples
    --------
    >>> keeping(gc.isenabled)(), gc.isenabled()
    (False, True)
    """

    @functools.wraps(function)
    def kept(*args: P.args, **named: P.kwargs) -> R:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **named)
        finally:
            if was_enabled:
                gc.enable()

    return kept
