"""Variance, standard deviation and averages, and the reductions that ignore NaN."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import form_of
from tapeengine.numpy._twins import rule_of
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import elementwise

from .reductions import by_slope, extent, masked, reduction_samples, spread, total_rule
from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    in_order_of,
    in_turn,
    is_complex,
    is_set,
    normal_axes,
    number_or_array,
    real_dtype,
    shape_of,
    warning_as,
    without_nan,
)


def _deviation(x: Any, x_space: Any, axis: Any) -> Any:
    """Return conj(x - mean(x))."""
    deviation = x - np.mean(x, axis=normal_axes(axis, x_space.ndim), keepdims=True)
    return np.conjugate(deviation) if x_space.is_complex else deviation


def _var_slope(x: Any, x_space: Any, axis: Any, ddof: float) -> Any:
    freedom = extent(x_space, axis) - ddof
    return _deviation(x, x_space, axis) * (2 / freedom if freedom > 0 else math.nan)


def _std_slope(x: Any, out: Any, x_space: Any, axis: Any, ddof: float) -> Any:
    """Return conj(x - mean(x)) / (count out), and 0 where all elements are equal."""
    size = spread(out, x_space, axis) * max(extent(x_space, axis) - ddof, 0)
    return _deviation(x, x_space, axis) / np.where(np.equal(size, 0), numpy.inf, size)


def _samples() -> tuple[Sample, ...]:
    return (
        *(sample for sample in reduction_samples() if sample.static.get("axis") != () and sample.args[0].shape),
        Sample((uniform((4, 3)),), {"axis": 0, "ddof": 1}),
    )


VAR = by_slope(
    "numpy.var",
    lambda x, *, axis=None, keepdims=False, ddof=0, dtype=None: numpy.var(
        x, axis=axis, keepdims=keepdims, ddof=ddof, dtype=dtype
    ),
    _var_slope,
    samples=_samples,
    doc="the mean of |x - mean(x)|^2; dx = ct 2 conj(x - mean(x)) / (count - ddof)",
)
STD = by_slope(
    "numpy.std",
    lambda x, *, axis=None, keepdims=False, ddof=0, dtype=None: numpy.std(
        x, axis=axis, keepdims=keepdims, ddof=ddof, dtype=dtype
    ),
    _std_slope,
    samples=lambda: (*_samples(), Sample((numpy.ones((3, 2)),), {"axis": 0}, order=0)),
    doc="sqrt(var(x)); dx = ct conj(x - mean(x)) / ((count - ddof) out), and 0 where out is 0",
)


UNDEFINED = elementwise(
    "numpy.undefined",
    lambda x, where: numpy.asarray(numpy.positive(x)),  # in the memory order of numpy's loops
    lambda where: numpy.where(where, numpy.nan, 1.0),
    None,
    samples=(Sample((uniform((2, 3)), False)),),
    doc="x; the derivative is NaN where a statistic of it has no degree of freedom",
)


def _with_freedom(a: Any, counted: Any, axis: Any, ddof: Any, copies: bool = False) -> Any:
    """Return values, or a copy as numpy's, whose derivative is NaN where no more elements are counted than `ddof`."""
    lacks = numpy.sum(numpy.broadcast_to(counted, shape_of(a)), axis=axis, keepdims=True) <= ddof
    return UNDEFINED(np.array(a) if copies else a, lacks) if numpy.any(lacks) else a


def _spread_rule(compute: Callable[..., Any]) -> Any:
    """Give `compute` (a, axis, dtype, ddof, keepdims, where, mean) the signature of `numpy.var`."""

    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        ddof: Any = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        ddof = ddof if correction is None or correction is np._NoValue else correction
        return compute(a, axis, dtype, ddof, is_set(keepdims), where, None if mean is np._NoValue else mean)

    return rule


def _masked_var(
    a: Any,
    where: Any,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: bool,
    mean: Any,
    none: float = 0.0,
    counted: Any = None,
) -> Any:
    """Return the variance of the `counted` elements (of `where`); without a degree of freedom, divide by `none`."""
    mask = numpy.broadcast_to(where if counted is None else counted, shape_of(a))
    total = np.sum(a, axis=axis, keepdims=True, dtype=dtype, where=where)
    count = numpy.sum(mask, axis=axis, keepdims=True).astype(real_dtype(total))
    mean = total / count if mean is None else mean
    deviation = in_order_of(masked(a, mask, 0.0) - mean, in_turn(a))
    if not is_complex(a):
        squares = np.square(deviation)
    elif counted is None:  # nanvar rounds elsewhere
        squares = np.square(np.real(deviation)) + np.square(np.imag(deviation))
    else:
        squares = np.real(deviation * np.conjugate(deviation))
    total = np.sum(squares, axis=axis, keepdims=keepdims, dtype=dtype, where=where)
    freedom = numpy.maximum(numpy.reshape(numpy.asarray(count, float), shape_of(total)) - ddof, 0)
    value = in_order_of(total / np.where(freedom == 0, none, freedom), total)
    return number_or_array(value if dtype_of(value) == dtype_of(total) else np.astype(value, dtype_of(total)))


