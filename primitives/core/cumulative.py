"""Cumulative sums and products, differences, gradients and integrals along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .ufuncs import of_names
from .values import as_array, compiled_axis, ndim_of


def _samples() -> tuple[Sample, ...]:
    return (
        Sample((uniform((3,)),), {"axis": 0}),
        Sample((uniform((2, 5)),), {"axis": 1}),
        Sample((uniform((4, 2)),), {"axis": 0}),
        Sample((uniform((3,), dtype=numpy.float32),), {"axis": 0}),
        Sample((uniform((2, 3), dtype=complex),), {"axis": -1}),
        Sample((uniform((0,)),), {"axis": 0}),
        Sample((uniform((3,), dtype=numpy.float32),), {"axis": 0, "dtype": numpy.float64}),
    )


def _reverse_cumsum(ct: Any, axis: int) -> Any:
    return np.flip(np.cumsum(np.flip(ct, axis), axis=axis), axis)


CUMSUM = linear(
    "numpy.cumsum",
    lambda x, *, axis, dtype=None: numpy.cumsum(x, axis=axis, dtype=dtype),
    lambda ct, x_space, axis: unbroadcast(_reverse_cumsum(ct, axis), x_space),
    samples=_samples,
    pattern=patterns.cumulates,
    doc="the cumulative sum along an axis; dx = ct summed from the end",
)


def _product(x: Any, *, axis: int, dtype: Any = None) -> Any:
    return np.multiply.accumulate(x, axis, None if dtype is None else numpy.dtype(dtype).newbyteorder("="))


def _along(primitive: Callable[..., Any]) -> Any:
    """Return numpy's cumulative function, which flattens the array if no axis is given."""

    def rule(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
        x, axis = as_array(a), None if axis is None else compiled_axis(axis)
        if axis is None or (axis in (0, -1) and ndim_of(x) == 0):  # a number counts as an array of one element
            x, axis = np.ravel(x), 0
        return primitive(x, axis=axis, dtype=dtype)

    return rule


cumsum = _along(CUMSUM)
cumprod = _along(_product)


RULES = of_names(vars(), numpy)
