"""Traced arrays shuffled by numpy's generators: numpy's order, its draws, and derivatives."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

SHAPES = [(0,), (1,), (7,), (5, 3), (1, 4), (0, 2), (3, 4, 2)]
CASES = [(shape, axis) for shape in SHAPES for axis in (*range(len(shape)), -1)]


def by_generator(np: Any, x: Any, axis: int) -> Any:
    rng = np.random.default_rng(5)
    rng.shuffle(x, axis=axis)
    return x, rng.permutation(x, axis=axis), rng.integers(10**6)


def by_copies(np: Any, x: Any, axis: int) -> Any:
    first = copy.deepcopy(np.random.default_rng(5))
    second = pickle.loads(pickle.dumps(np.random.default_rng(5)))
    first.shuffle(x, axis)
    return x, second.permutation(x, axis), first.integers(9)


def by_global_generator(np: Any, x: Any, axis: int) -> Any:
    numpy.random.seed(5)
    np.random.shuffle(x)
    return x, np.random.permutation(x), numpy.random.randint(10**6)


@pytest.mark.parametrize("program", [by_generator, by_copies, by_global_generator])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_the_order_is_numpys(program: Callable[..., Any], shape: tuple[int, ...], axis: int) -> None:
    x = numpy.random.default_rng(0).normal(size=shape)
    expected = program(numpy, x.copy(), axis)
    (once, again, drawn), back = te.vjp(lambda x: program(np, x * 1.0, axis), x)
    assert once.tolist() == expected[0].tolist() and again.tolist() == expected[1].tolist() and drawn == expected[2]
    weights = numpy.cos(numpy.arange(x.size)).reshape(shape)
    (found,) = back((weights, 2 * weights, None))
    for place in numpy.ndindex(shape):
        slope = (weights[once == x[place]] + 2 * weights[again == x[place]]).sum()
        assert found[place] == pytest.approx(slope, abs=1e-14)


def test_plain_arrays_and_lists_are_shuffled_by_numpy() -> None:
    for made in (list, numpy.asarray):
        ours, theirs = made(range(9)), made(range(9))
        np.random.default_rng(1).shuffle(ours)
        numpy.random.default_rng(1).shuffle(theirs)
        assert list(ours) == list(theirs)
    generator = numpy.random.default_rng(3)
    assert np.random.default_rng(generator) is generator
    assert isinstance(np.random.default_rng(), numpy.random.Generator)