def _sqrt_safe(x: Any) -> Any:
    """Return the square root; its derivative at 0 is 0, and NaN at infinity."""
    zero = np.equal(x, 0)
    return number_or_array(UNDEFINED(np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, x))), np.isinf(x)))


def _drops_imaginary_part(a: Any, dtype: Any) -> bool:
    """Return whether numpy computes the mean of complex numbers in a real dtype."""
    return is_complex(a) and dtype is not None and numpy.dtype(dtype).kind != "c"


def _spread(
    primitive: Primitive, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any
) -> Any:
    if where is True and mean is None and not _drops_imaginary_part(a, dtype):
        return primitive(as_array(a), axis=axis, keepdims=keepdims, ddof=ddof, dtype=dtype)
    value = _masked_var(_with_freedom(as_array(a), where, axis, ddof), where, axis, dtype, ddof, keepdims, mean)
    return value if primitive is VAR else _sqrt_safe(value)


var = _spread_rule(partial(_spread, VAR))
std = _spread_rule(partial(_spread, STD))


def _numbers(a: Any) -> Any:
    return ~np.isnan(a)


def _nan_total(function: Callable[..., Any], fill: float) -> Any:
    """Return the rule of a sum or product that replaces NaN by `fill`."""

    @total_rule
    def rule(a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        options = _given(initial, where) if initial is not None else {**_given(None, where), "initial": None}
        return function(without_nan(a, fill), axis=axis, dtype=dtype, keepdims=keepdims, **options)

    return rule


def _given(initial: Any, where: Any) -> dict[str, Any]:
    found = {} if initial is None or initial is np._NoValue else {"initial": initial}
    return found if where is np._NoValue or where is True or where is None else {**found, "where": where}


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """Average over axes and ignore NaN; see `numpy.nanmean`."""
    where = where is np._NoValue or where
    mask = _numbers(a) & where
    total = np.sum(without_nan(a, 0.0), axis=axis, dtype=dtype, keepdims=is_set(keepdims), where=where)
    mean = np.divide(total, numpy.sum(mask, axis=axis, keepdims=is_set(keepdims)))
    return in_order_of(np.astype(mean, dtype_of(total)), total)


@_spread_rule
def nanvar(a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any, mean: Any) -> Any:
    """Return the variance and ignore NaN; see `numpy.nanvar`."""
    a, where = as_array(a), where is np._NoValue or where
    if dtype_of(a).kind not in "fc":
        return var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean)
    mask = _numbers(a) & where
    a = _with_freedom(a, mask, axis, ddof, copies=True)
    mean = nanmean(a, axis, dtype, None, True, where=where) if mean is None else mean
    # numpy subtracts the mean in place, in the array's dtype
    deviation = in_order_of(np.astype(masked(a, mask, 0.0) - mean, dtype_of(a)), a)
    return _masked_var(deviation, where, axis, dtype, ddof, keepdims, 0.0, numpy.nan, mask)


def nanstd(a: Any, *args: Any, **keywords: Any) -> Any:
    """Return the standard deviation and ignore NaN; see `numpy.nanstd`."""
    return _sqrt_safe(nanvar(a, *args, **keywords))


def _nan_extreme(extreme: str, fill: float) -> Any:
    def rule(
        a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        options, reduced = _given(initial, where), {"axis": axis, "keepdims": is_set(keepdims)}
        is_number = "initial" in options and not np.isnan(initial)  # then no result is NaN
        if "initial" in options and not is_number:
            options["initial"] = fill
        filled = np.where(np.isnan(a), numpy.asarray(fill, dtype_of(a)), a)
        found = getattr(np, extreme)(filled, **reduced, **options)
        if is_number:
            return found
        nothing = np.all(np.isnan(a), **reduced, **_given(None, where))
        return number_or_array(np.where(nothing, numpy.nan, found)) if np.any(nothing) else found

    return rule


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the covariance matrix; by the code of `numpy.cov`; without a degree of freedom the derivative is NaN."""
    if fweights is not None:
        fweights = np.array(fweights, float)  # numpy's code multiplies it in place by the other weights

    def value(m: Any, y: Any, aweights: Any) -> Any:
        return rule_of(numpy.cov)(m, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)

    found = value(m, y, aweights)
    if not numpy.size(form_of(found)) or np.any(np.isfinite(found)):
        return found
    with warnings.catch_warnings(action="ignore"):
        return value(*(x if x is None else UNDEFINED(as_array(x), True) for x in (m, y, aweights)))


#: Functions of which numpy warns in its own words if there are no elements.
_WARNING: dict[Any, Callable[..., Any]] = {
    numpy.nanmean: nanmean,
    numpy.nanvar: nanvar,
    numpy.nanstd: nanstd,
    numpy.nanmax: _nan_extreme("max", -numpy.inf),
    numpy.nanmin: _nan_extreme("min", numpy.inf),
}
RULES = {
    **of_names(vars(), numpy),
    **{function: warning_as(function, rule) for function, rule in _WARNING.items()},
    numpy.nansum: _nan_total(np.sum, 0.0),
    numpy.nanprod: _nan_total(np.prod, 1.0),
}
