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
from tapeengine_scipy._passing import beside, holds_traced, names_of, plain_values
from tapeengine_scipy.linalg.solve import SOLVE

__all__ = [
    "bisect", "brenth", "brentq", "fsolve", "minimize", "minimize_scalar", "ridder", "root", "root_scalar", "toms748",
]  # fmt: skip

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
    return -back(_solved(slope, np.reshape(ct, (-1,)), transposed=True))[1]


def _implicit_jvp(t: Any, params: Any, out: Any, residual: Callable[[Any, Any], Any], out_space: Any) -> Any:
    _, slope = _linearised(out, params, residual)
    change = directional(lambda p: as_vector(residual(out, p)), params, t)
    return np.reshape(-_solved(slope, change), out_space.shape)


def _solved(slope: Any, b: Any, **static: Any) -> Any:
    """A solution is a function of the parameters where the Jacobian in x is regular."""
    try:
        return SOLVE(slope, b, **static)
    except (numpy.linalg.LinAlgError, ValueError) as error:
        raise UnsupportedError(
            "the Jacobian at the solution is singular or not square, so that the solution is not a differentiable "
            f"function of the parameters ({error})"
        ) from error


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
    closed, start = Closed((fun, _as_tuple(args), jac)), plain_values(x0)
    found: dict[str, Any] = {}

    def solve(fun: Any, args: Any, jac: Any) -> Any:
        fun, jac = plain(fun, "root"), plain(jac, "root") if callable(jac) else jac
        found.update(scipy.optimize.root(fun, start, args, method, jac, tol, callback, options))
        _check(found["success"], "root", found["message"])
        return found["x"]

    if not closed.is_traced:
        return scipy.optimize.root(fun, start, args, method, jac, tol, callback, plain_values(options))
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
    col_deriv: bool = False,
    xtol: float = 1.49012e-8,
    maxfev: int = 0,
    band: Any = None,
    epsfcn: Any = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    """Find a root of a vector function; see `scipy.optimize.fsolve`.

    Examples
    --------
    >>> import numpy as np
    >>> fsolve(lambda x: x**2 - 4.0, np.array([1.0])).round(12)
    array([2.])
    """
    closed, start = Closed((func, _as_tuple(args), fprime)), plain_values(x0)
    found: list[Any] = []
    options = (col_deriv, xtol, maxfev, band, epsfcn, factor, diag)
    if not closed.is_traced:
        return scipy.optimize.fsolve(func, start, args, fprime, full_output, *options)

    def solve(func: Any, args: Any, fprime: Any) -> Any:
        fprime = plain(fprime, "fsolve") if callable(fprime) else fprime
        found[:] = scipy.optimize.fsolve(plain(func, "fsolve"), start, args, fprime, True, *options)
        _check(found[2] == 1, "fsolve", found[3])
        return found[0]

    x = _implicit(closed, solve, lambda x, func, args, fprime: func(x, *args))
    return (x, *found[1:]) if full_output else x


def _bracketed(name: str, f: Callable[..., Any], a: Any, b: Any, args: Any, full_output: bool, **options: Any) -> Any:
    """A root between two points by one of SciPy's methods for that."""
    closed, ends, theirs = Closed((f, _as_tuple(args))), plain_values((a, b)), getattr(scipy.optimize, name)
    found: list[Any] = []
    if not closed.is_traced:
        return theirs(f, *ends, args=args, full_output=full_output, **options)

    def solve(f: Any, args: Any) -> Any:
        found[:] = theirs(plain(f, name), *ends, args=args, full_output=True, **options)
        _check(found[1].converged, name, found[1].flag)
        return [found[0]]

    x = _implicit(closed, solve, lambda x, f, args: f(x[0], *args))[0]
    return (x, found[1]) if full_output else x


