"""Traced arrays shuffled by numpy's generators: numpy's order, its draws, and derivatives."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from inspect import signature
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


@pytest.mark.parametrize("name", ["Generator", "RandomState"])
def test_parameters_are_numpys(name: str) -> None:
    ours, theirs = vars(getattr(np.random, name)), getattr(numpy.random, name)
    methods = [method for method in ours if not method.startswith("_") and hasattr(theirs, method)]
    assert "permutation" in methods
    for method in methods:
        found, expected = (
            [(x.name, x.kind, x.default) for x in signature(owner[method]).parameters.values()]
            for owner in (ours, vars(theirs))
        )
        assert found == expected


#: Draws and rearrangements of a traced array by a generator.
DRAWS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "choice": (lambda r, x: r.choice(x), (7,)),
    "choices": (lambda r, x: r.choice(x, (2, 3)), (7,)),
    "without replacement": (lambda r, x: r.choice(x, 4, replace=False), (7,)),
    "in order": (lambda r, x: r.choice(x, 4, False, shuffle=False), (7,)),
    "with probabilities": (lambda r, x: r.choice(x, 3, p=numpy.arange(7) / 21), (7,)),
    "rows": (lambda r, x: r.choice(x, 2), (5, 3)),
    "columns": (lambda r, x: r.choice(x, (2, 2), axis=1), (5, 3)),
    "too many": (lambda r, x: r.choice(x, 8, replace=False), (7,)),
    "of nothing": (lambda r, x: r.choice(x, 1), (0,)),
    "permuted": (lambda r, x: r.permuted(x), (5, 3)),
    "permuted rows": (lambda r, x: r.permuted(x, axis=1), (5, 3)),
    "permuted columns": (lambda r, x: r.permuted(x, axis=0), (5, 3)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys(name: str) -> None:
    draw, shape = DRAWS[name]
    x = numpy.random.default_rng(0).normal(size=shape)

    def program(np: Any) -> Callable[[Any], Any]:
        def drawn(x: Any) -> Any:
            random = np.random.default_rng(5)
            return draw(random, x * 1.0), random.integers(10**6)

        return drawn

    assert _agree(program, x)


@pytest.mark.parametrize("name", ["choice", "choices", "without replacement", "with probabilities", "rows"])
def test_draws_of_the_global_generator(name: str) -> None:
    draw, shape = DRAWS[name]

    def program(np: Any) -> Callable[[Any], Any]:
        def drawn(x: Any) -> Any:
            numpy.random.seed(5)
            return draw(np.random, x * 1.0)

        return drawn

    assert _agree(program, numpy.random.default_rng(0).normal(size=shape))


@pytest.mark.parametrize("name", ["choice", "choices", "without replacement", "with probabilities", "rows"])
def test_draws_of_a_random_state(name: str) -> None:
    draw, shape = DRAWS[name]
    assert _agree(
        lambda np: lambda x: draw(np.random.RandomState(5), x * 1.0), numpy.random.default_rng(0).normal(size=shape)
    )


@pytest.mark.parametrize("shape", [(4,), (3, 2), (0, 2)])
def test_a_random_state_shuffles_and_is_copied(shape: tuple[int, ...]) -> None:
    def program(np: Any) -> Callable[[Any], Any]:
        def shuffled(x: Any) -> Any:
            random = np.random.RandomState(5)
            random.normal()  # leaves a second normal number in the state
            copied, x = pickle.loads(pickle.dumps(random)), x * 1.0
            random.shuffle(x)
            assert type(copied) is type(random) and copied.normal() == random.normal()
            return np.concatenate([x, random.permutation(x)])

        return shuffled

    assert _agree(program, numpy.random.default_rng(0).normal(size=shape))


def _agree(program: Callable[[Any], Callable[[Any], Any]], x: Any) -> bool:
    """Whether value and derivative of the program, with either module, are those of the plain program, or its error."""
    try:
        expected = program(numpy)(x)
    except ValueError:
        with pytest.raises(ValueError):
            te.vjp(program(np), x)
        return True
    value, tangent = te.jvp(program(np), (x,), (x,))  # a selection of elements maps x itself to its value
    flat, slope = (list(v) if isinstance(v, tuple) else [v] for v in (value, tangent))
    wanted = list(expected) if isinstance(expected, tuple) else [expected]
    return all(numpy.array_equal(a, b) for a, b in zip(flat, wanted, strict=True)) and numpy.array_equal(
        slope[0], flat[0]
    )


def test_plain_arrays_and_lists_are_shuffled_by_numpy() -> None:
    for made in (list, numpy.asarray):
        ours, theirs = made(range(9)), made(range(9))
        np.random.default_rng(1).shuffle(ours)
        numpy.random.default_rng(1).shuffle(theirs)
        assert list(ours) == list(theirs)
    generator = numpy.random.default_rng(3)
    assert np.random.default_rng(generator) is generator
    assert isinstance(np.random.default_rng(), numpy.random.Generator)
