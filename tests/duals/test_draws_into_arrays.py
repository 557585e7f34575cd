"""Draws into an array that a traced program makes: the draws, stream and errors of numpy, and derivatives."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

METHODS: dict[str, tuple[Any, ...]] = {
    "random": (),
    "standard_normal": (),
    "standard_exponential": (),
    "standard_gamma": (1.7,),
}
#: Arrays to fill, of which numpy refuses some.
PLACES: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda np: np.zeros((2, 3)),
    "empty": lambda np: np.empty((2, 3)),
    "columns first": lambda np: np.zeros((2, 3), order="F"),
    "row": lambda np: np.zeros((2, 3))[1],
    "reversed": lambda np: np.zeros((2, 3))[::-1],
    "column": lambda np: np.zeros((2, 3))[:, 1],
    "read-only": lambda np: np.broadcast_to(np.zeros(3), (2, 3)),
    "single": lambda np: np.zeros((2, 3), "f4"),
    "complex": lambda np: np.zeros((2, 3), complex),
    "none": lambda np: np.zeros((0, 3)),
    "without axes": lambda np: np.zeros(()),
}


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", [{}, {"dtype": "f4"}, {"size": (2, 3)}, {"size": 4}], ids=repr)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_draws_into_arrays_of_a_program(method: str, place: str, options: dict[str, Any]) -> None:
    def program(np: Any, scale: Any) -> Any:
        rng, out = np.random.default_rng(5), PLACES[place](np)
        drawn = getattr(rng, method)(*METHODS[method], out=out, **options)
        return scale * out, scale * rng.random(), 1.0 * (drawn is out)

    plain = outcome(lambda: program(numpy, 1.5))
    found = outcome(lambda: te.vjp(lambda scale: program(np, scale), 1.5)[0])
    slopes = outcome(lambda: te.jvp(lambda scale: program(np, scale), (1.5,), (1.0,))[1])
    if isinstance(plain[0], type):
        assert found == slopes == plain
    else:
        assert all(numpy.array_equal(x, y) for x, y in zip(plain, found, strict=True))
        assert all(numpy.allclose(x, y) for x, y in zip(program(numpy, 1.0)[:2], slopes[:2], strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_the_array_is_given_by_position_as_in_numpys_signature(method: str) -> None:
    names = list(re.findall(r"[(,] *(\w+)", getattr(numpy.random.Generator, method).__doc__.split("\n")[1]))
    before = {"size": None, "dtype": float, **dict(zip(names, METHODS[method], strict=False))}

    def program(np: Any, scale: Any) -> Any:
        rng, out = np.random.default_rng(5), np.zeros(3)
        drawn = getattr(rng, method)(*(before.get(name, True) for name in names[: names.index("out")]), out)
        return scale * out, 1.0 * (drawn is out)

    plain, (value, back) = program(numpy, 1.5), te.vjp(lambda scale: program(np, scale), 1.5)
    assert (value[0].tolist(), value[1]) == (plain[0].tolist(), 1.0)
    numpy.testing.assert_allclose(back((numpy.ones(3), 0.0))[0], plain[0].sum() / 1.5, rtol=1e-14)


def test_what_an_array_held_before_a_draw_has_no_derivative() -> None:
    def program(x: Any) -> Any:
        kept = x * x
        np.random.default_rng(1).standard_normal(None, float, kept)
        return np.sum(kept * x)

    drawn = numpy.random.default_rng(1).standard_normal(3)
    assert numpy.array_equal(te.grad(program)(numpy.array([1.0, 2.0, 3.0])), drawn)
    assert numpy.array_equal(te.grad(te.lift(with_numpy))(numpy.array([1.0, 2.0, 3.0])), drawn)


def with_numpy(x: Any) -> Any:
    buffer = numpy.empty(3)
    numpy.random.default_rng(1).standard_normal(out=buffer)
    return numpy.sum(buffer * x)
