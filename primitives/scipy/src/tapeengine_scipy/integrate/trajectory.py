"""Solutions of ordinary differential equations as a primitive, with the continuous adjoint as its rule.

For y' = f(t, y, p), a cotangent of y(t_i) is integrated backwards by l' = -(df/dy)^T l, and the parameters' cotangent
accumulates by m' = -(df/dp)^T l, while y itself is integrated backwards from its value at t_i (Chen et al., Neural
Ordinary Differential Equations, 2018, section 2). The jvp rule integrates the sensitivities
s' = (df/dy) s + (df/dp) dp. Each rule calls the primitive with a larger system, so it can be differentiated again. Both
rules, and the adjoint identity between them, hold only up to the solver's tolerance. So the plugin does not submit this
primitive to the engine's contract test; it has separate tests.
"""

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._callables import as_vector, directional, plain

System = Callable[[Any, Any, Any], Any]


def _trajectory_primal(y0: Any, times: Any, params: Any, *, system: System, solver: Callable[..., Any]) -> Any:
    fun = plain(lambda t, y: as_vector(system(t, y, params)), "the solver of differential equations")
    return numpy.asarray(solver(fun, y0, times))


def _adjoint_system(system: System, size: int) -> System:
    """The state, its cotangent, and the parameters' cotangent."""

    def rhs(t: Any, z: Any, params: Any) -> Any:
        slope, back = te.vjp(lambda y, p: as_vector(system(t, y, p)), z[:size], params)
        ct_y, ct_params = back(z[size : 2 * size])
        return np.concatenate([slope, -ct_y, -ct_params])

    return rhs


def _slope(t: Any, y: Any, params: Any, system: System) -> Any:
    return as_vector(system(t, y, params))


def _backwards(ct: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> tuple[Any, Any]:
    """The cotangents of the initial state and of the parameters."""
    size, count = out.shape
    rhs = _adjoint_system(system, size)
    ct_y, collected = ct[:, count - 1], np.zeros_like(params)
    for i in range(count - 1, 0, -1):
        start = np.concatenate([out[:, i], ct_y, collected])
        end = TRAJECTORY(start, np.stack([times[i], times[i - 1]]), params, system=rhs, solver=solver)[:, 1]
        ct_y, collected = end[size : 2 * size] + ct[:, i - 1], end[2 * size :]
    return ct_y, collected


def _vjp_times(ct: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> Any:
    """The tangent along the slope at each time; moving the first time shifts the whole solution the other way."""
    first, _ = _backwards(ct, times, params, out, system, solver)
    slopes = [_slope(times[i], out[:, i], params, system) for i in range(out.shape[1])]
    along = [np.sum(ct[:, i] * slope) for i, slope in enumerate(slopes)]
    return np.stack([along[0] - np.sum(first * slopes[0]), *along[1:]])


def _sensitivities(start: Any, change: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> Any:
    """The forward sensitivities, starting with `start`, for the change `change` of the parameters."""
    size, count = out.shape[0], params.shape[0]

    def rhs(t: Any, z: Any, both: Any) -> Any:
        point = np.concatenate([z[:size], both[:count]])
        direction = np.concatenate([z[size:], both[count:]])

        def joint(yp: Any) -> Any:
            return as_vector(system(t, yp[:size], yp[size:]))

        return np.concatenate([joint(point), directional(joint, point, direction)])

    both = np.concatenate([params, change])
    return TRAJECTORY(np.concatenate([out[:, 0], start]), times, both, system=rhs, solver=solver)[size:]


def _jvp_y0(t: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> Any:
    return _sensitivities(t, np.zeros_like(params), times, params, out, system, solver)


def _jvp_params(t: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> Any:
    return _sensitivities(np.zeros_like(out[:, 0]), t, times, params, out, system, solver)


def _jvp_times(t: Any, times: Any, params: Any, out: Any, system: System, solver: Any) -> Any:
    slopes = np.stack([_slope(times[i], out[:, i], params, system) for i in range(out.shape[1])], axis=1)
    moved = _sensitivities(-slopes[:, 0] * t[0], np.zeros_like(params), times, params, out, system, solver)
    return slopes * t + moved


TRAJECTORY: Primitive = Primitive(
    "tapeengine_scipy.trajectory",
    _trajectory_primal,
    vjp={
        "y0": lambda ct, times, params, out, system, solver: _backwards(ct, times, params, out, system, solver)[0],
        "times": _vjp_times,
        "params": lambda ct, times, params, out, system, solver: _backwards(ct, times, params, out, system, solver)[1],
    },
    jvp={"y0": _jvp_y0, "times": _jvp_times, "params": _jvp_params},
    doc="states at the given times, from y0 at the first; the vjp is the continuous adjoint",
)
