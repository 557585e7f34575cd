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
import tapeengine.numpy as tnp
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


SLOPES: dict[str, Any] = {
    "arctan": lambda mp, z: 1 / (1 + z * z),
    "arctanh": lambda mp, z: 1 / (1 - z * z),
    "arcsinh": lambda mp, z: 1 / (mp.sqrt(1 + 1j * z) * mp.sqrt(1 - 1j * z)),
    "arccosh": lambda mp, z: 1 / (mp.sqrt(z - 1) * mp.sqrt(z + 1)),
    "arcsin": lambda mp, z: 1 / (mp.sqrt(1 - z) * mp.sqrt(1 + z)),
}
PARTS = (-1e300, -50.0, -1.0, -1e-8, 1e-8, 0.3, 1.0, 7.0, 1e150, 1e300)


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_near_poles_and_far_out(name: str) -> None:
    """Each part of a derivative is right to rounding, where the square of the argument cancels or overflows."""
    mp = pytest.importorskip("mpmath").mp
    for a, b in itertools.product(PARTS, PARTS):
        z = complex(a, b)
        with mp.workdps(700):
            wanted = complex(SLOPES[name](mp, mp.mpc(z)))
        found = complex(te.jvp(getattr(np, name), (np.array([z]),), (np.ones(1, complex),))[1][0])
        assert abs(found - wanted) <= 4e-15 * abs(wanted) + 1e-300, (z, found, wanted)


@pytest.mark.parametrize("name", ["arctan", "arctanh"])
def test_slopes_at_infinity_are_zero(name: str) -> None:
    z = np.array([complex(a, b) for a in (np.inf, 2.0, np.nan) for b in (np.inf, -np.inf)])
    assert not np.any(te.jvp(getattr(np, name), (z,), (np.ones_like(z),))[1])


@pytest.mark.parametrize("base", [-2.0, -0.7, 3.0, np.array([-1.5, 2.0])])
def test_complex_powers_of_real_numbers(base: Any) -> None:
    z, h = np.array([0.3 + 0.2j, -1.4 + 1.0j]), 1e-5
    ends = [np.power(base, z + k * h) for k in (1, -1, 2, -2)]
    expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)
    np.testing.assert_allclose(te.jvp(lambda z: base**z, (z,), (np.ones_like(z),))[1], expected, rtol=1e-8)

    def slope(z: Any) -> Any:
        return te.jvp(lambda z: base**z, (z,), (np.ones_like(z),))[1]

    ends = [slope(z + k * h) for k in (1, -1, 2, -2)]
    expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h)
    np.testing.assert_allclose(te.jvp(slope, (z,), (np.ones_like(z),))[1], expected, rtol=1e-7)


def same_bits(a: Any, b: Any) -> bool:
    parts = [np.stack([np.real(x), np.imag(x)]) for x in (a, b)]
    signs = (np.signbit(parts[0]) == np.signbit(parts[1])) | np.isnan(parts[1])
    return a.dtype == b.dtype and np.array_equal(*parts, equal_nan=True) and bool(np.all(signs))


EXPONENTS = (0.5, 2, 2.0, -1, -1.0, 0, 1, 3, True, np.float64(0.5), np.int64(2), np.array(-1), 2 + 0j, np.array([0.5]))


@pytest.mark.parametrize("dtype", [float, np.float32, complex, np.complex64])
@pytest.mark.parametrize("in_place", [False, True])
def test_the_operator_has_the_bits_of_numpys_operator(dtype: Any, in_place: bool) -> None:
    """numpy takes roots, squares and reciprocals for some of Python's exponents."""

    def program(x: Any, p: Any) -> Any:
        y = x * 1
        y **= p
        return y if in_place else x**p

    reals = np.array([-0.0, 0.0, -np.inf, np.inf, 2.0, 1e-200, 3.3, -1.7, 1e200, np.nan])
    points = np.array([complex(a, b) for a in (-0.0, 0.0, 1.5, -2.2, 1e-8) for b in (0.0, -0.0, 0.7, -1e-8, 1e300)])
    with np.errstate(all="ignore"):
        x = (points if np.dtype(dtype).kind == "c" else reals).astype(dtype)
        for p in EXPONENTS:
            try:
                wanted = program(x, p)
            except TypeError:
                continue
            assert same_bits(te.vjp(lambda x, p=p: program(x, p), x)[0], wanted), p


def test_a_complex_number_becomes_an_array_by_its_parts() -> None:
    """Its other part is kept beside an infinite one, and so are the signs of zeros."""
    for a, b in itertools.product((1.0, -0.0, 0.0, np.inf, np.nan), repeat=2):
        z = complex(a, b)
        for made in (lambda z: np.stack([z, z]), lambda z: tnp.array([z, 2.0]), lambda z: tnp.asarray(z)):
            assert same_bits(te.vjp(made, z)[0], made(np.complex128(z))), z
