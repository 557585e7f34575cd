"""Boundary value problems: the implicit function theorem at the collocation equations that SciPy solves.

The unknowns are the states at the nodes of the final mesh, and the unknown parameters. The mesh is constant.
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, as_array, constants, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import refuse_traced
from tapeengine_scipy._results import entries, result
from tapeengine_scipy.interpolate.polynomials import CubicHermiteSpline, PPoly
from tapeengine_scipy.optimize.implicit import check_converged, solution


@with_signature("scipy.integrate.solve_bvp", runs_callables=True)
def solve_bvp(
    fun: Any, bc: Any, x: Any, y: Any, p: Any, S: Any, fun_jac: Any, bc_jac: Any, tol: float, bc_tol: Any, **rest: Any
) -> Any:
    """Solve a boundary value problem; see `scipy.integrate.solve_bvp`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        Its ``y``, ``yp``, ``p`` and ``sol`` are functions of the traced values that `fun` and `bc` captured. The mesh
        is constant, initial guesses have no effect on the derivative, and problems with `S` are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> def middle(k):
    ...     slope, ends = lambda x, y: np.stack([y[1], -k * y[0]]), lambda a, b: np.array([a[0], b[0] - 1.0])
    ...     return solve_bvp(slope, ends, np.linspace(0.0, 1.0, 3), np.zeros((2, 3)), tol=1e-6).sol(0.5)[0]
    >>> float(np.round(middle(1.0), 6)), float(np.round(0.5 / np.cos(0.5), 6))
    (0.569747, 0.569747)
    """
    if S is not None:
        raise UnsupportedError("solve_bvp: a singular term S is not differentiated")
    x, tol, bc_tol = constants((x, tol, bc_tol))
    refuse_traced("the mesh or a tolerance of solve_bvp", x, tol, bc_tol)
    closed, guess, unknown = Closed((fun, bc, fun_jac, bc_jac), "solve_bvp"), plain_values(y), plain_values(p)
    size, count = len(guess), 0 if unknown is None else len(unknown)
    found: dict[str, Any] = {}

    def solve(fun: Any, bc: Any, fun_jac: Any, bc_jac: Any) -> Any:
        called, jacobians = ([plain(f, "solve_bvp") for f in pair] for pair in ((fun, bc), (fun_jac, bc_jac)))
        whole = {"tol": tol, "bc_tol": bc_tol, **rest}
        found.update(scipy.integrate.solve_bvp(*called, x, guess, unknown, None, *jacobians, **whole))
        check_converged(found["success"], "solve_bvp", found["message"])
        return numpy.concatenate([numpy.ravel(found["y"]), *([found["p"]] if count else [])])

    def parts(z: Any) -> tuple[Any, ...]:
        y = np.reshape(z[: len(z) - count], (size, -1))
        return (y, z[len(z) - count :]) if count else (y,)

    def residual(z: Any, fun: Any, bc: Any, *_: Any) -> Any:
        y, *unknown = parts(z)
        ends = as_array(bc(y[:, 0], y[:, -1], *unknown))
        return np.concatenate([np.ravel(_collocated(fun, found["x"], y, unknown)), np.ravel(ends)])

    y, *rest = parts(solution(closed, solve, residual))
    slopes = as_array(fun(found["x"], y, *rest))
    c = np.moveaxis(CubicHermiteSpline(found["x"], y, slopes, 1).c, (0, 1), (1, 2))
    made = {"y": y, "yp": slopes, "p": rest[0] if rest else None, "sol": PPoly(c, found["x"], True, 1)}
    return result({**entries("solve_bvp", found, x=lambda: found["x"]), **made}, "BVPResult")


def _collocated(fun: Any, x: Any, y: Any, unknown: Any) -> Any:
    """SciPy's equations: the cubic through the nodes has the right slope in the middle of each interval."""
    h, f = numpy.diff(x), as_array(fun(x, y, *unknown))
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
    slope = as_array(fun(x[:-1] + 0.5 * h, middle, *unknown))
    return y[:, 1:] - y[:, :-1] - h / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * slope)
