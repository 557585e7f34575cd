"""Ranges of numbers whose start and step may be traced."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .._core.arrays.storing import fresh
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.sweeps.trace import value_of

__all__ = ["arange"]


def arange(*args: Any, **options: Any) -> Any:
    """numpy.arange; of a traced stop only the number of elements is read, which is discrete."""
    traced = any(type(x) in (Dual, ComplexDual) for x in (*args, *options.values()))
    if not traced or len(args) > 3 or options.keys() - {"start", "stop", "step"}:
        return fresh(numpy.arange(*args, **options))
    # The same call with ones raises numpy's errors for missing and repeated arguments, and reads no traced value.
    numpy.arange(*map(one, args), **{name: one(x) for name, x in options.items()})
    return stepped(*args, **options)


def one(x: Any) -> Any:
    """Return 1.0 for an argument that is given."""
    return None if x is None else 1.0


def stepped(start: Any = None, stop: Any = None, step: Any = None) -> Any:
    """Return start, start + step and further ones, at numpy's distance: the rounded difference of the first two."""
    if stop is None:
        start, stop = None, start
    start, step = 0 if start is None else start, 1 if step is None else step
    is_complex = any(isinstance(x, (complex, ComplexDual)) for x in (start, stop, step))
    start = start + 0j if is_complex else start
    span = stop - start
    try:
        ratio = span / step
        count = max(min(map(math.ceil, (ratio.real, ratio.imag) if is_complex else (ratio,))), 0)
    except (ArithmeticError, ValueError):
        return numpy.arange(*map(value_of, (start, stop, step)))  # numpy's error
    if not is_complex and ratio == 0.0 and span != 0.0:  # the quotient is too small for a number
        count = int((span > 0.0) == (step > 0.0))
    second = start + step
    result = fresh(start + numpy.arange(count, dtype=float) * (second - start))
    result[:1], result[1:2] = start, second
    return result
