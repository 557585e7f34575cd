"""The errors that tapeengine raises: one base class, and one class for each thing that a user can mend."""

__all__ = [
    "CotangentError",
    "DroppedDerivativeError",
    "MissingAttributeError",
    "NotFiniteError",
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
    """Base class of every error that tapeengine raises on its own account.

    Examples
    --------
    >>> issubclass(StructureError, TapeEngineError)
    True
    """


class StructureError(TapeEngineError, TypeError):
    """A primal or a value holds a leaf or a container that the engine cannot take apart."""


class CotangentError(TapeEngineError, ValueError):
    """A cotangent or tangent does not fit the structure, shape or dtype it belongs to."""


class RepeatError(TapeEngineError, RuntimeError):
    """A program that has to be run again for its derivative does not give the same value twice."""


class ResultError(TapeEngineError, TypeError):
    """The result of a program is not what the transform needs, such as a scalar for `grad`."""


class TraceError(TapeEngineError, RuntimeError):
    """A dual number is used outside the trace that it belongs to."""


class DroppedDerivativeError(TapeEngineError, TypeError):
    """An operation would turn a dual number into a plain one and so lose its derivative silently."""


class NotFiniteError(TapeEngineError, ArithmeticError):
    """A value, a partial or a cotangent is infinite or not a number, and the debug switch `nans` is on."""


class TapeLimitError(TapeEngineError, MemoryError):
    """A tape has reached its limit of ids or of bytes."""


class UnsupportedError(TapeEngineError, TypeError):
    """An operation has no derivative rule, or cannot be followed where it is used."""


class MissingAttributeError(UnsupportedError, AttributeError):
    """A traced value lacks an attribute of numpy's, which would give something without a derivative."""


class WorkerError(TapeEngineError, RuntimeError):
    """A worker ended while it ran tasks, or it cannot run tasks of this program, whose packages it does not have."""


class StagingError(TapeEngineError, ValueError):
    """A staged program cannot be saved or written in C, or a file holds none that can be replayed."""


class StagingWarning(UserWarning):
    """A staged program is run more often than replayed."""


class PrimitiveError(TapeEngineError, TypeError):
    """A primitive's record is not valid: a wrong signature, a missing rule, a duplicate argument name."""


class RegistryError(TapeEngineError, LookupError):
    """A primitive is unknown, or two primitives claim one name."""


def note(error: BaseException, text: str) -> None:
    """Add a note to an error, once.

    Examples
    --------
    >>> error = ValueError("no")
    >>> note(error, "in f"), note(error, "in f"), error.__notes__
    (None, None, ['in f'])
    """
    if text not in getattr(error, "__notes__", ()):
        error.add_note(text)
