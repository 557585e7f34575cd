"""Sums of values by their target position."""

from __future__ import annotations

import operator
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import holds_traced
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import linear

from .values import as_array, dtype_of, shape_of, whole_numbers


def _scatter_vjp(ct: Any, places: Any, values_space: Any) -> Any:
    return np.reshape(np.take(ct, places), values_space.shape)


def _pattern(call: patterns.Call) -> Any:
    return call.grouped(call.sets[0], call.static["places"], call.static["size"])


SCATTER_ADD = linear(
    "numpy.scatter_add",
    lambda values, *, places, size: _scattered(values, places, size),
    {"values": lambda ct, places, values_space: _scatter_vjp(ct, places, values_space)},
    samples=(
        Sample((uniform((4,)),), {"places": numpy.array([0, 2, 0, 1]), "size": 3}),
        Sample((uniform((3,), dtype=complex),), {"places": numpy.array([1, 1, 1]), "size": 3}),
        Sample((uniform((3,), dtype=numpy.float32),), {"places": numpy.array([1, 0, 1]), "size": 2}),
    ),
    pattern=_pattern,
    doc="sums of the values with the same place; dvalues[k] = ct[places[k]]",
)


def _scattered(values: Any, places: Any, size: int) -> Any:
    total = numpy.zeros(size, values.dtype)
    numpy.add.at(total, places, values)
    return total


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Count integers, or sum their weights; see `numpy.bincount`. Differentiable in the weights."""
    places = whole_numbers(x)
    counted = places if holds_traced(x) else x
    if weights is None or not places.size:  # numpy counts in an empty list, whatever the weights
        return numpy.bincount(counted, minlength=minlength)
    given = as_array(weights)
    numpy.bincount(counted, numpy.zeros(shape_of(given), dtype_of(given)), minlength)  # raises numpy's errors
    size = max(operator.index(minlength), int(places.max(initial=-1)) + 1)
    return SCATTER_ADD(np.astype(given, numpy.float64), places=places, size=size)


RULES = {numpy.bincount: bincount}
