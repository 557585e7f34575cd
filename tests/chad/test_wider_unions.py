"""A member of a union as one of a wider union: values are Python's, derivatives in both modes those of differences."""

import math
from dataclasses import dataclass
from typing import Any

import pytest
from chad.written_functions import agrees_with_differences

import tapeengine as te


@dataclass
class Disc:
    r: float


@dataclass
class Box:
    a: float
    b: float


@dataclass
class Rod:
    n: float


def narrow(x: float, y: float) -> Disc | Box:
    return Disc(x * y) if x > 1.0 else Box(x, y * y)


def wide(x: float, y: float) -> Disc | Box | Rod:
    return narrow(x, y) if y > 0.0 else Rod(x * x * y)


def optional(x: float, y: float) -> Disc | Box | Rod | None:
    return wide(x, y) if x + y < 3.0 else None


def size(shape: Disc | Box | Rod | None) -> float:
    if shape is None:
        return 0.5
    if isinstance(shape, Disc):
        return math.sin(shape.r)
    if isinstance(shape, Box):
        return shape.a * shape.b
    return math.exp(shape.n)


def size_of_wide(x: float, y: float) -> float:
    return size(wide(x, y)) * x


def size_of_optional(x: float, y: float) -> float:
    return size(optional(x, y)) * x


def size_of_several(x: float, y: float) -> float:
    shapes = [wide(x, y), wide(y, x), Disc(x)]
    return sum([size(shape) * y for shape in shapes])


@pytest.mark.parametrize("point", [(2.0, 0.5), (0.5, 0.7), (0.5, -0.5), (2.0, 1.5)])
@pytest.mark.parametrize("function", [size_of_wide, size_of_optional, size_of_several])
def test_unions_that_become_wider(function: Any, point: tuple[float, float]) -> None:
    program = te.program(function)
    assert program.for_values(point).is_read
    gradient = agrees_with_differences(program, function, *point)
    value, tangent = te.jvp(program, point, (1.0, 0.25))
    assert value == function(*point)
    assert tangent == pytest.approx(gradient[0] + 0.25 * gradient[1], rel=1e-14)
