"""Cholesky, LU and eigendecompositions.

Where SciPy reads one triangle of a Hermitian matrix, the derivative is that of the function that it computes: the
cotangent has entries in that triangle alone. Contracted with a Hermitian tangent it gives the same as the symmetric
form does.
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.builders import unbroadcast
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._transpose import (
    conjugate,
    conjugate_transpose,
    diagonal,
    fold,
    on_diagonal,
    transpose,
    unfold,
)
from tapeengine_scipy.linalg.solve import _check_finite, solve_triangular, well_conditioned

# ---- Cholesky: A = L L^H; dL = L half(L^-1 dA L^-H), half takes the lower triangle and halves the diagonal


def half(m: Any) -> Any:
    """Take the lower triangle, with half of the diagonal's real part."""
    return np.tril(m, -1) + 0.5 * on_diagonal(np.real(diagonal(m)))


def _cholesky_primal(a: Any) -> Any:
    return scipy.linalg.cholesky(a, lower=True, check_finite=False)


def _cholesky_vjp(ct: Any, out: Any, a_space: Any) -> Any:
    inner = half(transpose(out) @ np.tril(ct))
    left = solve_triangular(out, inner, trans=1, lower=True, check_finite=False)
    full = transpose(solve_triangular(conjugate(out), transpose(left), trans=1, lower=True, check_finite=False))
    return unbroadcast(0.5 * fold(full + conjugate_transpose(full)), a_space)


def _cholesky_jvp(t: Any, out: Any, out_space: Any) -> Any:
    left = solve_triangular(out, unfold(t), lower=True, check_finite=False)
    inner = conjugate_transpose(solve_triangular(out, conjugate_transpose(left), lower=True, check_finite=False))
    return unbroadcast(out @ half(inner), out_space)


def _positive(generator: numpy.random.Generator) -> Sample:
    factor = well_conditioned(generator, 2, 2)
    return Sample((factor @ factor.T,))


def _positive_hermitian(generator: numpy.random.Generator) -> Sample:
    factor = well_conditioned(generator, 2, 2) + 1j * generator.standard_normal((2, 2))
    return Sample((factor @ factor.conj().T,))


CHOLESKY: Primitive = Primitive(
    "scipy.linalg.cholesky",
    _cholesky_primal,
    vjp={"a": _cholesky_vjp},
    jvp={"a": _cholesky_jvp},
    samples=(_positive, _positive_hermitian),
    doc="A = L L^H, from the lower triangle; dL = L half(L^-1 dA L^-H)",
)


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the Cholesky factor of a Hermitian positive definite matrix; see `scipy.linalg.cholesky`.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])
    """
    a = floating(a)
    if check_finite:
        _check_finite("cholesky", a)
    return CHOLESKY(a) if lower else conjugate_transpose(CHOLESKY(conjugate_transpose(a)))


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """Return the Cholesky factor and `lower`, for `cho_solve`; the other triangle holds zeros.

    Examples
    --------
    >>> import numpy as np
    >>> cho_factor(np.array([[4.0]]))
    (array([[2.]]), False)
    """
    return cholesky(a, lower=lower, check_finite=check_finite), lower


# ---- LU: with F = L^-1 P^T dA U^-1, dL = L tril(F, -1) and dU = triu(F) U ------------------------


def _lu_primal(a: Any) -> Any:
    return scipy.linalg.lu_factor(a, check_finite=False)


def _order(pivots: Any) -> Any:
    """The rows of A in the order of the factors: LAPACK's sequence of exchanges as a permutation."""
    order = numpy.arange(len(pivots))
    for row, other in enumerate(numpy.asarray(pivots)):
        order[[row, other]] = order[[other, row]]
    return order


def _lower_unit(lu: Any) -> Any:
    return np.tril(lu, -1) + numpy.eye(lu.shape[-1])


def _lu_vjp(ct: Any, out: Any, a_space: Any) -> Any:
    lu, pivots = out
    low, up, ct_lu = _lower_unit(lu), np.triu(lu), ct[0]
    inner = np.tril(transpose(low) @ np.tril(ct_lu, -1), -1) + np.triu(np.triu(ct_lu) @ transpose(up))
    left = solve_triangular(lu, inner, trans=1, lower=True, unit_diagonal=True, check_finite=False)
    full = transpose(solve_triangular(lu, transpose(left), check_finite=False))
    return unbroadcast(full[numpy.argsort(_order(pivots))], a_space)


def _lu_jvp(t: Any, out: Any) -> Any:
    lu, pivots = out
    left = solve_triangular(lu, t[_order(pivots)], lower=True, unit_diagonal=True, check_finite=False)
    inner = transpose(solve_triangular(lu, transpose(left), trans=1, check_finite=False))
    return _lower_unit(lu) @ np.tril(inner, -1) + np.triu(inner) @ np.triu(lu), None


LU_FACTOR: Primitive = Primitive(
    "scipy.linalg.lu_factor",
    _lu_primal,
    vjp={"a": _lu_vjp},
    jvp={"a": _lu_jvp},
    samples=(lambda generator: Sample((well_conditioned(generator, 3, 3),)),),
    doc="P A = L U in one array, and the pivots; with F = L^-1 P dA U^-1, dL = L tril(F, -1), dU = triu(F) U",
)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """Return the factors LU of a square matrix, and the pivots; see `scipy.linalg.lu_factor`.

    Examples
    --------
    >>> import numpy as np
    >>> lu_factor(np.array([[2.0]]))[0]
    array([[2.]])
    """
    a = floating(a)
    if check_finite:
        _check_finite("lu_factor", a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"lu_factor: a square matrix is needed, not shape {a.shape}")
    lu, pivots = LU_FACTOR(a)
    return lu, pivots


