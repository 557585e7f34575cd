"""numpy's functions of `poly1d`: the value and the class of numpy's, and derivatives by differences."""

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

PROGRAMS = {
    "polyder": lambda p, n: n.polyder(p),
    "polyder twice": lambda p, n: n.polyder(p, m=2),
    "polyder of a derivative": lambda p, n: n.polyder(p.deriv()),
    "polyint": lambda p, n: n.polyint(p),
    "polyint with a constant": lambda p, n: n.polyint(n.poly1d([1.0, 1.0]), 1, k=[p[1]]),
    "polyadd": lambda p, n: n.polyadd(p, [1.0, 2.0]),
    "polyadd on the right": lambda p, n: n.polyadd([1.0, 2.0], p),
    "polysub": lambda p, n: n.polysub(n.poly1d([1.0, 2.0]), p),
    "polymul": lambda p, n: n.polymul(p, p),
    "quotient": lambda p, n: n.polydiv(p, n.poly1d([1.0, 2.0]))[0],
    "remainder": lambda p, n: n.polydiv([1.0, 0.0, 2.0, 3.0], p)[1],
    "by name": lambda p, n: n.polymul(a1=p, a2=[2.0, 1.0]),
    "polyval at a polynomial": lambda p, n: n.polyval(p, n.poly1d([2.0, 1.0])),
    "polyval at a traced polynomial": lambda p, n: n.polyval([2.0, 1.0], p),
    "a polynomial of a polynomial": lambda p, n: p(p),
    "polyval at numbers": lambda p, n: n.polyval(p, [2.0, 3.0]),
    "at a number": lambda p, n: p(3.0),
    "roots": lambda p, n: n.roots(n.polysub(p, [5.0])).real,
    "of lists": lambda p, n: n.polymul([1.0, p[2]], [p[0], 2.0]),
}


def numbers(found):
    return found.coeffs if isinstance(found, numpy.poly1d) else found


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_class_and_tangent(name):
    def run(a, n):
        return PROGRAMS[name](n.poly1d([a, a * a, 1.5]), n)

    kinds = []

    def traced(a):
        found = run(a, np)
        kinds.append(isinstance(found, numpy.poly1d))
        return numbers(found)

    plain = run(1.25, numpy)
    value, tangent = te.jvp(traced, (1.25,), (1.0,))
    assert kinds == [isinstance(plain, numpy.poly1d)]
    numpy.testing.assert_array_equal(value, numbers(plain))
    expected = (numbers(run(1.25 + 1e-6, numpy)) - numbers(run(1.25 - 1e-6, numpy))) / 2e-6
    numpy.testing.assert_allclose(tangent, expected, rtol=1e-7, atol=1e-8)


def test_plain_polynomials_stay_plain():
    found = np.polyder(np.poly1d([1.0, 2.0, 3.0]))
    assert isinstance(found, numpy.poly1d)
    assert type(found.coeffs) is numpy.ndarray
    assert found == numpy.poly1d([2.0, 2.0])
