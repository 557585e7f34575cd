"""Solutions as functions of their parameters: dx = -(df/dx)^-1 (df/dp) dp where f(x, p) = 0."""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine_scipy._callables import Closed, as_array, as_vector, directional, jacobian


def _linearised(out: Any, params: Any, residual: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The residual's backpropagator at the solution, and its Jacobian with respect to x."""
    value, back = te.vjp(lambda x, p: as_vector(residual(x, p)), out, params)
    slope = np.reshape(jacobian(back, value.shape[0], 0), (value.shape[0], -1))
    _check_root(te.value(value), te.value(slope), te.value(out))
    return back, slope


TINY, EPS = numpy.finfo(float).tiny, numpy.finfo(float).eps
#: The largest step of Newton's method from a solution, in relation to 1 and its numbers.
STEP = 0.05


def _check_root(value: Any, slope: Any, x: Any) -> None:
    """Refuse a point that is no root: a minimum where the slope jumps, as that of a sum of absolute values does."""
    try:
        step = numpy.linalg.solve(slope, value)
    except (numpy.linalg.LinAlgError, ValueError):  # which `_solved` refuses
        return
    if numpy.max(numpy.abs(step), initial=0.0) > STEP * (1.0 + numpy.max(numpy.abs(x), initial=0.0)):
        raise UnsupportedError(
            "the equations, or the gradient of what is minimised, are not zero at the solution, so that the implicit "
            "function theorem does not apply: a kink (as of abs) or a loose tolerance. Minimise a smooth function"
        )


def _implicit_vjp(ct: Any, params: Any, out: Any, residual: Callable[[Any, Any], Any]) -> Any:
    back, slope = _linearised(out, params, residual)
    return -back(_solved(slope, np.reshape(ct, (-1,)), transposed=True))[1]


def _implicit_jvp(t: Any, params: Any, out: Any, residual: Callable[[Any, Any], Any], out_space: Any) -> Any:
    _, slope = _linearised(out, params, residual)
    _, change = directional(lambda p: as_vector(residual(out, p)), params, t)
    return np.reshape(-_solved(slope, change), out_space.shape)


def _solved(slope: Any, b: Any, transposed: bool = False) -> Any:
    """Check that the Jacobian is regular, so that the solution is a function of the parameters."""
    try:
        found = np.linalg.solve(slope.T if transposed else slope, b)
        _check_regular(te.value(slope))
        return found
    except (numpy.linalg.LinAlgError, ValueError) as error:
        raise UnsupportedError(
            "the Jacobian at the solution is singular or not square, so the solution is not a differentiable "
            f"function of the parameters ({error})"
        ) from error


def _check_regular(slope: Any) -> None:
    """Raise numpy's error for a matrix that is singular up to rounding, whatever the units of its rows and columns."""
    for axis in (1, 0):
        slope = slope / numpy.max(numpy.abs(slope), axis=axis, keepdims=True, initial=TINY)
    factors, _, _ = scipy.linalg.lapack.dgetrf(slope)
    rcond, _ = scipy.linalg.lapack.dgecon(factors, numpy.linalg.norm(slope, 1))
    if rcond < len(slope) * EPS:
        raise numpy.linalg.LinAlgError("Singular matrix")


def _cubic(x: Any, p: Any) -> Any:
    return x**3 + p[0] * x - p[1]


def _coupled(x: Any, p: Any) -> Any:
    return [x[0] ** 3 + p[0] * x[1] - 1.0, x[1] ** 3 - x[0] * p[1] + x[1]]


def _newton(residual: Callable[[Any, Any], Any], start: Any) -> Callable[[Any], Any]:
    """A solver that converges to rounding precision, for samples."""

    def solve(params: Any) -> Any:
        x = start
        for _ in range(30):
            value, back = te.vjp(lambda x: as_vector(residual(x, params)), x)
            x = x - numpy.linalg.solve(jacobian(back, value.shape[0], 0), value)
        return x

    return solve


IMPLICIT: Primitive = Primitive(
    "scipy.optimize.implicit",
    lambda params, *, solver, residual: numpy.array(solver(params), dtype=float),
    vjp={"params": _implicit_vjp},
    jvp={"params": _implicit_jvp},
    samples=(
        Sample(
            (numpy.array([1.3, 0.7]),), {"solver": _newton(_coupled, numpy.array([0.6, 0.3])), "residual": _coupled}
        ),
        Sample((numpy.array([1.3, 0.7]),), {"solver": _newton(_cubic, numpy.array([0.5])), "residual": _cubic}),
    ),
    doc="x with f(x, p) = 0; with l = (df/dx)^-T ct, dp = -(df/dp)^T l",
)


def solution(closed: Closed, solve: Callable[..., Any], residual: Callable[..., Any]) -> Any:
    """Solve for the parameters of `closed`, as a function of them; both callables take the values that it holds."""
    return IMPLICIT(
        closed.params,
        solver=lambda params: closed.run(solve, params),
        residual=lambda x, params: residual(x, *closed.at(params)),
    )


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Return ``args=`` in SciPy's form."""
    return args if isinstance(args, tuple) else (args,)


def as_number(value: Any) -> Any:
    """Return an objective's value as SciPy reads it: an array of one element as a number, anything else unchanged."""
    is_array = isinstance(value, (list, tuple, te.Array, numpy.ndarray))
    return np.reshape(as_array(value), ())[()] if is_array and numpy.size(value) == 1 else value


def only_value(result: Any, jac: Any) -> Any:
    """A callable whose jac is True returns its value together with its Jacobian."""
    return result[0] if jac is True else result


def check_converged(success: bool, solver: str, message: str) -> None:
    """Refuse the result of a solver that failed."""
    if not success:
        raise UnsupportedError(f"{solver} did not converge, so its result cannot be differentiated: {message}")
