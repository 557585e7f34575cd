"""Rows whose size is known before the loop that makes them are one array of two dimensions, not references to rows."""

from dataclasses import dataclass
from typing import Any

import pytest

import tapeengine as te
from tapeengine.chad.intermediate.analysis import outs, walk
from tapeengine.chad.intermediate.statements import ArrayOf

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
    functions = program.executable.lowered.program.functions.values()
    arrays = [v.type for f in functions for s, _ in walk(f.body) for v in outs(s) if isinstance(v.type, ArrayOf)]
    assert any(isinstance(of.element, ArrayOf) for of in arrays) is are_references
