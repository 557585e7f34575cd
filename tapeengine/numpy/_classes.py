"""Replacements for numpy's classes in code that was written without the engine."""

from __future__ import annotations

from typing import Any

import numpy

from .._core.arrays.array import Array
from .._core.programs.standins import stand_in, stand_ins
from .._core.scalars.scalar import Dual

__all__ = ["numpy_names"]


def number_of(cls: Any) -> Any:
    """A function for calls of a numpy number class; a traced number becomes a number of numpy's of double precision."""
    zero = numpy.complex128(-0.0) if cls is numpy.complex128 else numpy.float64(-0.0)

    def made(x: Any = 0.0, *args: Any) -> Any:
        if type(x) is Dual:
            return numpy.add(x, zero)  # type: ignore[call-overload]
        if type(x) is Array:
            return x.astype(cls)[()]
        return cls(x, *args)

    return made


def numpy_names() -> dict[str, Any]:
    """The classes of numpy that code calls or tests against with traced numbers or arrays."""
    known = stand_ins()
    if numpy.ndarray not in known:
        stand_in(numpy.ndarray, (Array,), numpy.ndarray)
        for cls in (numpy.float64, numpy.longdouble, numpy.complex128):
            stand_in(cls, (), number_of(cls))
        known = stand_ins()
    return {name: known[cls] for name, cls in vars(numpy).items() if isinstance(cls, type) and cls in known}
