"""Cotangents and tangents have the containers of their primals at each depth: lists, tuples and records."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import tapeengine as te


@dataclasses.dataclass
class Of:
    """A record of containers."""

    row: list[float]
    pair: tuple[float, ...]


def rows(x: list[list[float]]) -> float:
    return sum(v * v for row in x for v in row)


def tuples(x: tuple[tuple[float, ...], ...]) -> float:
    return sum(v * v for row in x for v in row)


def mixed(x: list[tuple[float, ...]]) -> float:
    return sum(v * v for row in x for v in row)


def other_way(x: tuple[list[float], ...]) -> float:
    return sum(v * v for row in x for v in row)


def records(x: list[Of]) -> float:
    return sum(sum(v * v for v in r.row) + sum(v * v for v in r.pair) for r in x)


def identity(x: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return x


R = Of([1.0, 2.0], (3.0, 4.0, 5.0))
CASES = [
    (rows, [[1.0, 2.0], [3.0]]),
    (rows, [[1.0, 2.0], [3.0, 4.0]]),
    (tuples, ((1.0, 2.0), (3.0,))),
    (tuples, ((1.0, 2.0), (3.0, 4.0))),
    (mixed, [(1.0, 2.0), (3.0,)]),
    (other_way, ([1.0, 2.0], [3.0])),
    (other_way, ([1.0, 2.0], [3.0, 4.0])),
    (records, [R, Of([0.5], (1.5,))]),
]


def doubled(x: Any) -> Any:
    """The cotangent of a sum of squares."""
    if isinstance(x, Of):
        return Of(doubled(x.row), doubled(x.pair))
    return type(x)(map(doubled, x)) if isinstance(x, list | tuple) else 2.0 * x


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize(("function", "x"), CASES)
def test_containers(function, x, backend):
    program = te.program(function, backend=backend)
    for _ in range(2):
        assert te.vjp(program, x)[1](1.0)[0] == doubled(x)
    assert te.jvp(program, (x,), (x,)) == pytest.approx((function(x), 2.0 * function(x)))


@pytest.mark.parametrize("backend", [None, "machine", "native"])
def test_containers_of_results(backend):
    x = [(1.0, 2.0), (3.0,)]
    program = te.program(identity, backend=backend)
    value, back = te.vjp(program, x)
    assert value == x
    assert back([(1.0, 0.5), (2.0,)])[0] == [(1.0, 0.5), (2.0,)]
    np.testing.assert_equal(te.jvp(program, (x,), (x,)), (x, x))
