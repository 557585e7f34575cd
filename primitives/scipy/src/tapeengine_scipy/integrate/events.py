"""Solutions between their output times: events, at roots of functions of time, and dense output.

The time of an event solves g(t, y(t, p), p) = 0. Newton steps with the plain slope, starting at the solver's result,
give the time as a function of the parameters: each step makes one more order of derivatives correct.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._values import floating
from tapeengine_scipy.integrate.trajectory import Solver, System, trajectory

STEPS = 2  # Newton steps, for first and second derivatives


@dataclass
class Path:
    """A solution as a function of times: its initial values, and its integrator."""

    system: System
    first: Any
    start: Any
    params: Any
    solver: Callable[[Any], Solver]

    def states(self, times: Any, known: Any = None) -> Any:
        """The states at times in the order of integration, as columns."""
        whole = np.concatenate([np.array([self.first]), times])
        given = None if known is None else numpy.concatenate([plain_value(self.start)[:, None], known], axis=1)
        return trajectory(self.start, whole, self.params, self.system, self.solver(given))[:, 1:]


def with_value(x: Any, value: Any) -> Any:
    """A traced array with the values that the solver found; another run agrees only up to the tolerances."""
    return x + (value - plain_value(x))


def differentiate_events(found: Any, path: Path, event: Callable[[int, Any, Any], Any]) -> None:
    """Make times and states of events functions of the traced values."""
    for k, times in enumerate(found.t_events):
        if len(times):
            found.t_events[k], found.y_events[k] = _of_event(
                times, found.y_events[k], path, lambda t, y, k=k: event(k, t, y)
            )


def _of_event(times: Any, states: Any, path: Path, event: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    slopes = [_slope(t, y, path, event) for t, y in zip(times, states, strict=True)]
    at: Any = numpy.asarray(times)
    for step in range(STEPS):
        y = path.states(at, states.T if step == 0 else None)
        values = np.stack([floating(event(at[i], y[:, i])) for i in range(len(times))])
        at = at - np.reshape(values, (-1,)) / numpy.array(slopes)
    return with_value(at, times), with_value(path.states(at).T, states)


def _slope(t: float, y: Any, path: Path, event: Callable[[Any, Any], Any]) -> float:
    """The derivative of an event's value along the solution."""
    change = plain_value(floating(path.system(plain_value(path.params))(t, y)))
    slope = te.jvp(lambda t, y: event(t, y), (float(t), numpy.asarray(y)), (1.0, numpy.reshape(change, y.shape)))[1]
    found = float(numpy.sum(plain_value(slope)))
    if found == 0.0:
        raise UnsupportedError("solve_ivp: an event that the solution touches without crossing has no derivative")
    return found


def last_event(found: Any, seen: list[Any]) -> Any:
    """The time of the terminal event that ended a solution."""
    last = found.t[-1]
    ends = [
        times[len(times) - 1] for times, event in zip(found.t_events, seen, strict=True)
        if getattr(event, "terminal", False) and len(times)
    ]  # fmt: skip
    return min(ends, key=lambda t: abs(float(plain_value(t)) - last)) if ends else last


class Dense:
    """Dense output: the solution at any times within the span; times may be traced."""

    def __init__(self, path: Path, theirs: Any) -> None:
        self._path, self._theirs = path, theirs

    def __call__(self, t: Any) -> Any:
        """The state at a time, or the states at times as columns."""
        at = np.atleast_1d(floating(t))
        still = plain_value(at)
        ends = sorted((self._theirs.t_min, self._theirs.t_max))
        if (still < ends[0]).any() or (still > ends[1]).any():
            raise UnsupportedError("solve_ivp: dense output beyond the span is not differentiated")
        forwards = self._theirs.ts[-1] >= self._theirs.ts[0]
        order = numpy.argsort(still if forwards else -still, kind="stable")
        states = self._path.states(at[order])[:, numpy.argsort(order)]
        found = with_value(states, self._theirs(still))
        return found if np.ndim(t) else found[:, 0]

    def of_scipy(self) -> Any:
        """Return SciPy's own solution, with plain values."""
        return self._theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)
