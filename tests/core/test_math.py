"""`tapeengine.math`: the values and the errors of `math` to the last bit, and correct derivatives."""

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import forward_mode
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from outcomes import shown

import tapeengine as te

ONE = [
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cbrt",
        "cos",
        "cosh",
        "degrees",
        "erf",
        "erfc",
        "exp",
        "exp2",
    ),
    *(
        "expm1",
        "fabs",
        "gamma",
        "lgamma",
        "log",
        "log10",
        "log1p",
        "log2",
        "radians",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
    ),
]
TWO = ["atan2", "copysign", "fmod", "hypot", "log", "pow", "remainder", "nextafter"]
PARTS = ["modf", "frexp"]
PREDICATES = ["isfinite", "isinf", "isnan", "ceil", "floor", "trunc", "ulp"]
WITHOUT_DERIVATIVE = ["comb", "factorial", "gcd", "isqrt", "lcm", "perm"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 1e-300, 1e300, -1e300, 710.0, -750.0, 5e-324]
SPECIAL += [math.inf, -math.inf, math.nan, 171.7, -170.5, 0.3, 1e22]


def on_duals(core: Any, f: Callable[..., Any], *xs: float) -> Any:
    """The outcome of a function on duals, as values."""
    seen: list[Any] = []

    def program(*duals: Any) -> None:
        seen.append(shown(lambda: f(*duals)))

    core.vjp(program, *xs)
    return seen[0]


@pytest.mark.parametrize("name", [*ONE, *PARTS, *PREDICATES])
def test_special_values_of_one_argument(core: Any, name: str) -> None:
    for x in SPECIAL:
        expected = shown(lambda x=x: getattr(math, name)(x))
        assert shown(lambda x=x: getattr(core.math, name)(x)) == expected, x
        assert on_duals(core, getattr(core.math, name), x) == expected, x


@pytest.mark.parametrize("name", TWO)
def test_special_values_of_two_arguments(core: Any, name: str) -> None:
    f = getattr(core.math, name)
    for x in SPECIAL:
        for y in SPECIAL:
            expected = shown(lambda x=x, y=y: getattr(math, name)(x, y))
            assert shown(lambda x=x, y=y: f(x, y)) == expected, (x, y)
            assert on_duals(core, f, x, y) == expected, (x, y)
            assert on_duals(core, lambda a, y=y: f(a, y), x) == expected, (x, y)
            assert on_duals(core, lambda b, x=x: f(x, b), y) == expected, (x, y)


@given(st.sampled_from(ONE), st.floats())
@example("lgamma", -0.5)
@example("gamma", -2.0)
def test_values_are_maths_own(cores: Any, name: str, x: float) -> None:
    expected = shown(lambda: getattr(math, name)(x))
    for core in cores:
        f = getattr(core.math, name)
        assert shown(lambda f=f: f(x)) == expected
        assert on_duals(core, f, x) == expected


@given(st.sampled_from(TWO), st.floats(), st.floats())
def test_values_of_two_arguments_are_maths_own(cores: Any, name: str, x: float, y: float) -> None:
    expected = shown(lambda: getattr(math, name)(x, y))
    for core in cores:
        f = getattr(core.math, name)
        assert shown(lambda f=f: f(x, y)) == expected
        assert on_duals(core, f, x, y) == expected


@given(st.lists(st.floats(-1e6, 1e6), max_size=6))
def test_values_of_many_arguments_are_maths_own(cores: Any, xs: list[float]) -> None:
    for core in cores:
        m = core.math
        assert on_duals(core, m.hypot, *xs) == repr(math.hypot(*xs))
        assert on_duals(core, lambda *ds, m=m: m.fsum(ds), *xs) == repr(math.fsum(xs))
        assert on_duals(core, lambda *ds, m=m: m.prod(ds), *xs) == repr(math.prod(xs))
        assert on_duals(core, lambda *ds, m=m: m.dist(ds, ds[::-1]), *xs) == repr(math.dist(xs, xs[::-1]))


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=6))
def test_sumprod_is_rounded_once(cores: Any, pairs: list[tuple[float, float]]) -> None:
    exact = float(sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0)))
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    for core in cores:
        assert core.math.sumprod(xs, ys) == pytest.approx(exact, rel=1e-15, abs=1e-300)
        values = [core.math.sumprod(xs, ys), core.vjp(core.math.sumprod, xs, ys)[0]]
        assert repr(float(values[0])) == repr(float(values[1]))


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_fma_is_rounded_once(cores: Any, x: float, y: float, z: float) -> None:
    exact = float(Fraction(x) * Fraction(y) + Fraction(z))
    for core in cores:
        assert core.math.fma(x, y, z) == exact
        assert core.vjp(core.math.fma, x, y, z)[0] == exact


