"""Roots of vector functions, and of scalar functions by any method."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine_scipy._callables import Closed, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._results import Table, entries, result
from tapeengine_scipy.optimize.implicit import as_tuple, check_converged, only_value, solution


@with_signature("scipy.optimize.root", runs_callables=True)
def root(fun: Any, x0: Any, args: Any, jac: Any, callback: Any, options: Any, **rest: Any) -> Any:
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
        found.update(scipy.optimize.root(fun, start, args, jac=jac, callback=callback, options=options, **rest))
        check_converged(found["success"], "root", found["message"])
        return found["x"]

    if not closed.is_traced:
        rest["options"] = plain_values(options)
        return scipy.optimize.root(fun, start, args, jac=jac, callback=callback, **rest)
    x = solution(closed, solve, lambda x, fun, args, jac, _: only_value(fun(x, *args), jac))

    def value() -> Any:
        return np.reshape(only_value(fun(x, *as_tuple(args)), jac), numpy.shape(found["fun"]))

    return result({**entries("root", found, fun=value), "x": x})


@with_signature("scipy.optimize.fsolve", runs_callables=True)
def fsolve(func: Any, x0: Any, args: Any, fprime: Any, full_output: bool, **options: Any) -> Any:
    """Find a root of a vector function; see `scipy.optimize.fsolve`.

    Examples
    --------
    >>> import numpy as np
    >>> fsolve(lambda x: x**2 - 4.0, np.array([1.0])).round(12)
    array([2.])
    """
    closed, start = Closed((func, as_tuple(args), fprime), "fsolve"), plain_values(x0)
    found: list[Any] = []
    if not closed.is_traced:
        return scipy.optimize.fsolve(func, start, args, fprime, full_output, **options)

    def solve(func: Any, args: Any, fprime: Any) -> Any:
        func, fprime = plain(func, "fsolve"), plain(fprime, "fsolve")
        found[:] = scipy.optimize.fsolve(func, start, args, fprime, True, **options)
        check_converged(found[2] == 1, "fsolve", found[3])
        return found[0]

    x = solution(closed, solve, lambda x, func, args, fprime: func(x, *args))
    if not full_output:
        return x
    return x, Table(entries("fsolve", found[1], fvec=lambda: func(x, *as_tuple(args)))), *found[2:]


@with_signature("scipy.optimize.newton", runs_callables=True)
def newton(func: Any, x0: Any, fprime: Any, args: Any, fprime2: Any, x1: Any, full_output: bool, **options: Any) -> Any:
    """Find a root by Newton's, Halley's or the secant method, of each element alone; see `scipy.optimize.newton`.

    Examples
    --------
    >>> round(float(newton(lambda x: x**2 - 4.0, 1.0)), 9)
    2.0
    """
    closed, (start, options["x1"]) = Closed((func, tuple(args), (fprime, fprime2)), "newton"), plain_values((x0, x1))
    if not closed.is_traced:
        return scipy.optimize.newton(func, start, fprime, args, fprime2=fprime2, full_output=full_output, **options)
    found: list[Any] = []

    def solve(func: Any, args: Any, slopes: Any) -> Any:
        func, slope, second = (plain(f, "newton") for f in (func, *slopes))
        found[:] = [scipy.optimize.newton(func, start, slope, args, fprime2=second, full_output=True, **options)]
        root, report, *_ = found[0]
        check_converged(numpy.all(getattr(report, "converged", report)), "newton", "too many iterations")
        return numpy.reshape(root, shape)

    shape = numpy.shape(start) or (1,)
    x = solution(closed, solve, lambda x, func, args, _: func(x if numpy.ndim(start) else x[0], *args))
    if numpy.ndim(start):
        return found[0]._replace(root=x) if full_output else x
    found[0][1].root = x[0]
    return (x[0], found[0][1]) if full_output else x[0]
