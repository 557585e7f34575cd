"""Helpers for the arguments of functions."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import holds_traced
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import is_traced

__all__ = ["floating", "floating_real", "is_complex", "is_traced", "of_precision", "of_python", "ratio", "real", "root"]


def is_complex(value: Any) -> bool:
    """Whether a value, plain or traced, is complex."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "f") == "c"


def floating(value: Any) -> Any:
    """Return a traced value as an array, a plain one as a floating array; lists and objects may be traced scalars."""
    if is_traced(value):
        return np.asarray(value)
    if getattr(getattr(value, "dtype", None), "kind", "") == "O":
        value = value.tolist()
    value = np.array(value) if holds_traced(value) else value
    array = value if is_traced(value) else numpy.asarray(value)
    return array if array.dtype.kind in "fc" else array.astype(float)


def of_python(value: Any) -> Any:
    """A number as Python's: SciPy's compiled functions return these."""
    return value.item() if is_traced(value) else float(value)


def real(value: Any) -> Any:
    """Return a plain value in double precision; the formulas for real numbers do not apply to complex ones."""
    if is_complex(value):
        raise UnsupportedError("this derivative is known for real numbers only, not at complex ones")
    return numpy.asarray(value, dtype=float)


def floating_real(value: Any) -> Any:
    """Return what `floating` does; for complex numbers SciPy's function raises its error, or the call is refused."""
    value = floating(value)
    if is_complex(value):
        raise TypeError("it is for real numbers")
    return value


def of_precision(value: Any, like: Any) -> Any:
    """Return a value in single precision if `like` is an array of it."""
    if getattr(like, "dtype", None) not in (numpy.float32, numpy.complex64):
        return value
    return np.astype(value, numpy.complex64 if is_complex(value) else numpy.float32)


def ratio(part: Any, whole: Any) -> Any:
    """Divide; the result and its derivatives are 0 where `whole` is 0."""
    empty = np.equal(whole, 0)
    return np.where(empty, 0.0, part / np.where(empty, 1.0, whole))


def root(square: Any) -> Any:
    """The root of a squared length; its derivative at 0 is 0, as for norms."""
    is_zero = np.equal(square, 0)
    return np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, square)))  # no division by zero, and no warning
