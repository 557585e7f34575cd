"""Sorted arrays, order statistics, medians and quantiles.

The order is determined on plain values, and the elements are then gathered: the cotangent of a position in the sorted
array goes to the element at that position.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

import tapeengine.numpy as np
from tapeengine.duals.creation import sample_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import decides

from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    form_of,
    holds_traced,
    in_order_of,
    is_complex,
    is_set,
    is_traced,
    ndim_of,
    normal_axes,
    normal_axis,
    number_or_array,
    shape_of,
    warning_as,
)


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, **newer: Any) -> Any:
    """Sort along an axis; see `numpy.sort`."""
    if kind is not None and stable is not None:
        raise ValueError("`kind` and `stable` parameters can't be provided at the same time. Use only one of them.")
    if newer:
        numpy.sort(numpy.zeros(0), **newer)  # raises numpy's errors; numpy has `descending` from 2.5 on
    x, axis = _axis_or_flat(a, axis)
    options = {"kind": kind, "stable": stable, **newer}
    places = np.argsort(x, axis=axis, order=order, **{name: one for name, one in options.items() if one is not None})
    return in_order_of(np.take_along_axis(x, places, axis=axis), x)


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Place the elements of given ranks, with smaller ones before them; see `numpy.partition`."""
    x, axis = _axis_or_flat(a, axis)
    places = _partition_places(x, kth=kth, axis=axis, kind=kind, order=order)
    return in_order_of(np.take_along_axis(x, places, axis=axis), x)


_MIDDLE = {"kth": 1, "axis": 0, "kind": "introselect", "order": None}


@decides("numpy.partition.places", Sample((uniform((4, 3)),), _MIDDLE))
def _partition_places(x: Any, *, kth: Any, axis: int, kind: Any, order: Any) -> Any:
    """Return which element `numpy.partition` puts where: `numpy.argpartition` puts some of them elsewhere."""
    found = _order(numpy.partition(x, kth, axis, kind, order), axis)
    places = numpy.empty_like(found)
    numpy.put_along_axis(places, found, _order(x, axis), axis)
    return places


def _order(x: Any, axis: int) -> Any:
    """Return `numpy.argsort(x, axis, "stable")`: the default sorts faster, and the order of distinct numbers is one."""
    found = numpy.argsort(x, axis)
    with numpy.errstate(invalid="ignore"):
        is_one = (numpy.diff(numpy.take_along_axis(x, found, axis), axis=axis) > 0).all()
    return found if is_one else numpy.argsort(x, axis, "stable")


def _axis_or_flat(a: Any, axis: Any) -> tuple[Any, int]:
    x = as_array(a)
    return (np.ravel(x), 0) if axis is None else (x, normal_axis(axis, ndim_of(x)))


