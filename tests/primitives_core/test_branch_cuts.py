"""Functions of complex numbers on their branch cuts, where the sign of a zero part tells the side.

Along a cut, numpy's and cmath's values are smooth as long as the zero keeps its sign: their differences are the
derivative.
"""

from __future__ import annotations

import cmath
import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine import cmath as tcmath

SIDES = (0.0, -0.0)
REAL = ("arcsin", "arccos", "arccosh", "arctanh", "sqrt", "log", "log1p", "log2", "log10")
IMAGINARY = ("arcsinh", "arctan")
CMATH = {"arcsin": "asin", "arccos": "acos", "arccosh": "acosh", "arctanh": "atanh", "sqrt": "sqrt", "log": "log"}
CMATH |= {"log10": "log10", "arcsinh": "asinh", "arctan": "atan"}
AT = (-3.3, -2.0, -1.4, -0.6, 0.6, 1.4, 2.0, 3.3)


def on_cut(name: str, at: Any, side: float) -> Any:
    """Numbers on the axis that has the cut, with zeros of one sign as the other parts."""
    found = np.empty(np.shape(at), complex)
    zero = np.full(np.shape(at), side)
    found.real, found.imag = (zero, at) if name in IMAGINARY else (at, zero)
    return found


@pytest.mark.parametrize(("name", "side"), list(itertools.product(REAL + IMAGINARY, SIDES)))
def test_along_a_cut(name: str, side: float) -> None:
    function = getattr(np, name)
    x = np.array(AT)
    step = 1e-5
    ends = [function(on_cut(name, x + h, side)) for h in (step, -step, 2 * step, -2 * step)]
    expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step)
    direction = np.full(x.shape, 1j if name in IMAGINARY else 1.0 + 0j)
    z = on_cut(name, x, side)
    value, derivative = te.jvp(function, (z,), (direction,))
    np.testing.assert_array_equal(value, function(z))
    np.testing.assert_allclose(derivative, expected, rtol=1e-8, atol=1e-8)
    ct = np.cos(np.arange(len(x))) + 1j * np.sin(np.arange(len(x)))
    (reverse,) = te.vjp(function, z)[1](ct)
    np.testing.assert_allclose(np.sum(reverse * direction).real, np.sum(ct * derivative).real, rtol=1e-13)


@pytest.mark.parametrize(("name", "side"), list(itertools.product(CMATH, SIDES)))
def test_numbers_along_a_cut(name: str, side: float) -> None:
    for at in AT:
        z = complex(on_cut(name, at, side))
        expected = te.jvp(getattr(np, name), (np.array([z]),), (np.array([1j if name in IMAGINARY else 1.0 + 0j]),))[1]
        direction = 1j if name in IMAGINARY else 1.0 + 0j
        value, found = te.jvp(getattr(tcmath, CMATH[name]), (z,), (direction,))
        assert value == getattr(cmath, CMATH[name])(z)
        np.testing.assert_allclose(found, expected[0], rtol=1e-13, atol=1e-13, err_msg=f"at {z}")


@pytest.mark.parametrize(("name", "side"), list(itertools.product(("arcsin", "arccos", "arccosh"), SIDES)))
def test_second_derivatives_along_a_cut(name: str, side: float) -> None:
    function, x, t = getattr(np, name), np.array(AT), np.ones(len(AT), complex)

    def slope(z: Any) -> Any:
        return te.jvp(function, (z,), (t,))[1]

    ends = [slope(on_cut(name, x + h, side)) for h in (1e-5, -1e-5, 2e-5, -2e-5)]
    expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / 12e-5
    np.testing.assert_allclose(te.jvp(slope, (on_cut(name, x, side),), (t,))[1], expected, rtol=1e-7, atol=1e-7)
