"""Integrals over several variables: SciPy's values to the last bit, and derivatives by differences."""

import numpy as np
import pytest
import scipy.integrate

import tapeengine as te
from tapeengine import math
from tapeengine_scipy import integrate

PROGRAMS = {
    "dblquad": lambda a, i: i.dblquad(lambda y, x: a * x * y + math.exp(-a * x * y), 0, 1, 0, 1)[0],
    "functions as limits": lambda a, i: i.dblquad(lambda y, x: a * x * y, 0, 2, lambda x: x / 2, lambda x: x + 1)[0],
    "traced limits": lambda a, i: i.dblquad(lambda y, x: x * y, 0, a, 0, lambda x: a * x)[0],
    "args": lambda a, i: i.dblquad(lambda y, x, c: c * x * y * y, 0, 1, 0, 1, args=(a * a,))[0],
    "tplquad": lambda a, i: i.tplquad(lambda z, y, x: a * x * y * z, 0, 1, 0, a, lambda x, y: 0.0, 1.0)[0],
    "nquad": lambda a, i: i.nquad(lambda x, y, c: c * x * y**2, [(0, 1), (0, 2)], args=(a,))[0],
    "limits of args": lambda a, i: i.nquad(lambda x, y, c: c * x, [lambda y, c: (0, y * c), (0, 2)], args=(a,))[0],
    "options": lambda a, i: i.nquad(
        lambda x, y: a * abs(x - y), [(0, 1), (0, 2)], opts=[lambda y: {"points": [y]}, {}]
    )[0],
    "one variable": lambda a, i: i.nquad(lambda x: a * x, [(0, a)])[0],
    "infinite": lambda a, i: i.dblquad(lambda y, x: math.exp(-a * (x + y)), 0, np.inf, 0, np.inf)[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_derivative(name):
    program = PROGRAMS[name]
    value, found = te.value_and_grad(lambda a: program(a, integrate))(1.3)
    assert value == program(1.3, scipy.integrate)
    expected = (program(1.3 + 1e-5, scipy.integrate) - program(1.3 - 1e-5, scipy.integrate)) / 2e-5
    assert found == pytest.approx(expected, rel=1e-6)


def test_reports_are_scipys():
    seen = []

    def program(a):
        seen.append(integrate.nquad(lambda x, y: a * x * y, [(0, 1), (0, 2)], full_output=True)[1:])
        return a

    te.grad(program)(1.5)
    _, error, report = scipy.integrate.nquad(lambda x, y: 1.5 * x * y, [(0, 1), (0, 2)], full_output=True)
    assert seen == [(error, {"neval": report["neval"]})]


def test_second_derivatives():
    found = te.hessian(lambda a: integrate.dblquad(lambda y, x: math.exp(a * x * y), 0, 1, 0, 1)[0])(0.7)
    curvature = scipy.integrate.dblquad(lambda y, x: (x * y) ** 2 * np.exp(0.7 * x * y), 0, 1, 0, 1)[0]
    assert found == pytest.approx(curvature, rel=1e-8)
