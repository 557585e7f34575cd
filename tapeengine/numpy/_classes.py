"""Replacements for numpy's classes in code that was written without the engine."""

from __future__ import annotations

from typing import Any

import numpy

from .._core.arrays.array import Array
from .._core.arrays.functions import offered
from .._core.programs.callables import stand_in, stand_ins
from .._core.scalars.complex import ComplexDual, make
from .._core.scalars.scalar import Dual
from ..duals.dispatch import of_its_form
from ._creation import asarray

__all__ = ["numpy_names"]


def number_of(cls: Any) -> Any:
    """A function for calls of a numpy number class; a traced number becomes a number of that class, or a double."""
    kind = numpy.float64 if cls is numpy.longdouble else cls

    def made(x: Any = 0.0, *args: Any) -> Any:
        if args and cls is not numpy.longdouble:
            x, args = make(x, *args), ()
        if type(x) is Dual and kind is numpy.float64:
            return numpy.add(x, -kind())  # type: ignore[call-overload]
        if type(x) in (Dual, ComplexDual):
            return asarray(x).astype(kind)[()]
        if type(x) is Array:
            return x.astype(cls)[()]
        return cls(x, *args)

    return made


def numpy_names() -> dict[str, Any]:
    """The classes of numpy that code calls or tests against with traced numbers or arrays."""
    known = stand_ins()
    if numpy.ndarray not in known:
        stand_in(numpy.ndarray, (Array,), numpy.ndarray)
        for cls in (numpy.float64, numpy.float32, numpy.longdouble, numpy.complex128, numpy.complex64):
            stand_in(cls, (), number_of(cls))
        stand_in(numpy.finfo, (), lambda dtype: numpy.finfo(of_its_form(dtype)))
        abstract: Any = (numpy.generic, numpy.number, numpy.inexact, numpy.floating, numpy.complexfloating)
        for kind in abstract:
            stand_in(kind, (), kind)  # for class patterns
        for function in (numpy.sin, numpy.mean, numpy.max):
            known[type(offered(function))] = type(function)
    found = {name: known[cls] for name, cls in vars(numpy).items() if isinstance(cls, type) and cls in known}
    return {**found, "sctypeDict": {name: known.get(cls, cls) for name, cls in numpy.sctypeDict.items()}}
