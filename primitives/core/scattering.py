"""Sums of values by their target position."""

from __future__ import annotations

import operator
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import holds_traced
from tapeengine.primitive import Primitive, Sample, patterns, uniform
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


PRODUCTS = Primitive(
    "numpy.products_by_place",
    lambda values, *, places, size: _folded(numpy.multiply, values, places, size),
    vjp={"values": lambda ct, values, out, places: np.take(ct * out, places) / values},
    jvp={"values": lambda t, values, out, places, size: SCATTER_ADD(t / values, places=places, size=size) * out},
    samples=(Sample((uniform((4,), 0.5, 2.0),), {"places": numpy.array([0, 2, 0, 1]), "size": 3}),),
    pattern=_pattern,
    doc="products of the values with the same place, none of them 0; dvalues[k] = (ct out)[places[k]] / values[k]",
)


@decides("numpy.is_regular", Sample((numpy.array([3.0, 1.0]), numpy.array([3.0]))))
def _are_regular(x: Any, y: Any) -> bool:
    """Whether no element is 0, infinite, NaN or subnormal."""
    return _is_regular(x) and _is_regular(y)


def _folded(ufunc: Any, values: Any, places: Any, size: int) -> Any:
    start = 1.0 if ufunc is numpy.multiply else ufunc(-numpy.inf, numpy.inf) * -1.0
    found = numpy.full(size, start, values.dtype)
    ufunc.at(found, places, values)
    return found


def _is_regular(x: Any) -> bool:
    size = numpy.abs(x)
    return bool(size.min(initial=1.0) >= numpy.finfo(x.dtype).tiny and size.max(initial=1.0) < numpy.inf)


_OF_ONE_PLACE = {"places": numpy.array([0, 0]), "size": 1, "ufunc": numpy.maximum}


@decides("numpy.chosen_by_place", Sample((numpy.array([3.0, 1.0]),), _OF_ONE_PLACE))
def _chosen(values: Any, *, places: Any, size: int, ufunc: Any) -> Any:
    """The only value of each place that attains its extreme; empty if one place has none or several."""
    attaining = numpy.flatnonzero(values == _folded(ufunc, values, places, size)[places])
    found = numpy.full(size, -1)
    found[places[attaining]] = attaining
    return found if len(attaining) == size and found.min(initial=0) >= 0 else found[:0]


def by_place(ufunc: Any, values: Any, places: Any, size: int) -> Any:
    """Fold the values of each place, in their order, by a rule that needs no order; None if there is none for them."""
    if ufunc is numpy.multiply and dtype_of(values).kind == "f":
        found = PRODUCTS(values, places=places, size=size)
        return found if _are_regular(values, found) else None
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
