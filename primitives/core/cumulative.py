"""Cumulative sums and products, differences, gradients and integrals along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .ufuncs import of_names
from .values import as_array, compiled_axis, dtype_of, ndim_of, normal_axis, shape_of, without_nan


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


def _pair(axis: int, ndim: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (slice(None),) * normal_axis(axis, ndim) + (slice(start, stop),)


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


def _from_initial(primitive: Callable[..., Any], initial: float) -> Any:
    """Return the cumulative function of the array API, which can prepend the initial value."""

    def rule(x: Any, /, *, axis: Any = None, dtype: Any = None, out: None = None, include_initial: bool = False) -> Any:
        x = np.atleast_1d(x)
        if axis is None and ndim_of(x) != 1:
            raise ValueError(f"name the axis of an array with {ndim_of(x)} axes")
        position = normal_axis(0 if axis is None else axis, ndim_of(x))
        value = primitive(x, axis=position, dtype=dtype)
        if not include_initial:
            return value
        shape = list(shape_of(value))
        shape[position] = 1
        return np.concatenate((numpy.full(tuple(shape), initial, dtype=dtype_of(value)), value), axis=position)

    return rule


cumsum = _along(CUMSUM)
cumprod = _along(_product)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Return cumulative sums with NaN replaced by 0; see `numpy.nancumsum`."""
    return cumsum(without_nan(a, 0.0), axis, dtype)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """Return cumulative products with NaN replaced by 1; see `numpy.nancumprod`."""
    return cumprod(without_nan(a, 1.0), axis, dtype)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Return the n-th differences along an axis; see `numpy.diff`."""
    if n < 0:
        raise ValueError(f"numpy.diff: the order must be non-negative, not {n}")
    x = as_array(a)
    if n == 0:
        return x
    if ndim_of(x) == 0:
        raise ValueError("numpy.diff: the array must have at least one axis")
    axis = normal_axis(axis, ndim_of(x))
    ends = [_edge(end, x, axis) for end in (prepend, append)]
    parts = [part for part in (ends[0], x, ends[1]) if part is not None]
    x = np.concatenate(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        subtract = np.not_equal if dtype_of(x).kind == "b" else np.subtract
        x = subtract(x[_pair(axis, ndim_of(x), 1, None)], x[_pair(axis, ndim_of(x), None, -1)])
    return x


def _edge(end: Any, x: Any, axis: int) -> Any:
    """Return the array to put before or after another one; a number stands for one layer."""
    if end is np._NoValue:
        return None
    if ndim_of(end):
        return as_array(end)
    shape = list(shape_of(x))
    shape[axis] = 1
    return np.broadcast_to(end, tuple(shape))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of the flattened array, with optional values at both ends; see `numpy.ediff1d`."""
    x = np.ravel(as_array(ary))
    for end, name in ((to_begin, "to_begin"), (to_end, "to_end")):
        if end is not None and not numpy.can_cast(dtype_of(np.asarray(end)), dtype_of(x), "same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    ends = [None if end is None else np.astype(np.ravel(as_array(end)), dtype_of(x)) for end in (to_begin, to_end)]
    return np.concatenate([part for part in (ends[0], diff(x), ends[1]) if part is not None])


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate along an axis by the trapezoidal rule; see `numpy.trapezoid`."""
    y, width = as_array(y), dx
    position, ndim = normal_axis(axis, ndim_of(y)), ndim_of(y)
    if x is not None:
        width = diff(x, axis=axis if ndim_of(as_array(x)) > 1 else 0)
        if ndim_of(width) == 1:
            width = np.reshape(width, tuple(-1 if place == position else 1 for place in range(ndim)))
    middles = y[_pair(position, ndim, 1, None)] + y[_pair(position, ndim, None, -1)]
    return np.sum(width * middles / 2.0, axis=axis)


RULES = {
    **of_names(vars(), numpy),
    numpy.cumulative_sum: _from_initial(CUMSUM, 0.0),
    numpy.cumulative_prod: _from_initial(_product, 1.0),
}