def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """Solve with the factors of `lu_factor`; see `scipy.linalg.lu_solve`. Differentiable in the factors and in `b`.

    Examples
    --------
    >>> import numpy as np
    >>> lu_solve(lu_factor(np.array([[2.0]])), np.array([8.0]))
    array([4.])
    """
    lu, pivots = lu_and_piv
    lu, b = floating(lu), floating(b)
    if check_finite:
        _check_finite("lu_solve", b)
    order = _order(pivots)
    if trans == 0:
        inner = solve_triangular(lu, b[order], lower=True, unit_diagonal=True, check_finite=False)
        return solve_triangular(lu, inner, check_finite=False)
    inner = solve_triangular(lu, b, trans=trans, check_finite=False)
    solution = solve_triangular(lu, inner, trans=trans, lower=True, unit_diagonal=True, check_finite=False)
    return solution[numpy.argsort(order)]


# ---- Eigenvalues: with M = V^H dA V, dw = diag(M) and dV = V (F * M), F[i, j] = 1/(w[j] - w[i]) off the diagonal


def _eigh_primal(a: Any) -> Any:
    # SciPy's default driver, evr, turns the signs of eigenvectors with rounding; evd keeps them under small changes.
    return tuple(scipy.linalg.eigh(a, lower=True, driver="evd", check_finite=False))


def _inverse_gaps(w: Any) -> Any:
    """1/(w[j] - w[i]), and 0 on the diagonal and between equal eigenvalues."""
    gap = w[..., None, :] - w[..., :, None]
    return np.where(gap == 0, 0.0, 1 / np.where(gap == 0, 1.0, gap))


def _eigh_vjp(ct: Any, out: Any, a_space: Any) -> Any:
    (w, v), (ct_w, ct_v) = out, ct
    inner = on_diagonal(ct_w) + _inverse_gaps(w) * (transpose(v) @ ct_v)
    full = conjugate(v) @ inner @ transpose(v)
    return unbroadcast(0.5 * fold(full + conjugate_transpose(full)), a_space)


def _eigh_jvp(t: Any, out: Any) -> Any:
    w, v = out
    inner = conjugate_transpose(v) @ unfold(t) @ v
    return np.real(diagonal(inner)), v @ (_inverse_gaps(w) * inner)


def _symmetric(generator: numpy.random.Generator) -> Sample:
    a = generator.standard_normal((3, 3))
    return Sample((a + a.T + 4 * numpy.diag(numpy.arange(3)),))


EIGH: Primitive = Primitive(
    "scipy.linalg.eigh",
    _eigh_primal,
    vjp={"a": _eigh_vjp},
    jvp={"a": _eigh_jvp},
    samples=(_symmetric,),
    doc="A = V diag(w) V^H, from the lower triangle; with M = V^H dA V, dw = diag(M), dV = V (M / (w_j - w_i))",
)


def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """Return eigenvalues and eigenvectors of a Hermitian (generalised) problem; see `scipy.linalg.eigh`.

    The driver is always 'evd', and a subset is taken from the whole decomposition. Derivatives of eigenvectors need
    distinct eigenvalues; those of complex eigenvectors hold for functions that do not depend on the vectors' phases.

    Examples
    --------
    >>> import numpy as np
    >>> eigh(np.diag([1.0, 3.0]), eigvals_only=True)
    array([1., 3.])
    """
    a = floating(a)
    if check_finite:
        _check_finite("eigh", a)
    if type != 1 and b is not None:
        raise UnsupportedError("eigh: only problems of type 1, A v = w B v, are differentiated")
    w, v = _generalised(a, b, lower) if b is not None else EIGH(a if lower else conjugate_transpose(a))
    w, v = _subset(w, v, subset_by_index, subset_by_value)
    return w if eigvals_only else (w, v)


def _generalised(a: Any, b: Any, lower: bool) -> Any:
    """A v = w B v as a standard problem of L^-1 A L^-H, with B = L L^H."""
    b = floating(b)
    factor = cholesky(b if lower else conjugate_transpose(b), lower=True, check_finite=False)
    left = solve_triangular(factor, unfold(a, lower), lower=True, check_finite=False)
    w, y = EIGH(
        conjugate_transpose(solve_triangular(factor, conjugate_transpose(left), lower=True, check_finite=False))
    )
    return w, solve_triangular(factor, y, trans=2, lower=True, check_finite=False)


def _subset(w: Any, v: Any, by_index: Any, by_value: Any) -> Any:
    if by_index is not None:
        chosen = slice(by_index[0], by_index[1] + 1)
        return w[chosen], v[:, chosen]
    if by_value is not None:
        inside = (w > by_value[0]) & (w <= by_value[1])
        return w[inside], v[:, inside]
    return w, v


def eigvalsh(a: Any, b: Any = None, *, lower: bool = True, check_finite: bool = True) -> Any:
    """Return the eigenvalues of a Hermitian (generalised) problem; see `scipy.linalg.eigvalsh`.

    Examples
    --------
    >>> import numpy as np
    >>> eigvalsh(np.diag([1.0, 3.0]))
    array([1., 3.])
    """
    return eigh(a, b, lower=lower, eigvals_only=True, check_finite=check_finite)
