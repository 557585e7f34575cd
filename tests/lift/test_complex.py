"""Complex scalars: Python's values to the bit, and the derivatives of holomorphic functions."""

from __future__ import annotations

import cmath
import random
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError

FUNCTIONS = "exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split()
OPERATIONS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b * 3.0,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "quotient turned": lambda a, b: b / a,
    "power": lambda a, b: a**b,
    "square": lambda a, b: a**2 + b**3,
    "negative power": lambda a, b: a**-2 * b,
    "base": lambda a, b: 2.0**a - (1 + 2j) ** b,
    "signs": lambda a, b: -a + +b,
    "zeroth power": lambda a, b: a**0 * b,
    "numpy": lambda a, b: np.exp(a) * np.sqrt(b) + np.multiply(a, b),
    "numpy numbers": lambda a, b: np.complex128(1 - 2j) * a / (np.complex128(2 + 1j) - b) ** np.complex128(1.5),
}


def slopes(f: Any, z: complex) -> Any:
    """The value of f at x + iy, and the derivatives with respect to x and to y."""
    parts = te.vjp(lambda x, y: (lambda w: (w.real, w.imag))(f(x + y * 1j)), z.real, z.imag)
    by_real, by_imag = parts[1]((1.0, 0.0)), parts[1]((0.0, 1.0))
    return complex(*parts[0]), complex(by_real[0], by_imag[0]), complex(by_real[1], by_imag[1])


def check(f: Any, plain: Any, z: complex, by_numpy: bool = False) -> None:
    value, by_x, by_y = slopes(f, z)
    # numpy rounds products of scalars and of arrays differently, and a ufunc call does not tell which it stands for.
    assert value == (pytest.approx(plain(z), rel=1e-15) if by_numpy else plain(z))
    expected = (plain(z + 1e-5) - plain(z - 1e-5)) / 2e-5
    assert by_x == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert by_y == pytest.approx(1j * expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    draw = random.Random(name)
    for _ in range(12):
        z = complex(draw.uniform(-3, 3), draw.uniform(-3, 3))
        check(getattr(te.cmath, name), getattr(cmath, name), z)
    assert getattr(te.cmath, name)(1 + 2j) == getattr(cmath, name)(1 + 2j)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    f, a, b, by_numpy = OPERATIONS[name], 0.3 - 0.7j, -1.2 + 0.4j, name.startswith("numpy")
    check(lambda z: f(z, b), lambda z: complex(f(z, b)), a, by_numpy)
    check(lambda z: f(a, z), lambda z: complex(f(a, z)), b, by_numpy)
    check(lambda z: f(z, z + b), lambda z: complex(f(z, z + b)), a, by_numpy)


def test_parts_and_polar_form() -> None:
    def f(x: Any) -> Any:
        z = te.cmath.rect(x, 0.7) + 1j * x
        size, angle = te.cmath.polar(z)
        return size * angle + abs(z) * z.conjugate().imag + te.cmath.phase(z * z) + te.cmath.log(z, 3.0).real

    assert te.grad(f)(1.3) == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-7)


def test_comparisons_tests_and_text() -> None:
    def f(x: Any) -> Any:
        z = x * (1 + 2j)
        assert z == 3 + 6j and z != 3 and bool(z) and z in (1, 3 + 6j)
        assert repr(z) == "(3+6j)" and f"{z:.1f}" == "3.0+6.0j"
        assert te.cmath.isfinite(z) and not te.cmath.isnan(z) and not te.cmath.isinf(z) and te.cmath.isclose(z, z)
        with pytest.raises(TypeError):
            z < 1  # noqa: B015
        with pytest.raises(ZeroDivisionError):
            z / 0j
        with pytest.raises(DroppedDerivativeError, match="lose its derivative"):
            complex(z)
        with pytest.raises(DroppedDerivativeError, match="has no hash"):
            hash(z)
        return z.real

    assert te.grad(f)(3.0) == 1.0


def test_in_and_out_of_a_program() -> None:
    value, back = te.vjp(lambda z: z * z, 1 + 2j)
    assert value == -3 + 4j and type(value) is complex
    assert back(1.0)[0] == 2 + 4j
    assert te.grad(lambda z: abs(z) ** 2)(1 + 2j) == 2 - 4j
    assert te.grad(lambda z: z**3, holomorphic=True)(1 + 2j) == pytest.approx(3 * (1 + 2j) ** 2)
    assert te.jvp(lambda z: z * z, (1 + 2j,), (1j,))[1] == pytest.approx(2 * (1 + 2j) * 1j)


