"""Interpolation, finite-difference gradients, evenly spaced numbers and grids."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

import tapeengine.numpy as np
from tapeengine.duals.creation import sample_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import discrete

from .joining import along
from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    form_of,
    in_order_of,
    is_complex,
    is_traced,
    ndim_of,
    number_or_array,
    of_parts,
    real_part,
    shape_of,
)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate linearly between points; see `numpy.interp`. Differentiable in everything but `period`."""
    x, xp, fp = (_widened(as_array(part)) for part in (x, xp, fp))
    if period is None and (is_complex(x) or is_complex(xp)):
        raise TypeError("numpy.interp: x and xp are real")
    if ndim_of(xp) != 1 or shape_of(xp) != shape_of(fp):
        raise ValueError("numpy.interp: xp and fp are vectors of the same length")
    numpy.interp(0.0, [0.0], numpy.zeros(1, dtype_of(fp)), form_of(left), form_of(right))  # raises numpy's errors
    if period is not None:
        x, xp, fp = _periodic(real_part(x), real_part(xp), fp, abs(period))
        left = right = None
    if not is_complex(fp):
        value = number_or_array(_interpolated(x, xp, fp, left, right))
    else:
        ends = [[None if end is None else part(as_array(end)) for end in (left, right)] for part in (np.real, np.imag)]
        parts = zip((np.real(fp), np.imag(fp)), ends, strict=True)
        value = of_parts(*(_interpolated(x, xp, part, left, right, True) for part, (left, right) in parts))
    if not IS_INTERPOLATED(value, x, xp, fp, left, right):
        raise UnsupportedError(
            "numpy.interp: xp does not increase, and numpy's value is undefined. Sort xp and fp by xp"
        )
    return value


IS_INTERPOLATED = discrete(
    "numpy.is_interpolated",
    lambda value, x, xp, fp, left, right: numpy.allclose(
        numpy.interp(x, xp, fp, left, right), value, 1e-9, 0.0, equal_nan=True
    ),
    samples=(Sample((1.5, 0.5, numpy.arange(2.0), numpy.array([1.0, 2.0]), None, None)),),
    doc="whether numpy interpolates a value; no derivative goes through it",
)


def _interpolated(x: Any, xp: Any, fp: Any, left: Any, right: Any, is_part: bool = False) -> Any:
    """Interpolate real values, which are all or a part of the heights."""
    count = shape_of(xp)[0]
    if count == 1:
        inner = np.broadcast_to(fp[0], shape_of(x))
    else:
        inner = _between(x, xp, fp, numpy.clip(np.searchsorted(xp, x, side="right"), 1, count - 1), is_part)
    value = np.where(np.greater_equal(x, xp[-1]), fp[-1], np.where(np.less(x, xp[0]), fp[0], inner))
    if right is not None:
        value = np.where(np.greater(x, xp[-1]), right, value)
    return value if left is None else np.where(np.less(x, xp[0]), left, value)


def _between(x: Any, xp: Any, fp: Any, upper: Any, is_part: bool) -> Any:
    """Return values between two points; a point itself has its value, even if the line is NaN beside infinities.

    numpy divides the real values, and multiplies the parts of complex ones by the reciprocal.
    """
    start, end, low, high = xp[upper - 1], xp[upper], fp[upper - 1], fp[upper]
    slope = (high - low) * (1 / (end - start)) if is_part else (high - low) / (end - start)
    value = low + slope * (x - start)
    if not np.any(np.isnan(value)):
        return value
    value = np.where(np.isnan(value), high + slope * (x - end), value)
    part = (x - start) / (end - start)
    tied = np.isnan(value) & np.equal(low, high) & ~np.isnan(x)
    mixed = np.where(np.greater(part, 0) & np.less(part, 1), low * (1 - part) + high * part, low)
    value = np.where(tied, mixed, value)
    before = numpy.maximum(upper - 2, 0)  # at a point, the derivative is that of the line from the left
    left = (low - fp[before]) / np.where(before < upper - 1, start - xp[before], numpy.inf)
    at_point = low + np.where(np.isfinite(left), left, 0.0) * (x - start)
    return np.where(np.equal(x, start) & ~np.isfinite(slope), at_point, value)