def _last_axis(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Join the reduced axes into one last axis, and return the shape that keeps them with extent 1."""
    x = as_array(a)
    shape = shape_of(x)
    if axis is not None:
        normalize_axis_tuple(axis, len(shape))  # numpy accepts an axis of a number in sums, but not in order statistics
    reduced = normal_axes(axis, len(shape))
    kept = tuple(position for position in range(len(shape)) if position not in reduced)
    moved = np.transpose(x, kept + reduced)
    joined = axis is not None and len(reduced) != 1  # numpy leaves their extent open
    count = -1 if joined else math.prod(shape[position] for position in reduced)
    flat = np.reshape(moved, (*(shape[position] for position in kept), count))
    return flat, tuple(1 if position in reduced else extent for position, extent in enumerate(shape))


def _ranked(flat: Any, ranks: tuple[int, ...]) -> list[Any]:
    """Return the elements of given ranks along the last axis."""
    order = np.argpartition(flat, sorted(set(ranks)), axis=-1)
    return [np.take_along_axis(flat, order[..., rank : rank + 1], axis=-1)[..., 0] for rank in ranks]


def _with_nan(value: Any, flat: Any) -> Any:
    """Return NaN where there is a NaN among the elements."""
    found = np.isnan(flat)
    return np.where(np.any(found, axis=-1), numpy.nan, value) if np.any(found) else value


def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    """Return the median; see `numpy.median`. The middle two of an even number share the cotangent equally."""
    flat, kept = _last_axis(a, axis)
    count = shape_of(flat)[-1]
    if count == 0:
        value = np.mean(flat, axis=-1)
        return np.reshape(np.asarray(value), kept) if is_set(keepdims) else value
    low, high = _ranked(flat, ((count - 1) // 2, count // 2))
    middle = low if count % 2 else 0.5 * (low + high)
    value = _with_nan(middle + 0.0, flat)  # numpy's mean of the middle is never -0.0
    value = in_order_of(value, form_of(flat).copy("K")[..., 0])
    return np.reshape(np.asarray(value), kept) if is_set(keepdims) else number_or_array(value)


#: The parameters alpha and beta of the continuous methods (Hyndman and Fan): rank = n q + alpha + q (1 - alpha - beta).
_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "weibull": (0.0, 0.0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _half_below(n: int, q: Any) -> Any:
    """The rank of averaged_inverted_cdf: between two elements where n q is an integer."""
    position = n * q - 1
    below = numpy.floor(position)
    return numpy.where(position == below, below + 0.5, numpy.ceil(position))


def _closest(n: int, q: Any) -> Any:
    """The rank of closest_observation: the nearest one; at a tie the one that is even counted from 1."""
    position = n * q - 1.5
    below = numpy.floor(position)
    exact = (position == below) & (below % 2 == 1)
    return below + 1 - exact


_DISCRETE: dict[str, Callable[[int, Any], Any]] = {
    "lower": lambda n, q: numpy.floor((n - 1) * q),
    "higher": lambda n, q: numpy.ceil((n - 1) * q),
    "nearest": lambda n, q: numpy.rint((n - 1) * q),
    "midpoint": lambda n, q: 0.5 * (numpy.floor((n - 1) * q) + numpy.ceil((n - 1) * q)),
    "inverted_cdf": lambda n, q: numpy.ceil(n * q) - 1,
    "averaged_inverted_cdf": _half_below,
    "closest_observation": _closest,
}


_PICKING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _rank(q: Any, count: int, method: str) -> Any:
    """Return the rank of a quantile among sorted elements, counted from 0 and not rounded."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        rank = (count - 1) * q if alpha == beta == 1 else count * q + (alpha + q * (1 - alpha - beta)) - 1
        return np.minimum(np.maximum(rank, 0.0), count - 1.0) if is_traced(q) else numpy.clip(rank, 0, count - 1)
    if method in _DISCRETE:
        return numpy.clip(_DISCRETE[method](count, q), 0, count - 1)
    raise ValueError(f"numpy.quantile has no method {method!r}")


def _quantile(a: Any, q: Any, axis: Any, method: str, keepdims: Any, skip_nan: bool, between: Any = None) -> Any:
    if skip_nan and 0 in shape_of(as_array(a)):
        return np.nanmean(a, axis=axis, keepdims=is_set(keepdims))
    flat, kept = _last_axis(a, axis)
    if is_complex(flat) and between is None:
        raise TypeError("a must be an array of real numbers")
    q = as_array(q) if holds_traced(q) else numpy.asarray(q) if isinstance(q, (list, tuple)) else q
    if ndim_of(q) > 2:
        raise ValueError("q must be a scalar or 1d")
    count: Any = shape_of(flat)[-1]
    if skip_nan:
        count = np.sum(~np.isnan(flat), axis=-1, keepdims=True)
    picks = method in _PICKING or (method == "linear" and not is_traced(q) and numpy.asarray(q).dtype.kind in "biu")
    dtype = dtype_of(flat) if picks else _quantile_dtype(flat, q)
    between = between or (_lower if picks else functools.partial(_between, dtype=dtype))
    value = np.moveaxis(_at_ranks(flat, _rank(np.ravel(q), count, method), count, between), -1, 0)
    value = value if dtype_of(value) == dtype else np.astype(value, dtype)
    value = value if skip_nan else _with_nan(value, flat)
    shape = kept if is_set(keepdims) else shape_of(flat)[:-1]
    value = np.reshape(value, shape_of(q) + tuple(shape))
    if ndim_of(q) > 1:
        if skip_nan and axis == ():
            raise UnsupportedError("quantiles of each element by an array of several axes: give q as a vector")
        return _in_numpys_order(
            value,
            numpy.nanquantile if skip_nan else numpy.quantile,
            a,
            q,
            axis,
            method=method,
            keepdims=is_set(keepdims),
        )
    return number_or_array(value)


def _quantile_dtype(flat: Any, q: Any) -> Any:
    """Return the dtype in which numpy interpolates: a Python number q adapts to the values."""
    if type(sample_of(q)) in (int, float):
        return dtype_of(flat) if dtype_of(flat).kind in "fc" else numpy.dtype(float)
    return numpy.result_type(dtype_of(flat), dtype_of(q))


def _at_ranks(flat: Any, rank: Any, count: Any, between: Callable[[Any, Any, Any], Any]) -> Any:
    """Interpolate between the elements below and above each rank along the last axis."""
    below = np.astype(np.floor(rank), int)
    above = numpy.minimum(below + 1, count - 1)
    if below.ndim == 1:
        order = np.argpartition(flat, sorted({*below.tolist(), *above.tolist()}), axis=-1)
        places = order[..., below], order[..., above]
    else:
        order = np.argsort(flat, axis=-1)
        places = numpy.take_along_axis(order, below, axis=-1), numpy.take_along_axis(order, above, axis=-1)
    low, high = (np.take_along_axis(flat, place, axis=-1) for place in places)
    return between(low, high, rank - below)


def _lower(low: Any, high: Any, fraction: Any) -> Any:
    """The element at an integer rank, for methods that select an element."""
    return low


def _between(low: Any, high: Any, fraction: Any, dtype: Any) -> Any:
    """Interpolate as numpy does, from the nearer end; an element with a constant weight of 0 does not contribute."""
    step = high - low
    near = np.less(fraction, 0.5)
    part, rest = np.astype(fraction, dtype), np.astype(1 - fraction, dtype)
    value = np.where(near, low + step * part, high - step * rest)
    if is_traced(fraction) or not np.any(fraction == 0):
        return value
    return np.where((fraction == 0) & np.isfinite(step), low, value)


def _quantile_rule(scale: float, ignores_nan: bool) -> Any:
    """Return the rule of a numpy function that computes quantiles; its `q` ranges up to `scale`.

    It is differentiable in the values, and in `q` if the method is continuous.
    """

    def rule(
        a: Any,
        q: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
        interpolation: Any = None,
    ) -> Any:
        adapts = type(sample_of(q)) in (int, float)
        part = q if scale == 1.0 else q / scale if adapts else np.true_divide(as_array(q), scale)
        if not np.all(np.greater_equal(part, 0) & np.less_equal(part, 1)):
            raise ValueError(f"{'Quantiles' if scale == 1.0 else 'Percentiles'} must be in the range [0, {scale:.0f}]")
        if weights is None:
            value = _quantile(a, part, axis, method, keepdims, ignores_nan)
            return np.asarray(value) if is_set(keepdims) else value
        how = {"axis": axis, "method": method, "keepdims": is_set(keepdims), "skip_nan": ignores_nan}
        return _selected(as_array(a), _weighted_places(a, part, as_array(weights), **how))

    return rule


_HALF = {"skip_nan": False, "axis": None, "method": "inverted_cdf", "keepdims": False}


@decides("numpy.weighted_quantile_places", Sample((numpy.array([3.0, 1.0, 2.0]), 0.5, numpy.ones(3)), _HALF))
def _weighted_places(a: Any, q: Any, weights: Any, *, skip_nan: bool, axis: Any, method: str, keepdims: Any) -> Any:
    """Return the places of the elements that numpy selects, by its quantiles of their ranks; NaN where they are NaN."""
    quantile: Any = numpy.nanquantile if skip_nan else numpy.quantile
    values = numpy.asarray(a)
    if values.dtype.kind not in "fiub":
        raise TypeError("a must be an array of real numbers")
    order = numpy.argsort(values, axis=None, kind="stable")
    ranks = numpy.empty(values.shape)
    ranks.ravel()[order] = numpy.arange(values.size)
    found = quantile(
        numpy.where(numpy.isnan(values), numpy.nan, ranks), q, axis, None, False, method, keepdims, weights=weights
    )
    places = numpy.where(numpy.isnan(found), numpy.nan, order[numpy.nan_to_num(found).astype(int)])
    return places if isinstance(found, numpy.ndarray) else places[()]


def _selected(a: Any, places: Any) -> Any:
    """Return the elements at places in the flat array, NaN for NaN."""
    missing = numpy.isnan(places)
    flat = np.take(np.ravel(a), numpy.ravel(numpy.where(missing, 0, places)).astype(int))
    found = np.reshape(flat, numpy.shape(places))
    found = np.where(missing, numpy.nan, found) if numpy.any(missing) else found
    return found if isinstance(places, numpy.ndarray) else number_or_array(found)


def nanmedian(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Return the median of the elements that are not NaN; see `numpy.nanmedian`."""
    value = _quantile(a, 0.5, axis, "linear", keepdims, True, _middle)
    if ndim_of(value) > 1 and 0 in form_of(as_array(a)).strides:
        value = _in_numpys_order(value, numpy.nanmedian, a, axis, keepdims=is_set(keepdims))
    return np.asarray(value) if is_set(keepdims) else value


def _in_numpys_order(value: Any, function: Any, *args: Any, **options: Any) -> Any:
    """Return a value in the memory order of the result of numpy's function."""
    with warnings.catch_warnings(action="ignore"):
        return in_order_of(value, function(*map(form_of, args), **options))


def _middle(low: Any, high: Any, fraction: Any) -> Any:
    return np.where(np.equal(fraction, 0), low, (low + high) / 2) + 0.0


RULES = {
    **of_names(vars(), numpy),
    numpy.median: warning_as(numpy.median, median),
    numpy.nanmedian: warning_as(numpy.nanmedian, nanmedian),
    numpy.nanquantile: warning_as(numpy.nanquantile, _quantile_rule(1.0, True)),
    numpy.nanpercentile: warning_as(numpy.nanpercentile, _quantile_rule(100.0, True)),
    numpy.quantile: _quantile_rule(1.0, False),
    numpy.percentile: _quantile_rule(100.0, False),
}