def test_with_arrays() -> None:
    def f(x: Any) -> Any:
        z = x + 2j
        a = np.array([1.0, 2.0 + 1j]) * z
        b = te.numpy.array([z, 1.0, z * z])
        b[1] = z
        return np.sum(np.abs(a) ** 2) + np.sum(b * b).real

    def plain(x: float) -> float:
        z = x + 2j
        return float(np.sum(np.abs(np.array([1.0, 2.0 + 1j]) * z) ** 2) + (2 * z**2 + z**4).real)

    assert te.grad(f)(0.5) == pytest.approx((plain(0.5 + 1e-6) - plain(0.5 - 1e-6)) / 2e-6, rel=1e-7)


def test_nested_and_second_derivatives() -> None:
    def f(x: Any) -> Any:
        return abs(te.cmath.exp((x + 1j) ** 1.5))

    assert te.grad(te.grad(f))(0.7) == pytest.approx((te.grad(f)(0.7 + 1e-6) - te.grad(f)(0.7 - 1e-6)) / 2e-6, rel=1e-6)
    assert te.grad(lambda x: x * te.grad(lambda y: ((x + 1j) * y).real)(2.0))(3.0) == 6.0


def test_derivatives_of_many_orders() -> None:
    """Each gradient is the conjugate of a derivative, and depends on the complex number of the outer trace."""

    def f(z: Any) -> Any:
        return (te.cmath.exp(2.0 * z) * (1 - 1j)).real

    z, expected = 0.3 + 0.4j, 1 - 1j
    derivative: Any = f
    for _ in range(4):
        derivative = te.grad(derivative)
        expected = expected * 2.0
        assert derivative(z) == pytest.approx(expected * cmath.exp(2.0 * z))
        derivative = (lambda g: lambda z: g(z).real)(derivative)


def test_cotangents_of_a_trace_outside() -> None:
    """A complex number of the outer trace is a cotangent of a complex result."""

    def seeded(w: Any) -> Any:
        return te.vjp(np.sin, 1 + 2j)[1](w * (1 + 1j))[0]

    assert te.jvp(seeded, (2.0,), (1.0,))[1] == pytest.approx((1 + 1j) * cmath.cos(1 + 2j))
    assert te.vjp(seeded, 2.0)[1](1j)[0] == pytest.approx((1j * (1 + 1j) * cmath.cos(1 + 2j)).real)


def test_a_complex_scalar_before_other_arguments() -> None:
    """Records read its parts after the inputs of all arguments."""
    z, ct = 0.6 + 0.3j, 1.0 + 2.0j
    assert te.vjp(lambda x, y: x + y, z, 0.6)[1](ct) == (ct, 1.0)
    assert te.vjp(lambda x, y: x * y, z, z)[1](ct) == (ct * z, ct * z)
    assert te.jvp(lambda x, y, k: x + y * k, (z, 0.6, 2.0), (ct, 3.0, 1.0))[1] == ct + 6.0 + 0.6
    assert te.grad(lambda x: te.grad(lambda z: abs(z) ** 2)(x).real ** 2)(z) == pytest.approx(8 * z.real)


def test_polynomials_of_lists_of_complex_numbers() -> None:
    def program(a: Any, b: Any) -> Any:
        p = np.poly1d([a + 1j * b, 2.0])
        q = p * p + np.poly1d([1.0, a])
        assert isinstance(q, np.poly1d) and isinstance(p, np.poly1d)
        return np.poly1d(p.coeffs.imag)(2.0) + np.abs(q(1.5)) ** 2 + p.deriv().coeffs.real[0]

    value, (da, db) = te.value_and_grad(te.lift(program), argnums=(0, 1))(3.0, 5.0)
    assert value == program(3.0, 5.0)
    h = 1e-5
    assert da == pytest.approx((program(3.0 + h, 5.0) - program(3.0 - h, 5.0)) / (2 * h), rel=1e-8)
    assert db == pytest.approx((program(3.0, 5.0 + h) - program(3.0, 5.0 - h)) / (2 * h), rel=1e-8)
    roots = te.lift(lambda a: np.poly1d([a, 1.0], True)(2.0))
    assert te.value_and_grad(roots)(0.25) == (1.75, -1.0)
