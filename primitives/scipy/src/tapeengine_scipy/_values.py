"""Helpers for the arguments of functions."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import is_traced

__all__ = ["floating", "is_complex", "is_traced", "real"]


def is_complex(value: Any) -> bool:
    """Whether a value, plain or traced, is complex."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "f") == "c"


def floating(value: Any) -> Any:
    """Return a traced value unchanged, a plain one as a floating array; lists and objects may be traced scalars."""
    if is_traced(value):
        return value
    if isinstance(value, (list, tuple)) or getattr(getattr(value, "dtype", None), "kind", "") == "O":
        value = np.array(value)
    array = value if is_traced(value) else numpy.asarray(value)
    return array if array.dtype.kind in "fc" else array.astype(float)


def real(value: Any) -> Any:
    """Return a plain value in double precision; the formulas for real numbers do not apply to complex ones."""
    if is_complex(value):
        raise UnsupportedError("this derivative is known for real numbers only, not at complex ones")
    return numpy.asarray(value, dtype=float)
