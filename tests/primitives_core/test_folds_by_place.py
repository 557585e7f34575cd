"""`at` and `reduceat` of products and extremes: an extreme by the value that alone attains it, all others in turn.

Both ways have the value of the plain program, its derivative by differences, and a second derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

GENERATOR = numpy.random.default_rng(5)
X, B = GENERATOR.uniform(0.4, 2.0, 6), GENERATOR.uniform(-2.0, -0.4, 9)
PLACES = GENERATOR.integers(0, 6, 9)
UFUNCS = (numpy.multiply, numpy.maximum, numpy.minimum, numpy.fmax, numpy.fmin)
Program = Callable[[Any, Any], Any]


def at(ufunc: Any, places: Any, values: Any) -> Program:
    def program(n: Any, x: Any) -> Any:
        y = n.array(x * 1.0)
        getattr(n, ufunc.__name__).at(y, places, values)
        return y

    return program


def programs(ufunc: Any) -> dict[str, Program]:
    f = ufunc.__name__
    return {
        "at": at(ufunc, PLACES, B),
        "at one value": at(ufunc, PLACES, B[0]),
        "in single precision": at(ufunc, PLACES, B.astype("f4")),
        "parts": lambda n, x: getattr(n, f).reduceat(x, [0, 2, 1, 3]),
        "parts of rows": lambda n, x: getattr(n, f).reduceat(n.reshape(x, (2, 3)), [0, 2, 1], axis=1),
        "parts of columns": lambda n, x: getattr(n, f).reduceat(n.reshape(x, (3, 2)), [0, 1, 0], axis=0),
        "values that move": lambda n, x: at(ufunc, [0, 2, 2, 5], x[:4] * 1.5)(n, x),
    }


@pytest.mark.parametrize("ufunc", UFUNCS)
@pytest.mark.parametrize("name", programs(numpy.multiply))
def test_value_and_derivatives(ufunc: Any, name: str) -> None:
    program = programs(ufunc)[name]

    def total(n: Any, x: Any) -> Any:
        value = program(n, x)
        return n.sum(value**2 * numpy.cos(numpy.arange(numpy.size(value))).reshape(numpy.shape(value)))

    assert numpy.array_equal(te.vjp(lambda x: program(np, x), X)[0], program(numpy, X))
    gradient, steps = te.grad(lambda x: total(np, x)), 1e-6 * numpy.eye(6)
    slopes = [(total(numpy, X + h) - total(numpy, X - h)) / 2e-6 for h in steps]
    numpy.testing.assert_allclose(gradient(X), slopes, rtol=1e-6, atol=1e-7)
    tangents = [te.jvp(lambda x: total(np, x), (X,), (h * 1e6,))[1] for h in steps]
    numpy.testing.assert_allclose(tangents, gradient(X), rtol=1e-12, atol=1e-13)
    second = [(gradient(X + h) - gradient(X - h)) / 2e-6 for h in steps]
    numpy.testing.assert_allclose(te.hessian(lambda x: total(np, x))(X), second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_a_staged_program_follows_other_values(ufunc: Any) -> None:
    """Zeros and equal values, for which the values of a place say too little, are met after regular ones."""

    def program(x: Any) -> Any:
        y = x[:3] * 1.0
        ufunc.at(y, [0, 1, 0], x[3:])
        return y * x[:3]

    staged = te.stage(program)
    equal, zero = numpy.array([1.0, 2.0, 3.0, 1.0, 2.0, 1.0]), numpy.array([0.0, 2.0, 3.0, 1.0, 0.0, 0.0])
    for x in (X, equal, zero, X[::-1].copy(), numpy.array([1e200, 1.0, 1.0, 1e200, 1.0, 1e-200])):
        value, back = te.vjp(staged, x)
        expected, other = te.vjp(program, x)
        numpy.testing.assert_array_equal(value, expected)
        numpy.testing.assert_allclose(back(numpy.ones(3))[0], other(numpy.ones(3))[0], rtol=1e-13)


#: Numbers for which the values of a place say too little: three at each of two places, then what is combined with them.
SPECIAL = {
    "equal": [1.0, 2.0, 3.0, 1.0, 2.0, 1.0],
    "zeros": [0.0, 2.0, 3.0, 1.0, 0.0, 0.0],
    "NaN at one place, equal at another": [numpy.nan, 2.0, 3.0, 1.0, 2.0, 0.5],
    "an infinite product": [1e200, 2.0, 3.0, 1e200, 1.5, 0.5],
    "an infinity": [1.5, 2.0, 3.0, numpy.inf, 1.5, 0.5],
    "a subnormal product": [1.7e-160, 2.0, 3.0, 1.3e-160, 1.5, 0.7],
    "complex numbers": [1.5 + 2.0j, 2.0, 3.0 - 1.0j, 1.5j, 1.5, 0.7],
    "a subnormal": [3e-320, 2.0, 3.0, 1.5, 1.5, 0.7],
}


@pytest.mark.parametrize("ufunc", UFUNCS)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values_are_combined_in_turn(ufunc: Any, name: str) -> None:
    x, places = numpy.array(SPECIAL[name]), [0, 1, 0]

    def in_turn(x: Any) -> Any:
        y = list(x[:3])
        for k, place in enumerate(places):
            y[place] = getattr(np, ufunc.__name__)(y[place], x[3 + k])
        return np.stack(y)

    value, back = te.vjp(lambda x: at(ufunc, places, x[3:])(np, x[:3]), x)
    expected, other = te.vjp(in_turn, x)
    numpy.testing.assert_array_equal(value, expected)
    for cotangent in numpy.eye(3):
        numpy.testing.assert_allclose(back(cotangent)[0], other(cotangent)[0], rtol=1e-13)


def test_a_product_with_a_zero_has_the_derivative_of_the_others() -> None:
    values = numpy.array([2.0, 0.0, 3.0])
    assert te.grad(lambda v: np.multiply.reduceat(v, [0])[0])(values).tolist() == [0.0, 6.0, 0.0]
    assert te.hessian(lambda v: np.multiply.reduceat(v, [0])[0])(values).tolist() == [
        [0.0, 3.0, 0.0],
        [3.0, 0.0, 2.0],
        [0.0, 2.0, 0.0],
    ]


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_records_do_not_grow_with_the_number_of_values(ufunc: Any) -> None:
    def records(count: int) -> int:
        x, places = numpy.linspace(0.9, 1.1, count), numpy.arange(count)[::-1] // 2
        return len(te.tape(lambda x: np.sum(at(ufunc, places, x * 1.0 + 0.01)(np, x)), x))

    assert records(40) == records(4000)
