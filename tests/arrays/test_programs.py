"""Typical numpy programs with loops and item assignment."""

from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.testing import check_vjp

GENERATOR = numpy.random.default_rng(7)


def verlet(position: Any, velocity: Any) -> Any:
    """Velocity Verlet in a quartic well, all positions kept in one array."""
    path = np.zeros((12, *position.shape))
    path[0] = position
    force = -(position**3)
    for t in range(1, 12):
        velocity = velocity + 0.05 * force
        path[t] = path[t - 1] + 0.1 * velocity
        force = -(path[t] ** 3)
        velocity += 0.05 * force
    return path


def tridiagonal(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
    """Thomas' algorithm, in place on copies."""
    d, b = diagonal.copy(), right.copy()
    n = len(b)
    for i in range(1, n):
        w = lower[i - 1] / d[i - 1]
        d[i] -= w * upper[i - 1]
        b[i] -= w * b[i - 1]
    x = np.zeros(n)
    x[-1] = b[-1] / d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (b[i] - upper[i] * x[i + 1]) / d[i]
    return x


def cholesky(a: Any) -> Any:
    """Cholesky's factor, element by element."""
    n = len(a)
    factor = np.zeros((n, n))
    for j in range(n):
        factor[j, j] = np.sqrt(a[j, j] - factor[j, :j] @ factor[j, :j])
        for i in range(j + 1, n):
            factor[i, j] = (a[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return factor


def propagation(beliefs: Any) -> Any:
    """Beliefs about the cells of a small Latin square: each round weakens the numbers that a row or column contains."""
    cells = beliefs.copy()
    for _ in range(3):
        before = cells.copy()
        for r in range(3):
            for c in range(3):
                others = before[r].sum(axis=0) + before[:, c].sum(axis=0) - 2.0 * before[r, c]
                cells[r, c] = before[r, c] * np.exp(-0.3 * others)
                cells[r, c] /= cells[r, c].sum()
    return cells


def spd(n: int) -> Any:
    a = GENERATOR.standard_normal((n, n))
    return a @ a.T + n * numpy.eye(n)


PROGRAMS = {
    "verlet": (verlet, (GENERATOR.standard_normal((3, 2)), GENERATOR.standard_normal((3, 2)))),
    "tridiagonal": (
        tridiagonal,
        (*GENERATOR.uniform(0.1, 0.5, (1, 5)), GENERATOR.uniform(2, 3, 6), *GENERATOR.uniform(0.1, 0.5, (1, 5)),
         GENERATOR.standard_normal(6)),
    ),
    "cholesky": (cholesky, (spd(4),)),
    "propagation": (propagation, (GENERATOR.uniform(0.2, 1.0, (3, 3, 3)),)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    program, primals = PROGRAMS[name]
    check_vjp(program, *primals)


def test_tridiagonal_solves_the_system() -> None:
    lower, diagonal, upper, right = PROGRAMS["tridiagonal"][1]
    matrix = numpy.diag(lower, -1) + numpy.diag(diagonal) + numpy.diag(upper, 1)
    numpy.testing.assert_allclose(tridiagonal(lower, diagonal, upper, right), numpy.linalg.solve(matrix, right))


def test_cholesky_by_elements_has_the_derivative_of_numpys() -> None:
    a, ct = spd(4), numpy.tril(GENERATOR.standard_normal((4, 4)))
    by_elements = te.vjp(cholesky, a)[1](ct)[0]
    whole = te.vjp(np.linalg.cholesky, a)[1](ct)[0]
    numpy.testing.assert_allclose(by_elements + by_elements.T, whole + whole.T, rtol=1e-10)
