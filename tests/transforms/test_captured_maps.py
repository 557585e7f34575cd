"""Linear maps and backpropagators captured by calls that run again, compared with products of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

MATRIX = np.arange(9.0).reshape(3, 3) / 9.0
PLACE, POINT, DIRECTION = np.array([0.3, 0.5, 0.7]), np.array([0.2, 0.3, 0.4]), np.array([1.0, -0.5, 0.25])


def waves(v: Any) -> Any:
    return np.sin(MATRIX @ v)


JACOBIAN = np.cos(MATRIX @ PLACE)[:, None] * MATRIX
_, MAP = te.linearize(waves, PLACE)
_, BACK = te.vjp(waves, PLACE)
UNIT = te.LinearMap.identity(PLACE)


class Model:
    """An object that holds a map."""

    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def back(self, v: Any) -> Any:
        return self.inner.T(v)


Pair = tuple[Callable[[Any], Callable[[Any], Any]], Callable[[Any, Any], Any]]

#: Functions of the input that make a linear function with a map, and the same linear function of an input without one.
MAPS: dict[str, Pair] = {
    "linearize": (lambda x: MAP, lambda x, v: JACOBIAN @ v),
    "transposed": (lambda x: MAP.T, lambda x, v: v @ JACOBIAN),
    "backpropagator": (lambda x: lambda v: BACK(v)[0], lambda x, v: v @ JACOBIAN),
    "made within the trace": (lambda x: te.linearize(waves, PLACE)[1], lambda x, v: JACOBIAN @ v),
    "pulled within the trace": (
        lambda x: (lambda back: lambda v: back(v)[0])(te.vjp(waves, PLACE)[1]),
        lambda x, v: v @ JACOBIAN,
    ),
    "composed": (lambda x: MAP @ MAP.T, lambda x, v: JACOBIAN @ (v @ JACOBIAN)),
    "sum": (lambda x: MAP + 2.0 * UNIT, lambda x, v: JACOBIAN @ v + 2.0 * v),
    "matrix": (lambda x: lambda v: MAP.matrix() @ v, lambda x, v: JACOBIAN @ v),
    "stacked": (lambda x: lambda v: te.LinearMap.vstack((MAP, UNIT))(v)[0], lambda x, v: JACOBIAN @ v),
    "attribute": (lambda x: Model(MAP).back, lambda x, v: v @ JACOBIAN),
    "partial": (lambda x: functools.partial(lambda m, v: m(v), MAP), lambda x, v: JACOBIAN @ v),
    "multiplied by the input": (lambda x: x[0] * MAP, lambda x, v: x[0] * (JACOBIAN @ v)),
    "divided by the input, transposed": (lambda x: (MAP / x[1]).T, lambda x, v: (v @ JACOBIAN) / x[1]),
    "scaling by the input": (lambda x: UNIT - te.LinearMap.scaling(x[2], PLACE), lambda x, v: v - x[2] * v),
    "own": (lambda x: te.LinearMap(lambda v: x * v, lambda v: x * v, MAP.domain, MAP.domain), lambda x, v: x * v),
}

#: Programs that apply a function, which captures a map, to an input.
WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "iterate": lambda g, x: te.iterate(g, 3, x),
    "checkpoint": lambda g, x: te.checkpoint(lambda v: g(g(v)))(x),
    "fork": lambda g, x: np.multiply(*te.fork(lambda: g(x), lambda: g(2.0 * x))),
    "fork_map": lambda g, x: np.multiply(*te.fork_map(g, [x, 2.0 * x])),
    "iterate in a checkpoint": lambda g, x: te.checkpoint(lambda v: te.iterate(g, 2, v))(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MAPS)
def test_derivatives_are_those_of_the_function_without_the_map(name: str, way: str) -> None:
    make, without = MAPS[name]

    def program(x: Any) -> Any:
        m = make(x)
        return np.sum(WAYS[way](lambda v: 2.0 * np.tanh(m(v)), x) ** 2)

    def plain(x: Any) -> Any:
        return np.sum(WAYS[way](lambda v: 2.0 * np.tanh(without(x, v)), x) ** 2)

    near = functools.partial(np.testing.assert_allclose, rtol=1e-13, atol=1e-13)
    gradient, hessian = te.grad(plain)(POINT), te.hessian(plain)(POINT)
    near(te.grad(program)(POINT), gradient)
    near(te.jvp(program, (POINT,), (DIRECTION,))[1], gradient @ DIRECTION)
    near(te.hessian(program)(POINT), hessian)
    near(te.grad(lambda x: te.jvp(program, (x,), (DIRECTION,))[1])(POINT), hessian @ DIRECTION)
