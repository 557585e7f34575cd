"""Integers that do not fit in 64 bits are Python's, for all sizes of arguments."""

import numpy as np
import pytest
from plain_sums import in_order

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling

Matrix = te.Array[te.Vec]
#: Matrices without numbers have any number of rows.
SIZES = [0, 1, 3, 2**20, 2**30 - 1, 2**30, 2**30 + 1, 2**31, 2**32, 3037000500, 2**40, 2**44]


def square(a: Matrix, b: Matrix, x: float) -> float:
    n = len(a)
    return x * (n * n)


def cube(a: Matrix, b: Matrix, x: float) -> float:
    n = len(a)
    return x * (n * n * n)


def both(a: Matrix, b: Matrix, x: float) -> float:
    n, m = len(a), len(b)
    return x * (n * m - 3 * n * n + m * (m - 1) // 2) + (n * m) % 7


def summed(a: Matrix, b: Matrix, x: float) -> float:
    n, m = len(a), len(b)
    return sum(x * (n * m + c * (c + n) * 5 - n * n * 3) for c in range(7))


def nested(a: Matrix, b: Matrix, x: float) -> float:
    n, m = len(a), len(b)
    total = 0.0
    for i in range(3):
        for j in range(i + 2):
            total = total + x * (i * n + j * m * m - max(n * n, 5 * m) * j)
    return total


def changing(a: Matrix, b: Matrix, x: float) -> float:
    """A variable that steps multiply has no largest value."""
    n, k, total = len(a), 1, 0.0
    for i in range(6):
        k = k * n + i
        total = total + x * (k % 11)
    return total


def of_argument(a: Matrix, b: Matrix, x: float) -> float:
    """Rows of one argument, and of rows of rows, have sizes of their own."""
    n, m = len(a), len(b[0]) if len(b) == 1 else len(b)
    return x * (n * m * 4)


PROGRAMS = [square, cube, both, summed, nested, changing, of_argument]


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("m", SIZES)
def test_values_are_those_of_python_whatever_the_sizes(function, m):
    program = te.program(function, backend="native")
    te.vjp(program, np.zeros((1, 0)), np.zeros((1, 0)), 1.5)
    for n in SIZES:
        a, b = np.zeros((n, 0)), np.zeros((m, 0))
        value, back = te.vjp(program, a, b, 1.5)
        assert value == in_order(function, a, b, 1.5)
        slope = back(1.0)[2]
        assert slope == pytest.approx(function(a, b, 1.0) - function(a, b, 0.0), rel=1e-12, abs=1e-9)
