"""Integrals of callables.

The derivative of an integral in its parameters is the integral of the integrand's derivative; in its limits it is the
integrand there. The derivative's integral starts from the subdivision of the value's integral and refines it where
necessary, so it resolves every feature that the value's integral has resolved.

A trace of the integrand, and a look at all that it captures, cost more than the calls that it contains. So integrands
are functions of many nodes, which one trace evaluates (see `_Nodes`).
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine.primitive.builders import scale
from tapeengine_scipy._callables import (
    Closed,
    as_vector,
    constants,
    holds_traced,
    plain_values,
    refusing_traced,
)
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._values import floating, is_traced, of_python

#: The values at nodes, along a first axis, as a function of the nodes and of the parameters.
Integrand = Callable[[Sequence[Any], Any], Any]
Function = Callable[[float], float]


class _Integrand:
    """The user's integrand as a function of many nodes that also takes its parameters."""

    def __init__(self, closed: Closed) -> None:
        self.closed = closed

    def __call__(self, nodes: Sequence[Any], params: Any) -> Any:
        again = self.closed.for_calls(params)
        return floating([func(x, *args) for x in nodes for func, args in (again(),)])

    def run(self, solve: Callable[..., Any], params: Any) -> Any:
        """Integrate to get the value."""
        return self.closed.run(lambda func, args: solve(lambda x: func(x, *args)), params)


class _Options(dict[str, Any]):
    """The options of one call, and data from the primal for its caller and for the rules.

    Attributes
    ----------
    report : list
        SciPy's results beside the value.
    breaks : array
        The inner points of the subdivision; for an infinite interval, in the variable of the transformation.
    """

    report: list[Any]
    breaks: Any = numpy.zeros(0)


def _scalar_primal(a: Any, b: Any, params: Any, *, integrand: Integrand, options: dict[str, Any]) -> Any:
    def solve(fun: Callable[[Any], Any]) -> Any:
        found: list[Any] = []
        own = refusing_traced(fun, "quad", UnsupportedError, [])
        te.vjp(lambda: found.extend(scipy.integrate.quad(own, a, b, full_output=1, **options)))  # a trace for all calls
        return found

    if isinstance(integrand, _Integrand):
        value, *report = integrand.run(solve, params)
    else:
        value, *report = solve(lambda x: integrand([x], params)[0])
    if isinstance(options, _Options):
        options.report = report
        options.breaks = _inner_points(report[1])
    return value


def _inner_points(info: dict[str, Any]) -> Any:
    """The points between QUADPACK's final intervals, if it reports them."""
    if "alist" not in info or "last" not in info:
        return numpy.zeros(0)
    starts, ends = (info[name][: info["last"]] for name in ("alist", "blist"))
    return numpy.setdiff1d(numpy.concatenate([starts, ends]), [starts.min(initial=0.0), ends.max(initial=0.0)])


def _is_finite(a: Any, b: Any) -> bool:
    return bool(numpy.isfinite(a) and numpy.isfinite(b))


class _Nodes:
    """The values of all components at the nodes that QUADPACK asks for.

    QUADPACK asks for one node at a time. So a run is given zeros for unknown values, and its nodes are noted: an
    interval of zeros has no error, so the run goes on to the other intervals that it would halve. One trace then
    evaluates them all, and the run starts again. Each such round halves all intervals that are not resolved yet.
    """

    MOST = 2000  # nodes of one trace, which bounds its memory

    def __init__(self, values: Callable[[list[float]], Any]) -> None:
        self._values = values
        self._known: dict[float, list[float]] = {}
        self._missing: dict[float, None] = {}

    def __call__(self, component: int, x: float) -> float:
        """The value of a component, or zero if it has to be evaluated first."""
        x = x if x == x else numpy.nan  # the same NaN at each call, which the table finds
        row = self._known.get(x)
        if row is not None:
            return row[component]
        if len(self._missing) < self.MOST:
            self._missing[x] = None
        return 0.0

    def settled(self, run: Callable[[Function], Any], components: int) -> list[Any]:
        """The results of a run for each component, with all its values known."""
        found, left = [None] * components, list(range(components))
        while left:
            before, left = left, []
            for k in before:
                found[k] = run(functools.partial(self, k))
                if self._missing:
                    left.append(k)
            self._evaluate()
        return found

    def _evaluate(self) -> None:
        nodes, self._missing = list(self._missing), {}
        if nodes:
            self._known.update(zip(nodes, self._values(nodes).tolist(), strict=True))