DOMAIN = {
    **dict.fromkeys(["acos", "asin", "atanh"], (-0.95, 0.95)),
    **dict.fromkeys(["acosh"], (1.05, 50.0)),
    **dict.fromkeys(["log", "log2", "log10", "sqrt", "cbrt"], (0.01, 50.0)),
    **dict.fromkeys(["lgamma", "gamma", "digamma"], (0.1, 30.0)),
    **dict.fromkeys(["log1p"], (-0.95, 50.0)),
    **dict.fromkeys(["tan"], (-1.4, 1.4)),
    **dict.fromkeys(["fabs", "relu"], (0.1, 5.0)),
}


@given(st.sampled_from([*ONE, "expit", "softplus", "relu"]), st.floats(0.0, 1.0))
def test_derivatives_agree_with_forward_mode(cores: Any, name: str, where: float) -> None:
    low, high = DOMAIN.get(name, (-5.0, 5.0))
    x = low + where * (high - low)
    expected = getattr(forward_mode, name)(forward_mode.Forward(x, 1.0)).tangent
    slopes = [core.grad(getattr(core.math, name))(x) for core in cores]
    assert slopes[0] == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert repr(slopes[0]) == repr(slopes[1])


BINARY_SMOOTH = ["atan2", "hypot", "pow", "xlogy", "logaddexp", "maximum", "minimum", "copysign"]


@given(st.sampled_from(BINARY_SMOOTH), st.floats(0.1, 5.0), st.floats(0.1, 5.0))
def test_derivatives_of_two_arguments(cores: Any, name: str, x: float, y: float) -> None:
    f, dual = getattr(forward_mode, name), forward_mode.Forward
    expected = [forward_mode.tangent(f(dual(x, 1.0), y)), forward_mode.tangent(f(x, dual(y, 1.0)))]
    slopes = [core.vjp(getattr(core.math, name), x, y)[1](1.0) for core in cores]
    assert slopes[0] == pytest.approx(expected, rel=1e-12, abs=1e-13)
    assert repr(slopes[0]) == repr(slopes[1])


@pytest.mark.parametrize("x", [0.2, 1.5, 7.0, 30.0, -0.4, -3.7])
def test_digamma_and_its_derivatives(cores: Any, x: float) -> None:
    from scipy.special import polygamma

    for core in cores:
        f = core.math.lgamma
        for order in range(3):
            f = core.grad(f)
            assert f(x) == pytest.approx(float(polygamma(order, x)), rel=1e-11)
        assert core.math.digamma(x) == pytest.approx(float(polygamma(0, x)), rel=1e-12)


def test_gamma_to_second_order(core: Any) -> None:
    from scipy.special import gamma, polygamma

    x = 2.3
    psi, trigamma = polygamma(0, x), polygamma(1, x)
    assert core.grad(core.grad(core.math.gamma))(x) == pytest.approx(gamma(x) * (psi**2 + trigamma), rel=1e-12)


EDGES: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = [
    ("relu", (0.0,), (0.0,)),
    ("relu", (-1.0,), (0.0,)),
    ("fabs", (0.0,), (0.0,)),
    ("fabs", (-0.0,), (0.0,)),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (0.0, 2.0), (0.0, 1.0)),
    ("maximum", (2.0, 2.0), (0.5, 0.5)),
    ("minimum", (2.0, 2.0), (0.5, 0.5)),
    ("maximum", (2.0, 1.0), (1.0, 0.0)),
    ("xlogy", (0.0, 3.0), (math.log(3.0), 0.0)),
    ("expit", (1000.0,), (0.0,)),
    ("expit", (-1000.0,), (0.0,)),
    ("softplus", (1000.0,), (1.0,)),
    ("softplus", (-1000.0,), (0.0,)),
    ("logaddexp", (1000.0, 0.0), (1.0, 0.0)),
    ("logaddexp", (1000.0, 1000.0), (0.5, 0.5)),
    ("log1p", (0.0,), (1.0,)),
    ("expm1", (0.0,), (1.0,)),
]


