"""Norms of vectors and matrices, and the condition number. The derivative of a norm at 0 is 0."""

from __future__ import annotations

import math
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

import tapeengine.numpy as np
from tapeengine.primitive import Sample, uniform

from .reductions import by_slope, reduction_samples, spread
from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    is_complex,
    is_set,
    is_traced,
    ndim_of,
    normal_axes,
    number_or_array,
    real_dtype,
    shape_of,
)


def _norm(x: Any, *, axis: Any, ord: Any = 2.0, keepdims: bool = False) -> Any:
    """Return (sum |x|^ord)^(1/ord) over any axes.

    None and "fro" are 2 as `numpy.linalg.norm` sums them: over all axes, and over the two of a matrix.
    """
    x = numpy.asarray(x)
    if ord is None or ord == "fro" or len(axis) == 1:
        return numpy.linalg.norm(x, ord, None if ord is None else axis, keepdims)
    moved = numpy.moveaxis(x, axis, range(len(axis)))
    flat = moved.reshape(math.prod(moved.shape[: len(axis)]), *moved.shape[len(axis) :])
    value = numpy.linalg.norm(flat, ord=ord, axis=0)
    return numpy.expand_dims(value, axis)[()] if keepdims else value


def _partial(x: Any, out: Any, x_space: Any, axis: Any, ord: Any) -> Any:
    """Return conj(x) / |x| (|x| / out)^(ord - 1), and 0 where x or the norm is 0."""
    size = spread(out, x_space, axis)
    size = np.where(np.equal(size, 0), numpy.inf, size)  # second derivatives are 0 there too
    if ord is None or ord in (2, "fro"):
        return (np.conjugate(x) if is_complex(x) else x) / size
    length = np.abs(x)
    zero = np.equal(length, 0)
    length = np.where(zero, 1.0, length)
    phase = (np.conjugate(x) if is_complex(x) else x) / length
    return np.where(zero, 0.0, phase * np.power(length / size, ord - 1.0))


def _axes_of(sample: Sample) -> tuple[int, ...]:
    return normal_axes(sample.static.get("axis"), len(sample.args[0].shape))


def _samples() -> tuple[Sample, ...]:
    found = [
        Sample(sample.args, {**sample.static, "axis": _axes_of(sample)})
        for sample in reduction_samples()
        if sample.static.get("axis") != () and sample.args[0].shape
    ]
    powers = [Sample((uniform((2, 3)),), {"axis": (1,), "ord": p}) for p in (1.5, 3.0, 0.5)]
    complex_power = Sample((uniform((3,), dtype=complex),), {"axis": (0,), "ord": 3.0})
    return (*found, *powers, complex_power, Sample((numpy.zeros(3),), {"axis": (0,)}, order=0))


NORM = by_slope(
    "numpy.linalg.vector_norm",
    _norm,
    _partial,
    samples=_samples,
    doc="(sum |x|^p)^(1/p); dx = ct conj(x) / |x| (|x| / out)^(p-1), and 0 at 0",
)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return a norm of vectors; see `numpy.linalg.vector_norm`."""
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    x = _inexact(x)
    axes = normal_axes(axis if axis is None or isinstance(axis, tuple) else (axis,), ndim_of(x))
    if ord is None:
        ord = 2
    if ord == numpy.inf:
        return _largest(np.abs(x), axes, keepdims)
    if ord == -numpy.inf:
        return np.min(np.abs(x), axis=axes, keepdims=keepdims)
    if is_traced(ord) and not is_complex(ord):
        return np.power(np.sum(np.power(np.abs(x), ord), axis=axes, keepdims=keepdims), 1.0 / ord)
    if ord == 0:
        return np.astype(np.sum(np.not_equal(x, 0), axis=axes, keepdims=keepdims), numpy.abs(x.dtype.type(0)).dtype)
    if ord == 1:
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    if not isinstance(ord, (int, float, numpy.number)):
        raise ValueError(f"numpy.linalg.vector_norm: {ord!r} is not an order of a vector norm")
    return NORM(x, axis=axes, ord=float(ord), keepdims=is_set(keepdims))


def _largest(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """Return the maximum of numbers that are not negative; that of none is 0."""
    return np.max(x, axis=axis, keepdims=keepdims, **({} if math.prod(shape_of(x)) else {"initial": 0.0}))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return a norm of the matrices of the last two axes; see `numpy.linalg.matrix_norm`."""
    normalize_axis_tuple((-2, -1), ndim_of(x))
    return _matrix_norm(_inexact(x), ord, keepdims)


