"""Zeros of a tangent or cotangent contribute nothing to a sum of products, whatever they meet in the other factor."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

SPECIAL = (np.inf, -np.inf, np.nan, 0.0, 2.0, -3.0)


def shifted(c: Any) -> Any:
    """The matrix of a convolution with three numbers."""
    return np.array([[c[i - j] if 0 <= i - j < 3 else 0.0 for j in range(3)] for i in range(5)])


#: Sums of products of a vector and a constant of the same length: the function, and its matrix.
SUMS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "dot": (np.dot, lambda c: c[None]),
    "inner": (np.inner, lambda c: c[None]),
    "vecdot": (np.vecdot, lambda c: c[None]),
    "einsum": (lambda x, c: np.einsum("i,i->", x, c), lambda c: c[None]),
    "tensordot": (lambda x, c: np.tensordot(x, c, 1), lambda c: c[None]),
    "matrix": (lambda x, c: np.stack([c, c[::-1]]) @ x, lambda c: np.stack([c, c[::-1]])),
    "from the left": (lambda x, c: x @ np.stack([c, c[::-1]], 1), lambda c: np.stack([c, c[::-1]])),
    "convolve": (np.convolve, lambda c: shifted(c)),
    "three factors": (lambda x, c: np.einsum("i,i,i->", x, c, np.ones(3)), lambda c: c[None]),
}  # fmt: skip


def added(weights: Any, column: Any) -> float:
    """The sum of the products whose weight is not zero."""
    return float(sum(w * c for w, c in zip(weights, column, strict=True) if w != 0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SUMS)
def test_a_zero_contributes_nothing(name: str) -> None:
    function, matrix_of = SUMS[name]
    x = np.ones(3)
    for constant in map(np.array, itertools.product(SPECIAL, repeat=3)):
        matrix = matrix_of(constant)
        for along in ([1.0, 0.0, 0.0], [0.0, -2.0, 1.0]):
            found = te.jvp(lambda z, c=constant: function(z, c), (x,), (np.array(along),))[1]
            np.testing.assert_array_equal(np.ravel(found), [added(along, row) for row in matrix], str(constant))
        cotangent = np.resize([0.0, 1.0, -2.0], len(matrix)) if len(matrix) > 1 else np.ones(1)
        _, back = te.vjp(lambda z, c=constant: np.reshape(function(z, c), -1), x)
        np.testing.assert_array_equal(back(cotangent)[0], [added(cotangent, row) for row in matrix.T], str(constant))
