"""What a call returns or raises, for comparisons of the engine's functions with numpy's."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeengine.errors import TapeEngineError


def outcome(function: Callable[[], Any]) -> Any:
    """The result of a call without its warnings, or the exception that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function()
    except Exception as error:
        return error


def comparable(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call, or the class of the exception that it raises: exceptions equal only themselves."""
    found = outcome(lambda: function(*args))
    return type(found) if isinstance(found, Exception) else found


def unless_refused(function: Callable[..., Any], *args: Any) -> Any:
    """The same, or None for an error of the engine."""
    found = comparable(function, *args)
    return None if isinstance(found, type) and issubclass(found, TapeEngineError) else found


def shown(function: Callable[..., Any], *args: Any) -> str:
    """The text of a result, which shows all bits of its floats, or of the exception that a call raises."""
    return repr(outcome(lambda: function(*args)))


def parts(value: Any) -> list[Any]:
    """The arrays of a result, which is one or a tuple of them."""
    return [np.asarray(one) for one in (value if isinstance(value, tuple) else (value,))]
