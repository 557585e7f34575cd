"""Scalar primitives with C kernels, called at the core's speed: they have the primitive's values and derivatives."""

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import PrimitiveError
from tapeengine.plugins.kernels import scalar_function, scalar_kernel
from tapeengine.primitive.builders import elementwise
from tapeengine.testing import check_vjp

C = ctypes.c_double
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def libm(name: str) -> Any:
    function = LIBM[name]
    function.restype, function.argtypes = C, [C]
    return function


def of_two(function: Callable[[float, float], float]) -> Any:
    return ctypes.CFUNCTYPE(C, C, C)(function)


SINE = elementwise(
    "test.sine", lambda x: np.sin(x), lambda x: np.cos(x), kernel=scalar_kernel(libm("sin"), libm("cos"))
)
AREA = elementwise(
    "test.area",
    lambda x, y: x * x * y,
    lambda x, y: 2.0 * x * y,
    lambda x: x * x,
    kernel=scalar_kernel(of_two(lambda x, y: x * x * y), of_two(lambda x, y: 2.0 * x * y), of_two(lambda x, y: x * x)),
)
sine, area = scalar_function(SINE), scalar_function(AREA)
FLOATS = st.floats(-3.0, 3.0)


@given(FLOATS)
def test_floats_give_floats(x: float) -> None:
    assert type(sine(x)) is float
    assert sine(x) == math.sin(x)
    assert area(x, 2.0) == x * x * 2.0


@given(FLOATS, FLOATS)
def test_the_derivative_is_the_primitives(x: float, y: float) -> None:
    def program(f: Callable[..., Any], g: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: g(f(x) * y, y) + g(3.0, f(y)) + g(x, 2) + g(x, x)

    value, backpropagator = te.vjp(program(sine, area), x, y)
    other, backward = te.vjp(program(SINE, AREA), x, y)
    assert value == pytest.approx(other, rel=1e-14, abs=1e-14)
    assert backpropagator(1.0) == pytest.approx(backward(1.0), rel=1e-13, abs=1e-13)


def test_one_call_is_one_record() -> None:
    def count(program: Callable[..., Any]) -> int:
        return len(te.vjp(program, 0.5, 2.0)[1].tape)

    calls = 7
    one = count(lambda x, y: [sine(x) for _ in range(calls)]) - count(lambda x, y: x)
    assert one == calls
    two = count(lambda x, y: [area(x, y), area(x, 1.0), area(1.0, y)]) - count(lambda x, y: x)
    assert two == 3


def test_nested_derivatives_go_through_the_rules() -> None:
    x = 0.7
    assert te.grad(te.grad(sine))(x) == pytest.approx(-math.sin(x), rel=1e-14)
    assert te.grad(te.grad(te.grad(sine)))(x) == pytest.approx(-math.cos(x), rel=1e-14)
    mixed = te.grad(lambda x: te.grad(lambda y: area(y, x))(2.0))(x)
    assert mixed == 4.0
    captured = te.grad(lambda x: te.grad(lambda y: sine(x) * y)(1.0))(x)
    assert captured == pytest.approx(math.cos(x), rel=1e-14)


def test_numpy_scalars_and_integers_are_numbers() -> None:
    assert sine(numpy.float64(0.5)) == math.sin(0.5)
    assert sine(1) == math.sin(1)
    assert te.grad(lambda x: area(x, numpy.float64(2.0)))(3.0) == 12.0
    assert te.grad(lambda x: area(2, x))(3.0) == 4.0


def test_arrays_go_to_the_primitive() -> None:
    x = numpy.array([0.1, 0.2])
    assert sine(x).tolist() == numpy.sin(x).tolist()
    [cotangent] = te.vjp(lambda x: sine(x), x)[1](numpy.ones(2))
    assert cotangent == pytest.approx(numpy.cos(x), rel=1e-14)


def test_a_zero_cotangent_stays_zero_where_the_partial_is_infinite() -> None:
    function = ctypes.CFUNCTYPE(C, C)
    kernel = scalar_kernel(function(math.sqrt), function(lambda x: math.inf if x == 0 else 0.5 / math.sqrt(x)))
    root = scalar_function(elementwise("test.root", lambda x: np.sqrt(x), lambda out: 0.5 / out, kernel=kernel))
    assert te.grad(lambda x: 0.0 * root(x) + x)(0.0) == 1.0


def test_the_function_names_its_primitive_and_checks_its_arguments() -> None:
    assert sine.__self__.primitive is SINE
    with pytest.raises(TypeError):
        sine(1.0, 2.0)
    with pytest.raises(PrimitiveError, match=r"test\.plain has no kernel"):
        scalar_function(elementwise("test.plain", lambda x: x, lambda: 1.0))


def test_a_dual_of_a_trace_that_is_over_is_refused() -> None:
    kept = []
    te.vjp(lambda x: kept.append(x) or x, 1.0)
    with pytest.raises(te.errors.TraceError):
        sine(kept[0])


@te.program
def with_sine(x: float) -> float:
    return sine(x) * x


@te.program
def with_area(x: float, ys: te.Vec) -> float:
    total = 0.0
    for y in ys:
        if y > 0.0:
            total = total + area(sine(x), y)
    return total


@pytest.mark.parametrize(
    ("program", "primals"), [(with_sine, (0.7,)), (with_area, (0.7, numpy.array([1.5, -2.0, 0.5])))]
)
def test_typed_programs_call_them(program: Any, primals: tuple[Any, ...]) -> None:
    value, backpropagator = te.vjp(program, *primals)
    plain, pulled = te.vjp(program.python, *primals)
    assert value == pytest.approx(plain, rel=1e-15) and value == pytest.approx(program(*primals), rel=1e-15)
    for ours, theirs in zip(backpropagator(1.0), pulled(1.0), strict=True):
        assert numpy.allclose(ours, theirs, rtol=1e-14)
    check_vjp(program, *primals)
