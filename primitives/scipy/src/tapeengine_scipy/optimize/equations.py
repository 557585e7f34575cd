"""Roots of vector functions, and of scalar functions by any method."""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, plain, plain_values
from tapeengine_scipy._passing import beside
from tapeengine_scipy._results import Table, entries, result
from tapeengine_scipy._values import of_python
from tapeengine_scipy.optimize.implicit import as_tuple, check_converged, only_value, solution


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
        Its ``x`` and ``fun`` are functions of the traced values in `args` and in `fun`; other entries that are not
        whole numbers, such as ``fjac``, are refused when they are read.

    Examples
    --------
    >>> import numpy as np
    >>> root(lambda x: x**2 - 4.0, np.array([1.0])).x.round(12)
    array([2.])
    """
    closed, start = Closed((fun, as_tuple(args), jac, callback), "root"), plain_values(x0)
    found: dict[str, Any] = {}

    def solve(fun: Any, args: Any, jac: Any, callback: Any) -> Any:
        fun, jac = plain(fun, "root"), plain(jac, "root")
        found.update(scipy.optimize.root(fun, start, args, method, jac, tol, callback, options))
        check_converged(found["success"], "root", found["message"])
        return found["x"]

    if not closed.is_traced:
        return scipy.optimize.root(fun, start, args, method, jac, tol, callback, plain_values(options))
    x = solution(closed, solve, lambda x, fun, args, jac, _: only_value(fun(x, *args), jac))

    def value() -> Any:
        return np.reshape(only_value(fun(x, *as_tuple(args)), jac), numpy.shape(found["fun"]))

    return result({**entries("root", found, fun=value), "x": x})


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
    closed, start = Closed((func, as_tuple(args), fprime), "fsolve"), plain_values(x0)
    found: list[Any] = []
    options = (col_deriv, xtol, maxfev, band, epsfcn, factor, diag)
    if not closed.is_traced:
        return scipy.optimize.fsolve(func, start, args, fprime, full_output, *options)

    def solve(func: Any, args: Any, fprime: Any) -> Any:
        func, fprime = plain(func, "fsolve"), plain(fprime, "fsolve")
        found[:] = scipy.optimize.fsolve(func, start, args, fprime, True, *options)
        check_converged(found[2] == 1, "fsolve", found[3])
        return found[0]

    x = solution(closed, solve, lambda x, func, args, fprime: func(x, *args))
    if not full_output:
        return x
    return x, Table(entries("fsolve", found[1], fvec=lambda: func(x, *as_tuple(args)))), *found[2:]


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
    closed = Closed((f, as_tuple(args), (fprime, fprime2)), "root_scalar")
    found: dict[str, Any] = {}
    given = {"method": method, "bracket": bracket, "x0": x0, "x1": x1}
    rest = plain_values({**given, "xtol": xtol, "rtol": rtol, "maxiter": maxiter, "options": options})
    if not closed.is_traced:
        return scipy.optimize.root_scalar(f, args, fprime=fprime, fprime2=fprime2, **rest)
    if fprime is True or fprime2 is True:
        raise UnsupportedError("root_scalar: fprime=True is not differentiated; pass the derivative as a function")

    def solve(f: Any, args: Any, slopes: Any) -> Any:
        whole = {name: plain(slope, "root_scalar") for name, slope in zip(("fprime", "fprime2"), slopes, strict=True)}
        result = found["result"] = scipy.optimize.root_scalar(plain(f, "root_scalar"), args, **whole, **rest)
        check_converged(result.converged, "root_scalar", result.flag)
        return [result.root]

    x = solution(closed, solve, lambda x, f, args, _: f(x[0], *args))[0]
    found["result"].root = of_python(x) if type(found["result"].root) is float else x
    return found["result"]


@beside("scipy.optimize.newton", runs_callables=True)
def newton(
    func: Callable[..., Any],
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root by Newton's, Halley's or the secant method, of each element alone; see `scipy.optimize.newton`.

    Examples
    --------
    >>> round(float(newton(lambda x: x**2 - 4.0, 1.0)), 9)
    2.0
    """
    closed, (start, second) = Closed((func, tuple(args), (fprime, fprime2)), "newton"), plain_values((x0, x1))
    if not closed.is_traced:
        options = (tol, maxiter, fprime2, second, rtol, full_output, disp)
        return scipy.optimize.newton(func, start, fprime, args, *options)
    found: list[Any] = []

    def solve(func: Any, args: Any, slopes: Any) -> Any:
        slope, second_slope = (plain(f, "newton") for f in slopes)
        options = (tol, maxiter, second_slope, second, rtol, True, disp)
        found[:] = [scipy.optimize.newton(plain(func, "newton"), start, slope, args, *options)]
        root, report, *_ = found[0]
        check_converged(numpy.all(getattr(report, "converged", report)), "newton", "too many iterations")
        return numpy.reshape(root, shape)

    shape = numpy.shape(start) or (1,)
    x = solution(closed, solve, lambda x, func, args, _: func(x if numpy.ndim(start) else x[0], *args))
    if numpy.ndim(start):
        return found[0]._replace(root=x) if full_output else x
    found[0][1].root = x[0]
    return (x[0], found[0][1]) if full_output else x[0]
