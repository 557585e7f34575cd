"""Differentiates the steps of an explicit Runge-Kutta solver.

The solver runs once on plain values and chooses its steps; then the same steps are repeated with traced values. The
lengths of the steps are constants of the derivative.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, as_vector, plain


def differentiated_steps(closed: Closed, span: Any, y0: Any, method: Any, t_eval: Any, options: dict[str, Any]) -> Any:
    """Return the states at the output times, traced through each step."""
    solver = {"RK45": scipy.integrate.RK45, "RK23": scipy.integrate.RK23}.get(method, method)
    if solver not in (scipy.integrate.RK45, scipy.integrate.RK23):
        raise UnsupportedError("solve_ivp: differentiate='steps' is for RK45 and RK23; use 'adjoint' for other methods")
    still, still_args, *_ = closed.at(te.value(closed.params))
    fun, args, *_ = closed.at(closed.params)
    system = plain(lambda t, y: still(t, y, *still_args), "solve_ivp")
    times = scipy.integrate.solve_ivp(system, span, te.value(y0), solver, **options).t
    slope = lambda t, y: as_vector(fun(t, y, *args))  # noqa: E731
    outputs = numpy.asarray(times if t_eval is None else t_eval)
    return np.stack(_states(slope, solver, times, y0, outputs), axis=1)


def _states(slope: Callable[..., Any], solver: Any, times: Any, y0: Any, outputs: Any) -> list[Any]:
    sign = 1.0 if times[-1] >= times[0] else -1.0
    found = [y0 for _ in outputs[sign * outputs <= sign * times[0]]]
    y, first = y0, slope(times[0], y0)
    for t, end in pairwise(times):
        stages, after = _step(slope, solver, t, end - t, y, first)
        inside = outputs[(sign * outputs > sign * t) & (sign * outputs <= sign * end)]
        found.extend(after if at == end else _between(solver, y, stages, (at - t), end - t) for at in inside)
        y, first = after, stages[-1]
    return found


def _step(slope: Callable[..., Any], solver: Any, t: float, h: float, y: Any, first: Any) -> tuple[list[Any], Any]:
    """One step: the slopes of its stages (the last one is the first of the next step), and the state after it."""
    stages = [first]
    for weights, moment in zip(solver.A[1:], solver.C[1:], strict=True):
        stages.append(slope(t + moment * h, y + h * _weighted(weights, stages)))
    after = y + h * _weighted(solver.B, stages)
    stages.append(slope(t + h, after))
    return stages, after


def _weighted(weights: Any, stages: list[Any]) -> Any:
    return sum(float(w) * stage for w, stage in zip(weights, stages, strict=False) if w)


def _between(solver: Any, y: Any, stages: list[Any], passed: float, h: float) -> Any:
    """The solver's own interpolation within a step."""
    x = passed / h
    powers = x ** numpy.arange(1, solver.P.shape[1] + 1)
    return y + h * _weighted(solver.P @ powers, stages)
