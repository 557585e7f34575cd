"""Linear systems with dense and triangular matrices; derivatives reuse the factors of the primal."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg import factorisations
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._systems import matrix_times, outer_product, solution
from tapeengine_scipy.linalg._transpose import conjugate, on_diagonal, transpose, unfold
from tapeengine_scipy.linalg.factorisations import Factorisation


def _solve_primal(a: Any, b: Any, *, transposed: bool = False, factorisation: Factorisation | None = None) -> Any:
    factorisation = factorisation or factorisations.general()
    return factorisation.solve((a,), b, transposed)


def well_conditioned(generator: numpy.random.Generator, *shape: int, shift: float = 3.0) -> Any:
    """Draw well-conditioned matrices."""
    return generator.standard_normal(shape) + shift * numpy.eye(shape[-2], shape[-1])


def _solve_samples() -> tuple[Any, ...]:
    return (
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3,)))),
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3, 2)))),
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3,))), {"transposed": True}),
        lambda generator: Sample((well_conditioned(generator, 2, 3, 3), uniform((2, 3, 2)))),
        lambda generator: Sample((well_conditioned(generator, 2, 2) + 0.5j, uniform((2,), dtype=complex))),
    )


SOLVE: Primitive = solution(
    "scipy.linalg.solve",
    _solve_primal,
    times={"a": matrix_times},
    outer={"a": outer_product},
    samples=_solve_samples,
    pattern=patterns.solves,
    doc="A^-1 b; db = A^-T ct, dA = -db x^T, with the factors of the primal",
)


@beside("scipy.linalg.solve")
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """Solve a linear system; see `scipy.linalg.solve`.

    The matrix is factorised once, by Cholesky if ``assume_a`` is 'pos' and by LU otherwise, and derivatives reuse the
    factors. `overwrite_a` and `overwrite_b` are accepted and have no effect.

    Examples
    --------
    >>> import numpy as np
    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    a, b = np.atleast_2d(floating(a)), np.atleast_1d(floating(b))
    kind = ASSUMPTIONS.get(assume_a)
    if kind is None:
        raise ValueError(f"solve: {assume_a!r} is not a structure that assume_a knows")
    _check_system(a, b, transposed)
    if a.size == 1:  # SciPy treats it as a number
        _check_finite("solve", True, a, b)
        return b / _nonzero(np.reshape(a, a.shape[:-2] if b.ndim == 1 else a.shape))
    made = factorisations.positive if kind == "positive" and a.ndim == 2 else factorisations.general
    whole, batched_vector = _as_assumed(a, kind, lower), b.ndim == 1 and a.ndim > 2
    rhs = b[:, None] if batched_vector else b
    if kind == "positive" and a.ndim > 2:
        _is_definite(whole, check_finite=check_finite)  # raises SciPy's errors
    x = SOLVE(whole, rhs, transposed=transposed, factorisation=made(check_finite))
    return x[..., 0] if batched_vector else x


def _check_system(a: Any, b: Any, transposed: bool) -> None:
    if a.shape[-1] != a.shape[-2] or (a.size != 1 and b.shape[-2 if b.ndim > 1 else 0] != a.shape[-1]):
        raise ValueError(f"solve: shapes {a.shape} and {b.shape} do not fit")
    if transposed and "c" in (a.dtype.kind, b.dtype.kind):
        raise NotImplementedError("solve: transposed is for real matrices")


def _nonzero(a: Any) -> Any:
    if not np.all(a):
        raise numpy.linalg.LinAlgError("solve: the matrix is singular")
    return a


@decides("scipy.linalg.is_definite", Sample((numpy.eye(2)[None],), {"check_finite": True}))
def _is_definite(a: Any, *, check_finite: bool) -> bool:
    """True for positive definite matrices; raises SciPy's error otherwise."""
    scipy.linalg.cholesky(a, check_finite=check_finite)
    return True


ASSUMPTIONS = {
    None: "general", "gen": "general", "general": "general", "banded": "general", "tridiagonal": "tridiagonal",
    "diagonal": "diagonal", "sym": "symmetric", "symmetric": "symmetric", "her": "hermitian", "hermitian": "hermitian",
    "pos": "positive", "positive definite": "positive", "lower triangular": "lower", "upper triangular": "upper",
}  # fmt: skip


def _as_assumed(a: Any, kind: str, lower: bool) -> Any:
    """Build the whole matrix from the part that SciPy reads under the given assumption."""
    match kind:
        case "hermitian" | "positive":
            return unfold(a, lower)
        case "symmetric":
            half = np.tril(a, -1) if lower else np.triu(a, 1)
            return half + transpose(half) + on_diagonal(np.diagonal(a, axis1=-2, axis2=-1))
        case "lower":
            return np.tril(a)
        case "upper":
            return np.triu(a)
        case "tridiagonal":
            return np.triu(np.tril(a, 1), -1)
        case "diagonal":
            return on_diagonal(np.diagonal(a, axis1=-2, axis2=-1))
        case _:
            return a


