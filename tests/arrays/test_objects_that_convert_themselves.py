"""Objects with `__array__` in functions that make arrays: converted once, to plain and to traced arrays; and dtypes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

FUNCTIONS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")


class Held:
    def __init__(self, values: Any) -> None:
        self.values, self.conversions = values, 0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.conversions += 1
        return self.values

    @property
    def dtype(self) -> Any:
        return np.asarray(self).dtype


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_object_is_converted_once(function: str) -> None:
    made = getattr(np, function)

    def program(x: Any, scaled: bool) -> Any:
        held = Held(numpy.arange(3.0) * x if scaled else numpy.arange(3.0))
        found = (made(held) * x).sum()
        assert held.conversions == 1
        return found

    assert te.grad(program)(2.0, False) == 3.0
    assert te.grad(program)(2.0, True) == 12.0
    assert program(2.0, True) == 12.0


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", [0.5, numpy.float64(0.5), 0.5j, numpy.complex64(0.5), numpy.ones(2)], ids=repr)
def test_a_traced_value_in_place_of_a_dtype_raises_what_the_plain_one_raises(function: str, kind: Any) -> None:
    def made(x: Any, ones: Any) -> Any:
        try:
            return getattr(np, function)(ones, x).dtype
        except TypeError as error:
            return type(error)

    found: list[Any] = []
    te.vjp(lambda x: (found.extend([made(x, numpy.ones(2)), made(x, numpy.ones(2) * abs(x))]), x)[1], kind)
    assert found == [made(kind, numpy.ones(2))] * 2
