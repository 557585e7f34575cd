"""The small programs of the parallel paper (DN Table 1): product, dot product, matrix times vector."""

import math
from typing import Any

from asv_bench.programs import draws
from asv_bench.programs.program import Program


def multiply(xp: Any, x: Any, y: Any) -> Any:
    """Multiply two scalars."""
    return x * y


def dot(xp: Any, xs: list[Any], ys: list[Any]) -> Any:
    """Sum the products of two lists."""
    total = 0.0
    for x, y in zip(xs, ys):
        total = total + x * y
    return total


def sum_matvec(xp: Any, matrix: list[list[Any]], vector: list[Any]) -> Any:
    """Sum the elements of a matrix times a vector."""
    total = 0.0
    for row in matrix:
        total = total + dot(xp, row, vector)
    return total


def multiply_inputs(size: int) -> tuple[float, float]:
    """Return two floats, whatever the size."""
    return 0.7, -1.3


def dot_inputs(size: int) -> tuple[list[float], list[float]]:
    """Draw two lists of `size` floats."""
    return draws.scalars(size, seed=2), draws.scalars(size, seed=3)


def matvec_inputs(size: int) -> tuple[list[list[float]], list[float]]:
    """Draw a square matrix of about `size` elements and a vector."""
    side = math.isqrt(size)
    return [draws.scalars(side, seed=10 + i) for i in range(side)], draws.scalars(side, seed=4)


MULTIPLY = Program("multiply", multiply, multiply_inputs, (1,), operations=lambda size: 1)
DOT = Program("dot", dot, dot_inputs, (100, 1000, 10_000, 100_000), operations=lambda size: 2 * size)
MATVEC = Program(
    "sum_matvec", sum_matvec, matvec_inputs, (100, 10_000, 250_000), operations=lambda size: 2 * size + math.isqrt(size)
)
