"""Where a program runs on dual numbers, tests of classes and functions that it reaches in other ways are Python's.

Each program is outside of the language by `heapq.nsmallest`; the same body within the language has the same value.
"""

import functools
import heapq
import math

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.lift import functions

SCALE = functools.partial(math.pow, 2.0)


@functools.singledispatch
def dispatched(v):
    return 2.0


@dispatched.register
def _(v: np.ndarray):
    return 4.0


@dispatched.register
def _(v: float):
    return 5.0 * math.sin(v)


def matched(v):
    match v:
        case np.ndarray():
            return 3.0
        case float():
            return 7.0
    return 2.0


def with_default(x, f=math.sin, *, g=np.cos):
    return f(x) * g(x)


def with_arrays(x, weights=np.array([1.0, 2.0])):  # noqa: B008
    return x * np.sum(weights)


BODIES = {
    "class of a number": "2.0 if x.__class__ is float else 3.0",
    "class of an array": "2.0 if v.__class__ is np.ndarray else 3.0",
    "match of a number": "matched(x)",
    "match of an array": "matched(v)",
    "dispatch of a number": "dispatched(x)",
    "dispatch of an array": "dispatched(v)",
    "attribute of a number": '2.0 if hasattr(x, "__getitem__") else 3.0',
    "attribute of an array": '2.0 if hasattr(v, "tolist") else 3.0',
    "type": "2.0 if type(x) is float and type(v) is np.ndarray else 3.0",
    "isinstance": "2.0 if isinstance(x, float) and isinstance(v, np.ndarray) else 3.0",
    "defaults": "with_default(x)",
    "arrays as defaults": "with_arrays(x)",
    "partial": "SCALE(x)",
    "number of numpy": "np.float64(x)",
    "method of a number": "(1.5).__lt__(x) * 2.0 + x",
}


@pytest.mark.parametrize("name", BODIES)
def test_value_and_derivative(name):
    scope = dict(globals())
    lines = ["def outside(x, v):", "x = heapq.nsmallest(1, [x, 99.0])[0]", f"return ({BODIES[name]}) * x + np.sum(v)"]
    run_in(scope, "\n    ".join(lines) + "\n")
    outside, v = scope["outside"], np.array([1.0, 2.5])
    value, back = te.vjp(te.program(outside), 1.75, v)
    assert value == outside(1.75, v)
    by_x, by_v = back(1.0)
    assert by_x == pytest.approx((outside(1.75 + 1e-6, v) - outside(1.75 - 1e-6, v)) / 2e-6, rel=1e-7)
    np.testing.assert_array_equal(by_v, [1.0, 1.0])


def smallest(xs, pair):
    return heapq.nsmallest(1, xs)[0] * xs[1] + pair[0]


def test_lists_of_numbers_are_not_searched_for_instances(monkeypatch):
    program, args = te.program(smallest), ([3.0, 2.0], (1.0, np.ones(2)))
    wanted = te.vjp(program, *args)[1](1.0)[0]
    assert wanted == [0.0, 4.0]
    monkeypatch.setattr(functions, "recast", lambda *_: pytest.fail("a search"))
    assert te.vjp(program, *args)[1](1.0)[0] == wanted
