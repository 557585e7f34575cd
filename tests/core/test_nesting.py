"""Derivatives of derivatives, reverse over reverse to any order; perturbations are never confused."""

import itertools
import math
from typing import Any

import pytest
from forward_mode import Forward
from hypothesis import given, settings
from hypothesis import strategies as st
from jacobians import close, hessian_by_forward_mode


def test_perturbations_are_not_confused(core: Any) -> None:
    """AutoGrad.jl PR 75: d/dx [x * d/dy (x + y)] is 1, whatever x and y are."""
    assert core.grad(lambda x: x * core.grad(lambda y: x + y)(2.0))(1.0) == 1.0
    assert core.grad(lambda x: x * core.grad(lambda y: x + y)(x))(3.0) == 1.0


def test_captures_at_two_levels(core: Any) -> None:
    """d/dx [x * d/dy (x * y)] = d/dx x**2, and with the inner argument depending on x."""
    assert core.grad(lambda x: x * core.grad(lambda y: x * y)(7.0))(3.0) == 6.0
    assert core.grad(lambda x: core.grad(lambda y: x * x * y * y)(x))(3.0) == 2 * 3 * 9.0


def test_the_square_and_its_derivatives_at_zero(core: Any) -> None:
    def f(x: Any) -> Any:
        return x**2

    seen = [f(0.0)]
    for _ in range(4):
        f = core.grad(f)
        seen.append(f(0.0))
    assert seen == [0.0, 0.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_sine_to_sixth_order(core: Any, order: int) -> None:
    f = core.math.sin
    for _ in range(order):
        f = core.grad(f)
    expected = [math.sin, math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)][order % 4](0.7)
    assert f(0.7) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("power", [3, 0.5, -1.5, 7])
def test_derivatives_of_powers_to_fourth_order(core: Any, power: float) -> None:
    f, expected = lambda x: x**power, 1.3**power
    for k in range(4):
        f = core.grad(f)
        expected *= (power - k) / 1.3
        assert f(1.3) == pytest.approx(expected, rel=1e-13)


def test_derivatives_by_the_exponent(core: Any) -> None:
    def f(y: Any) -> Any:
        return 1.7**y

    for k in range(1, 4):
        f = core.grad(f)
        assert f(0.8) == pytest.approx(1.7**0.8 * math.log(1.7) ** k, rel=1e-13)


def test_mixed_derivative_of_a_power(core: Any) -> None:
    def by_base_then_exponent(x: float, y: float) -> Any:
        return core.grad(lambda b: core.grad(lambda a: a**b)(x))(y)

    def by_exponent_then_base(x: float, y: float) -> Any:
        return core.grad(lambda a: core.grad(lambda b: a**b)(y))(x)

    expected = 1.3**1.5 * (1 + 2.5 * math.log(1.3))
    assert by_base_then_exponent(1.3, 2.5) == pytest.approx(expected, rel=1e-14)
    assert by_exponent_then_base(1.3, 2.5) == pytest.approx(expected, rel=1e-14)


SCALAR_FUNCTIONS = [
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "exp", "exp2", "expm1"),
    *("log", "log1p", "log2", "log10", "sqrt", "cbrt", "erf", "erfc", "expit", "softplus"),
]


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_second_and_third_derivatives_agree_with_forward_mode(core: Any, name: str) -> None:
    import forward_mode

    x = Forward(Forward(Forward(0.37, 1.0), Forward(1.0, 0.0)), Forward(Forward(1.0, 0.0), Forward(0.0, 0.0)))
    y = getattr(forward_mode, name)(x)
    second = core.grad(core.grad(getattr(core.math, name)))
    assert second(0.37) == pytest.approx(y.tangent.tangent.value, rel=1e-11)
    assert core.grad(second)(0.37) == pytest.approx(y.tangent.tangent.tangent, rel=1e-10)


def hessian(core: Any, program: Any, xs: list[float]) -> list[list[float]]:
    """Reverse over reverse, one row for each input."""
    gradient = core.grad(lambda ys: program(core.math, ys))
    _, backpropagator = core.vjp(gradient, xs)
    rows = [[float(i == j) for j in range(len(xs))] for i in range(len(xs))]
    return [backpropagator(row)[0] for row in rows]


