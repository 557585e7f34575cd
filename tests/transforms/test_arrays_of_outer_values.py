"""An array that a program makes may hold values of a trace around it: it meets them as plain arrays meet plain ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

Y = np.array([0.5, 1.5])


def written(a: Any, y: Any) -> Any:
    """An array that is written to after its use."""
    b = a * y
    a[0] = 7.0
    return b * a


def added(a: Any, y: Any) -> Any:
    a += y
    return a * y


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, y: a + y,
    "turned": lambda a, y: y / a,
    "where": lambda a, y: np.where(np.array([True, False]), a, y * a),
    "dot": lambda a, y: np.dot(a, y),
    "outer": lambda a, y: np.outer(a, y) @ y,
    "stack": lambda a, y: np.stack([a, y]) ** 2,
    "joined": lambda a, y: np.concatenate([a[::-1], y * y]),
    "view": lambda a, y: a[::-1] * y,
    "elements": lambda a, y: a[0] * y[1] + a * y[0] + a[1] * y,
    "alone": lambda a, y: np.exp(a),
    "in place": added,
    "written": written,
    "item": lambda a, y: [a.__setitem__(0, y[1]), a * y][1],
    "largest": lambda a, y: np.maximum(a * 0.5, y),
    "einsum": lambda a, y: np.einsum("i,i->i", a, y),
}
AROUND: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "vjp": lambda f: te.vjp(f, 2.0)[0],
    "jvp": lambda f: te.jvp(f, (2.0,), (1.0,))[0],
    "twice": lambda f: te.vjp(lambda z: te.vjp(f, 2.0)[0] + 0.0 * z, 3.0)[0],
    "grad": lambda f: te.grad(f)(2.0) * 2.0,
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_array_of_outer_values(operation: str, around: str) -> None:
    def program(y: Any, made: Callable[[Any], Any]) -> Any:
        a = made(2)
        a[...] = y
        return np.sum(OPERATIONS[operation](a, y))

    def traced(y: Any) -> Any:
        return AROUND[around](lambda x: program(y, tnp.zeros) * x)

    value, back = te.vjp(traced, Y)
    plain = [2.0 * program(Y + 1e-6 * e, np.zeros) for e in (np.zeros(2), *np.eye(2), *-np.eye(2))]
    assert value == pytest.approx(plain[0], rel=1e-15)
    np.testing.assert_allclose(back(1.0)[0], (np.array(plain[1:3]) - plain[3:]) / 2e-6, rtol=1e-6)


PRIMALS = [
    0.5,
    np.float64(0.5),
    np.float32(0.5),
    np.complex64(0.5 + 1j),
    0.5 + 1j,
    np.array(0.5),
    Y,
    Y.astype("f"),
    Y + 1j,
]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "difference": lambda x: (x - x) * 1.0,
    "double": lambda x: x + x,
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "sine": lambda x: np.sin(x) + x,
    "constant": lambda x: x * 0.0 + 2.0,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("primal", range(len(PRIMALS)))
def test_products_with_hessians_that_depend_on_an_outer_value_only(primal: int, function: str) -> None:
    x, f = PRIMALS[primal], FUNCTIONS[function]

    def product(y: Any) -> Any:
        return te.hvp(lambda x: np.sum(np.real(f(x) * y)), (x,), (x,))

    expected, (found, back) = product(1.0), te.vjp(product, 1.0)
    assert type(found) is type(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    # the product is linear in y
    assert back(np.conj(expected))[0] == pytest.approx(float(np.sum(np.abs(expected) ** 2)), rel=1e-5)
