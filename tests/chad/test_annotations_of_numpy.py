"""Annotations by numpy's classes of numbers and by Final, which leave the type to the value."""

from typing import Any, Final

import numpy as np
import pytest

import tapeengine as te


def of_a_number(x: np.floating) -> np.float64:
    return 2.0 * x * x


def of_numbers(x: np.float64, n: np.int64) -> np.floating:
    return x**n


def with_a_default(x: np.ndarray, n: np.intp = 3) -> float:
    return x.sum() * n * x[0]


def gives_one(x: np.ndarray) -> np.float64:
    return x[0] * x[1]


def of_constants(x: float) -> float:
    n: Final = 2.0
    k: Final[int] = 3
    m: np.float64 = x * n
    return m * m * k


X = np.array([0.5, 1.5])
CASES = [
    (of_a_number, 1.5),
    (of_a_number, np.float64(1.5)),
    (of_numbers, 1.5, 2),
    (of_numbers, np.float64(1.5), np.int64(3)),
    (with_a_default, X),
    (with_a_default, X, 2),
    (gives_one, X),
    (of_constants, 1.5),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_value_and_derivative(case: tuple[Any, ...]) -> None:
    function, x, *others = case
    value, back = te.vjp(te.program(function), x, *others)
    assert value == function(x, *others)
    steps = [1e-6] if np.ndim(x) == 0 else 1e-6 * np.eye(2)
    slopes = [(function(x + step, *others) - function(x - step, *others)) / 2e-6 for step in steps]
    np.testing.assert_allclose(np.ravel(back(1.0)[0]), slopes, rtol=1e-8)