def _inexact(x: Any) -> Any:
    """Return an array of real or complex numbers, as numpy makes one of integers."""
    x = as_array(x)
    return x if dtype_of(x).kind in "fc" else np.astype(x, float)


def _matrix_norm(x: Any, ord: Any, keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return NORM(x, axis=(ndim_of(x) - 2, ndim_of(x) - 1), ord="fro", keepdims=is_set(keepdims))
    if ord == "nuc":
        value = _of_singular_values(np.sum, x)
    elif ord == 2:
        value = _of_singular_values(_largest, x)
    elif ord == -2:
        value = np.min(np.linalg.svdvals(x), axis=-1)
    elif ord in (1, -1, numpy.inf, -numpy.inf):
        sums = np.sum(np.abs(x), axis=-2 if abs(ord) == 1 else -1)
        value = (_largest if ord > 0 else np.min)(sums, axis=-1)
    else:
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    return np.expand_dims(value, (-2, -1)) if keepdims else value


def _of_singular_values(reduce: Any, x: Any) -> Any:
    """Return norms of singular values; those of zero matrices are constants, since their vectors are arbitrary."""
    zero = ~np.any(np.not_equal(x, 0), axis=(-2, -1))
    if not np.any(zero):
        return reduce(np.linalg.svdvals(x), axis=-1)
    rows, columns = shape_of(x)[-2:]
    distinct = numpy.eye(rows, columns, dtype=x.dtype) * numpy.arange(1, columns + 1, dtype=x.dtype)
    regular = np.where(zero[..., None, None], distinct, x)
    return number_or_array(np.where(zero, 0.0, reduce(np.linalg.svdvals(regular), axis=-1)))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a norm of a vector or matrix; see `numpy.linalg.norm`."""
    x = _inexact(x)
    axis = axis if axis is None or isinstance(axis, tuple) else int(axis)
    axes = normal_axes(axis, ndim_of(x))
    if (
        axis is None
        and not is_traced(ord)
        and (ord is None or (ord in ("f", "fro") and len(axes) == 2) or (ord == 2 and len(axes) == 1))
    ):
        return NORM(x, axis=axes, ord=None, keepdims=is_set(keepdims))
    if len(axes) == 1:
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if ord in (None, "fro", "f"):
        return NORM(x, axis=axes, ord="fro", keepdims=is_set(keepdims))
    value = _matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord, False)
    return np.expand_dims(value, axes) if keepdims else value


@numpy.errstate(all="ignore")
def cond(x: Any, p: Any = None) -> Any:
    """Return the condition number; see `numpy.linalg.cond`, which reports no overflow and no division by zero."""
    x = as_array(x)
    x = np.astype(x, float) if dtype_of(x).kind in "biu" else x
    if p in (None, 2, -2):
        s = np.linalg.svdvals(x)
        value = np.divide(s[..., -1], s[..., 0]) if p == -2 else np.divide(s[..., 0], s[..., -1])
    else:
        singular = np.equal(np.linalg.slogdet(x)[0], 0)
        regular = np.where(singular[..., None, None], numpy.eye(shape_of(x)[-1]), x) if np.any(singular) else x
        inverse = np.linalg.inv(np.astype(regular, numpy.result_type(dtype_of(x), float)))  # as numpy computes it
        value = np.astype(_matrix_norm(x, p, False) * _matrix_norm(inverse, p, False), real_dtype(x))
        value = np.where(singular, numpy.nan, value) if np.any(singular) else value
    lost = np.isnan(value) & ~np.any(np.isnan(x), axis=(-2, -1))
    if np.any(lost):
        value = np.where(lost, numpy.inf * (1.0 + NORM(x, axis=(-2, -1), ord="fro")), value)
    return number_or_array(value)


RULES = of_names(vars(), numpy.linalg)
