"""Primitives that bring C functions run inside of native code, with the bits of plain Python in every back end."""

import ctypes
import ctypes.util
import math
import random

import numpy as np
import pytest
from chad.backends.runs import BACKENDS

import tapeengine as te
from tapeengine.chad.backends import tiers
from tapeengine.plugins.kernels import scalar_function, scalar_kernel
from tapeengine.primitive.builders import elementwise

C = ctypes.c_double
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def libm(name, arity=1):
    """Return a function of the C library."""
    function = LIBM[name]
    function.restype, function.argtypes = C, [C] * arity
    return function


def counted(function, arity, calls):
    """Return a C function that counts its calls."""

    def wrapped(*args):
        calls.append(args)
        return function(*args)

    return ctypes.CFUNCTYPE(C, *[C] * arity)(wrapped)


#: The rules of the primitives differ from the kernels, so that a test sees which of them ran.
sine = scalar_function(
    elementwise(
        "test.sine", lambda x: np.sin(x) + 1e-9, lambda x: np.cos(x), kernel=scalar_kernel(libm("sin"), libm("cos"))
    )
)
power = scalar_function(
    elementwise(
        "test.power",
        lambda x, y: x**y + 1e-9,
        lambda x, y: y * x ** (y - 1.0),
        lambda x, y: x**y * np.log(x),
        kernel=scalar_kernel(
            libm("pow", 2),
            ctypes.CFUNCTYPE(C, C, C)(lambda x, y: y * x ** (y - 1.0)),
            ctypes.CFUNCTYPE(C, C, C)(lambda x, y: x**y * math.log(x)),
        ),
    )
)
root = scalar_function(
    elementwise(
        "test.root",
        lambda x: np.sqrt(x),
        lambda x: 0.5 / np.sqrt(x),
        kernel=scalar_kernel(libm("sqrt"), ctypes.CFUNCTYPE(C, C)(lambda x: 0.5 / math.sqrt(x) if x else math.inf)),
    )
)


def wave(x: float, n: int) -> float:
    y = x
    for k in range(n):
        y = sine(y * x) + 0.5 * y if y > 0.1 else y + sine(float(k)) * 0.3
    return y


def norm(xs: te.Vec, p: float) -> float:
    total = 0.0
    for v in xs:
        total = total + power(abs(v) + 0.1, p)
    return power(total, 1.0 / p)


def sines(xs: te.Vec, p: float) -> float:
    return sum(sine(v) * power(v * v + 0.5, p) for v in xs)


def bits(run):
    """Return the bits of a value and of its cotangents."""
    value, back = run()
    return [np.asarray(x).tobytes() for x in (value, *back(1.5)) if x is not None]


def vectors():
    """Return random arguments."""
    draw = random.Random(7)
    return [([draw.uniform(-2, 2) for _ in range(n)], draw.uniform(1.0, 3.0)) for n in (1, 2, 7, 40)]


@pytest.mark.parametrize("x", [0.3, -0.7, 1.1])
@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_have_the_bits_of_python(backend, x):
    assert bits(lambda: te.vjp(te.program(wave, backend=backend), x, 50)) == bits(lambda: te.vjp(wave, x, 50))
    assert te.vjp(te.program(wave, backend=backend), x, 50)[0] == wave(x, 50)


@pytest.mark.parametrize("function", [norm, sines])
@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_have_the_kernel_s_values(backend, function):
    for xs, p in vectors():
        value, back = te.vjp(te.program(function, backend=backend), np.array(xs), p)
        wanted, other = te.vjp(function, xs, p)
        exact = backend == "native"
        assert value == (wanted if exact else pytest.approx(wanted, rel=1e-13))
        for ours, theirs in zip(back(1.5), other(1.5), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)
        moved = [function(xs, p + s) for s in (1e-6, -1e-6)]
        assert back(1.0)[1] == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5)


@pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
def test_native_code_calls_the_c_functions():
    values, partials = [], []
    kernel = scalar_kernel(counted(lambda x: x * x, 1, values), counted(lambda x: 2.0 * x, 1, partials))
    square = scalar_function(elementwise("test.square", lambda x: x * x, lambda x: 2.0 * x, kernel=kernel))

    @te.program(backend="native")
    def total(xs: te.Vec) -> float:
        found = 0.0
        for v in xs:
            found = found + square(v)
        return found

    _, back = te.vjp(total, np.arange(5.0))
    assert total.ways.native is not None
    np.testing.assert_array_equal(back(2.0)[0], 4.0 * np.arange(5.0))
    assert [x for (x,) in values] == list(np.arange(5.0))
    assert sorted(x for (x,) in partials) == list(np.arange(5.0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pole_is_left_to_python(backend):
    def lengths(xs: te.Vec) -> float:
        total = 0.0
        for v in xs:
            total = total + root(v) * v
        return total

    program = te.program(lengths, backend=backend)
    value, back = te.vjp(program, np.array([4.0, 0.0]))
    wanted, other = te.vjp(lengths, [4.0, 0.0])
    assert value == wanted == 8.0
    np.testing.assert_array_equal(back(1.0)[0], other(1.0)[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_of_the_primitive_itself_has_the_primitive_s_value(backend):
    primitive = sine.__self__.primitive

    def shifted(x: float) -> float:
        return primitive(x) * 2.0

    assert te.vjp(te.program(shifted, backend=backend), 0.5)[0] == shifted(0.5) != 2.0 * math.sin(0.5)


def test_tangents_use_the_kernel():
    for backend in BACKENDS:
        program = te.program(wave, backend=backend)
        value, tangent = te.jvp(program, (0.3, 20), (1.0, None))
        assert value == wave(0.3, 20)
        assert tangent == pytest.approx(te.grad(wave)(0.3, 20), rel=1e-13)


@pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
def test_code_with_addresses_of_this_process_is_not_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPEENGINE_CACHE", str(tmp_path))

    def once(x: float) -> float:
        return sine(x) * 0.125

    te.vjp(te.program(once, backend="native"), 0.5)
    assert not list(tmp_path.iterdir())
