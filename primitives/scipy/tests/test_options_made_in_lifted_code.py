"""Options that are arrays, which lifted code makes by functions of the engine: constants, as in the plain program."""

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, ndimage, optimize, signal, special, stats

import tapeengine as te

PROGRAMS = {
    "solve_bvp": lambda k: integrate.solve_bvp(
        lambda t, y: np.vstack([y[1], -y[0] * k]),
        lambda a, b: np.array([a[0], b[0] - 1.0]),
        np.linspace(0, 1, 5),
        np.ones((2, 5)),
    ).y[0, 1],
    "odeint": lambda k: integrate.odeint(
        lambda y, t: -k * y, np.ones(1), np.linspace(0, 1, 3), tcrit=np.array([0.5]), atol=np.ones(1) * 1e-8
    )[-1, 0],
    "least_squares": lambda k: optimize.least_squares(
        lambda y: y - k,
        np.zeros(2),
        x_scale=np.ones(2),
        bounds=(np.full(2, -9.0), np.full(2, 9.0)),
        xtol=np.float64(1e-10),
    ).x[0],
    "curve_fit": lambda k: optimize.curve_fit(
        lambda t, a: a * t * k, np.arange(3.0), np.arange(3.0), p0=np.ones(1), sigma=np.ones(3)
    )[0][0],
    "quad": lambda k: integrate.quad(
        lambda t: np.sin(k * t), np.float64(0), 1.0, points=np.array([0.5]), epsabs=np.float64(1e-9)
    )[0],
    "quad with a weight": lambda k: integrate.quad(lambda t: np.exp(k * t), 0.0, 1.0, weight="cos", wvar=np.ones(1)[0])[
        0
    ],
    "lambertw": lambda k: special.lambertw(k, np.zeros(1)[0].astype(int)).real,
    "make_interp_spline": lambda k: interpolate.make_interp_spline(np.linspace(0, 4, 5), k * np.arange(5.0) ** 2)(1.3),
    "make_interp_spline with knots": lambda k: interpolate.make_interp_spline(
        np.linspace(0, 4, 5), k * np.arange(5.0) ** 2, t=np.array([0.0, 0, 0, 0, 2, 4, 4, 4, 4])
    )(1.3),
    "splrep": lambda k: interpolate.splev(1.3, interpolate.splrep(np.linspace(0, 4, 5), k * np.arange(5.0) ** 2)),
    "BSpline": lambda k: interpolate.BSpline(np.array([0.0, 0, 0, 1, 2, 2, 2]), k * np.ones(4), 2)(0.3),
    "minimize": lambda k: optimize.minimize(
        lambda y: ((y - k) ** 2).sum(), np.zeros(2), bounds=np.array([[-9.0, 9.0]] * 2), tol=np.float64(1e-9)
    ).x[0],
    "minimize with Bounds": lambda k: optimize.minimize(
        lambda y: ((y - k) ** 2).sum(), np.zeros(2), bounds=optimize.Bounds(np.full(2, -9.0), np.full(2, 9.0))
    ).x[0],
    "minimize_scalar": lambda k: (
        optimize.minimize_scalar(lambda y: (y - k) ** 2, bounds=np.array([-9.0, 9.0]), method="bounded").x
    ),
    "fminbound": lambda k: optimize.fminbound(lambda y: (y - k) ** 2, *np.array([-9.0, 9.0])),
    "fmin_l_bfgs_b": lambda k: optimize.fmin_l_bfgs_b(
        lambda y: ((y - k) ** 2).sum(), np.zeros(2), approx_grad=True, bounds=np.array([[-9.0, 9.0]] * 2)
    )[0][0],
    "linprog": lambda k: (
        optimize.linprog(np.ones(2), A_ub=-np.eye(2), b_ub=-k * np.ones(2), bounds=np.array([[0.0, 9.0]] * 2)).fun
    ),
    "solve_ivp": lambda k: integrate.solve_ivp(
        lambda t, y: -k * y,
        np.array([0.0, 1.0]),
        np.ones(1),
        t_eval=np.linspace(0, 1, 3),
        atol=np.full(1, 1e-9),
        rtol=1e-8,
    ).y[0, -1],
    "quad_vec": lambda k: integrate.quad_vec(lambda t: k * t * np.ones(2), 0.0, 1.0, points=np.array([0.3]))[0][0],
    "nquad": lambda k: integrate.nquad(lambda a, b: k * a * b, np.array([[0.0, 1.0], [0.0, 1.0]]))[0],
    "RegularGridInterpolator": lambda k: interpolate.RegularGridInterpolator((np.linspace(0, 1, 3),), k * np.ones(3))(
        np.array([[0.3]])
    )[0],
    "multivariate_normal": lambda k: stats.multivariate_normal(np.zeros(2), np.eye(2) * k).logpdf(np.ones(2)),
    "lfilter": lambda k: signal.lfilter(np.ones(2), np.array([1.0, 0.5]), k * np.arange(4.0), zi=np.zeros(1))[0][-1],
    "savgol_filter": lambda k: signal.savgol_filter(k * np.arange(7.0) ** 3, 5, 2)[3],
    "map_coordinates": lambda k: ndimage.map_coordinates(k * np.eye(4), np.array([[0.5], [0.6]]), order=1)[0],
    "gaussian_filter": lambda k: ndimage.gaussian_filter(k * np.eye(4), np.array([0.5, 0.6]))[1, 1],
    "solve_toeplitz": lambda k: linalg.solve_toeplitz(np.array([3.0, 1.0, 0.5]), k * np.ones(3))[0],
    "solve_banded": lambda k: linalg.solve_banded((1, 1), np.ones((3, 3)) + 3 * np.eye(3), k * np.ones(3))[0],
    "eigh": lambda k: linalg.eigh(k * np.eye(2) + np.diag(np.arange(2.0)), np.eye(2), eigvals_only=True)[1],
    "root": lambda k: optimize.root(
        lambda y: y - k, np.zeros(2), tol=np.float64(1e-9), options={"band": None, "diag": np.ones(2)}
    ).x[0],
    "fsolve": lambda k: optimize.fsolve(lambda y: y - k, np.zeros(2), diag=np.ones(2))[0],
    "newton": lambda k: optimize.newton(lambda y: y**3 - k, np.ones(2), tol=np.float64(1e-12)).sum(),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_options_that_lifted_code_makes(name):
    program, h = PROGRAMS[name], 1e-4
    value, slope = te.value_and_grad(te.lift(program))(1.3)
    assert value == pytest.approx(program(1.3), rel=1e-6)
    assert slope == pytest.approx((program(1.3 + h) - program(1.3 - h)) / (2 * h), rel=1e-3, abs=1e-5)
