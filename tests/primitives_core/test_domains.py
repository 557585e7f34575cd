"""numpy.emath: real results inside of a function's real domain, complex ones where an element lies outside."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

POINTS = {
    "inside": numpy.array([0.3, 0.7, 0.9]),
    "below": numpy.array([0.3, -0.7, 0.9]),
    "above": numpy.array([0.3, 1.7, 0.9]),
    "far below": numpy.array([-2.5, 0.4, 1.1]),
    "a number": numpy.array(-0.4),
    "complex": numpy.array([0.3 + 0.2j, -1.7 - 0.1j, 2.5 + 0.4j]),
}
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda np, x, name=name: getattr(np.emath, name)(x)
        for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
    },
    "logn of x": lambda np, x: np.emath.logn(3.0, x),
    "logn by x": lambda np, x: np.emath.logn(x, 0.7),
    "power of x": lambda np, x: np.emath.power(x, 1.5),
    "power by x": lambda np, x: np.emath.power(-2.0, x),
}


@pytest.mark.parametrize(("name", "point"), list(itertools.product(CALLS, POINTS)))
def test_value_and_tangent(name: str, point: str) -> None:
    call, x = CALLS[name], POINTS[point]
    direction = numpy.random.default_rng(5).normal(size=x.shape)
    expected = call(numpy, x)
    value, tangent = te.jvp(lambda x: call(np, x), (x,), (direction.astype(x.dtype),))
    numpy.testing.assert_array_equal(value, expected)
    assert numpy.asarray(value).dtype == numpy.asarray(expected).dtype
    h = 1e-6
    difference = (call(numpy, x + h * direction) - call(numpy, x - h * direction)) / (2 * h)
    numpy.testing.assert_allclose(tangent, difference, rtol=1e-7)


@pytest.mark.parametrize(("name", "point"), list(itertools.product(CALLS, POINTS)))
def test_gradient(name: str, point: str) -> None:
    call, x = CALLS[name], POINTS[point]

    def size(np: Any, x: Any) -> Any:
        return np.sum(np.abs(call(np, x)) ** 2)

    gradient = te.grad(lambda x: size(np, x))(x)
    h, ones = 1e-6, numpy.ones(x.shape)
    for unit in (ones, 1j * ones) if x.dtype.kind == "c" else (ones,):
        difference = (size(numpy, x + h * unit) - size(numpy, x - h * unit)) / (2 * h)
        assert numpy.sum(numpy.real(gradient * unit)) == pytest.approx(difference, rel=1e-6)
