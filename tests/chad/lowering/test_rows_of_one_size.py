"""Rows whose size is known before the loop that makes them are one array of two dimensions, not references to rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.intermediate.analysis import outs, walk
from tapeengine.chad.intermediate.statements import ArrayOf, For

Matrix = te.Array[te.Vec]


@dataclass
class Dense:
    rows: Matrix


@dataclass
class Scaled:
    factor: float


@te.program
def of_equal_sizes(m: Matrix, y: te.Vec) -> float:
    made = [[a * b for a, b in zip(row, [c for c in y if c > row[0]], strict=True)] for row in m]
    return sum(sum(row) for row in made)


@te.program
def in_a_union(x: te.Vec, c: float) -> float:
    made: Dense | Scaled = Dense([[a * b for b in x] for a in x]) if c > 0.0 else Scaled(c)
    total = 0.0
    for i in range(3):
        match made:
            case Dense(rows):
                total += sum([sum(row) for row in rows]) * c
            case Scaled(factor):
                total += factor * i
    return total


@te.program
def of_other_sizes(x: te.Vec) -> float:
    made = [[a * b for b in x if b > a] for a in x]
    return sum([sum(row) for row in made])


@pytest.mark.parametrize(
    ("program", "are_references"), [(of_equal_sizes, False), (in_a_union, False), (of_other_sizes, True)]
)
def test_rows_of_one_size_are_one_array(program: Any, are_references: bool) -> None:
    assert has_references(program) is are_references


def has_references(program: Any) -> bool:
    """Tell whether a program makes arrays of references to rows."""
    functions = program.executable.lowered.program.functions.values()
    arrays = [v.type for f in functions for s, _ in walk(f.body) for v in outs(s) if isinstance(v.type, ArrayOf)]
    return any(isinstance(of.element, ArrayOf) for of in arrays)


@te.program
def of_matrices(x: te.Array[Matrix], k: int) -> float:
    total = 0.0
    for i in range(len(x)):
        part = Dense(x[i]) if i > k else Scaled(2.0)
        total += part.rows[0][1] * 2.0 if isinstance(part, Dense) else part.factor * x[0][0][0]
    return total


def test_rows_of_an_option_that_is_not_there_have_the_dimensions_of_those_that_are():
    """Otherwise loops copy the rows to arrays of the other dimensions."""
    forward = of_matrices.executable.lowered.program.functions["forward"]
    assert sum(isinstance(s, For) for s, _ in walk(forward.body)) == 1
    x = np.arange(24.0).reshape(2, 3, 4)
    for k in (0, 1):
        value, back = te.vjp(of_matrices, x, k)
        expected = np.zeros(x.shape)
        expected[0, 0, 0] = 2.0 * (k + 1)
        expected[1, 0, 1] = 2.0 * (k == 0)
        assert value == of_matrices.python(x, k)
        assert back(1.0)[0].tolist() == expected.tolist()


@te.program
def of_a_number(x: te.Vec, n: int) -> Matrix:
    return [[v * j for j in range(n)] for v in x]


@te.program
def of_zeros(x: te.Vec, n: int) -> Matrix:
    return [np.zeros(n + 1) + v for v in x]


@pytest.mark.parametrize(("program", "numbers"), [(of_a_number, (3, -3)), (of_zeros, (2, -1))])
def test_numbers_that_no_step_changes_are_sizes_of_all_rows(program, numbers):
    assert not has_references(program)
    x = np.array([2.0, 5.0])
    for n in numbers:
        value, back = te.vjp(program, x, n)
        assert list(map(list, value)) == list(map(list, program.python(x, n)))
        slope = range(n) if program is of_a_number else [1] * (n + 1)
        assert back([[1.0] * len(row) for row in value])[0].tolist() == [sum(slope)] * 2


@te.program
def of_rising_numbers(x: te.Vec) -> Matrix:
    return [[v * j for j in range(i)] for i, v in enumerate(x)]


@pytest.mark.parametrize(("program", "is_dense"), [(of_a_number, True), (of_rising_numbers, False)])
def test_it_is_known_whether_a_result_has_rows_of_one_size(program: Any, is_dense: bool) -> None:
    assert program.executable.lowered.is_dense is is_dense
