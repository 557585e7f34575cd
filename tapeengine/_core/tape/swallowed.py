"""Errors that a program catches and then goes on with a wrong derivative: it is refused when it ends.

They are of two kinds: refusals of the engine, where the plain program has no error; and errors that carry numbers out
of a function that runs on plain numbers, such as a checkpoint's, where they have no derivative.
"""

from __future__ import annotations

import sys
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy

from ... import errors
from ...errors import TWINS, DroppedDerivativeError, TapeEngineError
from ...naming import attribute_of
from .tape import is_open, trace_here

#: Code that may catch refusals: the engine's own; loggers, which go on with their caller's values; libraries of
#: columns, which try floats and then compute with objects.
ALLOWED = ("tapeengine", "tapeengine_primitives", "tapeengine_scipy", "logging", "pandas", "xarray")
#: Modules of numpy that try a method, a look-up or a number first, and otherwise convert, read the dtype, keep objects.
TRIES = ("numpy._core.fromnumeric", "numpy._core.getlimits", "numpy._core._methods")

#: Methods that compiled code calls and whose errors it may replace, as numpy does in `a[i] = x`: it has no frame.
CONVERSIONS = ("__float__", "__complex__")

#: How many objects of an error are looked at.
MOST = 4096


class Caught(NamedTuple):
    """An error that a program may catch: where it was raised, and the function that it carries numbers out of."""

    thread: int
    trace: int  # the outermost open one there
    error: Exception
    function: str = ""
    module: str = ""  # the one whose line led to a refusal


class Open:
    """The errors of open traces, oldest first."""

    def __init__(self) -> None:
        self.errors: list[Caught] = []


OPEN = Open()


def hear(error: Exception) -> None:
    """Remember a refusal; of earlier ones only those without which the program went on.

    An attribute that a traced value lacks is none: programs ask for it by `hasattr`.
    """
    trace = trace_here()
    if trace and not isinstance(error, AttributeError):
        for each in _here():
            if not is_swallowed(each.error, each.module):
                OPEN.errors.remove(each)
        OPEN.errors.append(Caught(get_ident(), trace, error, module=_module_here()))


errors.HEARERS.append(hear)


def carry(error: Exception, name: str) -> None:
    """Remember an error that leaves a function which runs on plain numbers, if it has numbers in its attributes."""
    trace = trace_here()
    if trace and all(each.error is not error for each in _here()) and _has_numbers(error):
        OPEN.errors.append(Caught(get_ident(), trace, error, name))


def _has_numbers(error: Exception) -> bool:
    pending, seen = [error.args, vars(error)], set[int]()
    while pending and len(seen) < MOST:
        one = pending.pop()
        if isinstance(one, (float, complex)) or getattr(attribute_of(one, "dtype"), "kind", "") in ("f", "c"):
            return True
        if isinstance(one, numpy.ndarray):
            pending += one.flat if one.dtype == object else ()
        elif id(one) not in seen and not isinstance(one, (type, str, bytes, int)):
            seen.add(id(one))
            pending += one.values() if isinstance(one, dict) else one if isinstance(one, (tuple, list, set)) else ()
            own = attribute_of(one, "__dict__")
            pending += own.values() if isinstance(own, dict) else ()
    return False


def forget(handled: BaseException | None = None) -> None:
    """Forget an error that has been handled; without one all errors of traces that have ended."""
    for each in _here():
        if each.error is handled or not is_open(each.trace):
            OPEN.errors.remove(each)


def check(raised: Exception | None = None) -> None:
    """Raise the first error after which a program went on.

    Parameters
    ----------
    raised : Exception, optional
        The error that ends the program. One that compiled code raises in place of a refusal passes, with a note,
        as that of `struct.pack`; but numpy's ValueError would hide that the plain program has none.

    Raises
    ------
    TapeEngineError
        The refusal, with a note that says where it was caught.
    DroppedDerivativeError
        If the error carries numbers out of a function.
    """
    for _, trace, error, function, module in _here():
        passes = error.__traceback__ is None and raised is not None and not isinstance(raised, ValueError)
        if is_open(trace) and is_swallowed(error, module) and not passes:
            place = _place(error)
            if function:
                raise DroppedDerivativeError(
                    f"{errors.full_name(type(error))} carries numbers out of {function}, where they have no "
                    f"derivative, and the program catches it and goes on ({place}). Return the numbers, and raise "
                    "texts and integers"
                ) from error
            if place:
                errors.note(
                    error,
                    f"the program catches this error and goes on ({place}), where the plain program has none. Let it "
                    "pass; or, where the value does not depend on it, name its class in the except: "
                    "tapeengine.errors.TapeEngineError",
                )
            raise error


def _here() -> list[Caught]:
    thread = get_ident()
    return [each for each in OPEN.errors if each.thread == thread]


def _place(error: Exception) -> str:
    """The line of Python that an error has reached; none where compiled code caught it."""
    trace = error.__traceback__
    if trace is None or _converts(trace.tb_frame.f_code):
        return ""
    code = trace.tb_frame.f_code
    return f"{code.co_filename}:{trace.tb_lineno} in {code.co_name}"


def _module_here() -> str:
    """The module of the innermost line that is not the engine's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _module_of(frame).partition(".")[0] == "tapeengine":
        frame = frame.f_back
    return _module_of(frame)


def _module_of(frame: FrameType) -> str:
    return frame.f_globals.get("__name__") or ""


def _may_catch(module: str) -> bool:
    """Whether code of a module may catch refusals and go on."""
    return module in TRIES or (module.partition(".")[0] in ALLOWED and not module.startswith(TWINS))


def is_swallowed(error: Exception, module: str = "") -> bool:
    """Whether an error was caught by a program, which does not know of the engine's errors if it is one of these.

    `module`: the one whose line led to it, for an error that compiled code caught.

    Examples
    --------
    >>> try:
    ...     raise TapeEngineError
    ... except Exception as error:
    ...     found = error
    >>> is_swallowed(found), is_swallowed(TapeEngineError())
    (False, False)
    """
    if error.__traceback__ is None:  # compiled code that converts it caught it, as numpy does in `a.flat[0] = x`
        return isinstance(error, DroppedDerivativeError) and not _may_catch(module)
    frame = error.__traceback__.tb_frame
    if _converts(frame.f_code):
        return True
    if _may_catch(_module_of(frame)):
        return False
    names = frame.f_code.co_names
    if not isinstance(error, TapeEngineError):
        return True
    if not set(errors.__all__).isdisjoint(names):
        return False
    return not any(map(_is_ours, (*map(frame.f_globals.get, names), *frame.f_locals.values())))


def _converts(code: CodeType) -> bool:
    return code.co_name.rpartition(".")[2] in CONVERSIONS


def _is_ours(value: Any) -> bool:
    """Whether a value is one of the engine's classes of errors, or a tuple with one."""
    if type(value) is tuple:
        return any(map(_is_ours, value))
    return isinstance(value, type) and issubclass(value, TapeEngineError)