def rosenbrock(m: Any, xs: Any) -> Any:
    return sum(100 * (y - x * x) ** 2 + (1 - x) ** 2 for x, y in itertools.pairwise(xs))


def branching(m: Any, xs: Any) -> Any:
    total = 1.0
    for x in xs:
        total = total * m.sin(x) + x if total > 0 else total * x - m.exp(x * total)
    return total


def shared(m: Any, xs: Any) -> Any:
    y = xs[0] * xs[1] / xs[2]
    for _ in range(6):
        y = (y * y + m.sin(y) + xs[2]) * 0.3
    return y


def distances(m: Any, xs: Any) -> Any:
    return m.hypot(*xs) * m.atan2(xs[0], xs[1]) + m.dist(xs, [1.0, 2.0, 3.0]) ** 3 + m.logaddexp(xs[0], xs[2])


@pytest.mark.parametrize("program", [rosenbrock, branching, shared, distances], ids=lambda f: f.__name__)
def test_hessians_agree_with_forward_over_forward(cores: Any, program: Any) -> None:
    xs = [0.8, -0.4, 1.7]
    expected = hessian_by_forward_mode(program, xs)
    ours, theirs = (hessian(core, program, xs) for core in cores)
    assert close(ours, expected, 1e-12)
    assert repr(ours) == repr(theirs)


def test_captures_from_several_levels(core: Any) -> None:
    """f(x, y, z) = x y**2 z**3 in three nested traces; each captures values of the outer ones."""

    def outermost(x: Any) -> Any:
        return core.grad(lambda y: core.grad(lambda z: x * y**2 * z**3 + x * y)(0.5))(1.5)

    assert core.grad(outermost)(2.0) == pytest.approx(2 * 1.5 * 3 * 0.25, rel=1e-15)
    assert core.grad(core.grad(lambda x: outermost(x * x)))(2.0) == pytest.approx(2 * 2 * 1.5 * 3 * 0.25, rel=1e-15)


def test_an_inner_trace_that_skips_a_level(core: Any) -> None:
    """The innermost trace captures only from the outermost one."""

    def program(x: Any) -> Any:
        return core.grad(lambda y: y * core.grad(lambda z: z * z * x)(3.0))(2.0)

    assert core.grad(program)(5.0) == 6.0


def test_the_cotangent_itself_is_differentiated(core: Any) -> None:
    """A backpropagator is linear, so its derivative in the cotangent is its result for 1."""

    def program(c: Any, x: Any) -> Any:
        _, backpropagator = core.vjp(lambda y: y * y * x, 3.0)
        return backpropagator(c)[0]

    value, backpropagator = core.vjp(program, 2.0, 5.0)
    assert value == 60.0
    assert backpropagator(1.0) == (30.0, 12.0)


def test_a_backpropagator_made_outside_is_used_inside(core: Any) -> None:
    _, inner = core.vjp(lambda y: core.math.sin(y) * y, 0.7)
    value, outer = core.vjp(lambda c: inner(c * c)[0], 3.0)
    slope = math.cos(0.7) * 0.7 + math.sin(0.7)
    assert value == pytest.approx(9 * slope, rel=1e-15)
    assert outer(1.0) == pytest.approx((6 * slope,), rel=1e-15)


def test_a_backpropagator_of_an_outer_trace_is_used_in_an_inner_one(core: Any) -> None:
    def program(x: Any) -> Any:
        _, backpropagator = core.vjp(lambda y: y * y * x, x)
        return core.grad(lambda c: backpropagator(c)[0] * c)(2.0)

    # backpropagator(c) = 2 x**2 c, so the inner derivative is 4 x**2 c = 8 x**2
    assert core.grad(program)(3.0) == 48.0


def test_a_backpropagator_called_after_the_outer_trace(core: Any) -> None:
    """The result holds values of the finished trace as constants."""
    kept: list[Any] = []

    def program(x: Any) -> Any:
        value, backpropagator = core.vjp(lambda y: y * y * x, 3.0)
        kept.append(backpropagator)
        return value

    assert core.grad(program)(5.0) == 9.0
    assert kept[0](1.0) == (30.0,)


