"""Derivatives of complex functions where formulas in real and imaginary parts cancel, against mpmath."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine import cmath as tcmath

mp = pytest.importorskip("mpmath", reason="mpmath is not installed: derivatives are not compared with exact ones")

PARTS = (1e-12, -1e-12, 1e-3, -0.5, 0.3, 0.999, 1 + 1e-9, -1 - 1e-9, 2.5, -40.0, 40.0, 300.0, -1e5, 1e8, -1e8)
POINTS = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]


def _ends(z: Any) -> Any:
    return 1 / (mp.sqrt(1 - z) * mp.sqrt(1 + z))


def _slope_of_arccosh(z: Any) -> Any:
    return 1 / (mp.sqrt(z - 1) * mp.sqrt(z + 1))


#: The functions of `cmath` and their first and second derivatives.
FUNCTIONS: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tan": ("tan", lambda z: 1 / mp.cos(z) ** 2, lambda z: 2 * mp.tan(z) / mp.cos(z) ** 2),
    "tanh": ("tanh", lambda z: 1 / mp.cosh(z) ** 2, lambda z: -2 * mp.tanh(z) / mp.cosh(z) ** 2),
    "arcsin": ("asin", _ends, lambda z: z * _ends(z) ** 3),
    "arccos": ("acos", lambda z: -_ends(z), lambda z: -z * _ends(z) ** 3),
    "arctan": ("atan", lambda z: 1 / (1 + z * z), lambda z: -2 * z / (1 + z * z) ** 2),
    "arcsinh": ("asinh", lambda z: _ends(1j * z), lambda z: -z * _ends(1j * z) ** 3),
    "arccosh": ("acosh", _slope_of_arccosh, lambda z: -z * _slope_of_arccosh(z) ** 3),
    "arctanh": ("atanh", lambda z: 1 / (1 - z * z), lambda z: 2 * z / (1 - z * z) ** 2),
    "log": ("log", lambda z: 1 / z, lambda z: -1 / (z * z)),
    "log10": ("log10", lambda z: 1 / (z * mp.log(10)), lambda z: -1 / (z * z * mp.log(10))),
    "sqrt": ("sqrt", lambda z: 1 / (2 * mp.sqrt(z)), lambda z: -1 / (4 * z * mp.sqrt(z))),
}


def found(f: Callable[[Any], Any], z: Any, one: Any) -> Iterator[tuple[str, int, Any]]:
    def slope(w: Any) -> Any:
        return te.vjp(f, w)[1](one)[0]

    yield "vjp", 0, slope(z)
    yield "jvp", 0, te.jvp(f, (z,), (one,))[1]
    yield "jvp of vjp", 1, te.jvp(slope, (z,), (one,))[1]
    yield "vjp of vjp", 1, te.vjp(slope, z)[1](one)[0]
    yield "vjp of jvp", 1, te.vjp(lambda w: te.jvp(f, (w,), (one,))[1], z)[1](one)[0]


def wrong(value: complex, true: complex) -> bool:
    return 1e-290 < abs(true) < 1e290 and not abs(value - true) <= 1e-11 * abs(true)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_complex_functions_are_accurate(name: str) -> None:
    of_numbers, *derivatives = FUNCTIONS[name]
    with mp.workdps(500):
        exact = [[complex(f(mp.mpc(z))) for z in POINTS] for f in derivatives]
    z = np.array(POINTS)
    for mode, order, values in found(lambda w: getattr(np, name)(w), z, np.ones_like(z)):
        bad = [(p, v, t) for p, v, t in zip(POINTS, values, exact[order], strict=True) if wrong(v, t)]
        assert not bad, f"{mode} of an array"
    for k in range(len(name) % 3, len(POINTS), 3):
        for mode, order, value in found(getattr(tcmath, of_numbers), POINTS[k], 1.0 + 0j):
            assert not wrong(value, exact[order][k]), f"{mode} of a number at {POINTS[k]}"
