"""Derivatives of the scalar operations and of numpy's ufuncs, from the smallest to the largest numbers, against mpmath.

Some of the points by default; all points where TAPEENGINE_NIGHTLY is set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from exact_derivatives import COARSE, MAGNITUDES, Point, failures, signed

import tapeengine.math as tm

mp = pytest.importorskip("mpmath", reason="mpmath is not installed: derivatives are not compared with exact ones")

NIGHTLY = bool(os.environ.get("TAPEENGINE_NIGHTLY"))
SIGNED, POSITIVE = signed(MAGNITUDES), MAGNITUDES
NONZERO = tuple(x for x in SIGNED if x)
INSIDE = (*(x for x in SIGNED if abs(x) < 1), 1 - 1e-15, -1 + 1e-10)
BETWEEN_POLES = (*(x for x in NONZERO if x > 0 or x != int(x)), -1.5, -2.5, -170.3)

#: The exact function, and the points.
UNARY: dict[str, tuple[Callable[[Any], Any], Sequence[float]]] = {
    "exp": (lambda x: mp.exp(x), SIGNED),
    "exp2": (lambda x: mp.mpf(2) ** x, SIGNED),
    "expm1": (lambda x: mp.expm1(x), SIGNED),
    "log": (lambda x: mp.log(x), POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (lambda x: mp.log(x) / mp.log(10), POSITIVE),
    "log1p": (lambda x: mp.log1p(x), (-0.999999, *(x for x in SIGNED if x > -1))),
    "sin": (lambda x: mp.sin(x), SIGNED),
    "cos": (lambda x: mp.cos(x), SIGNED),
    "tan": (lambda x: mp.tan(x), SIGNED),
    "asin": (lambda x: mp.asin(x), INSIDE),
    "acos": (lambda x: mp.acos(x), INSIDE),
    "atan": (lambda x: mp.atan(x), SIGNED),
    "sinh": (lambda x: mp.sinh(x), SIGNED),
    "cosh": (lambda x: mp.cosh(x), SIGNED),
    "tanh": (lambda x: mp.tanh(x), SIGNED),
    "asinh": (lambda x: mp.asinh(x), SIGNED),
    "acosh": (lambda x: mp.acosh(x), (1 + 1e-15, *(x for x in POSITIVE if x > 1))),
    "atanh": (lambda x: mp.atanh(x), INSIDE),
    "sqrt": (lambda x: mp.sqrt(x), POSITIVE),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), NONZERO),
    "square": (lambda x: x * x, SIGNED),
    "reciprocal": (lambda x: 1 / x, NONZERO),
    "absolute": (lambda x: abs(x), NONZERO),
    "fabs": (lambda x: abs(x), NONZERO),
    "sinc": (lambda x: mp.sincpi(x), tuple(x for x in SIGNED if abs(x) < 1e9)),
    "degrees": (lambda x: x * 180 / mp.pi, SIGNED),
    "radians": (lambda x: x * mp.pi / 180, SIGNED),
    "erf": (lambda x: mp.erf(x), SIGNED),
    "erfc": (lambda x: mp.erfc(x), SIGNED),
    "gamma": (lambda x: mp.gamma(x), BETWEEN_POLES),
    "lgamma": (
        lambda x: mp.log(abs(mp.gamma(x))) if x < 1e9 else mp.loggamma(x),
        (*BETWEEN_POLES, -1000.3, -1e6 + 0.3, -1e-9),
    ),
    "digamma": (lambda x: mp.digamma(x), (*POSITIVE, -0.5, -1.25, -170.3)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), SIGNED),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), SIGNED),
    "relu": (lambda x: max(x, 0), NONZERO),
}
NUMPYS = {**{n: "arc" + n[1:] for n in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}}


def _remainder(x: Any, y: Any) -> Any:
    return x - y * mp.floor(x / y)


def _fmod(x: Any, y: Any) -> Any:
    return x - y * (mp.floor(x / y) if x / y > 0 else mp.ceil(x / y))


def _logaddexp(x: Any, y: Any, base: Any) -> Any:
    return max(x, y) + mp.log1p(base ** -abs(x - y)) / mp.log(base)


def _divides(x: float, y: float) -> bool:
    return bool(x and y) and abs(x / y) < 1e9 and x % y != 0


#: The exact function, the region where it is smooth, and the name in `tapeengine.math`.
BINARY: dict[str, tuple[Callable[[Any, Any], Any], Callable[[float, float], Any], str]] = {
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), lambda x, y: x and y, "hypot"),
    "arctan2": (lambda x, y: mp.atan2(x, y), lambda x, y: x and y, "atan2"),
    "logaddexp": (lambda x, y: _logaddexp(x, y, mp.e), lambda x, y: True, "logaddexp"),
    "logaddexp2": (lambda x, y: _logaddexp(x, y, mp.mpf(2)), lambda x, y: True, ""),
    "power": (lambda x, y: x**y, lambda x, y: x > 0, "pow"),
    "float_power": (lambda x, y: x**y, lambda x, y: x > 0, ""),
    "multiply": (lambda x, y: x * y, lambda x, y: True, ""),
    "divide": (lambda x, y: x / y, lambda x, y: y, ""),
    "maximum": (lambda x, y: max(x, y), lambda x, y: x != y, "maximum"),
    "minimum": (lambda x, y: min(x, y), lambda x, y: x != y, "minimum"),
    "fmax": (lambda x, y: max(x, y), lambda x, y: x != y, ""),
    "fmin": (lambda x, y: min(x, y), lambda x, y: x != y, ""),
    "remainder": (_remainder, _divides, ""),
    "fmod": (_fmod, _divides, "fmod"),
    "copysign": (lambda x, y: abs(x) * mp.sign(y), lambda x, y: x and y, "copysign"),
}


def some(points: Sequence[Point], name: str, count: int) -> Sequence[Point]:
    """Return all points in nightly mode, otherwise every k-th, starting at a point that depends on the name."""
    step = 1 if NIGHTLY else max(1, len(points) // count)
    return points[len(name) % step :: step]


def _pairs(smooth: Callable[[float, float], Any]) -> list[Point]:
    grid = signed(COARSE)
    return [(x, y) for x in grid for y in grid if smooth(x, y)] + [(x, x) for x in SIGNED if smooth(x, x)]


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(name: str) -> None:
    reference, grid = UNARY[name]
    points = some([(x,) for x in grid], name, 6)
    ufunc, function = getattr(np, NUMPYS.get(name, name), None), getattr(tm, name, None)
    if ufunc is not None:
        assert failures(ufunc, reference, points) == []
    assert failures(function or (lambda x: ufunc(x)), reference, points, scalar=True) == []


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arguments(name: str) -> None:
    reference, smooth, function = BINARY[name]
    points, ufunc = some(_pairs(smooth), name, 10), getattr(np, name)
    assert failures(ufunc, reference, points) == []
    scalar = getattr(tm, function) if function else lambda x, y: ufunc(x, y)
    assert failures(scalar, reference, points, scalar=True) == []
