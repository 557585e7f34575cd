"""Coefficients of 0 in numpy's series: they have derivatives, although numpy leaves out zeros at the end of a sum."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from outcomes import shown

import tapeengine as te
import tapeengine.numpy as np

KINDS = {
    "Polynomial": ("polynomial", "poly"),
    "Chebyshev": ("chebyshev", "cheb"),
    "Legendre": ("legendre", "leg"),
    "Hermite": ("hermite", "herm"),
    "HermiteE": ("hermite_e", "herme"),
    "Laguerre": ("laguerre", "lag"),
}
#: Functions of a series or of its roots, with numpy's functions of its kind, their class, and another series.
CALLS: dict[str, Any] = {
    "add": lambda of, kind, a, b: of("add")(a, b),
    "subtract": lambda of, kind, a, b: of("sub")(b, a),
    "multiply": lambda of, kind, a, b: of("mul")(a, b),
    "multiplied": lambda of, kind, a, b: of("mul")(b, a),
    "product with itself": lambda of, kind, a, b: of("mul")(a, a),
    "power": lambda of, kind, a, b: of("pow")(a, 3),
    "quotient": lambda of, kind, a, b: of("div")([*b, 1.0, 0.0, 2.0], a)[0],
    "from roots": lambda of, kind, a, b: of("fromroots")(a),
    "operators": lambda of, kind, a, b: (kind(a) * kind(b) - kind(a)).coef,
    "composition": lambda of, kind, a, b: kind(a)(kind(b)).coef,
    "conversion": lambda of, kind, a, b: kind(a, domain=[-2.0, 3.0]).convert(domain=[-1.0, 1.0]).coef,
}


#: Calls in which the last coefficients of the first series are zeros as well.
WITH_ZEROS_AT_THE_END = ("multiply", "multiplied", "product with itself", "power", "operators")


def series(rng: Any) -> Any:
    """Coefficients, half of which are zeros of any sign; the last one is not."""
    size = rng.integers(2, 7)
    zeros = numpy.where(rng.random(size) < 0.5, 0.0, -0.0)
    found = numpy.where(rng.random(size) < 0.5, zeros, rng.integers(-3, 4, size) / 2.0)
    found[-1] = rng.choice([-1.0, 0.5, 2.0])
    return found


def steps(function: Any, a: Any, size: int) -> Any:
    """The Jacobian by complex steps, which leave no coefficient 0."""
    return numpy.stack([function(a + 1e-30j * e)[:size].imag / 1e-30 for e in numpy.eye(len(a))], axis=-1)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_value_and_the_derivatives(kind: str, name: str) -> None:
    module, start = KINDS[kind]
    rng = numpy.random.default_rng(len(kind) * 100 + len(name))
    for _ in range(6):
        a, b = series(rng), series(rng)

        def program(of: Any, a: Any, b: Any = b) -> Any:
            home = getattr(of.polynomial, module)
            return CALLS[name](lambda rest: getattr(home, start + rest), getattr(of.polynomial, kind), a, b)

        if len(numpy.unique(a)) < len(a) and name == "from roots":
            a = a + numpy.arange(len(a))  # numpy sorts roots, and equal ones have no order in complex steps
        if name in WITH_ZEROS_AT_THE_END:
            a = numpy.append(a, rng.choice([0.0, -0.0], rng.integers(3)))
        wanted = numpy.asarray(program(numpy, a))
        value, backpropagator = te.vjp(lambda a: program(np, a), a)
        assert (value.dtype, value.tobytes()) == (wanted.dtype, wanted.tobytes())
        found = numpy.stack([backpropagator(e)[0] for e in numpy.eye(len(value))])
        expected = steps(lambda a: program(numpy, a), a, len(value))
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
@pytest.mark.parametrize("kind", KINDS)
def test_last_coefficients_of_zero_have_the_derivative_of_the_series(kind: str, name: str) -> None:
    """numpy leaves them out of the result; what the result holds of them depends on them as in a longer series."""
    module, start = KINDS[kind]
    for a, b in (([1.0, 2.0, 0.0], [3.0, 4.0, 5.0]), ([3.0, 4.0, 5.0], [1.0, -2.0, 0.0]), ([1.0], [2.0, 0.0, -0.0])):

        def program(of: Any, a: Any, b: Any) -> Any:
            return getattr(getattr(of.polynomial, module), start + name)(a, b)

        a, b = numpy.array(a), numpy.array(b)
        value, back = te.vjp(lambda a, b: program(np, a, b), a, b)
        assert value.tobytes() == program(numpy, a, b).tobytes()
        for k, e in enumerate(numpy.eye(len(value))):
            rows = back(e)
            for place, row in enumerate(rows):
                ends = [[x + 1e-6 * s * d for d in numpy.eye(len(x))] for s in (1, -1) for x in [(a, b)[place]]]
                args = [[(x, b) if place == 0 else (a, x) for x in end] for end in ends]
                more, less = ([at(program(numpy, *both), k) for both in each] for each in args)
                numpy.testing.assert_allclose(row, numpy.subtract(more, less) / 2e-6, atol=1e-8)


def at(series: Any, k: int) -> Any:
    """A coefficient, 0 behind the last."""
    return series[k] if k < len(series) else 0.0


WRONG = [0.5, numpy.ones((2, 2)), numpy.zeros((2, 0)), numpy.zeros(0), numpy.ones((1, 3)), numpy.array(0.0)]


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_series_has_the_value_or_the_error_of_numpy(kind: str, name: str) -> None:
    module, start = KINDS[kind]
    for wrong, order in itertools.product(WRONG, (1, -1)):

        def program(of: Any, x: Any, order: int = order) -> Any:
            return getattr(getattr(of.polynomial, module), start + name)(*[x, [1.0, 2.0]][::order])

        assert shown(program, numpy, wrong) == shown(lambda x: te.vjp(lambda x: program(np, x), x)[0], wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_products_of_infinite_coefficients_are_those_of_numpy(kind: str) -> None:
    module, start = KINDS[kind]
    for a in ([numpy.inf, 0.0], [1.0, numpy.nan, 0.0], [0.0, 0.0], [-0.0], [1e308, 1e308, -0.0]):
        for name, rest in (
            ("mul", ([1e10, 0.0],)),
            ("mul", ([1.0, 2.0, 3.0],)),
            ("pow", (2,)),
            ("pow", (0,)),
            ("pow", (-1,)),
        ):

            def program(of: Any, a: Any, name: str = name, rest: Any = rest) -> Any:
                return getattr(getattr(of.polynomial, module), start + name)(a, *rest)

            assert shown(program, numpy, numpy.array(a)) == shown(
                lambda a: te.vjp(lambda a: program(np, a), a)[0], numpy.array(a)
            )


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives(kind: str) -> None:
    module, start = KINDS[kind]
    a, w = numpy.array([0.0, 0.0, 1.0]), numpy.arange(1.0, 6.0)

    def program(of: Any, a: Any) -> Any:
        return w @ getattr(getattr(of.polynomial, module), f"{start}mul")(a, a)

    found = te.hessian(lambda a: program(np, a))(a)
    plain = [[program(numpy, a + x + y) for x in (*numpy.eye(3), 0.0)] for y in (*numpy.eye(3), 0.0)]
    expected = [[plain[i][j] - plain[i][3] - plain[3][j] + plain[3][3] for i in range(3)] for j in range(3)]
    numpy.testing.assert_allclose(found, numpy.array(expected), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("leading", [0, 1])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_root_at_zero(zero: float, leading: int, size: int, dtype: str) -> None:
    rng = numpy.random.default_rng(size)
    p = numpy.array([0.0] * leading + [*rng.uniform(0.5, 2.0, size - 1), zero]).astype(dtype)
    value, backpropagator = te.vjp(numpy.roots, p)
    wanted = numpy.roots(p)
    assert (value.dtype, value.tobytes()) == (wanted.dtype, wanted.tobytes())
    powers = numpy.arange(size)[::-1]
    for place, root in enumerate(wanted):  # p(x) = 0 defines dx/dp[k] = -x^k/p'(x)
        expected = -(root**powers) / numpy.polyval(numpy.polyder(p), root)
        found = backpropagator((numpy.arange(size - 1) == place).astype(value.dtype))[0]
        expected = expected if numpy.iscomplexobj(p) else expected.real
        accuracy = 1e-4 if dtype in ("float32", "complex64") else 1e-9
        numpy.testing.assert_allclose(found[leading:], expected, rtol=accuracy, atol=accuracy)


def test_several_roots_at_zero_have_no_derivative_by_the_last_coefficients() -> None:
    p = numpy.array([1.0, 2.0, 0.0, 0.0])
    found = te.vjp(numpy.roots, p)[1](numpy.array([1.0, 0.0, 0.0]))[0]
    numpy.testing.assert_array_equal(found, [2.0, -1.0, numpy.nan, numpy.nan])
    assert te.grad(lambda a: numpy.sum(np.roots(np.array([1.0, a, 0.0, 0.0]))))(2.0) == -1.0
    p, slope = numpy.array([1.0, 2.0, 0.0]), lambda c: te.grad(lambda c: np.roots(c)[1])(c)[2]
    numpy.testing.assert_allclose(te.grad(slope)(p), [0.0, 0.25, -0.25], atol=1e-15)  # of sqrt(1 - c) - 1 in c