def test_an_outer_dual_as_result_of_an_inner_program(core: Any) -> None:
    def program(x: Any) -> Any:
        value, backpropagator = core.vjp(lambda y: (x, y * 2.0), 3.0)
        return value[0] * value[1] + backpropagator((1.0, x))[0]

    assert core.grad(program)(5.0) == 6.0 + 2.0


def test_the_value_of_an_inner_trace_carries_on(core: Any) -> None:
    def program(x: Any) -> Any:
        value, _ = core.vjp(lambda y: core.math.sin(x * y), 2.0)
        return value * value

    assert core.grad(program)(0.3) == pytest.approx(4 * math.sin(0.6) * math.cos(0.6), rel=1e-15)


def test_several_inner_traces_one_after_the_other(core: Any) -> None:
    def program(x: Any) -> Any:
        total = 0.0
        for k in range(5):
            total = total + core.grad(lambda y, k=k: y**k * x)(x)
        return total

    # the sum of k x**k, whose derivative is the sum of k**2 x**(k - 1)
    assert core.grad(program)(1.1) == pytest.approx(sum(k * k * 1.1 ** (k - 1) for k in range(1, 5)), rel=1e-14)


def test_nested_structures(core: Any) -> None:
    def program(data: Any) -> Any:
        inner = core.grad(lambda d: d["a"] * d["b"][0] * d["b"][1] * data["a"])(data)
        return inner["a"] + inner["b"][1]

    gradient = core.grad(program)({"a": 2.0, "b": [3.0, 5.0]})
    # inner a: b0 b1 a; inner b1: a b0 a
    assert gradient == {"a": 15.0 + 2 * 2 * 3, "b": [5.0 * 2 + 4.0, 3.0 * 2]}


def test_newton_method_on_a_derivative(core: Any) -> None:
    """Minimise by Newton's method with nested derivatives, and differentiate the minimiser: x*(a) = a**(1/3)."""

    def minimiser(a: Any) -> Any:
        slope = core.grad(lambda y: y**4 / 4 - a * y)
        x = 1.0
        for _ in range(8):
            x = x - slope(x) / core.grad(slope)(x)
        return x

    assert minimiser(2.0) == pytest.approx(2.0 ** (1 / 3), rel=1e-12)
    assert core.grad(minimiser)(2.0) == pytest.approx(2.0 ** (-2 / 3) / 3, rel=1e-10)


def test_zero_cotangents_meet_infinite_partials(core: Any) -> None:
    """The second derivative of a branch that was not taken stays zero."""

    def f(x: Any) -> Any:
        return core.math.sqrt(x) * 0.0 + x * x

    assert core.grad(f)(0.0) == 0.0
    assert core.grad(core.grad(f))(0.0) == 2.0


def test_counts_of_a_nested_derivative(cores: Any) -> None:
    """Both cores record the same reverse sweep."""
    tapes = []
    for core in cores:
        tapes.append(core.vjp(core.grad(lambda x, m=core.math: m.sin(x * x) / x), 0.7)[1].tape)
    ours, theirs = ([tuple(record) for record in tape.records()] for tape in tapes)
    assert repr(ours) == repr(theirs)
    assert len(ours) > 5


polynomials = st.lists(st.floats(-3, 3), min_size=1, max_size=6)


@settings(max_examples=50)
@given(polynomials, st.floats(-2, 2), st.integers(1, 4))
def test_derivatives_of_polynomials(cores: Any, coefficients: list[float], x: float, order: int) -> None:
    expected = list(coefficients)
    for _ in range(order):
        expected = [k * c for k, c in enumerate(expected)][1:]
    at_x = math.fsum(c * x**k for k, c in enumerate(expected))

    def horner(y: Any) -> Any:
        total = 0.0
        for c in reversed(coefficients):
            total = total * y + c
        return total

    results = []
    for core in cores:
        f = horner
        for _ in range(order):
            f = core.grad(f)
        results.append(f(x))
    assert results[0] == pytest.approx(at_x, rel=1e-12, abs=1e-11)
    assert repr(results[0]) == repr(results[1])