def _vector_primal(
    a: Any, b: Any, params: Any, *, integrand: Integrand, options: dict[str, Any], breaks: Any, shape: tuple[int, ...]
) -> Any:
    """Integrate each component by QUADPACK."""
    values = refusing_traced(  # not in a trace of its own, as a Jacobian is faster outside of traces
        lambda nodes: np.reshape(integrand(nodes, params), (len(nodes), -1)), "quad", UnsupportedError, []
    )
    size = int(numpy.prod(shape, dtype=int))
    found = _Nodes(values).settled(_quadpack(a, b, options, breaks), size)
    for _, message in found:
        if message:
            warnings.warn(f"quad, of a derivative: {message}", scipy.integrate.IntegrationWarning, stacklevel=2)
    return numpy.reshape(numpy.array([value for value, _ in found], dtype=float), shape)


def _quadpack(a: Any, b: Any, options: dict[str, Any], breaks: Any) -> Callable[[Function], tuple[float, str]]:
    """QUADPACK with tighter tolerances, from a given subdivision: the integral of a function, and what to warn of."""
    if not _is_finite(a, b) and options.get("weight") is None:
        run, transformed = _quadpack(0.0, 1.0, options, breaks), _transformation(min(a, b), max(a, b))
        sign = float(numpy.sign(b - a)) if a != b else 0.0
        return lambda fun: (lambda value, message: (sign * value, message))(*run(transformed(fun)))
    finer = {**options, "epsabs": min(options["epsabs"], 1e-13), "epsrel": min(options["epsrel"], 1e-11)}
    if options.get("weight") is None:
        given = () if options.get("points") is None else plain_values(options["points"])
        points = numpy.union1d(breaks, numpy.asarray(given, dtype=float))
        points = points[(points > min(a, b)) & (points < max(a, b))]
        finer.update(points=points if len(points) else None, limit=options["limit"] + 2 * len(points) + 50)
    else:
        finer.pop("wopts", None)

    def integral(fun: Function) -> tuple[float, str]:
        value, error, _, *message = scipy.integrate.quad(fun, a, b, full_output=1, **finer)
        is_exact = not message or error <= max(options["epsabs"], options["epsrel"] * abs(value))
        return float(value), "" if is_exact else message[0]

    return integral


def _transformation(low: Any, high: Any) -> Callable[[Function], Function]:
    """QUADPACK's transformation of infinite intervals, x = end + (1 - t) / t; the subdivision is in t."""
    if numpy.isinf(low) and numpy.isinf(high):
        return lambda fun: lambda t: (fun((1.0 - t) / t) + fun(-(1.0 - t) / t)) / (t * t)
    if numpy.isinf(low):
        return lambda fun: lambda t: fun(high - (1.0 - t) / t) / (t * t)
    return lambda fun: lambda t: fun(low + (1.0 - t) / t) / (t * t)


def _slopes(integrand: Integrand) -> Integrand:
    """The integrand's derivatives in the parameters, along one additional axis."""

    def rows(nodes: Sequence[Any], params: Any) -> Any:
        return te.jacobian(lambda p: integrand(nodes, p))(params)

    rows.closed = getattr(integrand, "closed", None)  # type: ignore[attr-defined]
    return rows


def _checked(integrand: Integrand) -> None:
    """Refuse what a rule would read again but has changed since the call."""
    closed = getattr(integrand, "closed", None)
    if closed is not None:
        closed.check_that_it_repeats()


def _table(a: Any, b: Any, params: Any, integrand: Integrand, options: Any, breaks: Any, shape: tuple[int, ...]) -> Any:
    """The derivatives of the components in the parameters."""
    _checked(integrand)
    kept = {"options": dict(options), "breaks": breaks, "shape": (*shape, params.shape[0])}
    table = INTEGRALS(a, b, params, integrand=_slopes(integrand), **kept)
    return np.reshape(table, (-1, params.shape[0]))


def _at(end: Any, params: Any, integrand: Integrand, options: dict[str, Any]) -> Any:
    """The integrand at a finite limit; zero at an infinite one."""
    if not np.isfinite(end):
        return 0.0
    weight = options.get("weight")
    if weight not in (None, "cos", "sin"):
        raise UnsupportedError(f"quad: a limit of an integral with weight={weight!r} is not differentiated")
    _checked(integrand)
    try:
        value = integrand([end], params)[0]
    except (ArithmeticError, ValueError) as error:  # SciPy evaluates the integrand inside of the interval only
        raise UnsupportedError(f"quad: the integrand has no value at a limit that is traced ({error})") from error
    if weight is not None:
        value = value * (np.cos if weight == "cos" else np.sin)(options["wvar"] * end)
    return value


