"""Polynomials given by their coefficients, highest power first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.storing import form_of

from .ufuncs import of_names
from .values import as_array, dtype_of, in_order, is_complex, ndim_of, promoting, shape_of


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial by Horner's scheme; see `numpy.polyval`."""
    coefficients, x = as_array(p), promoting(x)
    x = np.asarray(x) if is_complex(x) else x  # numpy's loops for arrays round elsewhere
    if shape_of(coefficients)[0] == 0:
        return numpy.zeros_like(form_of(x), dtype_of(x))
    value = numpy.zeros_like(form_of(x), dtype_of(x))[()]
    for position in range(shape_of(coefficients)[0]):
        value = value * x + coefficients[position]
    return value


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the Vandermonde matrix; see `numpy.vander`."""
    points = as_array(x)
    if ndim_of(points) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = shape_of(points)[0] if N is None else N
    numpy.empty((0, count))  # raises numpy's errors
    points = np.astype(points, numpy.result_type(points.dtype, int))
    factors = np.repeat(points[:, None], max(count - 1, 0), axis=1)
    ones = numpy.ones((shape_of(points)[0], min(count, 1)), dtype_of(points))
    powers = np.concatenate((ones, np.cumprod(factors, axis=1)), axis=1)
    return powers if increasing else in_order(powers[:, ::-1], "C")


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Pad the shorter of two polynomials with leading zeros."""
    first, second = np.atleast_1d(as_array(a)), np.atleast_1d(as_array(b))
    length = max(shape_of(first)[0], shape_of(second)[0])
    return _lengthened(first, length), _lengthened(second, length)


def _lengthened(p: Any, length: int) -> Any:
    missing = length - shape_of(p)[0]
    return np.concatenate((numpy.zeros(missing, dtype_of(p)), p)) if missing else p


def polyadd(a1: Any, a2: Any) -> Any:
    """Add polynomials; see `numpy.polyadd`."""
    first, second = _aligned(a1, a2)
    return first + second


def polysub(a1: Any, a2: Any) -> Any:
    """Subtract polynomials; see `numpy.polysub`."""
    first, second = _aligned(a1, a2)
    return first - second


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


def polyder(p: Any, m: int = 1) -> Any:
    """Return the m-th derivative of a polynomial; see `numpy.polyder`."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    value = as_array(p)
    for _ in range(m):
        value = value[:-1] * numpy.arange(shape_of(value)[0] - 1, 0, -1)
    return value


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the m-th integral of a polynomial; see `numpy.polyint`."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    value = np.asarray(p)
    given = [0.0 if k is None else k] if k is None or ndim_of(as_array(k)) == 0 else [k[i] for i in range(len(k))]
    constants = given * m if len(given) == 1 else given
    if len(constants) < m:
        raise ValueError("k is too short")
    for constant in constants[:m]:
        raised = value / numpy.arange(shape_of(value)[0], 0, -1)
        value = np.concatenate((raised, np.reshape(constant, (1,))))
    return value


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> Any:
    """Fit a polynomial by least squares; see `numpy.polyfit`. Differentiable in points, values and weights."""
    if full or cov:
        raise NotImplementedError("numpy.polyfit has no derivative rule with full or cov; use numpy.linalg.lstsq")
    points, values = as_array(x) + 0.0, as_array(y) + 0.0
    if not shape_of(points)[0]:
        raise TypeError("expected non-empty vector for x")
    matrix = vander(points, int(deg) + 1)
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


def roots(p: Any) -> Any:
    """Return the zeros of a polynomial, the eigenvalues of its companion matrix; see `numpy.roots`.

    A repeated zero has no derivative and is refused.
    """
    coefficients = np.atleast_1d(as_array(p))
    if ndim_of(coefficients) != 1:
        raise ValueError("Input must be a rank-1 array.")
    held = np.flatnonzero(coefficients)
    if not len(held):
        return numpy.array([])
    last = shape_of(coefficients)[0] - held[-1] - 1
    coefficients = coefficients[int(held[0]) : int(held[-1]) + 1]
    degree = shape_of(coefficients)[0] - 1
    if not degree:
        return numpy.zeros(last)
    below = numpy.eye(degree, dtype=dtype_of(coefficients))[:-1]
    found = np.linalg.eigvals(np.concatenate((-coefficients[1:][None] / coefficients[0], below)))
    return np.concatenate((found, numpy.zeros(last, dtype_of(found)))) if last else found


def poly(seq_of_zeros: Any) -> Any:
    """Return the coefficients of the polynomial with given zeros, or of a characteristic one; see `numpy.poly`."""
    zeros = np.atleast_1d(as_array(seq_of_zeros))
    if ndim_of(zeros) == 2 and shape_of(zeros)[0] == shape_of(zeros)[1] != 0:
        zeros = np.linalg.eigvals(zeros)
    elif ndim_of(zeros) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if not shape_of(zeros)[0]:
        return 1.0
    one: Any = numpy.ones((), dtype_of(zeros))
    found: Any = numpy.ones(1, dtype_of(zeros))
    for zero in zeros:
        found = np.convolve(found, np.stack([one, -zero]))
    if dtype_of(found).kind == "c" and np.all(np.sort(zeros) == np.sort(np.conjugate(zeros))):
        return np.copy(np.real(found))
    return found


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


RULES = of_names(vars(), numpy)
