"""Sums of loops run step by step on the register machine, without arrays of what is summed."""

import math
from typing import Any

import numpy as np
import pytest
from chad import evaluated as specification

import tapeengine as te


def falling(x: float, v: float, steps: int) -> float:
    for _ in range(steps):
        x = x + 0.1 * v
        v = v - 0.1 * math.sin(x)
    return x * x


falling_typed = te.program(falling)


@te.program
def of_loops(xs: te.Vec, v: float, steps: int) -> float:
    return sum(falling_typed(xs[i], v, steps) for i in range(len(xs)))


@te.program
def of_maps(xs: te.Vec, v: float, steps: int) -> float:
    return sum(falling_typed(x, v, steps) for x in xs)


@te.program
def nested(xs: te.Vec, v: float, steps: int) -> float:
    return sum(x * sum(falling_typed(y, v, steps) for y in xs) for x in xs)


@te.program
def counted(xs: te.Vec, v: float, steps: int) -> float:
    def halvings(x: float) -> int:
        n = 0
        while x > 1.0:
            x = x / 2.0
            n = n + 1
        return n

    return v * sum(halvings(x * x * steps) for x in xs)


PROGRAMS = {"indices": of_loops, "elements": of_maps, "nested": nested, "integers": counted}
POINTS = {"several": np.array([0.3, -1.2, 2.0]), "one": np.array([0.7]), "none": np.zeros(0)}


@pytest.mark.parametrize("xs", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_agrees_with_evaluator_and_duals(program: Any, xs: np.ndarray) -> None:
    primals = (xs, 0.4, 7)
    value, backpropagator = te.vjp(program, *primals)
    evaluated, evaluated_back = specification.vjp(program.executable, primals)
    plain, on_duals = te.vjp(program.python, *primals)
    assert value == pytest.approx(evaluated, rel=1e-14)
    assert value == pytest.approx(plain, rel=1e-14)
    for other in (evaluated_back, on_duals if xs.size else evaluated_back):  # the plain sum of nothing is an integer
        for found, expected in zip(backpropagator(1.5), other(1.5), strict=True):
            if expected is not None:
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_runs_on_the_machine(program: Any) -> None:
    assert program.executable.entry is not None or program.executable.whole.few is not None


def test_numpy_is_not_preferred_for_a_loop_over_time() -> None:
    assert not falling_typed.executable.prefers_numpy
    assert falling_typed.executable.entry is not None


def test_sums_without_loops_stay_whole_array_operations() -> None:
    @te.program
    def squares(xs: te.Vec) -> float:
        return sum(x * x for x in xs)

    assert "for " not in squares.executable.whole.text


def test_sums_of_loops_over_rows_stay_whole_where_the_machine_cannot_run_them() -> None:
    @te.program
    def products(rows: te.Array[te.Vec], steps: int) -> float:
        def grown(row: te.Vec) -> float:
            for _ in range(steps):
                row = row * 1.5 + 0.1
            return sum(row)

        return sum(grown(row) for row in rows)

    rows = np.arange(6.0).reshape(2, 3)
    value, backpropagator = te.vjp(products, rows, 2)
    assert value == pytest.approx(products.python(rows, 2), rel=1e-14)
    np.testing.assert_allclose(backpropagator(1.0)[0], np.full((2, 3), 1.5**2), rtol=1e-14)