def _widened(x: Any) -> Any:
    """Return a value in double precision, in which numpy interpolates."""
    wide = numpy.result_type(dtype_of(x), numpy.float64)
    return x if dtype_of(x) == wide else np.astype(numpy.asarray(x) if not is_traced(x) else x, wide)


def _periodic(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any]:
    """Map points into one period, sort them, and add one point at each end."""
    x, xp = np.remainder(x, period), np.remainder(xp, period)
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    return (
        x,
        np.concatenate((xp[-1:] - period, xp, xp[:1] + period)),
        np.concatenate((fp[-1:], fp, fp[:1])),
    )


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return second-order differences along axes; see `numpy.gradient`."""
    x = as_array(f)
    axes = normalize_axis_tuple(range(ndim_of(x)) if axis is None else axis, ndim_of(x))
    spacings = [as_array(one) for one in varargs] or [1.0]
    if len(spacings) == 1 and ndim_of(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    parts = tuple(_gradient(x, one, h, edge_order) for one, h in zip(axes, spacings, strict=True))
    return parts[0] if len(axes) == 1 else parts


def _gradient(f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """Return the differences along an axis, in numpy's order of operations."""
    extent = shape_of(f)[axis]
    if extent < edge_order + 1:
        raise ValueError(f"numpy.gradient needs {edge_order + 1} elements along axis {axis}, which has {extent}")

    def part(start: int | None, stop: int | None) -> Any:
        return f[along(axis, slice(start, stop))]

    def shaped(values: Any) -> Any:
        return np.reshape(values, tuple(-1 if position == axis else 1 for position in range(ndim_of(f))))

    def between(one: Any, other: Any, distance: Any) -> Any:
        return (other - one) / distance

    steps = _steps(spacing, extent)
    if ndim_of(steps) == 0:
        near = far = steps
        middle = between(part(None, -2), part(2, None), 2.0 * steps)
    else:
        near, far = shaped(steps[:1]), shaped(steps[-1:])
        middle = _weighted(
            _inner_weights(shaped(steps[:-1]), shaped(steps[1:])), (part(None, -2), part(1, -1), part(2, None))
        )
    if edge_order == 1:
        first, last = between(part(0, 1), part(1, 2), near), between(part(-2, -1), part(-1, None), far)
    else:
        if ndim_of(steps) == 0:
            left, right = (-1.5 / steps, 2.0 / steps, -0.5 / steps), (0.5 / steps, -2.0 / steps, 1.5 / steps)
        else:
            left, right = _edge_weights(near, shaped(steps[1:2])), _edge_weights(-far, -shaped(steps[-2:-1]))[::-1]
        first = _weighted(left, (part(0, 1), part(1, 2), part(2, 3)))
        last = _weighted(right, (part(-3, -2), part(-2, -1), part(-1, None)))
    value = np.concatenate((first, middle, last), axis=axis)
    return in_order_of(np.astype(value, dtype_of(f) if dtype_of(f).kind in "fc" else float), f)


def _steps(spacing: Any, extent: int) -> Any:
    """Return the distances between neighbours; a single number if they are constant and equal."""
    if ndim_of(spacing) == 0:
        return spacing
    if shape_of(spacing) != (extent,):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = np.diff(np.astype(spacing, float) if dtype_of(spacing).kind in "iu" else spacing)
    return steps[0] if not is_traced(steps) and (steps == steps[0]).all() else steps


def _weighted(weights: Any, parts: Any) -> Any:
    a, b, c = (weight * part for weight, part in zip(weights, parts, strict=True))
    return a + b + c


def _inner_weights(before: Any, after: Any) -> tuple[Any, Any, Any]:
    """Return the weights of an element's left neighbour, of itself and of its right neighbour."""
    total = before + after
    return -after / (before * total), (after - before) / (before * after), before / (after * total)


