"""Integrals of vectors: SciPy's value, and the derivative of the integrals of the components by `quad`'s rules."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, constants, plain, plain_value, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import refuse_traced
from tapeengine_scipy._values import is_traced, of_python
from tapeengine_scipy.integrate.quadrature import INTEGRALS, Integrand, _Integrand


@with_signature("scipy.integrate.quad_vec", runs_callables=True)
def quad_vec(f: Any, a: Any, b: Any, workers: Any, points: Any, full_output: bool, args: Any, **options: Any) -> Any:
    """Integrate a callable with an array as its value; see `scipy.integrate.quad_vec`.

    Differentiable in the limits, in `args` and in the traced values that `f` captured. `points` are constants, a single
    process evaluates `f`, and complex integrands are refused.

    Returns
    -------
    res : float or array
    err : float
        The plain error estimate.
    info : object
        With `full_output`, SciPy's own, with plain values.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda k: quad_vec(lambda x: k * x, 0.0, 2.0)[0])(3.0), 12)
    2.0
    """
    options |= constants({name: options[name] for name in ("epsabs", "epsrel", "norm")})
    refuse_traced("a tolerance or norm of quad_vec", options)
    options["points"] = plain_values(points)
    given = args if isinstance(args, tuple) else (args,)
    closed = Closed((f, given), "quad_vec", is_traced(a) or is_traced(b))

    def solve(f: Any, args: Any) -> Any:
        called = plain(lambda x: f(x, *args), "quad_vec")
        ends = plain_value(a), plain_value(b)
        return scipy.integrate.quad_vec(called, *ends, full_output=True, **options)

    value, *report, info = closed.run(solve, plain_value(closed.params))
    if numpy.iscomplexobj(value):
        raise UnsupportedError("quad_vec: a complex integrand is not differentiated; take its real and imaginary parts")
    integral = _with_derivative(value, a, b, closed, _Integrand(closed), numpy.ravel(info.intervals), points)
    return (integral, *report, info) if full_output else (integral, *report)


def _with_derivative(value: Any, a: Any, b: Any, closed: Closed, integrand: Integrand, breaks: Any, points: Any) -> Any:
    """SciPy's value, with the derivative of the integral on the subdivision that it found."""
    infinite = not (numpy.isfinite(plain_value(a)) and numpy.isfinite(plain_value(b)))
    inner = numpy.setdiff1d(numpy.abs(breaks), [0.0, 1.0]) if infinite else numpy.unique(breaks)
    options = {"epsabs": 1.49e-8, "epsrel": 1.49e-8, "limit": 50, "points": None if infinite else plain_values(points)}
    shape = numpy.shape(value)
    found = INTEGRALS(a, b, closed.params, integrand=integrand, options=options, breaks=inner, shape=shape)
    if shape:
        return found + (np.asarray(value) - plain_value(found))
    found = of_python(found) if type(value) is float else found
    return found + (value - float(plain_value(found)))
