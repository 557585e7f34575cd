"""Builders for the records of numpy's ufuncs: one call for each ufunc, with common samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy

from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import elementwise

from .opcodes import tabled

#: The lower and the upper end of an argument.
Domain = tuple[float, float]
#: The shapes and dtypes at which a unary ufunc is checked.
_UNARY = (((), numpy.float64), ((2, 3), numpy.float64), ((3,), numpy.float32), ((0, 2), numpy.float64))
_BINARY = (((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((3,), ()), ((0, 2), (2,)))


def unary_samples(low: float, high: float, complex_too: bool, order: int = 2) -> tuple[Sample, ...]:
    """Return samples with values between `low` and `high`: scalar, matrix, float32, empty, and complex."""
    found = [Sample((uniform(shape, low, high, dtype),), order=order) for shape, dtype in _UNARY]
    if complex_too:
        found.append(Sample((uniform((3,), low, high, numpy.complex128),), order=order))
        found.append(Sample((uniform((2,), low, high, numpy.complex64),), order=order))
    return tuple(found)


def binary_samples(
    first: tuple[float, float], second: tuple[float, float], complex_too: bool, order: int = 2
) -> tuple[Sample, ...]:
    """Return samples of two arguments that broadcast, of mixed dtypes, and complex ones."""
    found = [Sample((uniform(a, *first), uniform(b, *second)), order=order) for a, b in _BINARY]
    narrow = uniform((2, 3), *first, dtype=numpy.float32)
    found.append(Sample((narrow, uniform((3,), *second, dtype=numpy.float32)), order=order))
    found.append(Sample((narrow, uniform((3,), *second)), order=order))
    if complex_too:
        wide = uniform((3,), *second, dtype=numpy.complex128)
        found.append(Sample((uniform((2, 3), *first), wide), order=order))
        found.append(Sample((uniform((2, 1), *first, dtype=numpy.complex128), wide), order=order))
    return tuple(found)


def unary(ufunc: Any, partial: Any, domain: Domain = (-2.0, 2.0), complex_too: bool = True, **rest: Any) -> Primitive:
    """Build the record of a ufunc of one argument from its partial, a function of ``x`` and ``out``."""
    return _record(ufunc, (partial,), lambda: unary_samples(*domain, complex_too), **rest)


def binary(
    ufunc: Any,
    first: Callable[..., Any] | None,
    second: Callable[..., Any] | None,
    domains: tuple[Domain, Domain] = ((-2.0, 2.0), (-2.0, 2.0)),
    complex_too: bool = True,
    order: int = 2,
    **rest: Any,
) -> Primitive:
    """Build the record of a ufunc of two arguments from its partials, functions of ``x``, ``y`` and ``out``."""
    return _record(ufunc, (first, second), lambda: binary_samples(*domains, complex_too, order), **rest)


def _record(ufunc: Any, partials: Any, samples: Any, opcode: str | None = None, **rest: Any) -> Primitive:
    args = ("x", "y")[: len(partials)]
    slopes = tabled(opcode, args, partials) if opcode else partials
    return elementwise(f"numpy.{ufunc.__name__}", ufunc, *slopes, args=args, opcode=opcode, samples=samples, **rest)


def of_ufuncs(names: Mapping[str, Any]) -> dict[Any, Primitive]:
    """Return the records in a module whose values ufuncs compute, by the ufunc."""
    records = (value for value in names.values() if isinstance(value, Primitive))
    return {record.primal: record for record in records if isinstance(record.primal, numpy.ufunc)}


def of_names(names: Mapping[str, Any], *homes: Any) -> dict[Any, Any]:
    """Return the functions that a module defines, by the functions in modules of numpy that have the same names."""
    own = {k: f for k, f in names.items() if isinstance(f, FunctionType) and f.__module__ == names["__name__"]}
    return {getattr(home, name): rule for home in homes for name, rule in own.items() if hasattr(home, name)}