def _edge_weights(near: Any, far: Any) -> tuple[Any, Any, Any]:
    """Return the weights of the element at a border and of the next two."""
    total = near + far
    return -(2.0 * near + far) / (near * total), total / (near * far), -near / (far * total)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return evenly spaced numbers; see `numpy.linspace`. Differentiable in both ends."""
    start, stop, num, axis = as_array(start), as_array(stop), operator.index(num), operator.index(axis)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    intervals = num - 1 if endpoint else num
    ndim = max(ndim_of(start), ndim_of(stop))
    count = numpy.reshape(numpy.arange(num), (num,) + (1,) * ndim).astype(_real_type_of_ends(start, stop))
    distance = stop - start
    step = distance / intervals if intervals > 0 else numpy.nan
    if intervals > 0 and not np.any(np.equal(step, 0)):
        scaled = count * step
    else:
        scaled = (count + 0j if is_complex(distance) else count) / max(intervals, 1) * distance
    value = in_order_of(scaled + start, scaled)  # numpy adds in place
    if endpoint and num > 1:
        value[-1] = stop
    value = np.moveaxis(value, 0, axis) if axis else value
    value = value if dtype is None else np.astype(value, dtype)
    return (value, step) if retstep else value


def _real_type_of_ends(*ends: Any) -> Any:
    """Return the dtype of weights between two ends: numpy's, to which Python's numbers and duals adapt."""
    return numpy.result_type(*map(sample_of, ends), 1.0).type(0).real.dtype


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Return numbers evenly spaced on a log scale; see `numpy.logspace`."""
    value = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return value if dtype is None else np.astype(value, dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Return a geometric progression; see `numpy.geomspace`."""
    start, stop = np.asarray(start), np.asarray(stop)
    kind = numpy.result_type(dtype_of(start), dtype_of(stop), float, dtype or float)
    start, stop = np.astype(start, kind), np.astype(stop, kind)
    if np.any(np.equal(start, 0)) or np.any(np.equal(stop, 0)):
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(start)
    first, last = start / sign, stop / sign
    value = logspace(np.log10(first), np.log10(last), num, endpoint)
    if num > 0:
        value[0] = first
    if num > 1 and endpoint:
        value[-1] = last
    value *= sign
    value = np.moveaxis(value, 0, axis) if axis != 0 else value
    return value if dtype is None else np.astype(value, dtype)


UNWRAP_STEPS = discrete(
    "numpy.unwrap_steps",
    lambda p, *, discont=None, axis=-1, period=2 * math.pi: (
        numpy.unwrap(p, discont, axis, period=period) - numpy.asarray(p)
    ),
    samples=(Sample((uniform((6,), -9.0, 9.0),)), Sample((uniform((3, 4), -9.0, 9.0),), {"axis": 0, "period": 4.0})),
    doc="what unwrap adds: multiples of the period, constant piece by piece",
)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Make angles continuous by multiples of the period; see `numpy.unwrap`."""
    x = as_array(p)
    return x + UNWRAP_STEPS(x, discont=discont, axis=axis, period=period)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Return coordinate arrays; see `numpy.meshgrid`."""
    parts = [as_array(one) for one in xi]
    count = len(parts)
    place = list(range(count))
    if indexing == "xy" and count > 1:
        place[:2] = [1, 0]
    grids = [np.reshape(x, (1,) * k + (-1,) + (1,) * (count - 1 - k)) for x, k in zip(parts, place, strict=True)]
    grids = grids if sparse else list(broadcast_arrays(*grids))
    return tuple([np.copy(grid, "C") for grid in grids] if copy else grids)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Broadcast arrays against each other; see `numpy.broadcast_arrays`."""
    parts = [np.asarray(one) for one in args]  # numbers become arrays without axes
    shape = numpy.broadcast_shapes(*map(shape_of, parts))
    if all(shape_of(one) == shape for one in parts):
        return tuple(parts)
    return tuple(np.broadcast_to(one, shape) for one in parts)


RULES = of_names(vars(), numpy)
