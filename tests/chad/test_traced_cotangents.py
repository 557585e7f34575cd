"""Cotangents and tangents of an enclosing trace, at plain primals: typed programs do what the functions do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te


@dataclasses.dataclass
class Pair:
    a: float
    b: float


def square(x: float) -> float:
    return x * x


def loop(x: float) -> float:
    total = 0.0
    for k in range(5):
        total = total * x + k
    return total


def whole(x: te.Vec) -> te.Vec:
    return x * x


def listed(x: list[float]) -> list[float]:
    return [v * x[0] for v in x]


def nested(x: list[list[float]]) -> list[float]:
    return [sum([v * v for v in row]) for row in x]


def several(x: float) -> tuple[float, list[float]]:
    return x * x, [x, x * x * x]


def of_record(x: Pair) -> Pair:
    return Pair(x.a * x.b, x.a)


#: Programs, a primal, a tangent of it and a cotangent of the value.
PROGRAMS: dict[str, tuple[Callable[..., Any], Any, Any, Any]] = {
    "number": (square, 2.0, 0.5, 3.0),
    "loop": (loop, 0.5, 1.0, 2.0),
    "array": (whole, np.array([1.0, 2.0]), np.array([0.5, 1.0]), np.array([3.0, -1.0])),
    "list": (listed, [1.0, 2.0], [0.5, 1.0], [3.0, -1.0]),
    "rows of any sizes": (nested, [[1.0], [2.0, 3.0]], [[0.5], [1.0, 2.0]], [3.0, -1.0]),
    "tuple": (several, 2.0, 0.5, (1.0, [2.0, 3.0])),
    "record": (of_record, Pair(2.0, 3.0), Pair(0.5, 1.0), Pair(1.0, 2.0)),
}


def leaves(value: Any) -> list[float]:
    if isinstance(value, Pair):
        return [value.a, value.b]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [x for part in value for x in leaves(part)]
    return [value]


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_by_cotangents_and_tangents(name: str) -> None:
    function, primal, tangent, cotangent = PROGRAMS[name]
    program = te.program(function)

    def outcome(f: Any) -> Any:
        back = te.vjp(f, primal)[1]
        return [
            leaves(te.jvp(lambda c: back(c)[0], (cotangent,), (cotangent,))),
            leaves(te.vjp(lambda c: te.vjp(f, primal)[1](c)[0], cotangent)[1](tangent)),
            leaves(te.jvp(lambda t: te.jvp(f, (primal,), (t,))[1], (tangent,), (tangent,))),
            leaves(te.vjp(lambda t: te.jvp(f, (primal,), (t,))[1], tangent)[1](cotangent)),
        ]

    for found, expected in zip(outcome(program), outcome(function), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
