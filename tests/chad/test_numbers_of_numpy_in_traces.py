"""Programs that are called with numpy's traced numbers: these are numpy's, whatever numbers came before."""

import numpy as np
import pytest
from chad.written_functions import function_of
from leaves import numbers
from outcomes import outcome

import tapeengine as te

#: What is another value, or an error, for one of Python's numbers.
EXPRESSIONS = (
    "round(x, 2) * x",
    "round(x, 0) + x * x",
    "x / (x - x) if x > 2.0 else x",
    "(x > 0).astype(float) * x * x",
    "((x > 1) + (x > 0)) * x",
    "x ** -0.5 / (x - x)",
    "x * x",
)
NUMBERS = {
    "an element": lambda v: v[0],
    "a product": lambda v: np.float64(1.0) * v[1],
    "a sum": lambda v: v[:1].sum(),
    "a ufunc": lambda v: np.maximum(v[0], 0.0),
}
#: What of a program may have run before.
BEFORE = {
    "nothing": lambda program: None,
    "python": lambda program: outcome(lambda: te.grad(program)(1.5)),
    "traced": lambda program: outcome(lambda: te.grad(lambda x: program(x))(1.5)),
    "numpy": lambda program: outcome(lambda: te.grad(program)(np.float64(1.5))),
}


def agree(found, wanted):
    found, wanted = outcome(found), outcome(wanted)
    assert type(found) is type(wanted) or not isinstance(wanted, Exception), found
    if not isinstance(wanted, Exception):
        np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-13)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_traced_number_of_numpy_is_one_of_numpy(text, number, before):
    function, of, v = function_of("x", [f"return {text}"]), NUMBERS[number], np.array([2.675, 2.675])
    program = te.program(function)
    BEFORE[before](program)
    for _ in range(2):  # the second call is the core's
        agree(lambda: te.vjp(lambda v: program(of(v)), v)[0], lambda: function(of(v)))
        agree(lambda: te.grad(lambda v: program(of(v)))(v), lambda: te.grad(lambda v: function(of(v)))(v))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_second_derivatives_at_numbers_of_numpy(text):
    function, x = function_of("x", [f"return {text}"]), np.float64(1.275)
    program = te.program(function)
    for transform in (
        te.hessian,
        lambda f: te.grad(te.grad(f)),
        lambda f: lambda x: te.jvp(te.grad(f), (x,), (2.0,))[1],
    ):
        agree(lambda t=transform: t(program)(x), lambda t=transform: t(function)(x))


def test_a_call_with_such_a_number_is_one_record():
    program = te.program(function_of("x", ["return x * x + x"]))
    v = np.array([2.0])
    te.grad(lambda v: program(v[0]))(v)
    te.grad(lambda v: program(v[0]))(v)
    assert (tuple, np.float64) in program.by_kinds
    assert te.grad(lambda v: program(v[0]))(v) == [5.0]
