"""Preludes of random array programs, as source: whole numbers by `__index__`, and arrays of every memory layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HEADER = '''import numpy
import tapeengine as te
import tapeengine.numpy as np


class Whole:
    """A whole number given by `__index__`."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def laid_out(values, layout):
    """The values as an array with a given memory layout."""
    if layout == "F":
        return numpy.array(values, order="F")
    if layout == "strided" and values.ndim:
        big = numpy.zeros((2 * len(values), *values.shape[1:]), values.dtype)
        big[::2] = values
        return big[::2]
    if layout == "reversed" and values.ndim:
        return values[::-1].copy()[::-1]
    if layout in ("inner", "broadcast") and values.ndim:
        big = numpy.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        big[..., ::2] = values
        big.flags.writeable = layout == "inner"
        return big[..., ::2]
    if layout == "permuted" and values.ndim == 3:
        return values.transpose(1, 0, 2).copy().transpose(1, 0, 2)
    values = values.copy()
    values.flags.writeable = layout != "readonly"
    return values

'''
scope: dict[str, Any] = {}
exec(HEADER, scope)
laid_out: Callable[[Any, str], Any] = scope["laid_out"]
Whole: Any = scope["Whole"]
