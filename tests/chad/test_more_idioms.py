"""Idioms of Python and numpy that the language reads: the value and the derivative of the plain program."""

import bisect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import Cases

import tapeengine as te

BACKENDS = ["machine", "native"]
MATRIX = np.array([[0.5, 1.5, -2.0], [0.25, 3.0, 1.0]])
VECTOR = np.array([0.5, 1.5, 2.5, -1.0])
case = Cases()


@case(MATRIX)
def flat(m: np.ndarray) -> Any:
    total = 0.0
    for x in m.flat:
        total = 0.5 * total + x
    return total * m.flat[1]


@case(MATRIX)
def all_indices(m: np.ndarray) -> Any:
    total = 0.0
    for i, j in np.ndindex(m.shape):
        total = 0.5 * total + (i + 1) * m[i, j] ** 2 - j
    return total


@case(MATRIX)
def indices_of_sizes(m: np.ndarray) -> Any:
    total = 0.0
    for i, j in np.ndindex(2, 3):
        total = 0.5 * total + (i + 1) * m[i, j] ** 2 - j
    return total


@case(MATRIX)
def numbered(m: np.ndarray) -> Any:
    total = 0.0
    for (i, j), x in np.ndenumerate(m):
        total = 0.5 * total + (i + 1) * x * x - j * x
    return total


@case([0.5, 2.0, 3.5, 4.0], 2.0)
def between(xs: list[float], x: float) -> Any:
    left, right = bisect.bisect_left(xs, x), bisect.bisect(xs, x)
    return xs[left] * x + xs[right] * len(xs[left:right])


@case([0.5, 2.0, 3.5], 3)
def counted(xs: list[float], n: int) -> Any:
    return sum([math.comb(n, k) * xs[k] ** 2 for k in range(3)]) + math.factorial(n) * xs[0] * math.gcd(12, 2 * n)


@case(VECTOR)
def selected(v: np.ndarray) -> Any:
    return (np.select([v > 2.0, v > 1.0], [v**3, 2.0 * v], default=-1.0) * v).sum() + np.select([v < 0], [v * v]).sum()


@case(VECTOR)
def places(v: np.ndarray) -> Any:
    return (v[np.where(v > 1.0)[0]] ** 2).sum()


@case([0.5, 2.0, 3.5, 2.0])
def without(xs: list[float]) -> Any:
    ys = list(xs)
    ys.remove(2.0)
    return ys[0] * ys[1] + ys[2]


@case(MATRIX)
def masked(m: np.ndarray) -> Any:
    return (m[m > 0.4] ** 2).sum() * len(m[m < 0.0])


@case(np.arange(24.0).reshape(2, 3, 4), MATRIX > 0.4)
def rows_masked(t: np.ndarray, mask: np.ndarray) -> Any:
    return (t[mask] ** 2).sum()


@case(np.arange(24.0).reshape(2, 3, 4))
def axes_in_another_order(t: np.ndarray) -> Any:
    return (t.transpose(2, 0, 1)[1] * np.transpose(t, (1, 2, 0))[:, 1].T).sum()


@case(VECTOR)
def repeated(v: np.ndarray) -> Any:
    return (np.repeat(v, 3) * np.arange(12)).sum() + (np.delete(v, 1) ** 2).sum()


@case(MATRIX)
def repeated_rows(m: np.ndarray) -> Any:
    tall, wide = np.repeat(m, 2, axis=0), np.repeat(m, repeats=3, axis=1)
    return tall[1, 2] * tall[3, 0] + (wide[1] * np.arange(9)).sum() + (np.repeat(m, 2) * np.arange(12)).sum()


@case(MATRIX)
def turned(m: np.ndarray) -> Any:
    return (np.fliplr(m) * m).sum() + (np.delete(m, 1, axis=1) ** 2).sum() + np.delete(m, 0, 0)[0, 1]


@case(VECTOR)
def split_and_joined(v: np.ndarray) -> Any:
    a, b = np.split(v, 2)
    c, d, e = np.split(v, [1, 3])
    return (np.concatenate([p**2 for p in np.split(v, 4)]) * v).sum() + (a * b).sum() + c[0] * d[1] * e[0]


@case(MATRIX)
def stacked_lists(m: np.ndarray) -> Any:
    rows = [row * k for k, row in enumerate(m)]
    whole = np.stack(rows) + np.vstack(rows) * np.array(rows)
    return (
        (whole @ m.T).sum() + (np.hstack(rows) ** 2).sum() + np.stack(rows, axis=1)[2, 1] + np.column_stack(rows)[0, 1]
    )


@case(MATRIX, VECTOR[:2])
def beside(m: np.ndarray, v: np.ndarray) -> Any:
    whole = np.column_stack((m, v, 2.0 * m))
    tall = np.vstack((m, whole[:, 3:6], m[0]))
    square = np.block([[m, 2.0 * m], [m * m, m]])
    return (whole[1] ** 2).sum() * tall[4, 1] + square[3, 2] * square[0, 5] + np.hstack((m, m))[1, 4]


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "args"), case, ids=lambda x: getattr(x, "__name__", ""))
def test_value_and_derivative(function: Callable[..., Any], args: tuple[Any, ...], backend: str) -> None:
    program = te.program(function, backend=backend)
    for _ in range(2):
        value, back = te.vjp(program, *args)
        np.testing.assert_allclose(value, function(*args), rtol=1e-13)
        wanted = te.vjp(program.python, *args)[1](1.0)
        for mine, theirs in zip(back(1.0), wanted, strict=True):
            if theirs is not None:
                np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)