@pytest.mark.parametrize(("name", "at", "slopes"), EDGES)
def test_derivatives_at_the_edges(core: Any, name: str, at: tuple[float, ...], slopes: tuple[float, ...]) -> None:
    value, backpropagator = core.vjp(getattr(core.math, name), *at)
    assert backpropagator(1.0) == slopes
    assert math.isfinite(value)


def test_values_of_functions_that_math_lacks(core: Any) -> None:
    m = core.math
    assert m.expit(0.0) == 0.5
    assert m.expit(-800.0) == 0.0
    assert m.softplus(0.0) == math.log(2.0)
    assert (m.relu(-2.0), m.relu(3.0)) == (0.0, 3.0)
    assert (m.xlogy(0.0, 0.0), m.xlogy(2.0, 3.0)) == (0.0, 2.0 * math.log(3.0))
    assert (m.maximum(1.0, 2.0), m.minimum(1.0, 2.0)) == (2.0, 1.0)
    assert m.logaddexp(-1000.0, -1000.0) == -1000.0 + math.log(2.0)


def test_the_last_coordinate_may_be_plain(core: Any) -> None:
    value, backpropagator = core.vjp(lambda x, y: core.math.hypot(2.0, x, 1, y, 4), 3.0, 5.0)
    assert value == math.hypot(2.0, 3.0, 1, 5.0, 4)
    assert backpropagator(1.0) == pytest.approx((3.0 / value, 5.0 / value), rel=1e-15)


def test_dist_where_points_meet(core: Any) -> None:
    value, backpropagator = core.vjp(core.math.dist, (1.0, 2.0), (1.0, 2.0))
    assert value == 0.0
    assert backpropagator(1.0) == ((0.0, 0.0), (0.0, 0.0))


def test_log_with_base(core: Any) -> None:
    value, backpropagator = core.vjp(core.math.log, 5.0, 3.0)
    assert value == math.log(5.0, 3.0)
    expected = (1 / (5.0 * math.log(3.0)), -math.log(5.0) / (3.0 * math.log(3.0) ** 2))
    assert backpropagator(1.0) == pytest.approx(expected, rel=1e-15)


def test_numbers_of_all_kinds(core: Any) -> None:
    for x in (2, True, Fraction(5, 2), np.float64(2.5), np.float32(2.5), np.int64(3)):
        assert core.math.sin(x) == math.sin(x)
        assert core.math.hypot(x, 1) == math.hypot(x, 1)
        value, (slope,) = (lambda v, b: (v, b(1.0)))(*core.vjp(lambda y, x=x: core.math.atan2(y, x), 0.5))
        assert value == math.atan2(0.5, x)
        assert slope == pytest.approx(float(x) / (float(x) ** 2 + 0.25), rel=1e-15)


@pytest.mark.parametrize("name", [*ONE, "expit", "softplus", "relu"])
def test_what_is_no_number_is_a_type_error(core: Any, name: str) -> None:
    for wrong in ("a", None, [1.0]):
        with pytest.raises(TypeError):
            getattr(core.math, name)(wrong)


def test_every_function_of_math_is_here(core: Any) -> None:
    public = {name for name in dir(math) if not name.startswith("_")}
    assert public <= set(dir(core.math))
    assert {"expit", "softplus", "relu", "xlogy", "logaddexp", "digamma", "sumprod", "fma"} <= set(dir(core.math))


@pytest.mark.parametrize("name", WITHOUT_DERIVATIVE)
def test_functions_of_integers_are_maths_own(core: Any, name: str) -> None:
    assert getattr(core.math, name) is getattr(math, name)


def test_every_function_has_a_docstring(cores: Any) -> None:
    compiled, _ = cores
    functions = [getattr(compiled.math, name) for name in compiled.math.__all__]
    assert [f for f in functions if callable(f) and not inspect.getdoc(f)] == []


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("convert", [float, np.array], ids=["scalar", "array"])
def test_the_partials_of_powers_at_zero(exponent: float, convert: Any) -> None:
    """x**p at 0 has the derivative of the polynomial in x; the one in p is 0 wherever the value is."""
    power = te.jvp(lambda x: x**exponent, (convert(0.0),), (convert(1.0),))[1]
    assert power == (1.0 if exponent == 1.0 else 0.0)
    if exponent:
        assert te.jvp(lambda p: convert(0.0) ** p, (convert(exponent),), (convert(1.0),))[1] == 0.0
