"""Solutions of ordinary differential equations as a primitive, with the continuous adjoint as its rule.

For y' = f(t, y, p), a cotangent l of y(t_i) is integrated backwards by l' = -(df/dy)^T l, and the parameters' cotangent
accumulates by m' = -(df/dp)^T l (Chen et al., Neural Ordinary Differential Equations, 2018, section 2), by collocation
(`backwards`). The states y(t) come from the dense output of a run forwards: integrated backwards, a state grows as fast
as its perturbations are damped, and is soon lost. The jvp rule integrates the sensitivities,
s' = (df/dy) s + (df/dp) dp.

The adjoint is a primitive too. It is the gradient of <ct, y(times)> at the point (y0, p), so its derivative along a
direction v is the gradient of <ct, s(times)> with the sensitivities s along v: the adjoint of the larger system of y
and s. This is its jvp rule, and also its vjp rule, because second derivatives are symmetric. So all rules consist of
the two primitives, and can be differentiated again. The rules, and the identity between them, hold only up to the
solver's tolerance. So the plugin does not submit these primitives to the engine's contract test; it has separate tests.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._callables import as_vector, directional, plain
from tapeengine_scipy.integrate.backwards import Adjoint
from tapeengine_scipy.integrate.collocation import WHERE, Equation

FINEST, COARSEST = 1e-12, 1e-3  # relative errors of adjoints

#: The slope for parameters, as a function of time and state.
System = Callable[[Any], Callable[[Any, Any], Any]]


class Solver(NamedTuple):
    """Solves systems of first-order equations; those of the rules are larger than the user's.

    Attributes
    ----------
    states : callable
        The states at times, as columns, for a slope and the state at the first time.
    dense : callable
        The solution as a function of times, with the ends of steps in ``ts``, for the same arguments.
    tolerances : tuple of float
        The relative and the absolute error.
    """

    states: Callable[[Any, Any, Any], Any]
    dense: Callable[[Any, Any, Any], Any]
    tolerances: tuple[float, float]


def trajectory(y0: Any, times: Any, params: Any, system: System, solver: Solver) -> Any:
    """The states at times, as columns, from `y0` at the first."""
    return TRAJECTORY(np.concatenate([y0, params]), times, size=y0.shape[0], system=system, solver=solver)


def _trajectory_primal(point: Any, times: Any, *, size: int, system: System, solver: Solver) -> Any:
    return numpy.asarray(solver.states(_slope(system, point[size:]), point[:size], times))


def _adjoint_primal(ct: Any, point: Any, times: Any, *, system: System, solver: Solver) -> Any:
    if ct.size == 0:
        return numpy.zeros_like(point)
    start, params = point[: len(ct)], point[len(ct) :]
    states = solver.dense(_slope(system, params), start, times)
    relative, absolute = solver.tolerances
    equation = Equation(system, states, params, min(max(relative, FINEST), COARSEST), absolute)
    return numpy.concatenate(Adjoint(equation, ct, times).run())


def _slope(system: System, params: Any) -> Callable[[Any, Any], Any]:
    """The slope as a function of plain values."""
    slope = system(params)
    return plain(lambda t, y: as_vector(slope(t, y)), WHERE)


def _slopes(times: Any, states: Any, params: Any, system: System) -> Any:
    slope = system(params)
    return np.stack([as_vector(slope(times[i], states[:, i])) for i in range(states.shape[1])], axis=1)


def _vjp_times(ct: Any, point: Any, times: Any, out: Any, size: int, system: System, solver: Solver) -> Any:
    """The tangent along the slope at each time; moving the first time shifts the whole solution the other way."""
    slopes = _slopes(times, out, point[size:], system)
    first = ADJOINT(ct, point, times, system=system, solver=solver)[:size]
    along = np.sum(ct * slopes, axis=0)
    return np.concatenate([along[:1] - np.sum(first * slopes[:, 0]), along[1:]])


def _with_sensitivities(system: System, size: int, count: int) -> System:
    """The system of a state and its sensitivity; each half of its parameters is of the size of the others'."""

    def rhs(both: Any) -> Callable[[Any, Any], Any]:
        def slope(t: Any, z: Any) -> Any:
            point = np.concatenate([z[:size], both[:count]])
            direction = np.concatenate([z[size:], both[count:]])
            return np.concatenate(directional(lambda yp: as_vector(system(yp[size:])(t, yp[:size])), point, direction))

        return slope

    return rhs


