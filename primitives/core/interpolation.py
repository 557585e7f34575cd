"""Interpolation, finite-difference gradients, evenly spaced numbers and grids."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import plain, sample_of
from tapeengine.duals.outputs import of_form
from tapeengine.errors import UnsupportedError
from tapeengine.numpy._twins import rule_of
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import decides, elementwise

from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    holds_traced,
    in_order_of,
    is_complex,
    is_traced,
    ndim_of,
    normal_axes,
    number_or_array,
    of_parts,
    promoting,
    real_part,
    shape_of,
)


@numpy.errstate(all="ignore")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate linearly between points; see `numpy.interp`. Differentiable in everything but `period`.

    As numpy's function, it reports no overflow and no invalid operation.
    """
    x, xp, fp = (_widened(as_array(part)) for part in (x, xp, fp))
    if period is None and (is_complex(x) or is_complex(xp)):
        raise TypeError("numpy.interp: x and xp are real")
    if ndim_of(xp) != 1 or shape_of(xp) != shape_of(fp):
        raise ValueError("numpy.interp: xp and fp are vectors of the same length")
    if period is None and _is_plain_table(xp, fp, left, right):
        return number_or_array(IN_TABLE(x, xp, fp, left=left, right=right))
    of_form(numpy.interp, (0.0, [0.0], numpy.zeros(1, dtype_of(fp)), left, right), {})  # raises numpy's errors
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        x, xp, fp = _periodic(real_part(x), real_part(xp), fp, abs(period))
        left = right = None
    if not is_complex(fp):
        value = number_or_array(_interpolated(x, xp, fp, left, right))
    else:
        ends = [[None if end is None else part(as_array(end)) for end in (left, right)] for part in (np.real, np.imag)]
        parts = zip((np.real(fp), np.imag(fp)), ends, strict=True)
        value = of_parts(*(_interpolated(x, xp, part, left, right, True) for part, (left, right) in parts))
    if not _is_interpolated(value, x, xp, fp, left, right):
        raise UnsupportedError(
            "numpy.interp: xp does not increase, and numpy's value is undefined. Sort xp and fp by xp"
        )
    return value


@decides("numpy.is_interpolated", Sample((1.5, 0.5, numpy.arange(2.0), numpy.array([1.0, 2.0]), None, None)))
def _is_interpolated(value: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any) -> bool:
    """Whether numpy interpolates a value; it takes no arrays for the ends, as which complex numbers arrive."""
    left, right = (numpy.asarray(end)[()] for end in (left, right))
    return numpy.allclose(numpy.interp(x, xp, fp, left, right), value, 1e-9, 0.0, equal_nan=True)


def _is_plain_table(xp: Any, fp: Any, left: Any, right: Any) -> bool:
    """Whether a table is of plain, real, finite numbers, in the order of increasing points."""
    if type(xp) is not numpy.ndarray or type(fp) is not numpy.ndarray or fp.dtype.kind != "f" or len(xp) < 2:
        return False
    is_plain = not is_traced(left) and not is_traced(right)
    return is_plain and bool((xp[1:] > xp[:-1]).all() and numpy.isfinite(xp).all() and numpy.isfinite(fp).all())


_TABLE = numpy.arange(3.0), numpy.array([1.0, 2.0, 4.0])


@decides("numpy.interp_slopes", Sample((uniform((4,), -1.0, 3.0), *_TABLE)))
def _slopes(x: Any, xp: Any, fp: Any) -> Any:
    """The slopes of the lines to the right of points."""
    x = numpy.asarray(x)
    k = xp.searchsorted(x, "right")
    k = numpy.clip(k, 1, len(xp) - 1) if x.ndim else min(max(int(k), 1), len(xp) - 1)
    slope = (fp[k] - fp[k - 1]) / (xp[k] - xp[k - 1])
    is_outside = (x < xp[0]) | (x >= xp[-1])
    return numpy.where(is_outside, 0.0, slope) if x.ndim else 0.0 if is_outside else float(slope)


