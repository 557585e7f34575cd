"""Powers of negative bases by exponents so large that the exponent less 1 or 2 is rounded in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te

BASES = np.array([-1.0, -0.99999994, -1.0000001, 1.0, 0.5], np.float32)
EXPONENTS = [3, 4, 2**23 + 1, 2**24 - 1, 2**24, 2**24 + 2, 2**25 + 4, 2**30, 2**31]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(("bases", "shape"), [(BASES, "array"), (BASES, "number"), (BASES[1:2], "number")])
def test_first_and_second_derivatives(exponent: int, bases: Any, shape: str) -> None:
    y: Any = np.float32(exponent) if shape == "number" else np.full(len(bases), exponent, np.float32)
    assert np.all(y == exponent)

    def slope(x: Any) -> Any:
        return te.vjp(lambda x: np.power(x, y), x)[1](np.ones(len(bases), np.float32))[0]

    with np.errstate(over="ignore", under="ignore"):
        exact = bases.astype(float)
        first = exponent * exact ** (exponent - 1)  # doubles hold these exponents
        second = exponent * (exponent - 1.0) * exact ** (exponent - 2)
        first, second = first.astype(np.float32), second.astype(np.float32)
        np.testing.assert_allclose(slope(bases), first, rtol=1e-5)
        ones = np.ones_like(bases)
        np.testing.assert_allclose(te.jvp(lambda x: np.power(x, y), (bases,), (ones,))[1], first, rtol=1e-5)
        np.testing.assert_allclose(te.jvp(slope, (bases,), (ones,))[1], second, rtol=1e-5)


@pytest.mark.parametrize(
    ("exponent", "wanted"), [(1.5, np.inf), (0.5, -np.inf), (0.0, 0.0), (1.0, 0.0), (2.0, 2.0), (2.5, 0.0)]
)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_second_derivatives_of_powers_of_zero(exponent: float, wanted: float, dtype: Any) -> None:
    x = np.array([0.0, 4.0], dtype)

    def slope(x: Any) -> Any:
        return te.vjp(lambda x: np.power(x, exponent), x)[1](np.ones_like(x))[0]

    with np.errstate(all="ignore"):
        found = te.jvp(slope, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(found, [wanted, exponent * (exponent - 1.0) * 4.0 ** (exponent - 2.0)], rtol=1e-6)
