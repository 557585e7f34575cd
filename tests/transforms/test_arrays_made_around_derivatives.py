"""A program writes into an array of its own before and after an inner derivative, inside calls that run again."""

import itertools

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

CALLS = {
    "plain": lambda f, x: f(x),
    "checkpoint": lambda f, x: te.checkpoint(f)(x),
    "iterate": lambda f, x: te.iterate(f, 1, x),
    "fork": lambda f, x: te.fork(lambda: f(x), lambda: 0.0)[0],
    "custom_jvp": lambda f, x: within_rule(f)(x),
}


def within_rule(f):
    called = te.custom_jvp(f)
    called.defjvp(lambda primals, tangents: te.jvp(f, primals, tangents))
    return called


INNER = {
    "grad": lambda f, y: te.grad(f)(y),
    "jvp": lambda f, y: te.jvp(f, (y,), (1.0,))[1],
    "vjp": lambda f, y: te.vjp(f, y)[1](1.0)[0],
}

OUTER = {
    "hessian": te.hessian,
    "jacrev of grad": lambda f: te.jacobian(te.grad(f)),
    "jacfwd of grad": lambda f: te.jacfwd(te.grad(f)),
}


@pytest.mark.parametrize("outer", CALLS)
@pytest.mark.parametrize("inner", CALLS)
@pytest.mark.parametrize("depends", [False, True])
def test_arrays_of_a_program_live_as_long_as_its_run(outer, inner, depends):
    for (name, derivative), second in itertools.product(INNER.items(), OUTER):

        def step(x, derivative=derivative):
            a = tnp.zeros(2)
            a[0] = x[0]
            slope = derivative(lambda y: CALLS[inner](lambda s: s * s, y), x[0] if depends else 2.0)
            a[1] = x[1] * slope
            return a

        found = OUTER[second](lambda x: np.sum(CALLS[outer](step, x) ** 2))(np.array([1.5, 0.5]))
        # of x0**2 + (2 x0 x1)**2, or x0**2 + (4 x1)**2
        expected = [[4.0, 12.0], [12.0, 18.0]] if depends else [[2.0, 0.0], [0.0, 32.0]]
        np.testing.assert_allclose(found, expected, err_msg=f"{name} {second}")