def _doubled(point: Any, t: Any, size: int) -> Any:
    """A point of the system with sensitivities."""
    return np.concatenate([point[:size], t[:size], point[size:], t[size:]])


def _sensitivities(t: Any, point: Any, times: Any, size: int, system: System, solver: Solver) -> Any:
    """The forward sensitivities along a change of the point."""
    both, rhs = _doubled(point, t, size), _with_sensitivities(system, size, point.shape[0] - size)
    return TRAJECTORY(both, times, size=2 * size, system=rhs, solver=solver)[size:]


def _jvp_times(t: Any, point: Any, times: Any, out: Any, size: int, system: System, solver: Solver) -> Any:
    slopes = _slopes(times, out, point[size:], system)
    change = np.concatenate([-slopes[:, 0] * t[0], np.zeros_like(point[size:])])
    return slopes * t + _sensitivities(change, point, times, size, system, solver)


def _along(t: Any, ct: Any, point: Any, times: Any, system: System, solver: Solver) -> Any:
    """The derivative of the adjoint along a change of the point."""
    size, count = ct.shape[0], point.shape[0] - ct.shape[0]
    rhs, double = _with_sensitivities(system, size, count), np.concatenate([np.zeros_like(ct), ct])
    found = ADJOINT(double, _doubled(point, t, size), times, system=rhs, solver=solver)
    return np.concatenate([found[:size], found[2 * size : 2 * size + count]])


def _pulled(t: Any, y: Any, params: Any, ct: Any, system: System) -> Any:
    """The cotangents of a state and the parameters for one of the slope."""
    return te.vjp(lambda y, p: as_vector(system(p)(t, y)), y, params)[1](ct)


def _of_later(ct: Any) -> Any:
    """The cotangents without that of the first state, which does not depend on times."""
    return np.concatenate([np.zeros_like(ct[:, :1]), ct[:, 1:]], axis=1)


def _adjoint_jvp_times(t: Any, ct: Any, point: Any, times: Any, system: System, solver: Solver) -> Any:
    """Moving a time adds a cotangent of its slope; moving the first one moves y0 along the slope, the other way."""
    size, later = ct.shape[0], _of_later(ct)
    states = TRAJECTORY(point, times, size=size, system=system, solver=solver)
    pairs = [_pulled(times[i], states[:, i], point[size:], later[:, i] * t[i], system) for i in range(len(times))]
    moved = ADJOINT(np.stack([y for y, _ in pairs], 1), point, times, system=system, solver=solver)
    start = as_vector(system(point[size:])(times[0], point[:size]))
    change = np.concatenate([-start * t[0], np.zeros_like(point[size:])])
    first = ADJOINT(later, point, times, system=system, solver=solver)[:size]
    ct_y, ct_params = _pulled(times[0], point[:size], point[size:], -first * t[0], system)
    direct = np.concatenate([ct_y, ct_params + sum(p for _, p in pairs)])
    return moved + direct + _along(change, later, point, times, system, solver)


def _adjoint_vjp_times(v: Any, ct: Any, point: Any, times: Any, system: System, solver: Solver) -> Any:
    """The transpose of the jvp rule: one product for each time."""
    units = numpy.eye(len(times))
    return np.stack([np.sum(v * _adjoint_jvp_times(t, ct, point, times, system, solver)) for t in units])


TRAJECTORY: Primitive = Primitive(
    "tapeengine_scipy.trajectory",
    _trajectory_primal,
    vjp={
        "point": lambda ct, point, times, size, system, solver: ADJOINT(ct, point, times, system=system, solver=solver),
        "times": _vjp_times,
    },
    jvp={"point": _sensitivities, "times": _jvp_times},
    doc="states at the given times, from a point of the first state and parameters; the vjp is the continuous adjoint",
)

ADJOINT: Primitive = Primitive(
    "tapeengine_scipy.trajectory_adjoint",
    _adjoint_primal,
    vjp={
        "ct": lambda v, point, times, ct_space, system, solver: _sensitivities(
            v, point, times, ct_space.shape[0], system, solver
        ),
        "point": lambda v, ct, point, times, system, solver: _along(v, ct, point, times, system, solver),
        "times": _adjoint_vjp_times,
    },
    jvp={
        "ct": lambda t, point, times, system, solver: ADJOINT(t, point, times, system=system, solver=solver),
        "point": lambda t, ct, point, times, system, solver: _along(t, ct, point, times, system, solver),
        "times": _adjoint_jvp_times,
    },
    doc="the cotangent of the point of a trajectory, by the continuous adjoint along its dense output",
)
