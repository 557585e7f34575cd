"""Derivatives of `scipy.optimize`: solutions of equations and minima, with SciPy's own signatures.

A solution x of f(x, p) = 0 is a function of the parameters p by the implicit function theorem:
dx = -(df/dx)^-1 (df/dp) dp. The iterations are not differentiated; they run on plain values. Parameters are whatever
traced values stand in ``args=`` or were captured by the callable. A starting point has no influence on the solution,
so it is taken by its value.

Examples
--------
>>> import tapeengine as te
>>> from tapeengine_scipy import optimize
>>> te.grad(lambda a: optimize.brentq(lambda x: x * x - a, 0.0, 10.0))(4.0)
0.25
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine_scipy._callables import Closed, as_vector, directional, jacobian, plain
from tapeengine_scipy._passing import beside
from tapeengine_scipy.linalg.solve import SOLVE

__all__ = ["brentq", "fsolve", "minimize", "root", "root_scalar"]

# ---- the implicit function -----------------------------------------------------------------------


def _implicit_primal(params: Any, *, solver: Callable[[Any], Any], residual: Callable[[Any, Any], Any]) -> Any:
    return numpy.array(solver(params), dtype=float)


def _linearised(out: Any, params: Any, residual: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The residual's backpropagator at the solution, and its Jacobian in x."""
    value, back = te.vjp(lambda x, p: as_vector(residual(x, p)), out, params)
    rows = jacobian(back, value.shape[0], 0)
    return back, np.reshape(rows, (value.shape[0], -1))


def _implicit_vjp(ct: Any, params: Any, out: Any, residual: Callable[[Any, Any], Any]) -> Any:
    back, slope = _linearised(out, params, residual)
    return -back(SOLVE(slope, np.reshape(ct, (-1,)), transposed=True))[1]


def _implicit_jvp(t: Any, params: Any, out: Any, residual: Callable[[Any, Any], Any], out_space: Any) -> Any:
    _, slope = _linearised(out, params, residual)
    change = directional(lambda p: as_vector(residual(out, p)), params, t)
    return np.reshape(-SOLVE(slope, change), out_space.shape)


def _cubic(x: Any, p: Any) -> Any:
    return x**3 + p[0] * x - p[1]


def _coupled(x: Any, p: Any) -> Any:
    return [x[0] ** 3 + p[0] * x[1] - 1.0, x[1] ** 3 - x[0] * p[1] + x[1]]


def _newton(residual: Callable[[Any, Any], Any], start: Any) -> Callable[[Any], Any]:
    """A solver to rounding, for samples."""

    def solve(params: Any) -> Any:
        x = start
        for _ in range(30):
            value, back = te.vjp(lambda x: as_vector(residual(x, params)), x)
            x = x - numpy.linalg.solve(jacobian(back, value.shape[0], 0), value)
        return x

    return solve


IMPLICIT: Primitive = Primitive(
    "scipy.optimize.implicit",
    _implicit_primal,
    vjp={"params": _implicit_vjp},
    jvp={"params": _implicit_jvp},
    samples=(
        Sample(
            (numpy.array([1.3, 0.7]),), {"solver": _newton(_coupled, numpy.array([0.6, 0.3])), "residual": _coupled}
        ),
        Sample((numpy.array([1.3, 0.7]),), {"solver": _newton(_cubic, numpy.array([0.5])), "residual": _cubic}),
    ),
    doc="x with f(x, p) = 0; with l = (df/dx)^-T ct, dp = -(df/dp)^T l",
)


def _implicit(closed: Closed, solve: Callable[..., Any], residual: Callable[..., Any]) -> Any:
    """Solve at the parameters of `closed`, as a function of them; both callables take what `closed.at` returns."""
    return IMPLICIT(
        closed.params,
        solver=lambda params: solve(*closed.at(params)),
        residual=lambda x, params: residual(x, *closed.at(params)),
    )


def _as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


# ---- equations -----------------------------------------------------------------------------------


