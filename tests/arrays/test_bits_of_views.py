"""Functions of views have numpy's bits: numpy's loops round differently along axes of other directions and steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te

SHAPES = ((3, 4), (20, 33), (2, 3, 9), (9, 1), (1, 9), (2, 300))
ONE = ("exp", "log", "sqrt", "cbrt", "sin", "tanh", "log1p", "expm1", "exp2", "arcsinh", "sinh", "log10", "reciprocal")
TWO = ("power", "arctan2", "hypot", "logaddexp", "divide", "fmod")
PARTS: tuple[Any, ...] = (
    slice(None),
    slice(None, None, -1),
    slice(None, None, 2),
    slice(None, None, -2),
    slice(0, 1),
    0,
)


def random_view(rng: random.Random, axes: int) -> Callable[[Any], Any]:
    """A view of an array: a part along each axis, with axes of length 1 added, or transposed."""
    index: list[Any] = []
    for _ in range(axes):
        index += [None] * (rng.random() < 0.15) + [rng.choice(PARTS)]
    index += [None] * (rng.random() < 0.15)
    return (lambda x: x[tuple(index)].T) if rng.random() < 0.3 else (lambda x: x[tuple(index)])


def random_call(rng: random.Random, axes: int) -> Callable[[Any], Any]:
    one = random_view(rng, axes)
    if rng.random() < 0.4:
        function = getattr(numpy, rng.choice(ONE))
        return lambda x: function(one(x))
    function, two = getattr(numpy, rng.choice(TWO)), random_view(rng, axes)
    other = rng.choice((two, two, lambda x: x, lambda x: 1.7))
    return (lambda x: function(one(x), other(x))) if rng.random() < 0.5 else (lambda x: function(other(x), one(x)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_values_of_views_have_the_bits_of_numpy(shape: tuple[int, ...], seed: int) -> None:
    rng = random.Random(repr((shape, seed)))
    x = numpy.random.default_rng(seed).uniform(0.1, 3.0, size=shape)
    compared = 0
    while compared < 60:
        program = random_call(rng, len(shape))
        try:
            wanted = program(x)
        except ValueError:  # shapes that cannot be broadcast
            continue
        compared += 1
        found = te.vjp(program, x)[0]
        assert numpy.array_equal(found, wanted)
        staged = te.stage(program)
        assert all(numpy.array_equal(te.vjp(staged, x)[0], wanted) for _ in range(2))
