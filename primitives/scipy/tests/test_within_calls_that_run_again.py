"""Solvers in calls that run again, and objects with traced parameters in the callables of solvers."""

import collections
import types

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine_scipy import integrate, interpolate, optimize, stats

TIMES = np.linspace(0.0, 1.0, 6)
DATA = np.exp(-0.7 * TIMES) + 0.1 * np.sin(9 * TIMES)
POINTS = np.array([1.0, 2.0])

#: Functions of a number.
SOLVED = {
    "quad": lambda k: integrate.quad(lambda x: np.exp(-k * x), 0.0, 1.0)[0],
    "solve_ivp": lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0.0, 0.4), [1.0]).y[0, -1],
    "odeint": lambda k: integrate.odeint(lambda y, t: -k * y, [1.0], [0.0, 0.4])[-1, 0],
    "brentq": lambda k: optimize.brentq(lambda x: x**3 - k, -10.0, 10.0),
    "root": lambda k: optimize.root(lambda x: x**3 - k, POINTS[:1]).x[0],
    "fsolve": lambda k: optimize.fsolve(lambda x: x**3 - k, POINTS[:1])[0],
    "minimize": lambda k: optimize.minimize(lambda x: np.sum((x**2 - k) ** 2), POINTS[:1]).x[0],
    "minimize_scalar": lambda k: optimize.minimize_scalar(lambda x: (x**2 - k) ** 2, bracket=(0.5, 1.0)).x,
    "least_squares": lambda k: optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * TIMES) - k * DATA, POINTS).x[1],
    "curve_fit": lambda k: np.sum(
        optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, k * DATA, p0=[1.0, 1.0])[0]
    ),
    "constants": lambda k: k * optimize.minimize(lambda x: np.sum((x**2 - 0.3) ** 2), POINTS[:1]).x[0],
    "constrained": lambda k: (
        k
        * optimize.minimize(
            lambda x: np.sum((x - 0.3) ** 2), POINTS, constraints=[{"type": "eq", "fun": lambda x: x[0] - 0.5}]
        ).x[1]
    ),
}
AGAIN = {
    "checkpoint": lambda f, k: te.checkpoint(f)(k),
    "checkpoint of a checkpoint": lambda f, k: te.checkpoint(te.checkpoint(f))(k),
    "iterate": lambda f, k: te.iterate(f, 1, k),
    "iterate in a checkpoint": lambda f, k: te.checkpoint(lambda k: te.iterate(f, 1, k))(k),
    "fork_map": lambda f, k: te.fork_map(f, [k, k])[1],
    "vmap": lambda f, k: te.vmap(f)(np.stack([k, k]))[0],
}


@pytest.mark.filterwarnings("ignore:Covariance")
@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("name", SOLVED)
def test_a_solver_in_a_call_that_runs_again(name, again):
    solve, run = SOLVED[name], AGAIN[again]
    value, gradient = te.value_and_grad(solve)(0.7)
    found = te.value_and_grad(lambda k: run(solve, k))(0.7)
    assert found == pytest.approx((value, gradient), rel=1e-6)
    assert te.jvp(lambda k: run(solve, k), (0.7,), (1.0,)) == pytest.approx((value, gradient), rel=1e-6)


def dense(k):
    return integrate.solve_ivp(
        lambda t, y: 0.0 * y + k, (0.0, 9.0), np.zeros(1), dense_output=True, rtol=1e-10, atol=1e-12
    ).sol


#: Functions that multiply a number by a number that they capture in an object.
HELD = {
    "frozen": lambda k: (lambda d: lambda y: -y * d.logpdf(0.0) + y * d.logpdf(k) + y * (k - k**2 / 2))(stats.norm(k)),
    "mean": lambda k: (lambda d: lambda y: (y - d.logcdf(1.0)) * k + k * d.logcdf(1.0))(stats.norm(k, 2.0)),
    "dense output": lambda k: (lambda sol: lambda y: sol(y)[0])(dense(k)),
    "stage": lambda k: te.stage(lambda y: y * k),
    "lift": lambda k: te.lift(lambda y: y * k),
    "checkpoint": lambda k: te.checkpoint(lambda y: y * k),
    "vectorize": lambda k: (lambda f: lambda y: f(y)[()])(tnp.vectorize(lambda y: y * k)),
    "polynomial": lambda k: tnp.polynomial.Polynomial([0.0, k]),
    "spline": lambda k: (lambda s: lambda y: s(y)[()])(interpolate.CubicSpline(np.arange(4.0), k * np.arange(4.0))),
    "chain map": lambda k: (lambda d: lambda y: y * d["k"])(collections.ChainMap({}, {"k": k})),
    "proxy": lambda k: (lambda d: lambda y: y * d["k"])(types.MappingProxyType({"k": k})),
    "linear map": lambda k: te.linearize(lambda y: 2.0 * y, 0.0)[1].T * (k / 2),
}
#: Functions of a function y -> k y, and what they are of k.
WITH = {
    "quad": (lambda g, k: integrate.quad(lambda y: g(y), 0.0, 1.0)[0], lambda k: k / 2),
    "brentq": (lambda g, k: optimize.brentq(lambda y: g(y) - 1.0, 0.1, 2.9), lambda k: 1 / k),
    "solve_ivp": (
        lambda g, k: integrate.solve_ivp(
            lambda t, y: g(y[0]) + 0.0 * y, (0, 1), [1.0], "DOP853", rtol=1e-9, atol=1e-11
        ).y[0, -1],
        np.exp,
    ),
    "iterate": (lambda g, k: te.iterate(lambda y: g(y), 1, k), lambda k: k * k),
    "fork_map": (lambda g, k: te.fork_map(lambda y: g(y), [k, k])[1], lambda k: k * k),
    "checkpoint": (lambda g, k: te.checkpoint(lambda y: g(y))(k), lambda k: k * k),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("way", WITH)
@pytest.mark.parametrize("name", HELD)
def test_objects_with_traced_parameters(name, way):
    (run, wanted), k = WITH[way], 0.7
    h = 1e-30
    slope = np.imag(wanted(k + 1j * h)) / h

    def program(k):
        return np.sum(run(HELD[name](k), k))

    assert te.value_and_grad(program)(k) == pytest.approx((wanted(k), slope), rel=1e-7)
    assert te.jvp(program, (k,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)