@beside("scipy.optimize.root", runs_callables=True)
def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Find a root of a vector function; see `scipy.optimize.root`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its ``x`` is a function of the traced values in `args` and in `fun`; the rest is plain.

    Examples
    --------
    >>> import numpy as np
    >>> root(lambda x: x**2 - 4.0, np.array([1.0])).x.round(12)
    array([2.])
    """
    closed, start = Closed((fun, _as_tuple(args), jac)), te.value(x0)
    found: dict[str, Any] = {}

    def solve(fun: Any, args: Any, jac: Any) -> Any:
        fun = plain(fun, "root")
        found.update(scipy.optimize.root(fun, start, args, method, jac, tol, callback, options))
        _check(found["success"], "root", found["message"])
        return found["x"]

    if not closed.is_traced:
        return scipy.optimize.root(fun, start, args, method, jac, tol, callback, options)
    x = _implicit(closed, solve, lambda x, fun, args, jac: _only_value(fun(x, *args), jac))
    return scipy.optimize.OptimizeResult({**found, "x": x})


def _only_value(result: Any, jac: Any) -> Any:
    """A callable whose jac is True returns its value together with its Jacobian."""
    return result[0] if jac is True else result


def _check(success: bool, solver: str, message: str) -> None:
    if not success:
        raise UnsupportedError(
            f"{solver} did not converge, so its result is no solution that could be differentiated: {message}"
        )


@beside("scipy.optimize.fsolve", runs_callables=True)
def fsolve(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: bool = False,
    *positional: Any,
    **options: Any,
) -> Any:
    """Find a root of a vector function; see `scipy.optimize.fsolve`.

    Examples
    --------
    >>> import numpy as np
    >>> fsolve(lambda x: x**2 - 4.0, np.array([1.0])).round(12)
    array([2.])
    """
    closed, start = Closed((func, _as_tuple(args), fprime)), te.value(x0)
    found: list[Any] = []
    if not closed.is_traced:
        return scipy.optimize.fsolve(func, start, args, fprime, full_output, *positional, **options)

    def solve(func: Any, args: Any, fprime: Any) -> Any:
        found[:] = scipy.optimize.fsolve(plain(func, "fsolve"), start, args, fprime, True, *positional, **options)
        _check(found[2] == 1, "fsolve", found[3])
        return found[0]

    x = _implicit(closed, solve, lambda x, func, args, fprime: func(x, *args))
    return (x, *found[1:]) if full_output else x


@beside("scipy.optimize.brentq", runs_callables=True)
def brentq(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.brentq`.

    Examples
    --------
    >>> round(brentq(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    closed, ends = Closed((f, _as_tuple(args))), (te.value(a), te.value(b))
    found: list[Any] = []
    if not closed.is_traced:
        return scipy.optimize.brentq(f, *ends, args, xtol, rtol, maxiter, full_output, disp)

    def solve(f: Any, args: Any) -> Any:
        found[:] = scipy.optimize.brentq(plain(f, "brentq"), *ends, args, xtol, rtol, maxiter, True, disp)
        return [found[0]]

    x = _implicit(closed, solve, lambda x, f, args: f(x[0], *args))[0]
    return (x, found[1]) if full_output else x


@beside("scipy.optimize.root_scalar", runs_callables=True)
def root_scalar(f: Callable[..., Any], args: Any = (), **options: Any) -> Any:
    """Find a root of a scalar function; see `scipy.optimize.root_scalar`.

    Examples
    --------
    >>> round(root_scalar(lambda x: x**2 - 4.0, bracket=(0.0, 10.0)).root, 9)
    2.0
    """
    closed = Closed((f, _as_tuple(args)))
    found: dict[str, Any] = {}
    options = {name: te.value(option) for name, option in options.items()}
    if not closed.is_traced:
        return scipy.optimize.root_scalar(f, args, **options)
    if options.get("fprime") is True:
        raise UnsupportedError("root_scalar: fprime=True is not differentiated; hand the derivative over as a function")

    def solve(f: Any, args: Any) -> Any:
        result = found["result"] = scipy.optimize.root_scalar(plain(f, "root_scalar"), args, **options)
        _check(result.converged, "root_scalar", result.flag)
        return [result.root]

    x = _implicit(closed, solve, lambda x, f, args: f(x[0], *args))[0]
    found["result"].root = x
    return found["result"]


# ---- minima: roots of the gradient, where no bound is active -------------------------------------

_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")


@beside("scipy.optimize.minimize", runs_callables=True)
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Minimise a scalar function; see `scipy.optimize.minimize`.

    The minimum is a root of the gradient. A component that lies on one of `bounds` is constant. Where values are
    traced and `jac` is not given, the engine's gradient is handed to the solver. Constraints are refused.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its ``x`` and ``fun`` are functions of the traced values in `args` and in `fun`; the rest is plain.

    Examples
    --------
    >>> import numpy as np
    >>> minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2)).x.round(6)
    array([1., 1.])
    """
    closed, start = Closed((fun, _as_tuple(args), jac)), te.value(x0)
    found: dict[str, Any] = {}
    rest = {"hess": hess, "hessp": hessp, "bounds": bounds, "tol": tol, "callback": callback, "options": options}
    if not closed.is_traced:
        return scipy.optimize.minimize(fun, start, args, method, jac, constraints=constraints, **rest)
    if not (isinstance(constraints, (tuple, list)) and not constraints):
        raise UnsupportedError("minimize: a constrained minimum is not differentiated; eliminate the constraints")

    def solve(fun: Any, args: Any, jac: Any) -> Any:
        given = _gradient_for(fun, method) if jac is None else jac
        found.update(scipy.optimize.minimize(plain(fun, "minimize"), start, args, method, given, **rest))
        _check(found["success"], "minimize", found["message"])
        return found["x"]

    def residual(x: Any, fun: Any, args: Any, jac: Any) -> Any:
        slope = _slope(x, fun, args, jac)
        fixed = _on_bounds(found["x"], bounds)
        return slope if fixed is None else np.where(fixed, x - found["x"], slope)

    x = _implicit(closed, solve, residual)
    return scipy.optimize.OptimizeResult({**found, "x": x, "fun": _only_value(fun(x, *_as_tuple(args)), jac)})


def _gradient_for(fun: Any, method: Any) -> Any:
    if isinstance(method, str) and method.lower() in _WITHOUT_GRADIENT:
        return None
    return lambda x, *args: _slope(x, fun, args, None)


def _slope(x: Any, fun: Any, args: Any, jac: Any) -> Any:
    if callable(jac):
        return as_vector(jac(x, *args))
    if jac is True:
        return as_vector(fun(x, *args)[1])
    return te.vjp(lambda x: fun(x, *args), x)[1](1.0)[0]


def _on_bounds(x: Any, bounds: Any) -> Any:
    """Which components lie on a bound, or None where none does."""
    if bounds is None:
        return None
    if isinstance(bounds, scipy.optimize.Bounds):
        low, high = numpy.broadcast_to(bounds.lb, x.shape), numpy.broadcast_to(bounds.ub, x.shape)
    else:
        low = numpy.array([-numpy.inf if pair[0] is None else pair[0] for pair in bounds], dtype=float)
        high = numpy.array([numpy.inf if pair[1] is None else pair[1] for pair in bounds], dtype=float)
    fixed = (x <= low) | (x >= high)
    return fixed if fixed.any() else None
