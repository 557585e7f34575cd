"""What a cached_property has stored in an argument is computed again from its fields, with its derivative."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import pytest

import tapeengine as te


class Cached:
    """What each class keeps: a function of its parts, and a function of this."""

    @cached_property
    def square(self) -> Any:
        return numpy.asarray(te.value(self.x)).size * self.x * self.x

    @cached_property
    def cube(self) -> Any:
        return self.square * self.x


@dataclass
class Open(Cached):
    x: Any


@dataclass(frozen=True)
class Frozen(Cached):
    x: Any


@dataclass
class Slots:
    __slots__ = ("__dict__", "x")
    x: Any
    square, cube = Cached.square, Cached.cube


class Tuple(Cached, namedtuple("Tuple", "x")):
    pass


class Dict(dict[str, Any], Cached):
    @property
    def x(self) -> Any:
        return self["x"]


class Registered(Cached):
    def __init__(self, x: Any) -> None:
        self.x = x


te.register_container(Registered)
CLASSES = {cls: cls for cls in (Open, Frozen, Slots, Tuple, Registered)} | {Dict: lambda x: Dict(x=x)}


def used(make: Any, x: Any) -> Any:
    """An object of which all properties have been read."""
    found = make(x)
    assert numpy.all(found.cube == found.square * x)
    return found


@pytest.mark.parametrize("x", [3.0, numpy.array([1.0, -2.0])], ids=["number", "array"])
@pytest.mark.parametrize("cls", CLASSES)
def test_all_transforms(cls: Any, x: Any) -> None:
    make = CLASSES[cls]
    point, size = used(make, x), numpy.size(x)

    def program(of: Any) -> Any:
        return numpy.sum(of.cube + of.square)

    slope = size * (3.0 * numpy.multiply(x, x) + 2.0 * numpy.asarray(x))
    cotangent = te.grad(program)(point)
    assert type(cotangent) is cls
    numpy.testing.assert_allclose(cotangent.x, slope, rtol=1e-14)
    numpy.testing.assert_allclose(cotangent.square, size * slope * slope, rtol=1e-14)  # its own, not the argument's
    value, tangent = te.jvp(program, (point,), (make(x),))
    assert value == program(point)
    assert tangent == pytest.approx(numpy.sum(slope * x))
    staged = te.stage(program)
    for factor in (1.0, 2.0, 1.0):
        other = used(make, x * factor)
        assert staged(other) == pytest.approx(program(other))
        expected = size * (3.0 * factor**2 * numpy.multiply(x, x) + 2.0 * factor * numpy.asarray(x))
        numpy.testing.assert_allclose(te.grad(staged)(other).x, expected, rtol=1e-14)


@pytest.mark.parametrize("cls", CLASSES)
def test_results(cls: Any) -> None:
    make = CLASSES[cls]
    value, backpropagator = te.vjp(lambda x: used(make, x * 2.0), 1.5)
    assert (value.x, value.square) == (3.0, 9.0)
    assert backpropagator(used(make, 1.0)) == (2.0,)
    assert te.jvp(lambda x: used(make, x * 2.0), (1.5,), (1.0,))[1].x == 2.0
