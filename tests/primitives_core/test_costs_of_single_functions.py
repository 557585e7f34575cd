"""What single functions cost beside numpy's call, where a slow way costs tens of times that, and their values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import tapeengine as te

X = np.random.default_rng(0).uniform(1.0, 2.0, size=(35_000, 2))
PARTS = np.arange(0, len(X), 7)
#: How many times numpy's call the forward and the reverse sweep may take.
COSTS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "repeated short rows": (lambda x: np.repeat(x, 3, axis=0), 20.0, 35.0),
    "partition": (lambda x: np.partition(x[:, 0], 5), 100.0, 20.0),
    "products of parts": (lambda x: np.multiply.reduceat(x[:, 0], PARTS), 60.0, 90.0),
    "maxima of parts": (lambda x: np.maximum.reduceat(x[:, 0], PARTS), 25.0, 25.0),
    "sinc": (lambda x: np.sinc(x), 10.0, 12.0),
}


def least(call: Callable[[], Any]) -> float:
    """The least time of twenty calls."""
    times = []
    for _ in range(20):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", COSTS)
def test_costs(name: str) -> None:
    f, forward, reverse = COSTS[name]
    plain = least(lambda: f(X))
    value, back = te.vjp(f, X)
    ct = np.ones_like(value)
    assert least(lambda: te.vjp(f, X)) < forward * plain
    assert least(lambda: back(ct)) < reverse * plain


@pytest.mark.parametrize("repeats", [0, 1, 2, 9, 70])
@pytest.mark.parametrize("shape", [(5, 3), (4, 2, 3), (3,), (2, 0, 3), (4, 1), (3, 2, 40)])
def test_copies_of_repeat_are_summed(shape: tuple[int, ...], repeats: int) -> None:
    generator = np.random.default_rng(1)
    for axis in range(len(shape)):
        x = generator.normal(size=shape)
        value, back = te.vjp(lambda x, axis=axis: np.repeat(x, repeats, axis=axis), x)
        ct, expected = generator.normal(size=value.shape), np.zeros(shape)
        np.add.at(expected, (*(slice(None),) * axis, np.repeat(np.arange(shape[axis]), repeats)), ct)
        np.testing.assert_allclose(back(ct)[0] if isinstance(back(ct), tuple) else back(ct), expected, atol=1e-12)


@pytest.mark.parametrize("ufunc", [np.multiply, np.maximum, np.hypot, np.logaddexp, np.subtract, np.divide, np.fmin])
@pytest.mark.parametrize("step", [1, 2, 5, 40])
def test_values_and_derivatives_of_short_and_long_parts(step: int, ufunc: Any) -> None:
    x = np.random.default_rng(3).uniform(0.5, 2.0, size=(61, 2))
    indices = np.unique(np.random.default_rng(4).integers(0, 61, 60 // step))
    value, back = te.vjp(lambda x: ufunc.reduceat(x, indices), x)
    assert np.array_equal(value, ufunc.reduceat(x, indices))
    ct, tangent = np.random.default_rng(5).normal(size=value.shape), np.random.default_rng(6).normal(size=x.shape)
    numeric = (ufunc.reduceat(x + 1e-6 * tangent, indices) - ufunc.reduceat(x - 1e-6 * tangent, indices)) / 2e-6
    np.testing.assert_allclose(te.jvp(lambda x: ufunc.reduceat(x, indices), (x,), (tangent,))[1], numeric, rtol=1e-6)
    np.testing.assert_allclose(np.sum(back(ct)[0] * tangent), np.sum(ct * numeric), rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@pytest.mark.parametrize("kind", ["distinct", "ties", "nan", "infinite", "zeros", "few"])
def test_partitions_have_numpys_bits(kind: str, dtype: Any) -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=(60, 4)).astype(dtype)
    x[::3] = {"ties": 0.5, "nan": np.nan, "infinite": np.inf, "zeros": -0.0}.get(kind, x[::3])
    x[1::3] = 0.0 if kind == "zeros" else x[1::3]
    x = x[:1] if kind == "few" else x
    for axis, kth in ((0, 0), (-1, 2), (None, (0, -1))):
        value, back = te.vjp(lambda x, axis=axis, kth=kth: np.partition(x, kth, axis), x)
        assert np.array_equal(value, np.partition(x, kth, axis), equal_nan=True)
        ct = np.arange(1.0, 1.0 + value.size).reshape(value.shape).astype(dtype)
        found = back(ct)[0]
        assert sorted(found.ravel()) == sorted(ct.ravel())  # each element gets one cotangent
        if kind != "infinite":
            np.testing.assert_allclose(np.nansum(found * x), np.nansum(ct * value), rtol=1e-4)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, -0.3, 0.9, 0.9549, 0.9551, 1.3, 7.7, -40.5])
def test_derivatives_of_sinc(x: float, order: int) -> None:
    def f(x: Any) -> Any:
        return np.sinc(x)

    found = f
    for _ in range(order):
        found = te.grad(found)
    with mpmath.workdps(60):
        expected = float(mpmath.diff(lambda t: mpmath.sincpi(t), mpmath.mpf(x), order))
    assert abs(found(np.float64(x)) - expected) < 1e-13 * np.pi**order
