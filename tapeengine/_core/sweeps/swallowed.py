"""Refusals that a program catches and goes on without, as by ``except Exception``.

The plain program has no error there, so what it computes afterwards need not be what the traced program computes. When
the traced program ends, the error is raised again.
"""

from __future__ import annotations

from threading import get_ident
from types import CodeType
from typing import Any

from ... import errors
from ...dropped import TWINS
from ...errors import TapeEngineError
from ..tape.tape import is_traced_here

#: The refusals of traces that are open, oldest first, with their threads.
REFUSED: list[tuple[int, Exception]] = []
#: Code that may catch refusals: the engine's own; loggers, which go on with their caller's values; libraries of columns,
#: which try floats and then compute with objects.
ALLOWED = ("tapeengine", "tapeengine_primitives", "tapeengine_scipy", "logging", "pandas", "xarray")


def hear(error: Exception) -> None:
    """Remember a refusal; of earlier ones only those without which the program went on.

    An attribute that a traced value lacks is none: programs ask for it by `hasattr`.
    """
    if is_traced_here() and not isinstance(error, AttributeError):
        for each in _here():
            if not is_swallowed(each[1]):
                REFUSED.remove(each)
        REFUSED.append((get_ident(), error))


errors.HEARERS.append(hear)


def forget() -> None:
    """Forget the refusals of this thread: its outermost trace has ended."""
    for each in _here():
        REFUSED.remove(each)


def check() -> None:
    """Raise again the first refusal without which a program went on.

    Raises
    ------
    TapeEngineError
        The refusal, with a note that says where it was caught.
    """
    for _, error in _here():
        if is_swallowed(error):
            code, line = _caught(error)
            errors.note(
                error,
                f"the program catches this error and goes on ({code.co_filename}:{line} in {code.co_name}), where the "
                "plain program has none. Let it pass; or, where the value does not depend on it, name its class in the "
                "except: tapeengine.errors.TapeEngineError",
            )
            raise error


def _here() -> list[tuple[int, Exception]]:
    thread = get_ident()
    return [each for each in REFUSED if each[0] == thread]


def _caught(error: Exception) -> tuple[CodeType, int]:
    """The code that an error has reached, and the line."""
    trace: Any = error.__traceback__
    return trace.tb_frame.f_code, trace.tb_lineno


def is_swallowed(error: Exception) -> bool:
    """Whether an error was caught by a program that does not know of the engine's errors.

    Examples
    --------
    >>> try:
    ...     raise TapeEngineError
    ... except Exception as error:
    ...     found = error
    >>> is_swallowed(found), is_swallowed(TapeEngineError())
    (False, False)
    """
    if error.__traceback__ is None:
        return False
    frame = error.__traceback__.tb_frame
    module = frame.f_globals.get("__name__") or ""
    if module.partition(".")[0] in ALLOWED and not module.startswith(TWINS):
        return False
    names = frame.f_code.co_names
    if not set(errors.__all__).isdisjoint(names):
        return False
    return not any(map(_is_ours, (*map(frame.f_globals.get, names), *frame.f_locals.values())))


def _is_ours(value: Any) -> bool:
    """Whether a value is one of the engine's classes of errors, or a tuple with one."""
    if type(value) is tuple:
        return any(map(_is_ours, value))
    return isinstance(value, type) and issubclass(value, TapeEngineError)
