"""Integrals of callables.

The derivative of an integral in its parameters is the integral of the integrand's derivative, one integral whose value
is a vector; in its limits it is the integrand there.
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine_scipy._callables import Closed, as_array, as_vector, jacobian, plain
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import is_traced

Integrand = Callable[[Any, Any], Any]


def _integral_primal(a: Any, b: Any, params: Any, *, integrand: Integrand, options: dict[str, Any]) -> Any:
    fun = plain(lambda x: as_array(integrand(x, params)), "quad")
    middle = fun(0.5 * (a + b)) if numpy.isfinite(a) and numpy.isfinite(b) else fun(_inside(a, b))
    if numpy.ndim(middle):
        return scipy.integrate.quad_vec(fun, a, b, epsabs=1e-12, epsrel=1e-10, limit=10000)[0]
    result = scipy.integrate.quad(fun, a, b, full_output=1, **options)
    getattr(options, "report", []).extend(result)
    return result[0]


def _inside(a: Any, b: Any) -> float:
    """A point of an infinite interval."""
    ends = [end for end in (a, b) if numpy.isfinite(end)]
    return float(ends[0] + (1.0 if numpy.isinf(b) else -1.0)) if ends else 0.0


def _slopes(integrand: Integrand, out_space: Any) -> Integrand:
    """The integrand's derivatives in the parameters: along its own axes, and one more."""

    def rows(x: Any, params: Any) -> Any:
        value, back = te.vjp(lambda p: as_vector(integrand(x, p)), params)
        table = jacobian(back, value.shape[0], 0)
        return np.reshape(table, (*out_space.shape, params.shape[0]))

    return rows


def _params_table(a: Any, b: Any, params: Any, integrand: Integrand, out_space: Any) -> Any:
    table = INTEGRAL(a, b, params, integrand=_slopes(integrand, out_space), options={})
    return np.reshape(table, (-1, params.shape[0]))


def _params_vjp(ct: Any, a: Any, b: Any, params: Any, integrand: Integrand, out_space: Any) -> Any:
    return as_vector(ct) @ _params_table(a, b, params, integrand, out_space)


def _params_jvp(t: Any, a: Any, b: Any, params: Any, integrand: Integrand, out_space: Any) -> Any:
    return np.reshape(_params_table(a, b, params, integrand, out_space) @ t, out_space.shape)[()]


def _at(end: Any, params: Any, integrand: Integrand) -> Any:
    """The integrand at a finite limit, and zero at an infinite one."""
    return as_array(integrand(end, params)) if np.isfinite(end) else 0.0


INTEGRAL: Primitive = Primitive(
    "scipy.integrate.quad",
    _integral_primal,
    vjp={
        "a": lambda ct, a, params, integrand: -np.sum(ct * _at(a, params, integrand)),
        "b": lambda ct, b, params, integrand: np.sum(ct * _at(b, params, integrand)),
        "params": _params_vjp,
    },
    jvp={
        "a": lambda t, a, params, integrand: -t * _at(a, params, integrand),
        "b": lambda t, b, params, integrand: t * _at(b, params, integrand),
        "params": _params_jvp,
    },
    samples=(
        Sample((0.2, 1.5, numpy.array([0.7, 1.1])), {"integrand": lambda x, p: p[0] * np.sin(p[1] * x), "options": {}}),
        Sample(
            (0.3, 1.2, numpy.array([0.4, 0.6])),
            {"integrand": lambda x, p: np.array([p[0] ** 2 * x, np.exp(p[1] * x)]), "options": {}},
        ),
    ),
    doc="the integral of f(x, p) over (a, b); db = ct f(b), da = -ct f(a), dp = the integral of ct df/dp",
)


@beside("scipy.integrate.quad", runs_callables=True)
def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    full_output: int = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    **rest: Any,
) -> Any:
    """Integrate a callable over an interval; see `scipy.integrate.quad`.

    Differentiable in the limits, in `args`, and in the traced values that `func` captured. Weighted and complex
    integrals are not differentiated.

    Returns
    -------
    y : float
    abserr : float
        Plain.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda k: quad(lambda x: k * x, 0.0, 2.0)[0])(3.0), 12)
    2.0
    """
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
    closed = Closed((func, args if isinstance(args, tuple) else (args,)))
    if not closed.is_traced and not is_traced(a) and not is_traced(b):
        return scipy.integrate.quad(func, a, b, args, full_output=full_output, weight=weight, **options, **rest)
    if weight is not None or any(rest.values()):
        raise UnsupportedError("quad: weight, wvar, wopts, maxp1, limlst and complex_func are not differentiated")
    report: list[Any] = []
    value = INTEGRAL(a, b, closed.params, integrand=_integrand(closed), options=_Options(options, report))
    return (value, *report[1:]) if full_output else (value, report[1])


class _Options(dict[str, Any]):
    """The options of one call, and where the primal leaves its report."""

    def __init__(self, options: dict[str, Any], report: list[Any]) -> None:
        super().__init__(options)
        self.report = report


def _integrand(closed: Closed) -> Integrand:
    def integrand(x: Any, params: Any) -> Any:
        func, args = closed.at(params)
        return func(x, *args)

    return integrand
