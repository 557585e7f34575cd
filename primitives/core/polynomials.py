"""Polynomials given by their coefficients, highest power first, where numpy's code writes into its arguments."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.storing import form_of

from .ufuncs import of_names
from .values import as_array, dtype_of, is_complex, ndim_of, promoting, shape_of


def polymul(a1: Any, a2: Any) -> Any:
    """Multiply polynomials; see `numpy.polymul`."""
    return np.convolve(_without_leading_zeros(a1), _without_leading_zeros(a2))


def _without_leading_zeros(p: Any) -> Any:
    """Return the coefficients without leading zeros, or a single zero."""
    coefficients = np.atleast_1d(as_array(p))
    held = np.flatnonzero(coefficients)
    if not len(held):
        return coefficients[-1:] * 0.0 if shape_of(coefficients)[0] else numpy.zeros(1, dtype_of(coefficients))
    return coefficients[int(held[0]) :]


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Fit a polynomial by least squares; see `numpy.polyfit`. Differentiable in points, values and weights."""
    if full or cov:
        raise NotImplementedError("numpy.polyfit has no derivative rule with full or cov; use numpy.linalg.lstsq")
    points, values = as_array(x) + 0.0, as_array(y) + 0.0
    if not shape_of(points)[0]:
        raise TypeError("expected non-empty vector for x")
    matrix = np.vander(points, int(deg) + 1)
    if w is not None:
        weights = as_array(w)
        matrix = _in_place(matrix, weights[:, None])
        values = _in_place(values, weights[:, None] if ndim_of(values) == 2 else weights)
    scale = np.sqrt(np.sum(matrix * matrix, axis=0))
    cut = shape_of(points)[0] * numpy.finfo(points.dtype).eps if rcond is None else rcond
    coefficients, _, rank, _ = np.linalg.lstsq(matrix / scale, values, cut)
    if rank < shape_of(matrix)[1]:
        text = "a polynomial of this degree is not determined by the points (numpy.polyfit)"
        warnings.warn(text, numpy.exceptions.RankWarning, stacklevel=2)
    return np.swapaxes(np.swapaxes(coefficients, 0, -1) / scale, 0, -1)


def _in_place(x: Any, weights: Any) -> Any:
    """Return values times weights in the dtype of the values."""
    numpy.zeros(1, dtype_of(x)).__imul__(numpy.zeros(1, dtype_of(weights)))  # raises numpy's error
    return np.astype(x * weights, dtype_of(x))


def polydiv(u: Any, v: Any) -> Any:
    """Divide polynomials; see `numpy.polydiv`. The degree of the remainder depends on the coefficients' values."""
    rest, divisor = np.atleast_1d(as_array(u)) + 0.0, np.atleast_1d(as_array(v)) + 0.0
    dtype, extent = numpy.result_type(dtype_of(rest), dtype_of(divisor)), shape_of(divisor)[0]
    rest, inverse, factors = np.astype(rest, dtype), 1.0 / divisor[0], []
    for k in range(shape_of(rest)[0] - extent + 1):
        factors.append(inverse * rest[k])
        head = rest[k : k + extent] - factors[-1] * divisor
        rest = np.concatenate((rest[:k], head, rest[k + extent :]))
    while np.allclose(rest[0], 0, rtol=1e-14) and shape_of(rest)[-1] > 1:
        rest = rest[1:]
    return np.stack(factors) if factors else numpy.zeros(1, dtype), rest


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial by Horner's scheme; see `numpy.polyval`."""
    coefficients, x = as_array(p), promoting(x)
    x = np.asarray(x) if is_complex(x) else x  # numpy's loops for arrays round elsewhere
    value = numpy.zeros_like(form_of(x), dtype_of(x))
    value = value[()] if shape_of(coefficients)[0] else value
    for position in range(shape_of(coefficients)[0]):
        value = value * x + coefficients[position]
    return value


RULES = of_names(vars(), numpy)
