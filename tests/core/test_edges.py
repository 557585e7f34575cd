"""NaN, infinities, signed zeros, and the rule that a linear map sends zero to zero."""

import math
from typing import Any

import pytest

inf, nan = math.inf, math.nan


def test_a_branch_that_is_masked_has_no_slope(core: Any) -> None:
    """A case in which other tools give NaN: the square root's slope at 0 is infinite, and its cotangent is zero."""
    root = core.grad(lambda x: core.math.sqrt(x) * 0.0)
    assert root(0.0) == 0.0
    assert core.grad(lambda x: x if x > 0 else core.math.sqrt(x) * 0.0 + 2 * x)(0.0) == 2.0


@pytest.mark.parametrize(
    "program",
    [
        lambda m, x: m.sqrt(x),
        lambda m, x: m.cbrt(x),
        lambda m, x: x**0.5,
        lambda m, x: x ** (1 / 3),
        lambda m, x: m.hypot(x, 0.0) ** 0.5,
        lambda m, x: m.acosh(1.0 + x),
        lambda m, x: m.asin(1.0 - x),
        lambda m, x: m.atan2(x, x),
    ],
    ids=["sqrt", "cbrt", "power", "third power", "hypot", "acosh", "asin", "atan2"],
)
def test_zero_cotangent_contributes_zero_where_the_partial_is_not_finite(core: Any, program: Any) -> None:
    _, backpropagator = core.vjp(lambda x: (program(core.math, x), x * 3.0), 0.0)
    assert backpropagator((0.0, 1.0)) == (3.0,)
    assert backpropagator((-0.0, 1.0)) == (3.0,)
    (slope,) = backpropagator((1.0, 0.0))
    assert not math.isfinite(slope)


def test_a_zero_in_the_middle_of_a_chain_stops_it(core: Any) -> None:
    def program(x: Any) -> Any:
        return core.math.log(core.math.sqrt(x) * 0.0 + 1.0) + x

    _, backpropagator = core.vjp(program, 0.0)
    assert backpropagator(1.0) == (1.0,)
    assert backpropagator.count(1.0)[0] == 4  # the last sum, log, + 1, * 0; the root has a zero cotangent


def test_overflow_gives_infinity(core: Any) -> None:
    value, backpropagator = core.vjp(lambda x: x * 1e200 * 1e200, 2.0)
    assert (value, backpropagator(1.0)) == (inf, (inf,))


def test_nan_comes_through(core: Any) -> None:
    value, backpropagator = core.vjp(lambda x, y: x * y, nan, 2.0)
    assert math.isnan(value)
    dx, dy = backpropagator(1.0)
    assert dx == 2.0
    assert math.isnan(dy)


def test_a_nan_cotangent_is_passed_on(core: Any) -> None:
    _, backpropagator = core.vjp(lambda x, y: (x * 2.0, y * 3.0), 1.0, 1.0)
    dx, dy = backpropagator((nan, 1.0))
    assert math.isnan(dx)
    assert dy == 3.0


@pytest.mark.parametrize("x", [0.0, -0.0])
def test_signed_zeros_are_kept_in_values(core: Any, x: float) -> None:
    signs: list[float] = []

    def program(d: Any) -> Any:
        for y in (d, -d, d * 1.0, d * -1.0, abs(d), core.math.sin(d), core.math.fabs(d), core.math.copysign(1.0, d)):
            signs.append(math.copysign(1.0, y._value))
        return d

    core.vjp(program, x)
    s = math.copysign(1.0, x)
    assert signs == [s, -s, s, -s, 1.0, s, 1.0, s]


def test_signed_zeros_are_kept_in_results(core: Any) -> None:
    value, _ = core.vjp(lambda x: (x, -x, [x * 0.0]), -0.0)
    assert repr(value) == "(-0.0, 0.0, [-0.0])"


@pytest.mark.parametrize("x", [inf, -inf])
def test_infinite_inputs(core: Any, x: float) -> None:
    value, backpropagator = core.vjp(lambda d: (core.math.atan(d), 1.0 / d, core.math.tanh(d), d + 1.0), x)
    assert value == (math.copysign(math.pi / 2, x), 0.0, math.copysign(1.0, x), x)
    assert backpropagator((1.0, 1.0, 1.0, 1.0)) == (1.0,)


def test_comparisons_with_nan(core: Any) -> None:
    assert core.grad(lambda x: x * 2.0 if x > nan else x * 3.0)(1.0) == 3.0
    assert core.vjp(lambda x: [x > 0, x < 0, x == x], nan)[0] == [False, False, False]


def test_subnormal_values(core: Any) -> None:
    value, backpropagator = core.vjp(lambda x: x * 0.5, 5e-324)
    assert (value, backpropagator(1.0)) == (0.0, (0.5,))
    assert core.vjp(lambda x: x * 1.0, 1.0)[1](5e-324) == (5e-324,)


def test_max_and_min_give_a_tie_to_the_first(core: Any) -> None:
    assert core.vjp(max, 2.0, 2.0)[1](1.0) == (1.0, 0.0)
    assert core.vjp(min, 2.0, 2.0)[1](1.0) == (1.0, 0.0)


def test_errors_of_the_functions_are_maths_own(core: Any) -> None:
    for name, x in (("sqrt", -1.0), ("log", 0.0), ("log", -1.0), ("acos", 2.0), ("gamma", 0.0), ("atanh", 1.0)):
        with pytest.raises(ValueError) as expected:
            getattr(math, name)(x)
        with pytest.raises(ValueError) as seen:
            core.vjp(getattr(core.math, name), x)
        assert str(seen.value) == str(expected.value)
    with pytest.raises(OverflowError):
        core.vjp(core.math.exp, 1000.0)
    with pytest.raises(ZeroDivisionError):
        core.vjp(lambda x: 1 / x, 0.0)
