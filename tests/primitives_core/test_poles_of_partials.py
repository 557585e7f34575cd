"""Partials of arrays divide by zero as numpy does, also by a number of Python's that an outer trace differentiates."""

import numpy as np
import pytest

import tapeengine as te

A = np.array([2.0, -3.0])
ZEROS = {"python": 0.0, "numpy": np.float64(0.0)}
#: A program of an array and a number, with d/dx of the sum of its derivative along the array, at x = 0.
PROGRAMS = {
    "a / x": (lambda a, x: a / x, -np.inf),  # of 2/x
    "-a / x": (lambda a, x: -a / x, np.inf),
    "(a + x) / x": (lambda a, x: (a + x) / x, -np.inf),
    "a / (x - 1)": (lambda a, x: a / (x - 1.0), -2.0),
}
ALONG = {
    "reverse": lambda f: lambda x: np.sum(te.grad(lambda a: np.sum(f(a, x)))(A)),
    "forward": lambda f: lambda x: te.jvp(lambda a: np.sum(f(a, x)), (A,), (np.ones(2),))[1],
}


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_at_a_pole_are_numpys(name, along, zero):
    function, wanted = PROGRAMS[name]
    with np.errstate(all="ignore"):
        derivative = ALONG[along](function)
        np.testing.assert_equal(float(te.grad(derivative)(ZEROS[zero])), wanted)
        np.testing.assert_equal(float(te.jvp(derivative, (ZEROS[zero],), (1.0,))[1]), wanted)
