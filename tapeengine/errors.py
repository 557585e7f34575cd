"""The errors that tapeengine raises: one base class, and one class for each kind of mistake that a user can correct."""

from collections.abc import Callable
from typing import Any

__all__ = [
    "CotangentError",
    "DroppedDerivativeError",
    "MissingAttributeError",
    "NotFiniteError",
    "OptionError",
    "PrimitiveError",
    "RegistryError",
    "RepeatError",
    "ResultError",
    "StagingError",
    "StagingWarning",
    "StructureError",
    "TapeEngineError",
    "TapeLimitError",
    "TraceError",
    "UnsupportedError",
    "WorkerError",
]


class TapeEngineError(Exception):
    """Base class of all errors that tapeengine defines.

    Examples
    --------
    >>> from tapeengine import errors
    >>> issubclass(errors.StructureError, errors.TapeEngineError)
    True
    """


#: Functions that get each refusal when it is made.
HEARERS: list[Callable[[Exception], None]] = []


class _Refusal(TapeEngineError):
    """An error of a traced program where the plain one need not have any."""

    def __init__(self, *args: object, **named: Any) -> None:
        super().__init__(*args, **named)
        for hear in HEARERS:
            hear(self)


class StructureError(TapeEngineError, TypeError):
    """A primal or a value contains a leaf or a container that the engine does not know."""


class CotangentError(TapeEngineError, ValueError):
    """A cotangent or tangent does not fit the structure, shape or dtype of its value."""


class RepeatError(TapeEngineError, RuntimeError):
    """A program that runs again for its derivative does not return the same value twice."""


class ResultError(TapeEngineError, TypeError):
    """The result of a program is not of the kind that the transform needs, such as a scalar for `grad`."""


def no_pair(result: Any) -> ResultError:
    """The error for a program that should return a value and an auxiliary result."""
    got = f"a tuple of {len(result)}" if type(result) is tuple else class_name(result).removeprefix("builtins.")
    return ResultError(f"with has_aux the program must return a tuple (value, aux), not {got}")


class TraceError(_Refusal, RuntimeError):
    """A dual number is used outside its trace."""


class DroppedDerivativeError(_Refusal, TypeError):
    """An operation would convert a dual number to a plain one, and lose its derivative silently."""


class NotFiniteError(TapeEngineError, ArithmeticError):
    """A value, a partial or a cotangent is infinite or NaN, and the debug switch `nans` is on."""


class TapeLimitError(_Refusal, MemoryError):
    """A tape has reached its limit of ids or of bytes."""


class UnsupportedError(_Refusal, TypeError):
    """An operation has no derivative rule, or the trace cannot record it in this place."""


class MissingAttributeError(UnsupportedError, AttributeError):
    """A traced value lacks an attribute of numpy arrays whose result would have no derivative."""


class OptionError(UnsupportedError, ValueError):
    """An option has a value that is none of its choices."""


class WorkerError(TapeEngineError, RuntimeError):
    """A worker ended while it ran tasks, or lacks packages that the program's tasks need."""


class StagingError(TapeEngineError, ValueError):
    """A staged program cannot be saved or written in C, or a file contains none that can be replayed."""


class StagingWarning(UserWarning):
    """A staged program runs instead of being replayed."""


class PrimitiveError(TapeEngineError, TypeError):
    """A primitive's record is invalid: a wrong signature, a missing rule, a duplicate argument name."""


class RegistryError(TapeEngineError, LookupError):
    """A primitive is unknown, or two primitives claim one name."""


def note(error: BaseException, text: str) -> None:
    """Add a note to an error, once."""
    if text not in getattr(error, "__notes__", ()):
        error.add_note(text)


#: The prefix of the names of lifted modules; the names of the lifting context and of the original follow.
TWINS = "tapeengine.lift.twins."
#: What follows the name of a container that is inside itself.
CONTAINS_ITSELF = (
    " contains itself: a structure with a cycle has no cotangent of the same structure. "
    "Pass the differentiated parts as a tree, and keep back references outside it"
)


def module_of(cls: type) -> str:
    """The module that a class says it is from; empty where it says none, as some classes of ctypes do, and those
    that `exec` made in a namespace without a name.
    """
    module = getattr(cls, "__module__", None)
    return module if isinstance(module, str) else ""


def original_name(module: str) -> str:
    """The name of the module that a lifted one was made of; other names unchanged."""
    return module.removeprefix(TWINS).partition(".")[2] if module.startswith(TWINS) else module


def full_name(cls: type) -> str:
    """The name of a class, with its module; of the original's module for a class of a lifted one."""
    return f"{original_name(module_of(cls))}.{cls.__qualname__}".lstrip(".")


def class_name(value: object) -> str:
    """The name of a value's class, with the library that it comes from."""
    cls = type(value)
    return f"{original_name(module_of(cls)).partition('.')[0]}.{cls.__qualname__}".lstrip(".")


def pass_on(error: BaseException) -> None:
    """Raise an error again if a signal handler raised it, such as one that ends a run after some time.

    Python calls a handler between two instructions of any code, with the frame that it interrupts. Such an error says
    nothing about that code.
    """
    step = error.__traceback__
    while step is not None:
        below = step.tb_frame.f_back
        if below is not None:
            given = [value if type(value) is tuple else (value,) for value in step.tb_frame.f_locals.values()]
            if any(value is below for values in given for value in values):
                raise error
        step = step.tb_next
