"""Filters inside builds: at once where the condition is the same for all, else step by step."""

import numpy as np
import pytest
from chad import evaluated as specification

import tapeengine
from asv_bench.programs.typed_twins import det
from tapeengine import chad as te

ENGINE = tapeengine.Engine()
Matrix = te.Array[te.Vec]


@te.program
def without(rows: Matrix, j: int) -> Matrix:
    """Leave a column out of each row: one selection for all rows."""
    return [[row[c] * row[0] for c in range(len(row)) if c != j] for row in rows]


@te.program
def large(rows: Matrix, bounds: te.Vec) -> Matrix:
    """Select by values that all rows share."""
    return [[row[c] * b for c, b in enumerate(bounds) if b > 0.0] for row in rows]


@te.program
def positive(rows: Matrix) -> te.Vec:
    """Select in each row by its own elements: rows of different sizes."""
    return [sum(x * x for x in row if x > 0.0) for row in rows]


ROWS = np.random.default_rng(4).normal(size=(4, 5))
CASES = {
    "first": (without, (ROWS, 0)),
    "last": (without, (ROWS, 4)),
    "none": (without, (ROWS, 7)),
    "no rows": (without, (np.zeros((0, 5)), 1)),
    "values": (large, (ROWS, np.array([1.0, -1.0, 0.5, 0.0, 2.0]))),
    "nothing left": (large, (ROWS, -np.ones(5))),
    "own values": (positive, (ROWS,)),
    "det": (det, (ROWS[:, :4],)),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_evaluator(name):
    program, args = CASES[name]
    value, back = program.executable.vjp(args)
    wanted, wanted_back = specification.vjp(program.executable, args)
    np.testing.assert_allclose(np.array(value, float), np.array(wanted, float).reshape(np.shape(value)), rtol=1e-13)
    ct = np.random.default_rng(5).normal(size=np.shape(value)) if np.ndim(value) else 1.5
    for found, expected in zip(back(ct), wanted_back(ct), strict=True):
        if expected is not None:
            expected = np.array(expected, float).reshape(np.shape(found))
            np.testing.assert_allclose(np.array(found, float), expected, rtol=1e-12, atol=1e-14)


def test_minors_of_a_matrix():
    assert ENGINE.grad(det)(ROWS[:, :4]) == pytest.approx(np.linalg.det(ROWS[:, :4]) * np.linalg.inv(ROWS[:, :4]).T)
