"""Derivatives of functions that call typed programs, relative to the same functions on dual numbers."""

from collections.abc import Callable, Mapping
from math import sin
from types import MappingProxyType
from typing import Any

import tapeengine as te
from asv_bench.measure import ratio
from asv_bench.programs import small_calls


def square(x: float) -> float:
    return x * x + 3.0 * sin(x)


def total(xs: list[float]) -> float:
    found = 0.0
    for x in xs:
        found += x * x
    return found


#: A program, what calls it, and where.
CASES: Mapping[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = MappingProxyType(
    {
        "a number": (square, lambda f, x: f(x) * 2.0, 2.0),
        "a list": (total, lambda f, xs: f(xs) * xs[0], [1.0, 2.0, 3.0]),
        "without annotations": (small_calls.total, lambda f, xs: f(xs) * xs[0], [1.0, 2.0, 3.0]),
    }
)
TRANSFORMS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "grad": te.grad,
        "hessian": te.hessian,
        "hvp": lambda f: lambda x: te.hvp(f, (x,), (x,)),
    }
)


def over_duals(transform: str, name: str) -> float:
    """Return the time of a derivative around a program over that around its plain function."""
    function, around, point = CASES[name]
    program = te.program(function)
    typed = TRANSFORMS[transform](lambda x: around(program, x))
    plain = TRANSFORMS[transform](lambda x: around(program.python, x))
    return ratio(lambda: typed(point), lambda: plain(point))
