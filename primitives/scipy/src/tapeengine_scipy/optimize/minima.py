"""Minima: roots of the gradient, where no bound is active."""

from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.transforms.repeated.rerun import REPEATED
from tapeengine_scipy._callables import Closed, as_vector, constants, holds_traced, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._results import entries, result
from tapeengine_scipy._values import of_python
from tapeengine_scipy.optimize.implicit import as_number, as_tuple, check_converged, only_value, solution

_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")


@with_signature("scipy.optimize.minimize", runs_callables=True, differs=True)
def minimize(fun: Any, x0: Any, args: Any, jac: Any, constraints: Any, **given: Any) -> Any:
    """Minimise a scalar function; see `scipy.optimize.minimize`.

    The minimum is a root of the gradient. A component on one of the `bounds` is constant. If values are traced and
    `jac` is not given, the solver gets the engine's gradient. Constraints are refused.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its ``x``, ``fun`` and ``jac`` are functions of the traced values in `args` and in `fun`; other entries that
        are not whole numbers, such as ``hess_inv``, are refused when they are read.

    Examples
    --------
    >>> import numpy as np
    >>> minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2)).x.round(6)
    array([1., 1.])
    """
    others = {name: given.pop(name) for name in ("hess", "hessp", "callback")}
    closed, start = Closed((fun, as_tuple(args), jac, others), "minimize"), plain_values(x0)
    found: dict[str, Any] = {}
    bounds = given["bounds"] = constants(given["bounds"])
    if holds_traced(bounds):
        raise UnsupportedError("minimize: bounds are constants of the derivative; traced ones are refused")
    given["tol"] = plain_values(given["tol"])
    if not (closed.is_traced or REPEATED.calls):
        return scipy.optimize.minimize(fun, start, args, jac=jac, constraints=constraints, **others, **given)
    if not (isinstance(constraints, (tuple, list)) and not constraints):
        raise UnsupportedError("minimize: a constrained minimum is not differentiated; eliminate the constraints")

    def solve(fun: Any, args: Any, jac: Any, others: Any) -> Any:
        slope = _gradient_for(fun, given["method"]) if jac is None else plain(jac, "minimize")
        curved = {name: plain(others[name], "minimize") for name in ("hess", "hessp")}
        whole = {"jac": slope, **others, **curved, **given}
        found.update(scipy.optimize.minimize(plain(fun, "minimize"), start, args, **whole))
        check_converged(found["success"], "minimize", found["message"])
        return found["x"]

    def residual(x: Any, fun: Any, args: Any, jac: Any, others: Any) -> Any:
        slope = slope_of(x, fun, args, jac)
        fixed = on_bounds(found["x"], bounds)
        return slope if fixed is None else np.where(fixed, x - found["x"], slope)

    x = solution(closed, solve, residual)
    fun, args, jac, _ = closed.at(closed.params)
    value = as_number(only_value(fun(x, *args), jac))
    value = of_python(value) if type(found["fun"]) is float else value
    slope = {"grad" if "grad" in found else "jac": lambda: slope_of(x, fun, args, jac)}
    others = entries("minimize", found, **slope) if closed.is_traced else found
    return result({**others, "x": x, "fun": value})


def _gradient_for(fun: Any, method: Any) -> Any:
    if isinstance(method, str) and method.lower() in _WITHOUT_GRADIENT:
        return None
    return lambda x, *args: slope_of(x, fun, args, None)


def slope_of(x: Any, fun: Any, args: Any, jac: Any) -> Any:
    """The gradient of an objective, by `jac` if that gives it."""
    if callable(jac):
        return as_vector(jac(x, *args))
    if jac is True:
        return as_vector(fun(x, *args)[1])
    return te.vjp(lambda x: as_number(fun(x, *args)), x)[1](1.0)[0]


def on_bounds(x: Any, bounds: Any) -> Any:
    """A mask of the components on a bound, or None if there are none."""
    if bounds is None:
        return None
    if isinstance(bounds, scipy.optimize.Bounds):
        low, high = numpy.broadcast_to(bounds.lb, x.shape), numpy.broadcast_to(bounds.ub, x.shape)
    else:
        low = numpy.array([-numpy.inf if pair[0] is None else pair[0] for pair in bounds], dtype=float)
        high = numpy.array([numpy.inf if pair[1] is None else pair[1] for pair in bounds], dtype=float)
    fixed = (x <= low) | (x >= high)
    return fixed if fixed.any() else None


@with_signature("scipy.optimize.minimize_scalar", runs_callables=True)
def minimize_scalar(fun: Any, bracket: Any, bounds: Any, args: Any, **rest: Any) -> Any:
    """Minimise a function of a number; see `scipy.optimize.minimize_scalar`.

    The minimum is a root of the derivative, whatever method finds it; on one of the `bounds` it is constant. A method
    that compares values finds it to half of the digits, which limits the precision of the derivative.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda a: minimize_scalar(lambda x: (x - 3.0 * a) ** 2, method="golden").x)(1.0), 6)
    3.0
    """
    closed, found = Closed((fun, as_tuple(args)), "minimize_scalar"), scipy.optimize.OptimizeResult()
    bounds = constants(bounds)
    if holds_traced(bounds):
        raise UnsupportedError("minimize_scalar: bounds are constants of the derivative; traced ones are refused")
    if not (closed.is_traced or REPEATED.calls):
        bracket = plain_values(bracket)
        return scipy.optimize.minimize_scalar(fun, bracket, bounds, args, **rest)

    def solve(fun: Any, args: Any) -> Any:
        still = plain(fun, "minimize_scalar")
        found.update(scipy.optimize.minimize_scalar(still, plain_values(bracket), bounds, args, **rest))
        check_converged(found["success"], "minimize_scalar", found.get("message", ""))
        return [found["x"]]

    def residual(x: Any, fun: Any, args: Any) -> Any:
        if bounds is not None and min(abs(found["x"] - end) for end in bounds) <= 1e-5 * abs(bounds[1] - bounds[0]):
            return x - found["x"]
        return te.vjp(lambda x: as_number(fun(x, *args)), x[0])[1](1.0)[0]

    x = solution(closed, solve, residual)[0]
    fun, args = closed.at(closed.params)
    return scipy.optimize.OptimizeResult({**found, "x": x, "fun": fun(x, *args)})
