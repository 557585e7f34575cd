"""`numpy.vectorize` with a signature: numpy's values, dtypes and errors, and derivatives by differences."""

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

X, A = numpy.arange(4.0) + 1.0, numpy.arange(6.0).reshape(2, 3) + 1.0
CALLS = {
    "first of two": lambda n, x: n.vectorize(lambda a: (a * a, a[0]), signature="(n)->(n),()")(n.stack([x, x]))[0],
    "last of two": lambda n, x: n.vectorize(lambda a: (a * a, a[0]), signature="(n)->(n),()")(n.stack([x, x]))[1],
    "broadcast": lambda n, x: n.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(A, x[:3]),
    "matrices": lambda n, x: n.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")(A * x[0], x[1:]),
    "another size": lambda n, x: n.vectorize(lambda a: a[:2] * a[2:], signature="(n)->(m)")(n.stack([x, x * x])),
    "excluded": lambda n, x: n.vectorize(lambda a, k: a * k, signature="(n)->(n)", excluded=["k"])(x, k=3.0),
    "types": lambda n, x: n.vectorize(lambda a: a * a, signature="(n)->(n)", otypes=[complex])(x),
    "numbers": lambda n, x: n.vectorize(lambda a: a * a, signature="()->()")(x),
    "a list": lambda n, x: n.vectorize(lambda a: a * 2.0, signature="(n)->(n)")([x[0], x[1]]),
}
WRONG = {
    "size of an output": lambda n, x: n.vectorize(lambda a: a[:1], signature="(n)->(n)")(x),
    "sizes of inputs": lambda n, x: n.vectorize(lambda a, b: a, signature="(n),(n)->(n)")(x, x[:2]),
    "number of outputs": lambda n, x: n.vectorize(lambda a: (a,), signature="()->(),()")(x)[0],
    "number of inputs": lambda n, x: n.vectorize(lambda a: a, signature="(n),(m)->(n)")(x),
    "axes of an input": lambda n, x: n.vectorize(lambda a: a, signature="(n)->(n)")(x[0]),
    "no positions": lambda n, x: n.vectorize(lambda a: a, signature="(n)->(n)")(n.zeros((0, 3)) * x[0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_value_and_tangent(name):
    call = CALLS[name]
    value, tangent = te.jvp(lambda x: call(np, x), (X,), (numpy.ones(4),))
    plain = call(numpy, X)
    assert value.dtype == plain.dtype
    numpy.testing.assert_array_equal(value, plain)
    expected = (call(numpy, X + 1e-6) - call(numpy, X - 1e-6)) / 2e-6
    numpy.testing.assert_allclose(tangent, expected, rtol=1e-7)


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_numpys(name):
    with pytest.raises((ValueError, TypeError)) as plain:
        WRONG[name](numpy, X)
    with pytest.raises(type(plain.value)) as found:
        te.vjp(lambda x: WRONG[name](np, x), X)
    assert str(found.value) == str(plain.value)
