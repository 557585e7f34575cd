"""`numpy.emath`: functions whose result is complex if a real argument lies outside their domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.sweeps.trace import value_of

from .values import promoting


def negative(value: Any) -> bool:
    """Whether an element is outside the real domain of roots and logarithms."""
    return bool(numpy.any(value < 0))


def beyond_one(value: Any) -> bool:
    """Whether an element lies outside [-1, 1]."""
    return bool(numpy.any(numpy.abs(value) > 1))


def taken(x: Any, outside: Callable[[Any], bool]) -> Any:
    """The argument of a function, converted to complex if one of its elements is outside the real domain."""
    value = value_of(x)
    return x + 0j if not numpy.iscomplexobj(value) and outside(value) else x


def of(function: Any, outside: Callable[[Any], bool]) -> Callable[..., Any]:
    """The rule of a function with one argument."""
    return lambda x: function(taken(x, outside))


def logn(n: Any, x: Any) -> Any:
    """numpy.emath.logn."""
    return np.log(taken(x, negative)) / np.log(taken(n, negative))


def power(x: Any, p: Any) -> Any:
    """numpy.emath.power."""
    return np.power(promoting(taken(x, negative)), promoting(p))


RULES: dict[Callable[..., Any], Callable[..., Any]] = {
    numpy.emath.sqrt: of(np.sqrt, negative),
    numpy.emath.log: of(np.log, negative),
    numpy.emath.log2: of(np.log2, negative),
    numpy.emath.log10: of(np.log10, negative),
    numpy.emath.arccos: of(np.arccos, beyond_one),
    numpy.emath.arcsin: of(np.arcsin, beyond_one),
    numpy.emath.arctanh: of(np.arctanh, beyond_one),
    numpy.emath.logn: logn,
    numpy.emath.power: power,
}
