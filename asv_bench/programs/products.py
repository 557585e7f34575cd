"""Products of matrices and vectors on arrays, with gradients written by hand in numpy."""

from typing import Any

import numpy as np

from asv_bench.programs import draws
from asv_bench.programs.program import Program


def sum_matvec_arrays(xp: Any, matrix: Any, vector: Any) -> Any:
    """Sum the elements of a matrix times a vector."""
    return xp.sum(matrix @ vector)


def sum_matmul(xp: Any, a: Any, b: Any) -> Any:
    """Sum the elements of a product of two matrices."""
    return xp.sum(a @ b)


def matvec_by_hand(matrix: Any, vector: Any) -> Any:
    """Return value and gradients of `sum_matvec_arrays`."""
    ones = np.ones(matrix.shape[0])
    return np.sum(matrix @ vector), (np.outer(ones, vector), matrix.T @ ones)


def matmul_by_hand(a: Any, b: Any) -> Any:
    """Return value and gradients of `sum_matmul` by the general rule, with two further products."""
    product = a @ b
    ones = np.ones_like(product)
    return np.sum(product), (ones @ b.T, a.T @ ones)


def matvec_inputs(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a square matrix with sides of `size` and a vector."""
    return draws.array(23, size, size), draws.array(24, size)


def matmul_inputs(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two square matrices with sides of `size`."""
    return draws.array(25, size, size), draws.array(26, size, size)


MATVEC = Program("matvec_arrays", sum_matvec_arrays, matvec_inputs, (500,), "arrays", lambda size: 2 * size * size)
MATMUL = Program("matmul", sum_matmul, matmul_inputs, (1000,), "arrays", lambda size: 2 * size**3)