@beside("scipy.optimize.bisect", runs_callables=True)
def bisect(
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
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.bisect`.

    Examples
    --------
    >>> round(bisect(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("bisect", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.brenth", runs_callables=True)
def brenth(
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
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.brenth`.

    Examples
    --------
    >>> round(brenth(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("brenth", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


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
    return _bracketed("brentq", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.ridder", runs_callables=True)
def ridder(
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
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.ridder`.

    Examples
    --------
    >>> round(ridder(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("ridder", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.toms748", runs_callables=True)
def toms748(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    k: int = 1,
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.toms748`.

    Examples
    --------
    >>> round(float(toms748(lambda x: x**2 - 4.0, 0.0, 10.0)), 9)
    2.0
    """
    return _bracketed("toms748", f, a, b, args, full_output, k=k, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.root_scalar", runs_callables=True)
def root_scalar(
    f: Callable[..., Any],
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any:
    """Find a root of a scalar function; see `scipy.optimize.root_scalar`.

    Examples
    --------
    >>> round(root_scalar(lambda x: x**2 - 4.0, bracket=(0.0, 10.0)).root, 9)
    2.0
    """
    closed = Closed((f, _as_tuple(args)))
    found: dict[str, Any] = {}
    given = {"method": method, "bracket": bracket, "fprime": fprime, "fprime2": fprime2, "x0": x0, "x1": x1}
    rest = plain_values({**given, "xtol": xtol, "rtol": rtol, "maxiter": maxiter, "options": options})
    if not closed.is_traced:
        return scipy.optimize.root_scalar(f, args, **rest)
    if fprime is True or fprime2 is True:
        raise UnsupportedError("root_scalar: fprime=True is not differentiated; hand the derivative over as a function")

    def solve(f: Any, args: Any) -> Any:
        result = found["result"] = scipy.optimize.root_scalar(plain(f, "root_scalar"), args, **rest)
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
    closed, start = Closed((fun, _as_tuple(args), jac)), plain_values(x0)
    found: dict[str, Any] = {}
    if holds_traced(bounds):
        raise UnsupportedError("minimize: bounds are constants of the derivative; traced ones are refused")
    rest = plain_values({"hess": hess, "hessp": hessp, "bounds": bounds, "tol": tol, "callback": callback})
    rest["options"] = options
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


@beside("scipy.optimize.minimize_scalar", runs_callables=True)
def minimize_scalar(
    fun: Callable[..., Any],
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: float | None = None,
    options: Any = None,
) -> Any:
    """Minimise a function of a number; see `scipy.optimize.minimize_scalar`.

    The minimum is a root of the derivative, whatever method finds it; at one of `bounds` it is constant. A method that
    compares values finds it to half of the digits, and the derivative is as exact as that.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda a: minimize_scalar(lambda x: (x - 3.0 * a) ** 2, method="golden").x)(1.0), 6)
    3.0
    """
    closed, found = Closed((fun, _as_tuple(args))), scipy.optimize.OptimizeResult()
    if holds_traced(bounds):
        raise UnsupportedError("minimize_scalar: bounds are constants of the derivative; traced ones are refused")
    if not closed.is_traced:
        bracket = plain_values(bracket)
        return scipy.optimize.minimize_scalar(fun, bracket, bounds, args, method, tol, options)

    def solve(fun: Any, args: Any) -> Any:
        still = plain(fun, "minimize_scalar")
        found.update(scipy.optimize.minimize_scalar(still, plain_values(bracket), bounds, args, method, tol, options))
        _check(found["success"], "minimize_scalar", found.get("message", ""))
        return [found["x"]]

    def residual(x: Any, fun: Any, args: Any) -> Any:
        if bounds is not None and min(abs(found["x"] - end) for end in bounds) <= 1e-5 * abs(bounds[1] - bounds[0]):
            return x - found["x"]
        return te.vjp(lambda x: fun(x, *args), x[0])[1](1.0)[0]

    x = _implicit(closed, solve, residual)[0]
    return scipy.optimize.OptimizeResult({**found, "x": x, "fun": fun(x, *_as_tuple(args))})


__getattr__, __dir__ = names_of("scipy.optimize")
