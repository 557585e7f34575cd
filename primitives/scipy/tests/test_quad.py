"""`quad` with every option: SciPy's value, error estimate and warnings, and the derivative of that value."""

import warnings

import numpy as np
import pytest
import scipy.integrate
from differences import differences

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, UnsupportedError
from tapeengine_scipy import integrate, optimize
from tapeengine_scipy._callables import Closed


def peak(x, p, width=1e-2):
    return np.exp(-(((x - 0.5 * p) / width) ** 2))


def singular(x, p):
    return np.abs(x - 0.3) ** (-0.5 * p)


def smooth(x, p):
    return np.sin(p * x) + p * p


def decaying(x, p):
    return np.exp(-p * x * x) * (1.0 + p * x)


CASES = {
    "plain": (smooth, 0.0, 2.0, {}),
    "reversed": (smooth, 2.0, 0.0, {}),
    "empty": (smooth, 1.0, 1.0, {}),
    "loose": (smooth, 0.0, 2.0, {"epsabs": 1e-2, "epsrel": 1e-2}),
    "peak between points": (peak, 0.0, 1.0, {"points": [0.49, 0.5, 0.51]}),
    "peak that the value's nodes see": (peak, 0.0, 1.0, {"limit": 200}),
    "declared singularity": (singular, 0.0, 1.0, {"points": [0.3]}),
    "singularity at a limit": (singular, 0.3, 1.0, {}),
    "to infinity": (decaying, 0.2, np.inf, {}),
    "from minus infinity": (decaying, -np.inf, 0.2, {}),
    "everywhere": (decaying, -np.inf, np.inf, {}),
    "everywhere, reversed": (decaying, np.inf, -np.inf, {}),
    "far peak": (lambda x, p: np.exp(-((x - 3.0 * p) ** 2) / 0.01), 0.0, np.inf, {"limit": 200}),
    "cos": (smooth, 0.0, 2.0, {"weight": "cos", "wvar": 3.0}),
    "sin": (smooth, 0.0, 2.0, {"weight": "sin", "wvar": 3.0, "maxp1": 20}),
    "sin to infinity": (decaying, 0.0, np.inf, {"weight": "sin", "wvar": 2.0, "limlst": 40}),
    "alg": (smooth, 0.0, 2.0, {"weight": "alg", "wvar": (-0.5, 0.3)}),
    "alg-loga": (smooth, 0.0, 2.0, {"weight": "alg-loga", "wvar": (-0.5, 0.3)}),
    "cauchy": (smooth, 0.0, 2.0, {"weight": "cauchy", "wvar": 0.7}),
}


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("name", CASES)
def test_value_and_derivative(name):
    fun, a, b, options = CASES[name]

    def total(quad):
        return lambda p: quad(lambda x: fun(x, p), a, b, **options)

    value = te.vjp(lambda p: total(integrate.quad)(p), 1.1)[0]
    assert value == total(scipy.integrate.quad)(1.1)
    exact = {**options, "epsabs": 1e-10 if "weight" in options else 1e-13, "epsrel": 1e-12, "limit": 400}
    expected = differences(lambda p: scipy.integrate.quad(lambda x: fun(x, p), a, b, **exact)[0], 1.1, h=1e-3)
    found = te.grad(lambda p: total(integrate.quad)(p)[0])(1.1)
    assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-7)
    tangent = te.jvp(lambda p: total(integrate.quad)(p)[0], (1.1,), (1.0,))[1]
    assert tangent == pytest.approx(found, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3])
def test_a_peak_s_width_has_the_derivative_that_the_value_has(width):
    """At the peak the derivative in its width is zero: only the value's subdivision leads to where it is not."""

    def total(w):
        return integrate.quad(lambda x: peak(x, 1.0, w), 0.0, 1.0, limit=200)[0]

    expected = differences(total, width, h=1e-3 * width)
    assert te.grad(total)(width) == pytest.approx(float(expected), rel=1e-7)


def test_limits_and_second_derivatives():
    def total(v):
        return integrate.quad(lambda x: smooth(x, v[0]), v[1], v[2], weight="cos", wvar=2.0)[0]

    v = np.array([1.1, 0.2, 1.3])
    np.testing.assert_allclose(te.grad(total)(v), differences(total, v), rtol=1e-8)
    hessian = te.hessian(total)(v)
    rows = [differences(lambda v, i=i: te.grad(total)(v)[i], v) for i in range(3)]
    np.testing.assert_allclose(hessian, rows, rtol=1e-7, atol=1e-9)


