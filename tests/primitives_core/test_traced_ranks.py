"""Traced numbers that select: the quantile `q` at the ranks of elements, and the order of a norm."""

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull"),
    *("linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)
FUNCTIONS = {"quantile": 1.0, "nanquantile": 1.0, "percentile": 100.0, "nanpercentile": 100.0}
KINDS = (np.float64, np.float32, np.int64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_traced_quantile_at_the_ranks(method: str, name: str, kind: Any) -> None:
    """The parts k / n, k / (2 n), tenths, and arrays of them, for each length up to nine."""
    draw, scale = np.random.default_rng(3), FUNCTIONS[name]
    for n in range(1, 10):
        data = ((draw.permutation(n) + 1) * 1.3).astype(kind)
        parts = sorted({k / m for m in (n, 2 * n, 10) for k in range(m + 1)})
        for q in (*parts, np.array(parts)):

            def program(q: Any, data: Any = data) -> Any:
                return getattr(np, name)(data, np.minimum(q * scale, scale), method=method)

            np.testing.assert_array_equal(te.vjp(program, q)[0], program(q), strict=True)
            if kind is not np.int64:
                np.testing.assert_array_equal(te.vjp(program, q, data)[0], program(q), strict=True)


ORDERS = (np.inf, -np.inf, 1.0, 2.0, 3.0, 0.5, -1.0)
ARRAYS = (
    *(
        np.array([1.5e-38]),
        np.array([1e-3, 0.5]),
        np.array([1.0, 0.0, 1.0]),
        np.array([3, -4]),
        np.array([3.0 + 4.0j, 0.0]),
    ),
    *(np.array([[-10, 3]]), np.array([[1.0, 2.0], [3.0, -4.0]])),
)
NORMS = ("norm", "vector_norm", "matrix_norm")


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_traced_order_of_a_norm(order: float, name: str) -> None:
    norm, compared = getattr(tnp.linalg, name), 0
    for x, keepdims in itertools.product(ARRAYS, (False, True)):
        try:
            with np.errstate(all="ignore"):
                expected = getattr(np.linalg, name)(x, ord=order, keepdims=keepdims)
        except ValueError:
            continue
        for args in ((order,), (order, x)):
            if len(args) == 2 and x.dtype.kind == "i":
                continue
            with np.errstate(all="ignore"):
                found = te.vjp(lambda o, *a, x=x, k=keepdims: norm(*a or (x,), ord=o, keepdims=k), *args)[0]
            np.testing.assert_allclose(found, expected, rtol=1e-14, strict=True)
            compared += 1
    assert compared or (name == "matrix_norm" and abs(order) not in (1, 2, np.inf))


def test_the_derivative_by_the_order_stays() -> None:
    x, h = np.array([0.3, 1.2, 0.7]), 1e-6
    difference = (np.linalg.norm(x, 1.0 + h) - np.linalg.norm(x, 1.0 - h)) / (2 * h)
    assert te.grad(lambda o: tnp.linalg.norm(x, o))(1.0) == pytest.approx(difference, rel=1e-7)
