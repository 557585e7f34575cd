"""Folds by a ufunc of two arguments, as its methods define them: each value combines the value before and an element.

The derivative of a fold is a linear recurrence along it. A fold runs along the first axis, and begins anew at `starts`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import PRODUCT, scale, unbroadcast

from . import arithmetic, extremes, transcendental
from .ufuncs import of_ufuncs
from .values import dtype_of, shape_of

EXTREMES = (numpy.fmax, numpy.fmin, numpy.maximum, numpy.minimum)
_RECORDS = {**of_ufuncs(vars(arithmetic)), **of_ufuncs(vars(extremes)), **of_ufuncs(vars(transcendental))}


def _values(x: Any, *, ufunc: Any, starts: tuple[int, ...], reduces: bool = False) -> Any:
    begins, lengths = numpy.array(starts), _lengths(x, starts)
    if lengths.max() > len(starts):
        out = numpy.concatenate([ufunc.accumulate(x[slice(*part)]) for part in itertools.pairwise([*starts, len(x)])])
        if reduces and is_close(last := ufunc.reduce(x, 0, initial=None), out[-1]):
            out[-1] = last  # numpy's reduction has other loops; it may be wrong on this processor
        return out
    out = x.astype(ufunc.accumulate(x[:1]).dtype)
    for k in range(1, lengths.max()):  # of all parts at once
        at = begins[lengths > k] + k
        out[at] = ufunc(out[at - 1], x[at])
    return out


def is_close(x: Any, y: Any) -> bool:
    """Tell whether two values differ by no more than roundings."""
    return numpy.allclose(x, y, 1e-5, 0.0, equal_nan=True)


def _lengths(x: Any, starts: tuple[int, ...]) -> Any:
    return numpy.diff([*starts, shape_of(x)[0]])


def _slopes(x: Any, out: Any, ufunc: Any, starts: tuple[int, ...]) -> tuple[Any, Any, Any, Any]:
    """Return (a, b, c, d) so that t -> c s + d t with s[k] = a[k] s[k-1] + b[k] t[k] maps tangents to the values'."""
    shape = shape_of(out)
    one, zero, begins = numpy.ones(shape, dtype_of(out)), numpy.zeros(shape, dtype_of(out)), numpy.zeros(shape, bool)
    begins[list(starts)] = True
    if ufunc is numpy.hypot:  # s is half of the square; the partial by the value before would hide zeros before it
        is_zero = np.equal(out, 0)
        return (
            np.where(begins, 0.0, one),
            x,
            np.where(begins | is_zero, zero, 1 / np.where(is_zero, one, out)),
            begins,
        )
    operands = np.concatenate((one[:1], out[:-1])), np.astype(x, dtype_of(out))
    rules = enumerate(_RECORDS[ufunc].vjp_rules)
    a, b = (zero if rule is None else rule(one, rule.keep(operands, {}, out, k)) for k, rule in rules)
    return np.where(begins, zero, a), np.where(begins, one, b), one, zero


def _times(ufunc: Any) -> Any:
    """Return the product of a cotangent and a partial; what an extreme does not select contributes zero."""
    return PRODUCT if ufunc in EXTREMES else scale


def _recurrence(factors: Any, terms: Any, times: Any, longest: int) -> Any:
    """Return r with r[k] = terms[k] + factors[k] r[k-1], by doubling; one of `longest` factors in a row is zero."""
    distance = 1
    while distance < longest:
        tail = factors[distance:]
        terms = np.concatenate((terms[:distance], terms[distance:] + times(terms[:-distance], tail)))
        factors = np.concatenate((factors[:distance], times(factors[:-distance], tail)))
        distance *= 2
    return terms


def _pull(ct: Any, x: Any, out: Any, x_space: Any, ufunc: Any, starts: tuple[int, ...]) -> Any:
    a, b, c, d = _slopes(x, out, ufunc, starts)
    times = _times(ufunc)
    factors, terms = np.flip(np.roll(a, -1, 0), 0), np.flip(PRODUCT(ct, c), 0)
    later = np.flip(_recurrence(factors, terms, times, _lengths(x, starts).max()), 0)
    return unbroadcast(times(later, b) + PRODUCT(ct, d), x_space)


def _push(t: Any, x: Any, out: Any, out_space: Any, ufunc: Any, starts: tuple[int, ...]) -> Any:
    a, b, c, d = _slopes(x, out, ufunc, starts)
    times = _times(ufunc)
    along = _recurrence(a, times(t, b), times, _lengths(x, starts).max())
    return unbroadcast(PRODUCT(along, c) + PRODUCT(t, d), out_space)


FOLD = Primitive(
    "numpy.fold",
    _values,
    vjp={"x": _pull},
    jvp={"x": _push},
    samples=lambda: (
        Sample((uniform((5, 2)),), {"ufunc": numpy.logaddexp2, "starts": (0, 2)}),
        Sample((uniform((4,)),), {"ufunc": numpy.hypot, "starts": (0, 1)}),
        Sample((uniform((3,), dtype=numpy.float32),), {"ufunc": numpy.subtract, "starts": (0,)}),
        Sample((uniform((3,), dtype=complex),), {"ufunc": numpy.multiply, "starts": (0,)}),
    ),
    pattern=lambda call: patterns.running(call, call.sets[0]),
    doc="the values of a fold after each element; dx by the recurrence of the partials",
)


def parts(indices: Any, extent: int) -> tuple[Any, Any, Any, Any]:
    """Return the elements of the parts of `reduceat`, the part of each of them, and where the parts start and end.

    A part that ends at or before its start is its first element.
    """
    wrong = indices[(indices < 0) | (indices >= extent)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} out-of-bounds in reduceat [0, {extent})")
    lengths = numpy.maximum(numpy.append(indices[1:], extent) - indices, 1)
    owners = numpy.repeat(numpy.arange(len(indices)), lengths)
    ends = numpy.cumsum(lengths)
    elements = numpy.arange(len(owners)) + numpy.repeat(indices - (ends - lengths), lengths)
    return elements, owners, ends - lengths, ends - 1
