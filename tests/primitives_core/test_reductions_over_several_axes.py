"""Reductions of ufuncs over one, several, all and no axes, with initial values: the values and slopes of numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

import tapeengine as te

X = numpy.random.default_rng(3).uniform(0.2, 2.0, size=(2, 3, 4))
STEP = numpy.random.default_rng(4).normal(size=X.shape)
AXES: tuple[Any, ...] = (None, 0, -1, (), (1,), (0, 1), (2, 0), (1, 2), (0, 1, 2), (0, -1))
UFUNCS = (
    *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logaddexp", "hypot"),
    "subtract",
    "divide",
    "fmod",
)


def outcome(program: Any, *args: Any) -> Any:
    try:
        return program(*args)
    except ValueError as error:
        return type(error)


@pytest.mark.parametrize("options", [{}, {"keepdims": True}, {"initial": 1.5}], ids=str)
@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("name", UFUNCS)
def test_reductions_over_axes(name: str, axis: Any, options: dict[str, Any]) -> None:
    def program(x: Any) -> Any:
        return getattr(numpy, name).reduce(x, axis=axis, **options)

    wanted, found = outcome(program, X), outcome(lambda x: te.jvp(program, (x,), (STEP,)), X)
    if isinstance(wanted, type):
        assert found is wanted
        return
    slope = (program(X + 1e-6 * STEP) - program(X - 1e-6 * STEP)) / 2e-6
    numpy.testing.assert_allclose(found[0], wanted, rtol=1e-15 if name != "logaddexp" else 1e-14)
    assert type(found[0]) is type(wanted)
    numpy.testing.assert_allclose(found[1], slope, rtol=1e-6, atol=1e-7)
    back = te.vjp(lambda x: numpy.sum(program(x)), X)[1](numpy.float64(1.0))[0]
    numpy.testing.assert_allclose(numpy.sum(back * STEP), numpy.sum(found[1]), rtol=1e-9)


@pytest.mark.parametrize(("name", "axis"), [*itertools.product(("max", "min", "sum", "prod"), (None, 0, (1, 2)))])
@pytest.mark.parametrize("of", ["f4", "f8", "c16"])
def test_a_traced_initial_value_has_the_dtype_of_the_array(name: str, axis: Any, of: str) -> None:
    def program(x: Any, start: Any) -> Any:
        return getattr(numpy, name)(x, axis=axis, initial=start[0])

    for start in (numpy.array([1.3]), numpy.array([0.1], "f4")):
        wanted, found = (run(X.astype(of), start) for run in (program, lambda *args: te.vjp(program, *args)[0]))
        assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("mask", [X > 1.0, numpy.ones(4, bool), True], ids=["some", "all", "no mask"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_a_masked_reduction_without_an_initial_value(name: str, mask: Any) -> None:
    def program(x: Any) -> Any:
        return getattr(numpy, name)(x, where=mask, initial=None)

    wanted, found = outcome(program, X), outcome(lambda x: te.vjp(program, x)[0], X)
    assert found is wanted if isinstance(wanted, type) else numpy.allclose(found, wanted, rtol=1e-14)
