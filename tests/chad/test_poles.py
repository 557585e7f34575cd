"""At poles a program's derivatives raise what the program raises as Python, and are infinite where it is."""

import math

import numpy as np
import pytest

import tapeengine
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine import chad as te

ENGINE = tapeengine.Engine()


@te.program
def quotient(x: float) -> float:
    return 1 / x


@te.program
def float_quotient(x: float) -> float:
    return 1.0 / x


@te.program
def hidden_quotient(x: float) -> float:
    return 1 / (1 / x)


@te.program
def logarithm(x: float) -> float:
    return tm.log(x)


@te.program
def root(x: float) -> float:
    return tm.sqrt(x)


@te.program
def exponential(x: float) -> float:
    return tm.exp(x)


@te.program
def power(x: float) -> float:
    return x**2.5


@te.program
def remainder(x: float) -> float:
    return 1.0 % x


@te.program
def recursive(x: float, n: int) -> float:
    return 1 / x if n == 0 else recursive(x, n - 1)


@te.program
def by_elements(x: te.Vec) -> te.Vec:
    return [1 / v for v in x]


@te.program
def logarithms(x: te.Vec) -> float:
    return sum(math.log(v) for v in x)


@te.program
def numpy_logarithms(x: te.Vec) -> te.Vec:
    return tnp.log(x)


@te.program
def growing(x: float) -> float:
    return x * x * x


RAISING = {
    "1 / 0": (quotient, (0.0,)),
    "a pole on the way to a finite value": (hidden_quotient, (0.0,)),
    "log 0": (logarithm, (0.0,)),
    "log -1": (logarithm, (-1.0,)),
    "sqrt -1": (root, (-1.0,)),
    "exp 1000": (exponential, (1000.0,)),
    "a power too large": (power, (1e300,)),
    "1 % 0": (remainder, (0.0,)),
    "evaluated": (recursive, (0.0, 2)),
    "elements of a list": (by_elements, ([1.0, 0.0],)),
    "math.log of elements": (logarithms, (np.array([1.0, 0.0]),)),
}


@pytest.fixture(params=RAISING)
def case(request):
    return RAISING[request.param]


def raised(run):
    with pytest.raises((ArithmeticError, ValueError)) as error:
        run()
    return error.type, str(error.value)


def test_the_error_is_python_s(case):
    program, args = case
    expected = raised(lambda: program(*args))
    tangents = tuple(1.0 if isinstance(a, float) else None if isinstance(a, int) else np.ones(len(a)) for a in args)
    assert raised(lambda: ENGINE.vjp(program, *args)) == expected
    assert raised(lambda: ENGINE.jvp(program, args, tangents)) == expected


@pytest.mark.parametrize("name", ["1 / 0", "log 0", "sqrt -1", "exp 1000"])
def test_the_error_is_that_of_dual_numbers(name):
    program, args = RAISING[name]
    assert raised(lambda: ENGINE.vjp(program.python, *args)) == raised(lambda: ENGINE.vjp(program, *args))


def test_the_program_works_on_after_an_error():
    with pytest.raises(ZeroDivisionError):
        ENGINE.vjp(quotient, 0.0)
    value, backpropagator = ENGINE.vjp(quotient, 2.0)
    assert (value, backpropagator(1.0)) == (0.5, (-0.25,))


@pytest.mark.parametrize("program", [by_elements, numpy_logarithms])
def test_elements_of_numpy_arrays_are_numpy_s(program):
    x = np.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        expected = program(x)
    value, backpropagator = ENGINE.vjp(program, x)
    assert list(value) == list(expected)
    assert math.isinf(value[1]) and math.isinf(backpropagator(np.ones(2))[0][1])
    assert backpropagator(np.array([1.0, 0.0]))[0][1] == 0.0


@pytest.mark.parametrize("x", [3.0, -7.1, 1e-200, -1e200, 5e-324 * 2**60, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("program", [quotient, float_quotient])
def test_the_derivative_of_a_reciprocal_divides_once(program, x):
    assert program.derivative("forward").count("/") == 1
    value, slope = ENGINE.jvp(program, (x,), (1.0,))
    with np.errstate(over="ignore"):
        expected = -1.0 / np.longdouble(x) ** 2 if math.isfinite(x) else -0.0 if math.isinf(x) else math.nan
        assert slope == pytest.approx(float(expected), rel=4e-16, abs=5e-324, nan_ok=True)
    np.testing.assert_equal([value, slope], [1.0 / x, ENGINE.vjp(program, x)[1](1.0)[0]])


def test_a_product_that_overflows_is_infinite_as_in_python():
    assert growing(1e200) == math.inf
    value, backpropagator = ENGINE.vjp(growing, 1e200)
    assert (value, backpropagator(1.0)) == (math.inf, (math.inf,))
    assert ENGINE.jvp(growing, (1e200,), (1.0,)) == (math.inf, math.inf)


def test_an_infinite_partial_at_a_finite_value_is_no_error():
    value, backpropagator = ENGINE.vjp(root, 0.0)
    assert (value, backpropagator(1.0), backpropagator(0.0)) == (0.0, (math.inf,), (0.0,))
