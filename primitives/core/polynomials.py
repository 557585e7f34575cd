"""Polynomials given by their coefficients, highest power first: rules that are faster than numpy's code."""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import form_of
from tapeengine._core.sweeps.trace import value_of
from tapeengine.numpy._twins import rule_of

from .ufuncs import of_names
from .values import as_array, dtype_of, is_complex, is_traced, promoting, shape_of


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


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial by Horner's scheme; see `numpy.polyval`."""
    coefficients, x = as_array(p), promoting(x)
    x = np.asarray(x) if is_complex(x) else x  # numpy's loops for arrays round elsewhere
    value = numpy.zeros_like(form_of(x), dtype_of(x))
    value = value[()] if shape_of(coefficients)[0] else value
    for position in range(shape_of(coefficients)[0]):
        value = value * x + coefficients[position]
    return value


_roots = rule_of(numpy.roots)


def roots(p: Any) -> Any:
    """Return the roots; see `numpy.roots`, which leaves zeros out of the last coefficients, and appends roots at 0.

    The derivatives are those of the eigenvalues of the whole companion matrix. With several zeros, it has no basis of
    eigenvectors: derivatives by the last coefficients are NaN.
    """
    found, coefficients = _roots(p), np.atleast_1d(as_array(p))
    held = numpy.flatnonzero(_plain(coefficients))
    count = shape_of(coefficients)[0] - 1 - int(held[-1]) if len(held) else 0
    if count > 1:
        return found - np.sum(np.sqrt(np.abs(coefficients[-count:])))
    if not count:
        return found
    row = -coefficients[int(held[0]) + 1 :] / coefficients[int(held[0])]
    shift = numpy.eye(shape_of(row)[0])[:-1].astype(dtype_of(row))
    moved, still = np.linalg.eigvals(np.concatenate([row[None], shift])), _plain(found)
    order = numpy.argmin(abs(_plain(moved) - still[:, None]), axis=1)
    moved = moved[order] if is_complex(still) else np.real(moved[order])
    return still - (_plain(moved) - moved)


def _plain(x: Any) -> Any:
    """Return the value without the derivatives of any trace."""
    return _plain(value_of(x)) if is_traced(x) else x


RULES = of_names(vars(), numpy)
