"""Settings of the interpreter for deep recursion and for many long-lived terms.

Terms are nested as deeply as a program has statements, and data as deeply as the user builds them.
"""

from __future__ import annotations

import contextvars
import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ..._core.programs.callables import calls_by_c

#: The bytes of stack for programs that run on deep data, which Windows limits, and the greatest depth of their calls:
#: a call from C code needs less than 2 KB. The system gives memory only to the part that is used.
STACK = 1 << (28 if sys.platform == "win32" else 31)
DEPTH = STACK // 2048


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


class Apart(threading.Thread):
    """Calls a function on a thread with a large stack.

    Within the limit that is safe on the stack of the caller, calls by C code, of which each needs a part of that
    stack, are no deeper than on this one.
    """

    lock = Lock()

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__(daemon=True)
        self.f, self.args, self.context = f, args, contextvars.copy_context()
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call the function, in the context of the caller."""
        try:
            with deep(DEPTH):
                self.value = self.context.run(self.f, *self.args)
        except BaseException as error:
            self.error = error

    def started(self) -> bool:
        """Start the thread; False where the system has no room for its stack."""
        with self.lock:
            before = threading.stack_size(STACK)
            try:
                self.start()
            except RuntimeError:
                return False
            finally:
                threading.stack_size(before)
        return True

    def result(self) -> Any:
        """Wait for the value; an exception that is raised here meanwhile, such as by Ctrl-C, stops the call."""
        try:
            self.join()
        except BaseException as error:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(type(error)))
            self.join()
            raise
        if self.error is not None:
            raise self.error
        return self.value


def with_room(f: Callable[..., Any], *args: Any) -> Any:
    """Call a function, and again with a large stack if it recurses deeper than the limit of the caller.

    The function must not change anything.
    """
    try:
        return f(*args)
    except RecursionError:
        apart = Apart(f, args)
        if isinstance(threading.current_thread(), Apart) or not apart.started():
            raise
    return apart.result()
