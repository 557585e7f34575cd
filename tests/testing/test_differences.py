"""Differences resolve derivatives of functions on very different scales, and stop at the borders of domains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapeengine.primitive import Primitive, Sample
from tapeengine.primitive.builders import elementwise
from tapeengine.testing import report_primitive


def at(point: Any, function: Callable[..., Any], partial: Callable[..., Any]) -> Primitive:
    return elementwise("test.f", function, partial, args=("x",), samples=(Sample((point,)),))


SCALES = {
    "log near zero": (1e-8, np.log, lambda x: 1.0 / x),
    "log of a large number": (1e7, np.log, lambda x: 1.0 / x),
    "sine of a large number": (1e4, np.sin, lambda x: np.cos(x)),
    "a fast oscillation": (0.3, lambda x: np.sin(300.0 * x), lambda x: 300.0 * np.cos(300.0 * x)),
    "a steep exponential": (2.0, lambda x: np.exp(30.0 * x), lambda out: 30.0 * out),
    "all at once": (np.array([1e-8, 1.0, 1e6]), np.log, lambda x: 1.0 / x),
    "a border that raises": (0.01, lambda x: np.float64(float(x).__pow__(0.5).real), lambda x: 0.5 / np.sqrt(x)),
}


@pytest.mark.parametrize(("point", "function", "partial"), SCALES.values(), ids=SCALES)
def test_right_derivatives_are_confirmed(point: Any, function: Any, partial: Any) -> None:
    assert report_primitive(at(point, function, partial), order=1).failures == []


@pytest.mark.parametrize(("point", "function", "partial"), SCALES.values(), ids=SCALES)
def test_an_error_of_a_millionth_is_seen(point: Any, function: Any, partial: Any) -> None:
    names = partial.__code__.co_varnames[: partial.__code__.co_argcount]
    off = {"x": lambda x: partial(x) * 1.000001, "out": lambda out: partial(out) * 1.000001}[names[0]]
    assert report_primitive(at(point, function, off), order=1).failed == {"differences"}
