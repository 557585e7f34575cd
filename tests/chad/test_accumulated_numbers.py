"""A variable that accumulates numbers of Python's and of numpy's, conditions and elements keeps no program unread."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

ADDED = ["x", "1", "isinstance(xs, list) * x", "(x > 1) * x", "np.sum(a)", "a.max() * x", "xs[0]", "v * x", "a[1]"]
LOOP = "for v in reversed(xs): s = s * 0.5 + v"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ADDED, repeat=2)))
def test_two_numbers(first, second):
    last = "return s + np.where(a > x, a, -a).sum() + (a * s).sum() + (xs + [x])[-1]"
    f = function_of("x, xs, a", ["s, v = 0.0, xs[0]", LOOP, f"s += {first}", f"s *= {second}", "s -= 1", last])
    args = 1.3, [1.5, 0.7], np.array([1.2, 0.6, 1.9])
    value, gradient = te.value_and_grad(te.program(f, backend="machine"))(*args)
    assert np.isclose(value, f(*args), 1e-14)
    difference = f(1.3 + 1e-6, *args[1:]) - f(1.3 - 1e-6, *args[1:])
    assert np.isclose(gradient, difference / 2e-6, 1e-6)
