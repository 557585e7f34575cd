"""Least squares: solutions of J^T r = 0, with the residuals r and their Jacobian J at the solution."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.transforms.repeated.rerun import REPEATED
from tapeengine_scipy._callables import Closed, as_vector, constants, holds_traced, jacobian, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import refuse_traced
from tapeengine_scipy._results import Table, entries, result
from tapeengine_scipy._values import floating
from tapeengine_scipy.optimize.implicit import as_tuple, check_converged, solution


def _normal_equations(residuals: Callable[[Any], Any], x: Any) -> Any:
    """J^T r, which vanishes at the solution."""
    value, back = te.vjp(lambda x: as_vector(residuals(x)), x)
    return back(value)[0]


@with_signature("scipy.optimize.least_squares", runs_callables=True, differs=True)
def least_squares(fun: Any, x0: Any, jac: Any, loss: Any, args: Any, kwargs: Any, **given: Any) -> Any:
    """Solve a nonlinear least-squares problem; see `scipy.optimize.least_squares`.

    Its ``x``, ``fun``, ``cost``, ``jac`` and ``grad`` are functions of the traced values in `args`, `kwargs` and `fun`;
    ``optimality`` is refused when it is read. If `jac` is not given, the solver gets the engine's Jacobian. A component
    on a bound is constant. Losses other than 'linear' are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.grad(lambda p: least_squares(lambda x: np.stack([x[0] - p, x[0] - 3.0]), [0.0]).x[0])(1.0)
    0.5
    """
    given = constants({name: value for name, value in given.items() if name not in ("callback", "workers")})
    if loss != "linear" or holds_traced(given["bounds"]):
        raise UnsupportedError(
            "least_squares needs loss='linear' and constant bounds; write another loss with minimize"
        )
    closed = Closed((fun, tuple(args), kwargs or {}, jac), "least_squares")
    start, found = numpy.atleast_1d(plain_values(x0)), {}
    given |= {"x_scale": 1.0 if given["x_scale"] is None else given["x_scale"], "tr_options": given["tr_options"] or {}}
    refuse_traced("a tolerance or scale of least_squares", given)

    def solve(fun: Any, args: Any, kwargs: Any, jac: Any) -> Any:
        still = plain(lambda x: as_vector(fun(x, *args, **kwargs)), "least_squares")
        slope = lambda x: _jacobian(lambda x: fun(x, *args, **kwargs), x)  # noqa: E731
        if callable(jac) or jac == "cs":
            slope = plain(lambda x: jac(x, *args, **kwargs), "least_squares") if callable(jac) else jac
        found.update(scipy.optimize.least_squares(still, start, slope, **given))
        check_converged(found["success"], "least_squares", found["message"])
        return found["x"]

    def residual(x: Any, fun: Any, args: Any, kwargs: Any, jac: Any) -> Any:
        slope = _normal_equations(lambda x: fun(x, *args, **kwargs), x)
        held = found["active_mask"] != 0
        return held * (x - found["x"]) + ~held * slope if held.any() else slope

    if not (closed.is_traced or REPEATED.calls):
        return scipy.optimize.least_squares(fun, start, jac, args=args, kwargs=kwargs or {}, **given)
    x = solution(closed, solve, residual)
    value = as_vector(fun(x, *args, **(kwargs or {})))
    slope = cache(lambda: _jacobian(lambda x: fun(x, *args, **(kwargs or {})), x))
    known = {"grad": lambda: slope().T @ value}
    if isinstance(found["jac"], numpy.ndarray):
        known["jac"] = slope
    rest = entries("least_squares", found, **known) if closed.is_traced else found
    return result({**rest, "x": x, "fun": value, "cost": 0.5 * np.sum(value * value)})


def _jacobian(fun: Callable[[Any], Any], x: Any) -> Any:
    value, back = te.vjp(lambda x: as_vector(fun(x)), x)
    return jacobian(back, value.shape[0], 0)


@with_signature("scipy.optimize.leastsq", runs_callables=True)
def leastsq(func: Any, x0: Any, args: Any, Dfun: Any, full_output: bool, **options: Any) -> Any:
    """Minimise a sum of squares by MINPACK's method; see `scipy.optimize.leastsq`.

    The solution, the residuals and the covariance ``cov_x``, which has the exact Jacobian, are functions of the traced
    values in `args` and `func`.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> round(te.grad(lambda p: leastsq(lambda x: np.stack([x[0] - p, x[0] - 3.0]), [0.0])[0][0])(1.0), 9)
    0.5
    """
    closed, start = Closed((func, as_tuple(args), Dfun), "leastsq"), numpy.ravel(plain_values(x0))
    if not closed.is_traced:
        return scipy.optimize.leastsq(func, start, args, Dfun, full_output, **options)
    found: list[Any] = []

    def solve(func: Any, args: Any, slope: Any) -> Any:
        func, slope = plain(func, "leastsq"), plain(slope, "leastsq")
        found[:] = scipy.optimize.leastsq(func, start, args, slope, True, **options)
        check_converged(found[4] in (1, 2, 3, 4), "leastsq", found[3])
        return found[0]

    x = solution(closed, solve, lambda x, func, args, _: _normal_equations(lambda x: func(x, *args), x))
    if not full_output:
        return x, found[4]
    value, back = te.vjp(lambda x: as_vector(func(x, *as_tuple(args))), x)
    slope = jacobian(back, value.shape[0], 0)
    covariance = None if found[1] is None else np.linalg.inv(slope.T @ slope)
    return x, covariance, Table(entries("leastsq", found[2], fvec=lambda: value)), *found[3:]


@with_signature("scipy.optimize.curve_fit", runs_callables=True, differs=True)
def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any, sigma: Any, absolute_sigma: bool, check_finite: bool | None, bounds: Any,
    method: Any, jac: Any, full_output: bool, nan_policy: Any, kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """Fit a curve by least squares; see `scipy.optimize.curve_fit`.

    Parameters and their covariance are functions of `xdata`, `ydata`, `sigma` and of the traced values in `f`.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> te.jacobian(lambda y: curve_fit(lambda x, a: a * x, x, y)[0])(2 * x).round(6)
    array([[0.071429, 0.142857, 0.214286]])
    """
    if full_output or nan_policy is not None:
        raise UnsupportedError("curve_fit: leave out full_output and nan_policy, which are not differentiated")
    bounds = constants(bounds)
    if method in (None, "lm"):
        if method and not all(numpy.isinf(end).all() for end in _ends(bounds)):
            raise ValueError("Method 'lm' only works for unconstrained problems. Use 'trf' or 'dogbox' instead.")
        method, kwargs = "trf", _without_steps(kwargs)
    if p0 is None:
        count = len(inspect.signature(f).parameters) - 1
        low, high = (numpy.broadcast_to(numpy.asarray(end, float), (count,)) for end in _ends(bounds))
        p0 = [_first_guess(*pair) for pair in zip(low, high, strict=True)]
    check = check_finite is not False
    y = as_vector(_data(ydata, check))
    if isinstance(xdata, (list, tuple, numpy.ndarray, te.Array)):  # other objects are for the model alone
        xdata = _data(xdata, check)
    weigh = _weighting(sigma)

    def residuals(p: Any) -> Any:
        return weigh(as_vector(f(xdata, *p)) - y)

    tolerances = {name: kwargs.pop(name, 1e-13) for name in ("ftol", "xtol", "gtol")}
    x = least_squares(residuals, p0, bounds=bounds, method=method, **tolerances, **kwargs).x
    back = te.vjp(residuals, x)[1]
    slope = jacobian(back, y.shape[0], 0)
    covariance = np.linalg.inv(slope.T @ slope)
    if not absolute_sigma:
        left = y.shape[0] - x.shape[0]
        value = residuals(x)
        covariance = covariance * (np.sum(value * value) / left if left > 0 else numpy.inf)
    return x, covariance


def _data(values: Any, check: bool) -> Any:
    """Data as SciPy hands them to the model: an array of floats, by default of finite ones."""
    values = np.astype(floating(values), float)
    if check and not np.all(np.isfinite(values)):
        raise ValueError("array must not contain infs or NaNs")
    return values


def _without_steps(options: dict[str, Any]) -> dict[str, Any]:
    """Options of MINPACK's method for another one: of steps and differences it needs none."""
    rest = {name: value for name, value in options.items() if name not in ("col_deriv", "epsfcn", "factor", "diag")}
    limit = rest.pop("maxfev", None)
    return {**rest, "max_nfev": limit} if limit else rest


def _first_guess(low: float, high: float) -> float:
    """SciPy's initial value: the middle of finite bounds, a point next to a single bound, otherwise 1."""
    if numpy.isinf(low) and numpy.isinf(high):
        return 1.0
    return high - 1.0 if numpy.isinf(low) else low + 1.0 if numpy.isinf(high) else (low + high) / 2


def _ends(bounds: Any) -> Any:
    return (bounds.lb, bounds.ub) if isinstance(bounds, scipy.optimize.Bounds) else bounds


def _weighting(sigma: Any) -> Callable[[Any], Any]:
    """Scale residuals by standard deviations or a covariance matrix."""
    if sigma is None:
        return lambda r: r
    sigma = floating(sigma)
    if sigma.ndim < 2:
        return lambda r: r / sigma
    factor = np.linalg.cholesky(sigma)
    return lambda r: np.linalg.solve(factor, r)
