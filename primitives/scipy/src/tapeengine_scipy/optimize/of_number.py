"""The functions of SciPy that return the minimum of a function of a number: `minimize_scalar` by method.

They compare values of the function, so that a derivative of their steps would be 0 or wrong.
"""

from typing import Any

import numpy

from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._values import of_python
from tapeengine_scipy.optimize.implicit import as_tuple
from tapeengine_scipy.optimize.minima import minimize_scalar


@with_signature("scipy.optimize.brent", runs_callables=True)
def brent(func: Any, args: Any, brack: Any, tol: float, full_output: int, maxiter: int) -> Any:
    """Minimise a function of a number by parabolas; see `scipy.optimize.brent`.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda a: brent(lambda x: (x - 3.0 * a) ** 2))(1.0), 6)
    3.0
    """
    found = minimize_scalar(func, brack, None, args, "brent", None, {"xtol": tol, "maxiter": maxiter})
    return _entries(found, "x fun nit nfev", full_output)


@with_signature("scipy.optimize.golden", runs_callables=True)
def golden(func: Any, args: Any, brack: Any, tol: float, full_output: int, maxiter: int) -> Any:
    """Minimise a function of a number by golden sections; see `scipy.optimize.golden`.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda a: golden(lambda x: (x - 3.0 * a) ** 2))(1.0), 6)
    3.0
    """
    found = minimize_scalar(func, brack, None, args, "golden", None, {"xtol": tol, "maxiter": maxiter})
    if numpy.shape(brack) == (3,) and all(type(x) in (int, float) for x in brack):
        found["x"] = of_python(found["x"])
        found["fun"] = func(found["x"], *as_tuple(args)) if full_output else None
    return _entries(found, "x fun nfev", full_output)


@with_signature("scipy.optimize.fminbound", runs_callables=True)
def fminbound(func: Any, x1: Any, x2: Any, args: Any, xtol: float, maxfun: int, full_output: int, disp: int) -> Any:
    """Minimise a function of a number in an interval, whose ends are constants; see `scipy.optimize.fminbound`.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda a: fminbound(lambda x: (x - 3.0 * a) ** 2, 0.0, 9.0))(1.0), 6)
    3.0
    """
    options = {"xatol": xtol, "maxiter": maxfun, "disp": disp}
    found = minimize_scalar(func, None, (x1, x2), args, "bounded", None, options)
    return _entries(found, "x fun status nfev", full_output)


def _entries(found: Any, names: str, full_output: Any) -> Any:
    return tuple(found[name] for name in names.split()) if full_output else found["x"]