IN_TABLE = elementwise(
    "numpy.interp",
    lambda x, xp, fp, *, left=None, right=None: numpy.interp(x, xp, fp, left, right),
    lambda x, xp, fp: _slopes(x, xp, fp),
    None,
    None,
    pattern=lambda call: call.sets[0],
    samples=(
        Sample((uniform((4,), -1.0, 3.0), *_TABLE)),
        Sample((0.5, *_TABLE), {"left": -1.0, "right": 7.0}),
    ),
    doc="the value between the points of a table of constants",
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
    if type(x) is numpy.ndarray and x.dtype == numpy.float64:
        return x
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
    start, stop, num = as_array(start), as_array(stop), operator.index(num)
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
    value = np.moveaxis(value, 0, axis) if axis != 0 else value
    if dtype is not None:
        value = np.astype(np.floor(value) if numpy.issubdtype(dtype, numpy.integer) else value, dtype)
    return (value, promoting(step)) if retstep else value


def _real_type_of_ends(*ends: Any) -> Any:
    """Return the dtype of weights between two ends: numpy's, to which Python's numbers and duals adapt."""
    return numpy.result_type(*map(sample_of, ends), 1.0).type(0).real.dtype


_ANGLES = Sample((uniform((6,), -9.0, 9.0),)), Sample((uniform((3, 4), -9.0, 9.0),), {"axis": 0, "period": 4.0})


@decides("numpy.unwrap_steps", *_ANGLES)
def _unwrap_steps(p: Any, *, discont: Any = None, axis: int = -1, period: float = 2 * math.pi) -> Any:
    """What unwrap adds: multiples of the period, constant piece by piece."""
    return numpy.unwrap(p, discont, axis, period=period) - numpy.asarray(p)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Make angles continuous by multiples of the period; see `numpy.unwrap`."""
    x, size = as_array(p), plain(period)
    steps = _unwrap_steps(x, discont=plain(discont), axis=axis, period=size)
    return x + (np.round(steps / size) * (period - size) + steps if is_traced(period) else steps)


@decides("tapeengine.constant", Sample((numpy.array([-2.0, 0.0, 1.5]),)))
def _constant(x: Any) -> Any:
    """Return x; no derivative goes through it."""
    return numpy.positive(x)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return central differences; see `numpy.gradient`.

    For equal distances numpy has another formula, which only looks at the first one. The derivative by coordinates is
    that of the formula for all distances, which is smooth there.
    """
    found = rule_of(numpy.gradient)(f, *varargs, axis=axis, edge_order=edge_order)
    f = as_array(f)
    places = normal_axes(axis, ndim_of(f))
    parts = list(found) if isinstance(found, tuple) else [found]
    for k, x in enumerate(varargs):
        if holds_traced(x) and ndim_of(as_array(x)):
            smooth = _central(f, as_array(x), places[k], edge_order)
            rest = np.where(np.isfinite(smooth), _constant(smooth) - smooth, 0.0)
            parts[k] = _constant(parts[k]) - np.astype(rest, dtype_of(parts[k]))
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def _central(f: Any, x: Any, axis: int, edge_order: int) -> Any:
    """The slope of f at each x: that of the parabola through the neighbours, at the ends of a line or a parabola."""
    h = np.diff(x)
    s = np.diff(np.moveaxis(f, axis, -1)) / h
    bend = np.diff(s) / (h[:-1] + h[1:])
    first, last = s[..., :1], s[..., -1:]
    if edge_order == 2:
        first, last = first - h[:1] * bend[..., :1], last + h[-1:] * bend[..., -1:]
    return np.moveaxis(np.concatenate([first, s[..., :-1] + h[:-1] * bend, last], axis=-1), -1, axis)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Broadcast arrays against each other; see `numpy.broadcast_arrays`."""
    parts = [np.asarray(one) for one in args]  # numbers become arrays without axes
    shape = numpy.broadcast_shapes(*map(shape_of, parts))
    if all(shape_of(one) == shape for one in parts):
        return tuple(parts)
    return tuple(np.broadcast_to(one, shape) for one in parts)


RULES = of_names(vars(), numpy)
