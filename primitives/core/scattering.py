"""Sums of values by their target position."""

from __future__ import annotations

import operator
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import holds_traced
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import decides, linear

from .folds import EXTREMES
from .values import as_array, dtype_of, shape_of, whole_numbers


def _pattern(call: patterns.Call) -> Any:
    return call.grouped(call.sets[0], call.static["places"], call.static["size"])


SCATTER_ADD = linear(
    "numpy.scatter_add",
    lambda values, *, places, size: _scattered(values, places, size),
    {"values": lambda ct, places, values_space: np.reshape(np.take(ct, places), values_space.shape)},
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


def _folded(ufunc: Any, values: Any, places: Any, size: int) -> Any:
    found = numpy.full(size, ufunc(-numpy.inf, numpy.inf) * -1.0, values.dtype)
    ufunc.at(found, places, values)
    return found


_OF_ONE_PLACE = {"places": numpy.array([0, 0]), "size": 1, "ufunc": numpy.maximum}


@decides("numpy.chosen_by_place", Sample((numpy.array([3.0, 1.0]),), _OF_ONE_PLACE))
def _chosen(values: Any, *, places: Any, size: int, ufunc: Any) -> Any:
    """The only value of each place that attains its extreme; empty if one place has none or several."""
    attaining = numpy.flatnonzero(values == _folded(ufunc, values, places, size)[places])
    found = numpy.full(size, -1)
    found[places[attaining]] = attaining
    return found if len(attaining) == size and found.min(initial=0) >= 0 else found[:0]


def by_place(ufunc: Any, values: Any, places: Any, size: int) -> Any:
    """Return the extreme of each place, if one value alone attains it; otherwise, and for other ufuncs, None."""
    chosen = _chosen(values, places=places, size=size, ufunc=ufunc) if ufunc in EXTREMES else ()
    return np.take(values, chosen) if len(chosen) else None


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