def _breaks(options: dict[str, Any]) -> Any:
    return options.breaks if isinstance(options, _Options) else numpy.zeros(0)


_DEFAULTS = {"epsabs": 1.49e-8, "epsrel": 1.49e-8, "limit": 50}

#: The rules of the limits, for an integral and for integrals of components.
_LIMITS_VJP = {
    "a": lambda ct, a, params, integrand, options: -np.sum(scale(ct, _at(a, params, integrand, options))),
    "b": lambda ct, b, params, integrand, options: np.sum(scale(ct, _at(b, params, integrand, options))),
}
_LIMITS_JVP = {
    "a": lambda t, a, params, integrand, options: -scale(t, _at(a, params, integrand, options)),
    "b": lambda t, b, params, integrand, options: scale(t, _at(b, params, integrand, options)),
}

INTEGRAL: Primitive = Primitive(
    "scipy.integrate.quad",
    _scalar_primal,
    vjp={
        **_LIMITS_VJP,
        "params": lambda ct, a, b, params, integrand, options: scale(
            ct, _table(a, b, params, integrand, options, _breaks(options), ())[0]
        ),
    },
    jvp={
        **_LIMITS_JVP,
        "params": lambda t, a, b, params, integrand, options: np.sum(
            scale(t, _table(a, b, params, integrand, options, _breaks(options), ())[0])
        ),
    },
    samples=(
        Sample(
            (0.2, 1.5, numpy.array([0.7, 1.1])),
            {"integrand": lambda x, p: p[0] * np.sin(p[1] * np.array(x)), "options": _DEFAULTS},
        ),
    ),
    doc="the integral of f(x, p) over (a, b); db = ct f(b), da = -ct f(a), dp = the integral of ct df/dp",
)

INTEGRALS: Primitive = Primitive(
    "scipy.integrate.quad_of_components",
    _vector_primal,
    vjp={
        **_LIMITS_VJP,
        "params": lambda ct, a, b, params, integrand, options, breaks, shape: np.sum(
            scale(as_vector(ct)[:, None], _table(a, b, params, integrand, options, breaks, shape)), axis=0
        ),
    },
    jvp={
        **_LIMITS_JVP,
        "params": lambda t, a, b, params, integrand, options, breaks, shape: np.reshape(
            np.sum(scale(t, _table(a, b, params, integrand, options, breaks, shape)), axis=1), shape
        ),
    },
    samples=(
        Sample(
            (0.3, 1.2, numpy.array([0.4, 0.6])),
            {
                "integrand": lambda x, p: np.stack([p[0] ** 2 * np.array(x), np.exp(p[1] * np.array(x))], axis=1),
                "options": _DEFAULTS,
                "breaks": numpy.array([0.5]),
                "shape": (2,),
            },
        ),
    ),
    doc="the integrals of the components of a vector, on a given subdivision",
)


@with_signature("scipy.integrate.quad", runs_callables=True)
def quad(
    func: Any, a: Any, b: Any, args: Any, full_output: int, points: Any, limit: int, complex_func: bool, **rest: Any
) -> Any:
    """Integrate a callable over an interval; see `scipy.integrate.quad`.

    Differentiable in the limits, in `args` and in the traced values that `func` captured, also for weighted integrals.
    `points` and `wvar` are constants, and complex integrands are refused.

    Returns
    -------
    y : float
    abserr : float
        The plain error estimate.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda k: quad(lambda x: k * x, 0.0, 2.0)[0])(3.0), 12)
    2.0
    """
    if complex_func:
        raise UnsupportedError("quad: complex_func is not differentiated; integrate the real and imaginary parts")
    rest = constants(rest)
    if holds_traced(rest):
        raise UnsupportedError("quad: wvar, wopts and tolerances are constants; put a traced weight into the integrand")
    kept = rest if rest["weight"] is not None else {name: rest[name] for name in ("epsabs", "epsrel")}
    options = _Options(limit=limit, points=plain_values(points), **kept)
    plain_values((a, b))  # as for the parameters
    closed = Closed((func, args if isinstance(args, tuple) else (args,)), "quad", is_traced(a) or is_traced(b))
    value = of_python(INTEGRAL(a, b, closed.params, integrand=_Integrand(closed), options=options))
    if full_output:
        return (value, *options.report)
    for message in options.report[2:3]:
        warnings.warn(message, scipy.integrate.IntegrationWarning, stacklevel=3)
    return value, options.report[0]
