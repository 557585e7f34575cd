"""Arrays that a traced program makes with tapeengine.numpy, and that depend on no input, are constants for SciPy."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine_scipy import integrate, interpolate, optimize, special

Y = np.array([0.3, 1.0, -0.2, 0.5, 0.9, 0.1])
PROGRAMS = {
    "make_interp_spline": lambda np, y: interpolate.make_interp_spline(np.arange(6.0), y, k=3)(2.3) ** 2,
    "knots": lambda np, y: interpolate.make_interp_spline(
        np.arange(6.0), y, k=1, t=np.array([0.0, 0, 1, 2, 3, 4, 5, 5])
    )(2.3) ** 2,
    "minimize": lambda np, y: optimize.minimize(
        lambda x: np.sum((x - np.exp(y[:2] / 2)) ** 2), np.ones(2), tol=1e-12,
        bounds=np.array([[-1.0, 3.0], [-1.0, 2.0]]), jac=lambda x: 2 * (x - np.exp(y[:2] / 2)),
    ).x[0] ** 2,
    "minimize_scalar": lambda np, y: optimize.minimize_scalar(
        lambda x: (x - y[0] * y[1]) ** 2, bounds=np.array([-1.0, 3.0]), method="bounded", options={"xatol": 1e-12}
    ).x ** 2,
    "least_squares": lambda np, y: optimize.least_squares(
        lambda x: x - np.exp(y[:1]), np.ones(1), bounds=(np.array([-1.0]), np.array([3.0])), xtol=1e-15
    ).x[0],
    "curve_fit": lambda np, y: optimize.curve_fit(
        lambda x, a: a * x, np.arange(6.0), y**2, p0=np.ones(1), bounds=(np.array([-9.0]), np.array([9.0]))
    )[0][0],
    "quad": lambda np, y: integrate.quad(lambda x: x * np.exp(y[0]), 0, 1, weight="cos", wvar=np.array([2.0])[0])[0],
    "jv": lambda np, y: np.sum(special.jv(np.arange(6.0), y + 2.0)),
    "jac": lambda np, y: optimize.least_squares(
        lambda x: np.array([x[0] - y[0], x[1] * x[0] - 0.7]), [1.0, 0.5],
        jac=lambda x: np.array([[1.0, 0.0], [x[1], x[0]]]), xtol=1e-15, ftol=1e-15,
    ).x[1],
    "jac of arguments": lambda np, y: optimize.least_squares(
        lambda x, a: np.array([a * x[0] ** 2 - 1.0]), [1.0], jac=lambda x, a: np.array([[2 * a * x[0]]]), args=(y[1],),
        xtol=1e-15, ftol=1e-15,
    ).x[0],
    "jac of captures": lambda np, y: optimize.least_squares(
        lambda x: np.array([y[1] * x[0] ** 2 - 1.0]), [1.0], jac=lambda x: np.array([[2 * y[1] * x[0]]]),
        xtol=1e-15, ftol=1e-15,
    ).x[0],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_constants(name):
    program = PROGRAMS[name]
    f = lambda y: program(tnp, y)  # noqa: E731
    np.testing.assert_allclose(te.vjp(f, Y)[0], program(np, Y), rtol=1e-7)
    gradient = te.grad(f)(Y)
    steps = [(program(np, Y + h) - program(np, Y - h)) / 2e-4 for h in 1e-4 * np.eye(6)]
    np.testing.assert_allclose(gradient, steps, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, te.grad(lambda y: program(np, y))(Y), rtol=1e-12, atol=1e-12)
    curved = te.hvp(f, (Y,), (np.ones(6),))
    slopes = [te.grad(f)(Y + h) for h in (1e-4, -1e-4)]
    np.testing.assert_allclose(curved, (slopes[0] - slopes[1]) / 2e-4, rtol=1e-4, atol=1e-5)


def test_bounds_that_depend_on_inputs_are_refused():
    with pytest.raises(te.errors.UnsupportedError, match="bounds"):
        te.grad(lambda b: optimize.minimize(lambda x: (x[0] - 1.0) ** 2, [0.0], bounds=tnp.array([[b, 3.0]])).x[0])(
            -1.0
        )
