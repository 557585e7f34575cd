"""Calls on a thread with a large stack: data are nested as deeply as the user builds them."""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable
from threading import Lock
from typing import Any

from ...recursion import deep

#: The bytes of stack for programs that run on deep data, which Windows limits, and the greatest depth of their calls:
#: a call from C code needs less than 2 KB. The system gives memory only to the part that is used.
STACK = 1 << (28 if sys.platform == "win32" else 31)
DEPTH = STACK // 2048


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
