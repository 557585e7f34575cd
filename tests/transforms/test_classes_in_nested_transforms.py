"""A derivative inside another transform has the class that it has outside: of the primal, or of the value."""

import numpy as np
import pytest
from leaves import leaves

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


@pytest.mark.parametrize("x", [0.5, np.float64(0.5), np.float32(0.5)], ids=["float", "float64", "float32"])
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_derivative_has_the_same_class_inside_a_transform(function, derivative, outer, x):
    def inner(y):
        return DERIVATIVES[derivative](FUNCTIONS[function], y)

    plain, nested = inner(x), OUTER[outer](inner, x)
    assert type(nested) is type(plain)
    # Partials of traced numbers in single precision are computed in double precision and rounded.
    of_single = isinstance(plain, np.generic) and plain.dtype == np.float32
    assert nested == pytest.approx(plain, rel=float(np.finfo(np.float32).eps) if of_single else 1e-14)


PRIMALS = {
    "float": 0.5,
    "complex": 0.5 + 0.25j,
    "float64": np.float64(0.5),
    "float32": np.float32(0.5),
    "complex128": np.complex128(0.5 + 0.25j),
    "complex64": np.complex64(0.5 + 0.25j),
    "array of no axes": np.array(0.5),
    "complex array of no axes": np.array(0.5 + 0.25j),
    "float32 array of no axes": np.array(0.5, np.float32),
    "array": np.array([0.5, 0.25]),
    "complex array": np.array([0.5 + 1.0j, 0.25]),
    "list of arrays": [np.array(0.5 + 0.25j), 1.0],
    "list of numbers": [0.5 + 0.25j, np.complex128(1.0j), 2.0],
}


def real(x):
    """One real number of all numbers."""
    if isinstance(x, list):
        return np.prod(list(map(real, x)))
    return np.sum(np.real(x * x) * 1.5 + np.imag(x) * np.real(x))


def squares(x):
    return list(map(squares, x)) if isinstance(x, list) else x * x


def values(x):
    return list(map(te.value, x)) if isinstance(x, list) else te.value(x)


TRANSFORMS = {
    "grad": lambda x: te.grad(real)(x),
    "vjp": lambda x: te.vjp(squares, x)[1](values(x)),
    "value": lambda x: te.vjp(squares, x)[0],
    "jvp to a number": lambda x: te.jvp(real, (x,), (x,)),
    "jvp": lambda x: te.jvp(squares, (x,), (x,)),
    "jacrev": lambda x: te.jacrev(real)(x),
    "jacfwd": lambda x: te.jacfwd(real)(x),
    "jacobian": lambda x: te.jacobian(real)(x),
    "jacobian of squares": lambda x: te.jacobian(squares)(x),
    "hessian": lambda x: te.hessian(real)(x),
    "hvp": lambda x: te.hvp(real, (x,), (x,)),
    "vhp": lambda x: te.vhp(real, (x,), (x,)),
    "holomorphic": lambda x: te.grad(squares, holomorphic=True)(x),
    "grad of grad": lambda x: te.grad(lambda y: real(te.grad(real)(y)))(x),
    "a constant": lambda x: te.grad(lambda y: real([1.0 + 2.0j]))(x),
}


@pytest.mark.parametrize("primal", PRIMALS)
@pytest.mark.parametrize("outer", ["vjp", "jvp", "twice"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_is_nested_has_the_class_that_it_has_alone(transform, outer, primal):
    f, x = TRANSFORMS[transform], PRIMALS[primal]
    try:
        plain = leaves(f(x))
    except te.errors.TapeEngineError as error:
        with pytest.raises(type(error)):
            OUTER[outer](f, x)
        return
    nested = leaves(OUTER[outer](f, x))
    assert list(map(type, nested)) == list(map(type, plain))
    assert [np.asarray(leaf).dtype for leaf in nested] == [np.asarray(leaf).dtype for leaf in plain]
    for a, b in zip(nested, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5 if np.asarray(b).dtype.char in "fF" else 1e-14)


@pytest.mark.parametrize("primal", PRIMALS)
def test_tangents_of_what_depends_on_no_input_have_the_class_of_the_value(primal):
    x = PRIMALS[primal]
    known, found = leaves(x), [[], [], []]

    def inner(y, k):
        value, tangent = te.jvp(lambda z: y, (x,), (x,))
        found[k] += [type(te.value(leaf)) for leaf in leaves(value) + leaves(tangent)]
        return y

    inner(x, 0)
    te.vjp(lambda y: inner(y, 1), x)
    te.jvp(lambda y: values(inner(y, 2)), (x,), (x,))
    for k in range(3):
        assert found[k] == 2 * list(map(type, known))
    for part in te.jvp(te.grad(lambda y: real(y) - real(values(y))), (x,), (x,)):
        assert list(map(type, leaves(part))) == list(map(type, known))
    assert list(map(type, leaves(values(x)))) == list(map(type, leaves(te.vjp(values, x)[0]))) == list(map(type, known))