@decides("scipy.linalg.is_finite", Sample((uniform((2, 2)),)))
def _is_finite(a: Any) -> bool:
    """Whether an array has neither infinities nor NaNs: an operation, which a replay of a staged program asks again."""
    return factorisations.is_finite(a)


def _check_finite(name: str, wanted: bool, *values: Any) -> None:
    """Refuse infinities and NaNs, if the parameter `check_finite` of a function asks for it."""
    if wanted and not all(map(_is_finite, values)):
        raise ValueError(f"{name}: array must not contain infs or NaNs")


def _triangular_primal(
    a: Any, b: Any, *, transposed: bool = False, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    return scipy.linalg.solve_triangular(
        a, b, trans=int(transposed), lower=lower, unit_diagonal=unit_diagonal, check_finite=False
    )


def _triangle(a: Any, lower: bool, unit_diagonal: bool) -> Any:
    offset = int(unit_diagonal)
    return np.tril(a, -offset) if lower else np.triu(a, offset)


def _triangular_times(t: Any, x: Any, transposed: bool, lower: bool, unit_diagonal: bool) -> Any:
    return matrix_times(_triangle(t, lower, unit_diagonal), x, transposed)


def _triangular_outer(ct: Any, x: Any, transposed: bool, lower: bool, unit_diagonal: bool) -> Any:
    return _triangle(outer_product(ct, x, transposed), lower, unit_diagonal)


def _triangular_samples() -> tuple[Any, ...]:
    return (
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3,)))),
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3, 2))), {"lower": True}),
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3,))), {"transposed": True}),
        lambda generator: Sample((well_conditioned(generator, 3, 3), uniform((3,))), {"unit_diagonal": True}),
    )


def _triangular_pattern(call: patterns.Call) -> Any:
    """Each row depends on the rows that are solved before it, and on those of the triangle."""
    transposed, lower = call.static["transposed"], call.static["lower"]
    is_vector = call.spaces[1].ndim == 1
    parts = []
    if 0 in call.sets:
        triangle = _triangle(call.sets[0], lower, call.static["unit_diagonal"])
        rows = call.over(triangle.T if transposed else triangle, (1,))
        parts.append(rows[:, 0] if is_vector else rows)
    if 1 in call.sets:
        parts.append(call.sets[1])
    step = 1 if lower != transposed else -1
    found = patterns.running(call, (parts[0] if len(parts) == 1 else call.union(*parts))[::step])[::step]
    return numpy.broadcast_to(found, call.shape)


TRIANGULAR: Primitive = solution(
    "scipy.linalg.solve_triangular",
    _triangular_primal,
    times={"a": _triangular_times},
    outer={"a": _triangular_outer},
    samples=_triangular_samples,
    pattern=_triangular_pattern,
    doc="A^-1 b of a triangle; db = A^-T ct, dA = -(db x^T) on the triangle",
)


@beside("scipy.linalg.solve_triangular")
@over_batches(2, "1|2")
def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solve a triangular system; see `scipy.linalg.solve_triangular`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_triangular(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 2.0]), lower=True)
    array([1., 1.])
    """
    _check_finite("solve_triangular", check_finite, a, b)
    code = {"N": 0, "T": 1, "C": 2}.get(trans, trans) if isinstance(trans, str) else trans
    if code not in (0, 1, 2):
        raise ValueError(f"solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    return TRIANGULAR(
        conjugate(a) if code == 2 else a, b, transposed=code != 0, lower=lower, unit_diagonal=unit_diagonal
    )


@beside("scipy.linalg.cho_solve")
def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """Solve with a Cholesky factor; see `scipy.linalg.cho_solve`. Differentiable in the factor and in `b`.

    Examples
    --------
    >>> import numpy as np
    >>> cho_solve((np.array([[2.0]]), True), np.array([8.0]))
    array([2.])
    """
    c, lower = c_and_lower
    return _cho_solve(c, b, bool(numpy.ravel(lower)[0]), check_finite)  # `cho_factor` of a stack returns one of each


@over_batches(2, "1|2")
def _cho_solve(c: Any, b: Any, lower: bool, check_finite: bool) -> Any:
    _check_finite("cho_solve", check_finite, c, b)
    half = solve_triangular(c, b, trans=0 if lower else 2, lower=lower, check_finite=False)
    return solve_triangular(c, half, trans=2 if lower else 0, lower=lower, check_finite=False)
