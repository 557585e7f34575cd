"""The order of a norm is a number of the program: its derivative, against differences of numpy's norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te

X = np.array([[0.5, -1.5, 2.0], [0.7, 0.0, -0.3]])
STEP = 1e-5


@pytest.mark.parametrize("order", [0.5, 1.0, 1.5, 2.0, 3.0, 3.7])
@pytest.mark.parametrize(
    "norm",
    [
        lambda x, p: np.linalg.norm(x[0], p),
        lambda x, p: np.linalg.norm(x, p, axis=1)[0],
        lambda x, p: np.linalg.norm(x, p, 0, True)[0, 1],
        lambda x, p: np.linalg.vector_norm(x, ord=p),
    ],
)
def test_the_order_is_differentiated(norm: Any, order: float) -> None:
    x = X if order > 1 else np.where(X == 0, 0.2, X)
    value, (by_x, by_order) = te.value_and_grad(lambda x, p: norm(x, p), (0, 1))(x, order)
    assert value == pytest.approx(norm(x, order), rel=1e-15)
    slope = (norm(x, order + STEP) - norm(x, order - STEP)) / (2 * STEP)
    assert by_order == pytest.approx(slope, rel=1e-8)
    np.testing.assert_allclose(by_x, te.grad(lambda x: norm(x, order))(x), rtol=1e-13, atol=1e-15)
