"""Polynomials given by their coefficients, highest power first: rules that are faster than numpy's code."""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import form_of

from .ufuncs import of_names
from .values import as_array, dtype_of, is_complex, promoting, shape_of


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


RULES = of_names(vars(), numpy)