def test_an_integrand_is_evaluated_where_scipy_evaluates_it():
    seen = {"ours": [], "theirs": []}

    def noted(who, p):
        def fun(x):
            seen[who].append(float(x))
            return p * x

        return fun

    te.vjp(lambda p: integrate.quad(noted("ours", p), 0.0, 1.0)[0], 2.0)
    scipy.integrate.quad(noted("theirs", 2.0), 0.0, 1.0)
    assert seen["ours"] == seen["theirs"]


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_a_derivative_takes_few_traces_for_its_many_nodes(name, order, monkeypatch):
    """A trace, and a look at what the integrand captures, cost more than a node: one for each round of bisections."""
    fun, a, b, options = CASES[name]
    looks, at = [0], Closed.at

    def looked(self, params):
        looks[0] += 1
        return at(self, params)

    monkeypatch.setattr(Closed, "at", looked)
    derivative = lambda p: integrate.quad(lambda x: fun(x, p), a, b, **options)[0]  # noqa: E731
    for _ in range(order):
        derivative = te.grad(derivative)
    derivative(1.1)
    assert looks[0] <= 25 * order  # a singularity takes one round for each halving; nodes number in the hundreds


CONSTANT_PLACES = {
    "integers": lambda x, p: 1,
    "booleans": lambda x, p: x < p,
    "integers at some nodes": lambda x, p: p * x if x < 1.0 else 0,
    "arrays without dimensions": lambda x, p: te.numpy.asarray(p * x),
    "numbers of single precision": lambda x, p: np.float32(3.0) * p * x,
}


@pytest.mark.parametrize("name", CONSTANT_PLACES)
def test_an_integrand_may_return_any_numbers(name):
    total = lambda p: integrate.quad(lambda x: CONSTANT_PLACES[name](x, p), 0.0, 1.0, points=[0.5])[0]  # noqa: E731
    expected = differences(total, 2.0)
    assert te.grad(total)(2.0) == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize("limits", [(np.nan, 0.0), (0.0, np.nan)])
def test_a_limit_that_is_not_a_number(limits):
    assert np.isnan(te.grad(lambda p: integrate.quad(lambda x: p * x, *limits)[0])(1.0))


def test_warnings_and_reports_are_scipys():
    def total(p, **options):
        return integrate.quad(lambda x: p / x, 0.0, 1.0, **options)

    with pytest.warns(scipy.integrate.IntegrationWarning):
        te.vjp(total, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = te.vjp(lambda p: total(p, full_output=1), 1.0)[0]
    expected = scipy.integrate.quad(lambda x: 1.0 / x, 0.0, 1.0, full_output=1)
    assert found[0] == expected[0]
    assert found[3] == expected[3]
    with pytest.raises(ValueError, match="limit"):
        te.vjp(lambda p: integrate.quad(lambda x: p * x, 0.0, 1.0, limit=0), 1.0)


class Settings:
    scale = 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: integrate.quad(lambda x: x * Settings.scale, 0.0, 1.0)[0],
        lambda: optimize.minimize(lambda x: (x[0] - Settings.scale) ** 2, np.zeros(1)).x[0],
    ],
    ids=["quad", "minimize"],
)
def test_a_traced_value_that_is_not_found_is_refused_with_what_to_write(call, monkeypatch):
    def program(p):
        monkeypatch.setattr(Settings, "scale", p)
        return call()

    with pytest.raises(DroppedDerivativeError, match="not found, as in an attribute of a class: pass it in args="):
        te.vjp(program, 2.0)


@pytest.mark.parametrize("integrand", [lambda x: (1.0 - x) ** -0.5, lambda x: te.math.log(1.0 - x)])
def test_a_traced_limit_where_the_integrand_has_no_value(integrand):
    program = lambda b: integrate.quad(integrand, 0.0, b)[0]  # noqa: E731
    assert te.value(te.vjp(program, 1.0)[0]) == scipy.integrate.quad(integrand, 0.0, 1.0)[0]
    with pytest.raises(UnsupportedError, match="no value at a limit"):
        te.grad(program)(1.0)
