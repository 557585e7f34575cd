"""Options that numpy only checks, or by which it may use an argument's memory, change neither value nor derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te

X = numpy.random.default_rng(1).permutation(12).reshape(3, 4) * 0.7 - 3.1
STEP = numpy.random.default_rng(2).normal(size=X.shape) * 1e-6

SOURCES: dict[str, Callable[[Any], Any]] = {
    "row": lambda a: a[-1, ::-1],
    "rows": lambda a: a[::-1],
    "column": lambda a: a[:, 1:2],
    "extreme": lambda a: a.max(0) * a[0],
    "number": lambda a: a[1, 2],
    "constant": lambda a: numpy.arange(4.0),
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "values": lambda a: a > 0.1,
    "columns": lambda a: numpy.array([True, True, False, True]),
    "source": lambda a: a[::-1] < a,
    "all": lambda a: True,
}
OF_ORDER: dict[str, tuple[Any, ...]] = {
    "median": (),
    "nanmedian": (),
    "quantile": (0.3,),
    "nanquantile": (0.3,),
    "percentile": ([20.0, 70.0],),
    "nanpercentile": (30.0,),
}


def check(program: Callable[[Any], Any]) -> None:
    wanted = (program(X + STEP) - program(X - STEP)) / 2.0
    value, back = te.vjp(program, X)
    assert numpy.array_equal(value, program(X))
    numpy.testing.assert_allclose(te.jvp(program, (X,), (STEP,))[1], wanted, rtol=1e-6, atol=1e-13)
    cotangent = numpy.linspace(1.0, 2.0, value.size).reshape(value.shape)
    given = type(value)(cotangent) if isinstance(value, float) else cotangent
    numpy.testing.assert_allclose(numpy.sum(back(given)[0] * STEP), numpy.sum(wanted * cotangent), rtol=1e-6)
    staged = te.stage(program)
    assert all(numpy.array_equal(te.vjp(staged, x)[0], program(x)) for x in (X, X, X[::-1]))


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("source", SOURCES)
def test_copyto_writes_once(source: str, mask: str, casting: Any) -> None:
    def program(x: Any) -> Any:
        a = x * 1.0
        numpy.copyto(a, SOURCES[source](a), casting=casting, where=MASKS[mask](a))
        return a * a

    check(program)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("name", OF_ORDER)
def test_an_argument_that_may_be_overwritten_keeps_its_order(name: str, axis: Any) -> None:
    function = getattr(numpy, name)

    def program(x: Any) -> Any:
        return function(x * 1.0, *OF_ORDER[name], axis=axis, overwrite_input=True)

    check(program)
    given = X.copy()
    value, back = te.vjp(lambda x: function(x, *OF_ORDER[name], axis=axis, overwrite_input=True), given)
    assert numpy.array_equal(given, X)
    expected = te.vjp(lambda x: function(x, *OF_ORDER[name], axis=axis), X)
    cotangent = numpy.ones(numpy.shape(value)) if numpy.ndim(value) else numpy.float64(1.0)
    assert numpy.array_equal(back(cotangent)[0], expected[1](cotangent)[0])
