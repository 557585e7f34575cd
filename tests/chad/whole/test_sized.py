"""Few numbers run on the register machine, many as whole-array operations: both give the same."""

import math
from typing import Any

import numpy as np
import pytest

import tapeengine as te

Mat = te.Array[te.Vec]


def of_steps(x: te.Vec, n: int) -> float:
    return sum(np.sin(np.sin(x) * 1.1 + 0.1 * x) * n)


def with_neighbours(x: te.Vec, n: int) -> te.Vec:
    y = [0.5 * x[i] * x[i - 1] + 0.1 for i in range(1, len(x))]
    return [x[0] * n, *y]


def of_matrices(x: Mat, n: int) -> Mat:
    return (x @ x * 0.5) @ x * n


def of_tuples(x: te.Array[tuple[float, float]], n: int) -> float:
    return n * sum(p[0] * p[1] for p in x)


def with_poles(x: te.Vec, n: int) -> float:
    y = x + 0.5 * x
    return sum(math.log(v) / n for v in y)


PAIRS = [(0.5, 1.5), (2.0, -1.0)]
CASES: dict[str, tuple[Any, tuple[Any, int], Any]] = {
    "steps": (of_steps, (np.array([0.3, -0.7, 1.2]), 4), 1.5),
    "one element": (of_steps, (np.array([0.3]), 4), 1.5),
    "sixteen elements": (of_steps, (np.linspace(-1.0, 2.0, 16), 4), 1.5),
    "a list": (of_steps, ([0.3, -0.7, 1.2], 4), 1.5),
    "no steps": (of_steps, (np.array([0.3, -0.7]), 0), 1.5),
    "neighbours": (with_neighbours, (np.array([0.3, -0.7, 1.2]), 4), np.array([1.0, -2.0, 0.5])),
    "matrices": (of_matrices, (np.array([[0.3, -0.7], [1.2, 0.1]]), 3), np.array([[1.0, -2.0], [0.5, 3.0]])),
    "tuples": (of_tuples, (PAIRS, 3), 1.5),
}


def same(a: Any, b: Any) -> None:
    """Compare structures of numbers, and their types."""
    assert type(a) is type(b)
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif a is not None:
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_poles_and_infinite_cotangents_are_as_before() -> None:
    program = te.program(with_poles)
    x = np.array([1.0, 2.0])
    for _ in range(2):
        _, backpropagator = te.vjp(program, x, 2)
    np.testing.assert_array_equal(backpropagator(math.inf)[0], [math.inf, math.inf])
    np.testing.assert_allclose(backpropagator(1.0)[0], 0.5 / x, rtol=1e-15)
    with pytest.raises(ValueError, match=r"math domain|positive"):
        te.vjp(program, np.array([1.0, 0.0]), 2)
    with pytest.raises(ZeroDivisionError):
        te.vjp(program, x, 0)


def test_what_is_changed_in_place_afterwards_does_not_count() -> None:
    program = te.program(of_steps)
    x = np.array([0.3, -0.7, 1.2])
    for _ in range(2):
        _, backpropagator = te.vjp(program, x, 4)
    wanted = backpropagator(1.0)[0]
    x[:] = 100.0
    np.testing.assert_array_equal(backpropagator(1.0)[0], wanted)
    wanted[:] = 0.0
    assert np.all(backpropagator(1.0)[0] != 0.0)


@pytest.mark.parametrize(("function", "primals", "cotangent"), CASES.values(), ids=CASES)
def test_the_machine_and_whole_arrays_give_the_same(function: Any, primals: Any, cotangent: Any) -> None:
    whole = te.program(function).executable.whole
    value, backpropagator = whole.vjp(primals)
    whole.few = None
    again, back = whole.vjp(primals)
    same(again, value)
    same(back(cotangent), backpropagator(cotangent))
    same(back(0.0 * cotangent), backpropagator(0.0 * cotangent))
