"""Ranges of numbers whose start and step may be traced."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .._core.arrays.array import Array
from .._core.arrays.storing import fresh
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.sweeps.trace import value_of
from ._creation import array

__all__ = ["arange"]

BOUNDS = ("start", "stop", "step")


def arange(*args: Any, **options: Any) -> Any:
    """numpy.arange; of a traced stop only the number of elements is read, which is discrete."""
    if not any(map(is_traced, (*args[:3], *map(options.get, BOUNDS)))) or "like" in options:
        return fresh(numpy.arange(*args, **options))
    # The same call with ones raises numpy's errors for missing and repeated arguments, and reads no traced value.
    named = {name: one(x) if name in BOUNDS else x for name, x in options.items()}
    numpy.arange(*map(one, args[:3]), *args[3:], **named)
    return stepped(*args, **options)


def is_traced(x: Any) -> bool:
    """Whether an argument is a traced number; numpy reads only the real part of a complex64."""
    return type(x) in (Dual, ComplexDual) or (type(x) is Array and not x.ndim and x.dtype.kind != "c")


def one(x: Any) -> Any:
    """Return 1.0 for an argument that is given."""
    return None if x is None else 1.0


def stepped(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Return start, start + step and further ones, at numpy's distance: the rounded difference of the first two."""
    if stop is None:
        start, stop = None, start
    start, step = 0 if start is None else start, 1 if step is None else step
    is_complex = any(isinstance(x, (complex, ComplexDual)) for x in (start, stop, step))
    kind = numpy.dtype((complex if is_complex else float) if dtype is None else dtype)
    start = start + 0j if is_complex else start
    span = stop - start
    try:
        if is_complex and kind.kind not in "cO":
            raise ValueError
        ratio = span / step
        count = max(min(map(math.ceil, (ratio.real, ratio.imag) if is_complex else (ratio,))), 0)
    except (ArithmeticError, ValueError):
        return numpy.arange(*map(value_of, (start, stop, step)), dtype=kind)  # numpy's error
    if not is_complex and ratio == 0.0 and span != 0.0:  # the quotient is too small for a number
        count = int((span > 0.0) == (step > 0.0))
    return filled(array([start, start + step][:count], kind), count, kind)


def filled(ends: Any, count: int, kind: Any) -> Any:
    """Return the first two elements and those that follow, computed as numpy does: half precision in single."""
    wide = numpy.float32 if kind.char == "e" else ends.dtype
    if count < 3:
        return ends
    first, second = ends[:1].astype(wide), ends[1:].astype(wide)
    result = fresh((first + numpy.arange(count, dtype=wide) * (second - first)).astype(kind))
    result[:2] = ends
    return result
