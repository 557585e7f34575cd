"""Assignments of a part of a matrix that overlaps its target: the values from before are stored, as of a copy."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

PARTS = ("C[0]", "C[1]", "C[-1]", "C[:, 0]", "C[:, -1]", "C[::-1, 1]", "C.T[2]", "C[1, ::-1]", "C[:, 1][::-1]")
TARGETS = ("C[0]", "C[1]", "C[:, 0]", "C[:, 2]", "C[1, :]")
MATRIX = np.arange(9.0).reshape(3, 3) + 1.0


@pytest.mark.parametrize(("target", "part"), [*itertools.product(TARGETS, PARTS)])
def test_a_part_of_itself(target, part):
    program = te.program(function_of("B", ["C = B * 1.0", f"{target} = {part}", "return np.sum(C * C)"]))
    wanted = function_of("B", ["C = B * 1.0", f"{target} = ({part}).copy()", "return np.sum(C * C)"])
    value, back = te.vjp(program, MATRIX)
    assert value == wanted(MATRIX)
    np.testing.assert_array_equal(back(1.0)[0], te.grad(wanted)(MATRIX))
