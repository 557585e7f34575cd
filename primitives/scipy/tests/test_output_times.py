"""Derivatives of solutions at many output times: as accurate as the solver, at the cost of few."""

import numpy as np
import pytest
import scipy.linalg

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import integrate
from tapeengine_scipy.integrate import backwards
from tapeengine_scipy.integrate.collocation import Linear

METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint"]
EVEN = np.linspace(0.0, 1.0, 200)
TIMES = {
    "even": EVEN,
    "backwards": EVEN[::-1],
    "early": np.concatenate([[0.0], np.logspace(-7, 0, 60)]),
    "repeated": np.array([0.0, 0.0, 0.3, 0.3, 0.3, 0.9, 1.0, 1.0]),
    "one": np.array([0.0, 1.0]),
}


def relaxed(t, y0, k, cos=np.cos, sin=np.sin, exp=np.exp):
    """The solution of y' = -k (y - cos t)."""
    driven = lambda t: (k * k * cos(t) + k * sin(t)) / (k * k + 1.0)  # noqa: E731
    return driven(t) + (y0 - driven(t[0])) * exp(-k * (t - t[0]))


def solved(slope, start, times, args, method, tolerance):
    """The states as columns."""
    options = {"rtol": tolerance, "atol": tolerance}
    if method == "odeint":
        return integrate.odeint(slope, start, times, args=args, tfirst=True, **options).T
    if (np.diff(te.value(times)) == 0).any():  # which solve_ivp refuses
        pytest.skip("solve_ivp takes increasing times")
    span = times[0], times[-1]
    return integrate.solve_ivp(slope, span, start, method, times, args=args, **options).y


def by_complex_steps(f, x):
    return np.array([f(np.array(x) + 1e-30j * e).imag / 1e-30 for e in np.eye(len(x))])


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [1.5, 1e4])
def test_gradients_agree_with_closed_forms(method, times, rate):
    if rate > 100 and (times == "backwards" or method in ("RK23", "RK45", "DOP853")):
        pytest.skip("the solver fails, or takes too many steps")
    t = TIMES[times]
    weights = np.cos(7.0 * np.arange(len(t)))
    tolerance = 1e-4 if method == "RK23" else 1e-7

    def program(p):
        return np.sum(weights * solved(lambda t, y, k: -k * (y - np.cos(t)), p[:1], t, (p[1],), method, tolerance)[0])

    exact = by_complex_steps(lambda p: np.sum(weights * relaxed(t, p[0], p[1])), [0.8, rate])
    found = te.grad(program)(np.array([0.8, rate]))
    scale = np.array([1.0, 1.0 / rate]) * np.abs(weights).sum()
    assert (np.abs(found - exact) <= 20 * tolerance * scale).all(), (found, exact)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [1.5, 2e3])
def test_the_cost_does_not_grow_with_the_number_of_times(method, rate, monkeypatch):
    if rate > 100 and method in ("RK23", "RK45", "DOP853"):
        pytest.skip("for stiff systems")
    made = []
    monkeypatch.setattr(backwards, "Linear", lambda *given: made.append(given) or Linear(*given))

    def cost(count):
        made.clear()
        times = np.linspace(0.0, 1.0, count)
        te.grad(lambda k: np.sum(solved(lambda t, y, k: -k * (y - np.cos(t)), [1.0], times, (k,), method, 1e-6)))(rate)
        return len(made)

    assert cost(2000) <= 3 * cost(3)


def test_cotangents_that_vanish_are_not_resolved(monkeypatch):
    """Those of a short pulse fall below any number; the intervals are at most a few for each step of the solver."""
    made = []
    monkeypatch.setattr(backwards, "Linear", lambda *given: made.append(given) or Linear(*given))

    def program(k):
        slope = lambda t, y: -y + k * tnp.exp(-(((t - 5.0) / 0.01) ** 2))  # noqa: E731
        options = {"max_step": 0.05, "rtol": 1e-6, "atol": 1e-9}
        return integrate.solve_ivp(slope, (0.0, 10.0), [0.0], t_eval=[6.0, 10.0], **options).y[0, 0]

    assert te.grad(program)(2.0) == pytest.approx(0.01 * np.sqrt(np.pi) * np.exp(-1.0 + 0.0025 / 100), rel=1e-5)
    assert len(made) < 600


@pytest.mark.parametrize("method", ["RK45", "BDF"])
@pytest.mark.parametrize("size", [5, 45])
def test_long_states(method, size):
    """Of linear systems, stiff ones for the method 'BDF'; at most 40 components are solved for directly."""
    spread = np.diag(np.full(size - 1, 1.0), 1) + np.diag(np.full(size - 1, 1.0), -1) - 2.0 * np.eye(size)
    matrix = spread * (1e3 if method == "BDF" else 3.0) + np.diag(np.sin(np.arange(size)))
    start, times = np.sin(np.arange(1.0, size + 1.0)), np.linspace(0.0, 0.2, 8)
    weights = np.cos(np.arange(size * 8.0)).reshape(size, 8)

    def program(y, k):
        return np.sum(weights * solved(lambda t, y, k: k * (matrix @ y), y, times, (k,), method, 1e-8))

    found, of_rate = te.grad(program, argnums=(0, 1))(start, 1.0)
    flows = [scipy.linalg.expm(matrix * t) for t in times]
    exact = sum(flow.T @ w for flow, w in zip(flows, weights.T, strict=True))
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5 * np.abs(exact).max())
    moved = sum(t * w @ (matrix @ (flow @ start)) for t, flow, w in zip(times, flows, weights.T, strict=True))
    assert of_rate == pytest.approx(moved, rel=1e-4)


def test_second_derivatives_and_traced_times():
    along, even = np.array([0.3, -1.0, 0.5]), np.linspace(0.0, 1.0, 4)

    def program(p):
        slope = lambda t, y, k: -k * (y - tnp.cos(t))  # noqa: E731
        return np.sum(np.sin(solved(slope, p[:1], even * p[2], (p[1],), "DOP853", 1e-10)[0]))

    def exact(p):
        return by_complex_steps(lambda p: np.sum(np.sin(relaxed(even * p[2], p[0], p[1]))), p)

    point = np.array([0.8, 1.5, 0.9])
    np.testing.assert_allclose(te.grad(program)(point), exact(point), rtol=1e-8)
    second = (exact(point + 1e-4 * along) - exact(point - 1e-4 * along)) / 2e-4
    np.testing.assert_allclose(te.grad(lambda p: te.grad(program)(p) @ along)(point), second, rtol=1e-6)


def test_a_slope_without_a_finite_derivative_is_refused():
    end = lambda k: integrate.solve_ivp(lambda t, y: k * np.sqrt(y), (0.0, 1.0), [0.0]).y[0, -1]  # noqa: E731
    with np.errstate(all="ignore"), pytest.raises(UnsupportedError, match="not finite"):
        te.grad(end)(1.0)
