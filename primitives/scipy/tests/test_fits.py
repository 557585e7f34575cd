"""Fits: data of every form that SciPy takes, and MINPACK's least squares."""

import numpy as np
import pytest
import scipy.optimize

import tapeengine as te
from tapeengine_scipy import optimize

TIMES, DATA = [1.0, 2.0, 3.0], np.array([0.7, 0.8, 1.4])
FORMS = {"list": list, "tuple": tuple, "array": np.array, "integers": lambda x: np.array(x, int), "column": np.vstack}


def differences(f, x, step=1e-3):
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))])


def agree(f, x, rtol=1e-3):
    """The value is that of the plain call, the gradient that of differences."""
    value, slope = te.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-7)
    np.testing.assert_allclose(slope, differences(f, x), rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("result", "rtol"), [(0, 1e-3), (1, 2e-3)])
def test_curve_fit_takes_data_of_every_form(form, result, rtol):
    def model(t, a):
        return np.reshape(a * t * t.dtype.itemsize, (-1,))

    x = FORMS[form](TIMES)
    agree(lambda y: optimize.curve_fit(model, x, y)[result].sum(), DATA, rtol)
    agree(lambda y: optimize.curve_fit(model, x, list(y), sigma=[1.0, 2.0, 3.0])[result].sum(), DATA, rtol)


def test_curve_fit_takes_a_list_of_traced_data():
    agree(lambda x: optimize.curve_fit(lambda t, a: a * t, list(x), DATA)[0][0], np.array(TIMES))


def test_curve_fit_hands_other_objects_to_the_model():
    agree(lambda y: optimize.curve_fit(lambda t, a: a * np.array(t["x"]), {"x": TIMES}, y)[0][0], DATA)


@pytest.mark.parametrize("data", [{"xdata": [1.0, np.nan, 3.0]}, {"ydata": [1.0, np.inf, 3.0]}])
def test_curve_fit_of_data_that_are_not_finite_raises_scipys_error(data):
    def fit(k, module):
        return module.curve_fit(lambda t, a: a * t * k, **{"xdata": TIMES, "ydata": DATA, **data})[0][0]

    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        fit(1.0, scipy.optimize)
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        te.grad(fit)(1.0, optimize)


#: Ways to give numbers to solvers, which SciPy makes arrays of.
SOLVERS = {
    "curve_fit p0": lambda form, y: optimize.curve_fit(lambda t, a, b: a * t + b, TIMES, y, form([1.0, 0.5]))[0][0],
    "least_squares": lambda form, y: optimize.least_squares(lambda p: p[0] * p - y, form([1.0, 1.0, 1.0])).x[0],
    "leastsq": lambda form, y: optimize.leastsq(lambda p: p * p - y, form([1.0, 1.0, 1.0]))[0][0],
    "root": lambda form, y: optimize.root(lambda p: p * p - y, form([1.0, 1.0, 1.0])).x[0],
    "fsolve": lambda form, y: optimize.fsolve(lambda p: p * p - y, form([1.0, 1.0, 1.0]))[0],
    "newton": lambda form, y: optimize.newton(lambda p: p * p - y, form([1.0, 1.0, 1.0]))[0],
    "minimize": lambda form, y: optimize.minimize(lambda p: ((p * p - y) ** 2).sum(), form([1.0] * 3), tol=1e-9).x[0],
}


@pytest.mark.parametrize("form", ["list", "tuple", "array", "integers"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_starting_points_of_every_form(solver, form):
    give = (lambda x: [round(part) for part in x]) if form == "integers" else FORMS[form]
    agree(lambda y: SOLVERS[solver](give, y), DATA)


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("slope", [False, True])
def test_leastsq_has_the_derivative_of_the_fit(slope, lifted):
    x = np.array(TIMES)

    def residual(p, y):
        return p[0] * np.exp(-p[1] * x) - y

    def jacobian(p, y):
        return np.stack([np.exp(-p[1] * x), -p[0] * x * np.exp(-p[1] * x)], axis=-1)

    def fit(y, module=scipy.optimize if lifted else optimize):
        chosen = jacobian if slope else None
        p = module.leastsq(residual, [1.0, 0.5], args=(y,), Dfun=chosen, xtol=1e-14, ftol=1e-14)[0]
        return p[0] * p[1]

    agree(te.lift(fit) if lifted else fit, np.array([0.9, 0.5, 0.35]))


def test_leastsq_gives_the_covariance_and_the_residuals():
    def fit(y, module=optimize):
        _, cov, info, message, flag = module.leastsq(
            lambda p: p[0] * np.array(TIMES) ** p[1] - y, [1.0, 0.5], full_output=True
        )
        return cov[0, 0] * (info["fvec"] ** 2).sum() + flag * len(message)

    agree(fit, DATA, rtol=1e-3)


def test_leastsq_that_does_not_converge_is_refused():
    with pytest.raises(te.errors.UnsupportedError, match="did not converge"):
        te.grad(lambda k: optimize.leastsq(lambda p: np.exp(-p[0] * k) * np.ones(2), [1.0], maxfev=3)[0][0])(1.0)
