"""Targets of ``a = b = value``: Python binds them from left to right, each with what the ones before it changed."""

from __future__ import annotations

import itertools

import pytest
from chad.written_functions import defined

import tapeengine as te

TARGETS = ("i", "j", "ks[i]", "ks[j]", "ks[i - 1]", "rows[i][j]", "(i, j)", "[j, *rest]")
VALUES = {"a number": "n", "an expression": "(i + n) % 3", "a pair": "(n, 1)", "a constant": "2"}
SOURCE = """
def f(x: float, n: int) -> float:
    ks, rows, rest = [3, 2, 1, 0], [[4, 5, 6], [7, 8, 9], [1, 2, 3]], [0]
    i, j = 0, 1
    TARGETS = VALUE
    total = x * (i + 10 * j + 100 * rest[0])
    for k in range(4):
        total += x * x * ks[k] * (k + 2)
    for k in range(3):
        total += x * x * x * rows[k][2 - k] + rows[k][k] * x * (k + 5)
    return total
"""
CHAINS = [
    (chain, value)
    for value in VALUES
    for count in (2, 3)
    for chain in itertools.permutations(TARGETS, count)
    if all((target[0] in "([") == (value == "a pair") for target in chain)
]


@pytest.mark.parametrize("part", range(6))
def test_targets_are_bound_from_left_to_right(part: int) -> None:
    for chain, value in CHAINS[part::24]:
        f = defined(SOURCE.replace("TARGETS", " = ".join(chain)).replace("VALUE", VALUES[value]))
        program = te.program(f)
        for n in (0, 1, 2):
            steps = [f(0.5 + s * 0.25, n) for s in (-2, -1, 1, 2)]
            slope = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / 3.0  # exact for cubic polynomials
            assert te.value_and_grad(program)(0.5, n) == (f(0.5, n), pytest.approx(slope)), (
                chain,
                value,
            )
