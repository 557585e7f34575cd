"""Elements that are not selected get zero, even from an infinite or NaN cotangent or tangent."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

X = np.array([-1.0, 2.0, 0.5, 0.1])
B = np.array([1.0, -2.0, 0.7, 0.1 - 1e-3])
#: Each function with the mask of the elements of X that it selects.
SELECTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "maximum": (lambda x: tnp.maximum(x, B), X > B),
    "maximum, second": (lambda x: tnp.maximum(B, x), X > B),
    "minimum": (lambda x: tnp.minimum(x, B), X < B),
    "maximum of a number": (lambda x: tnp.maximum(x, 0.3), X > 0.3),
    "fmax": (lambda x: tnp.fmax(x, B), X > B),
    "fmin": (lambda x: tnp.fmin(B, x), X < B),
    "clip": (lambda x: tnp.clip(x, -0.5, 0.6), (X > -0.5) & (X < 0.6)),
    "clip, low": (lambda x: tnp.clip(B, x, 5.0), X > B),
    "heaviside": (lambda x: tnp.heaviside(B - B[2], x), B[2] == B),
    "where": (lambda x: tnp.where(X > B, x, 1.0), X > B),
    "select": (lambda x: tnp.select([X > B], [x], 0.0), X > B),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("wild", [np.inf, -np.inf, np.nan])
def test_cotangents_and_tangents(name: str, wild: float) -> None:
    f, taken = SELECTIONS[name]
    seed = np.full(4, wild)
    wanted = np.where(taken, seed, 0.0)
    np.testing.assert_array_equal(te.vjp(f, X)[1](seed)[0], wanted)
    np.testing.assert_array_equal(te.jvp(f, (X,), (seed,))[1], wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("jacobian", [te.jacfwd, te.jacrev], ids=["jacfwd", "jacrev"])
def test_rows_and_columns(name: str, jacobian: Any) -> None:
    """The derivative of sqrt is infinite at 0, both before and after the selection."""
    f, taken = SELECTIONS[name]
    wanted = np.where(np.diag(taken), np.inf, 0.0)
    np.testing.assert_array_equal(jacobian(lambda x: f(tnp.sqrt(x - X) + X))(X), wanted)
    value = f(X)
    np.testing.assert_array_equal(jacobian(lambda x: tnp.sqrt(f(x) - value))(X), wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SELECTIONS)
def test_inside_another_trace(name: str) -> None:
    f, taken = SELECTIONS[name]

    def pulled(x: Any) -> Any:
        return te.vjp(f, x)[1](np.full(4, np.inf))[0]

    def pushed(x: Any) -> Any:
        return te.jvp(f, (x,), (np.full(4, np.inf),))[1]

    for product in (pulled, pushed):
        np.testing.assert_array_equal(te.vjp(product, X)[0], np.where(taken, np.inf, 0.0))


EXTREMES: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: tnp.max(x),
    "max of rows": lambda x: tnp.max(tnp.stack([x, x - 1.0]), axis=1)[0],
    "method": lambda x: x.max(),
    "min": lambda x: -tnp.min(-x),
    "nanmax": lambda x: tnp.nanmax(x),
    "reduce": lambda x: tnp.maximum.reduce(x),
    "infinity norm": lambda x: tnp.linalg.norm(x, tnp.inf),
    "ptp": lambda x: tnp.ptp(tnp.append(x, 0.0)),
    "initial": lambda x: tnp.max(x, initial=0.5),
    "accumulate": lambda x: tnp.maximum.accumulate(x)[-1],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("wild", [np.inf, np.nan])
@pytest.mark.parametrize("x", [[2.0, 0.1, 2.0, 1.0], [0.3, 2.0, 0.1, 1.0]], ids=["ties", "one"])
def test_elements_below_an_extreme(name: str, wild: float, x: list[float]) -> None:
    f, values = EXTREMES[name], np.array(x)
    below = values < 2.0
    np.testing.assert_array_equal(te.vjp(f, values)[1](wild)[0][below], 0.0)
    assert te.jvp(f, (values,), (np.where(below, wild, 0.0),))[1] == 0.0
