"""`numpy.pad` in all its modes, as compositions: constants and ramps are joined, other modes gather elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np

from .joining import along, order_of
from .values import as_array, dtype_of, holds_traced, in_order, is_traced, ndim_of, shape_of

_GATHERED = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "mean", "median", "minimum")


def pad(array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> Any:
    """Pad an array; see `numpy.pad`. Differentiable in the array, the constants and the end values."""
    x = as_array(array)
    widths = _pairs(pad_width, ndim_of(x), discrete=True)
    if not any(width != (0, 0) for width in widths):
        return np.copy(x, order_of(x))
    if mode in ("reflect", "symmetric") and keywords.get("reflect_type", "even") == "odd":
        return in_order(_mirrored(x, widths, int(mode == "reflect")), order_of(x))
    if mode in _GATHERED:
        return in_order(_gathered(x, widths, mode), order_of(x))
    return in_order(_joined(x, widths, _ends(mode, keywords, ndim_of(x))), order_of(x))


def _pairs(value: Any, ndim: int, discrete: bool = False) -> list[tuple[Any, Any]]:
    """Read a number, a pair, or a pair for each axis."""
    if isinstance(value, dict):
        if not discrete:
            raise TypeError("numpy.pad takes a dict of widths by axis, and no dict of values")
        return [_pairs(value.get(axis, value.get(axis - ndim, 0)), 1, discrete)[0] for axis in range(ndim)]
    if discrete:
        return [(int(a), int(b)) for a, b in numpy.broadcast_to(value, (ndim, 2)).tolist()]
    if is_traced(value) and ndim_of(value):
        rows = np.broadcast_to(value, (ndim, 2))
        rows = rows if ndim_of(value) == 1 else rows.tolist()  # numbers as numpy takes them
        return [(row[0], row[1]) for row in rows]
    if not isinstance(value, (list, tuple, numpy.ndarray)):
        return [(value, value)] * ndim
    if ndim_of(value[0]) == 0 and not isinstance(value[0], (list, tuple)):
        return [(value[0], value[-1])] * ndim
    rows = [(row[0], row[-1]) for row in value]
    return rows * ndim if len(rows) == 1 else rows


def _gathered(x: Any, widths: list[tuple[int, int]], mode: str) -> Any:
    for axis, width in enumerate(widths):
        if width != (0, 0):
            source = numpy.pad(numpy.arange(shape_of(x)[axis]), width, mode=mode)  # type: ignore[call-overload]
            x = x[along(axis, source)]
    return x


Ends = Callable[[Any, int, int, int], Any]


def _joined(x: Any, widths: list[tuple[int, int]], ends: Ends) -> Any:
    """Join the arrays ``ends(x, axis, side, width)`` to an array, axis by axis; side is 0 before and 1 after."""
    for axis, (before, after) in enumerate(widths):
        parts = [ends(x, axis, 0, before)] if before else []
        parts += [x]
        parts += [ends(x, axis, 1, after)] if after else []
        x = np.concatenate(parts, axis=axis) if len(parts) > 1 else x
    return x


def _ends(mode: Any, keywords: dict[str, Any], ndim: int) -> Ends:
    if mode == "constant":
        constants = _pairs(keywords.get("constant_values", 0), ndim)
        return lambda x, axis, side, width: _layers(x, axis, width, constants[axis][side])
    if mode == "empty":
        return lambda x, axis, side, width: _layers(x, axis, width, 0)
    if mode == "linear_ramp":
        values = _pairs(_strong(keywords.get("end_values", 0)), ndim)
        return lambda x, axis, side, width: _ramp(x, axis, side, width, values[axis][side])
    if mode in _STATISTICS:
        lengths = _pairs(keywords.get("stat_length"), ndim)
        return lambda x, axis, side, width: _statistic(x, axis, side, width, mode, lengths[axis][side])
    raise ValueError(f"numpy.pad: mode {mode!r} has no derivative rule; join the parts with numpy.concatenate instead")


def _layers(x: Any, axis: int, width: int, value: Any) -> Any:
    shape = list(shape_of(x))
    shape[axis] = width
    if ndim_of(value) == 0 and not is_traced(value):
        return numpy.full(tuple(shape), value, dtype=dtype_of(x))
    return np.broadcast_to(np.astype(value, dtype_of(x)), tuple(shape))


def _border(x: Any, axis: int, side: int) -> Any:
    extent = shape_of(x)[axis]
    return x[along(axis, slice(0, 1) if side == 0 else slice(extent - 1, extent))]


def _strong(values: Any) -> Any:
    """One or two numbers as numpy's scalars, which set the precision of a ramp; more are read as Python's."""
    shape = shape_of(as_array(values))
    if numpy.prod(shape) <= 2 and shape != (2, 1):
        return np.ravel(as_array(values))
    return values if holds_traced(values) else numpy.asarray(values).tolist()


def _ramp(x: Any, axis: int, side: int, width: int, end: Any) -> Any:
    steps = np.linspace(end, np.squeeze(_border(x, axis, side), axis), width, endpoint=False, axis=axis)
    return np.astype(steps if side == 0 else np.flip(steps, axis), dtype_of(x))


def _statistic(x: Any, axis: int, side: int, width: int, mode: str, length: Any) -> Any:
    extent = shape_of(x)[axis]
    taken = extent if length is None else min(int(length), extent)
    part = x[along(axis, slice(0, taken) if side == 0 else slice(extent - taken, extent))]
    function = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}[mode]
    value = function(part, axis=axis, keepdims=True)
    shape = list(shape_of(x))
    shape[axis] = width
    return np.broadcast_to(value, tuple(shape))


def _mirrored(x: Any, widths: list[tuple[int, int]], skipped: int) -> Any:
    """Reflect at the values of the borders, in rounds that are no wider than the array is by then."""
    for axis, (before, after) in enumerate(widths):
        period = shape_of(x)[axis] - skipped
        if shape_of(x)[axis] == 1:
            x = x[along(axis, numpy.zeros(before + 1 + after, int))]
            continue
        while before or after:
            most = (shape_of(x)[axis] - skipped) // period * period
            one, other = min(most, before), min(most, after)
            parts = [_odd(x, axis, 0, one, skipped), x, _odd(x, axis, 1, other, skipped)]
            x = np.concatenate(parts, axis=axis)
            before, after = before - one, after - other
    return x


def _odd(x: Any, axis: int, side: int, width: int, skipped: int) -> Any:
    """Reflect at the border's value: twice that value minus the mirrored elements."""
    end = shape_of(x)[axis] - skipped
    near = slice(skipped, skipped + width) if side == 0 else slice(end - width, end)
    return 2 * _border(x, axis, side) - np.flip(x[along(axis, near)], axis)


RULES = {numpy.pad: pad}
