"""A derivative inside another transform has the class that it has outside: of the primal, or of the value."""

import numpy as np
import pytest

import tapeengine as te

FUNCTIONS = {
    "sine": lambda x: np.sin(x),
    "sum of sines": lambda x: np.sin(np.sin(x) + np.sin(x)),
    "product": lambda x: x * np.float64(2.0) * x,
    "python": lambda x: x * x * 3.0,
    "branch": lambda x: np.exp(x) if x > 0.0 else x * 2.0,
    "array": lambda x: te.numpy.array([x, 2.0]) @ te.numpy.array([x * x, 1.0]),
    "passed on": lambda x: x,
    "through math": lambda x: te.math.exp(x) + np.cos(x),
}
DERIVATIVES = {
    "grad": lambda f, x: te.grad(f)(x),
    "vjp": lambda f, x: te.vjp(f, x)[1](1.0)[0],
    "of two": lambda f, x: te.grad(lambda pair: f(pair[0]) * pair[1])((x, x))[0],
    "of a dict": lambda f, x: te.grad(lambda named: f(named["a"]))({"a": x})["a"],
    "second": lambda f, x: te.grad(te.grad(f))(x),
}
OUTER = {
    "vjp": lambda g, x: te.vjp(g, x)[0],
    "jvp": lambda g, x: te.jvp(g, (x,), (x,))[0],
    "value_and_grad": lambda g, x: te.value_and_grad(g)(x)[0],
    "twice": lambda g, x: te.vjp(lambda y: te.vjp(g, y)[0], x)[0],
}


@pytest.mark.parametrize("x", [0.5, np.float64(0.5)], ids=["float", "float64"])
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_derivative_has_the_same_class_inside_a_transform(function, derivative, outer, x):
    def inner(y):
        return DERIVATIVES[derivative](FUNCTIONS[function], y)

    plain, nested = inner(x), OUTER[outer](inner, x)
    assert type(nested) is type(plain)
    assert nested == pytest.approx(plain, rel=1e-14)
