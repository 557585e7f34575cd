"""Cholesky, LU and eigendecompositions.

SciPy reads one triangle of a Hermitian matrix, and the derivative is that of the function as computed: only this
triangle of the cotangent has entries. Contracted with a Hermitian tangent, it equals the symmetric form.
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides, unbroadcast
from tapeengine_primitives.linalg_eigen import ADVICE, EighResult, eigh_rules, eigvalsh_rules
from tapeengine_primitives.linalg_factor import cholesky_rules
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._transpose import conjugate_transpose, diagonal, transpose, unfold
from tapeengine_scipy.linalg.solve import _check_finite, solve_triangular, well_conditioned

# ---- Cholesky ------------------------------------------------------------------------------------


def _by_triangle(factor: Any, b: Any, transposed: bool) -> Any:
    return solve_triangular(factor, b, trans=int(transposed), lower=True, check_finite=False)


def _positive(generator: numpy.random.Generator) -> Sample:
    factor = well_conditioned(generator, 2, 2)
    return Sample((factor @ factor.T,))


def _positive_hermitian(generator: numpy.random.Generator) -> Sample:
    factor = well_conditioned(generator, 2, 2) + 1j * generator.standard_normal((2, 2))
    return Sample((factor @ factor.conj().T,))


CHOLESKY: Primitive = Primitive(
    "scipy.linalg.cholesky",
    lambda a, *, upper=False: scipy.linalg.cholesky(a, lower=not upper, check_finite=False),
    **cholesky_rules(_by_triangle),
    samples=(_positive, _positive_hermitian),
    doc="A = L L^H, from one triangle, with the rules of numpy.linalg.cholesky",
)


@beside("scipy.linalg.cholesky")
@over_batches(2)
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Return the Cholesky factor of a Hermitian positive definite matrix; see `scipy.linalg.cholesky`.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])
    """
    _check_finite("cholesky", check_finite, a)
    return CHOLESKY(a, upper=not lower)


@beside("scipy.linalg.cho_factor")
@over_batches(2)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """Return the Cholesky factor and `lower`, for `cho_solve`; the other triangle contains that of `a`, as in SciPy.

    Examples
    --------
    >>> import numpy as np
    >>> cho_factor(np.array([[4.0]]))
    (array([[2.]]), False)
    """
    factor = cholesky(a, lower=lower, check_finite=check_finite)
    return factor + (np.triu(a, 1) if lower else np.tril(a, -1)), lower


# ---- LU: with F = L^-1 P^T dA U^-1, dL = L tril(F, -1) and dU = triu(F) U ------------------------


@decides("scipy.linalg.lu_factor.order", Sample((numpy.array([1.0, 1.0]),), {"rows": 2}))
def row_order(pivots: Any, *, rows: int) -> Any:
    """The order of the rows of A in the factors, from LAPACK's sequence of exchanges."""
    order = numpy.arange(rows)
    for row, other in enumerate(pivots.astype(int)):
        order[[row, other]] = order[[other, row]]
    return order


def _lower_unit(lu: Any) -> Any:
    return np.tril(lu, -1) + numpy.eye(lu.shape[-1], dtype=lu.dtype)


def _regular(out: Any) -> Any:
    if not np.all(diagonal(out[0])):
        raise UnsupportedError("lu_factor of a singular matrix has no derivative")
    return out


def _lu_vjp(ct: Any, out: Any, a_space: Any) -> Any:
    lu, pivots = _regular(out)
    low, up, ct_lu = _lower_unit(lu), np.triu(lu), ct[0]
    inner = np.tril(transpose(low) @ np.tril(ct_lu, -1), -1) + np.triu(np.triu(ct_lu) @ transpose(up))
    left = solve_triangular(lu, inner, trans=1, lower=True, unit_diagonal=True, check_finite=False)
    full = transpose(solve_triangular(lu, transpose(left), check_finite=False))
    return unbroadcast(full[numpy.argsort(row_order(pivots, rows=len(lu)))], a_space)


def _lu_jvp(t: Any, out: Any) -> Any:
    lu, pivots = _regular(out)
    left = solve_triangular(lu, t[row_order(pivots, rows=len(lu))], lower=True, unit_diagonal=True, check_finite=False)
    inner = transpose(solve_triangular(lu, transpose(left), trans=1, check_finite=False))
    return _lower_unit(lu) @ np.tril(inner, -1) + np.triu(inner) @ np.triu(lu), None


@decides("scipy.linalg.lu_factor.pivots", Sample((uniform((3, 2)),)))
def _pivots(a: Any) -> Any:
    """The exchanges of rows of a matrix that is not square."""
    return scipy.linalg.lu_factor(a, check_finite=False)[1]


LU_FACTOR: Primitive = Primitive(
    "scipy.linalg.lu_factor",
    lambda a: scipy.linalg.lu_factor(a, check_finite=False),
    vjp={"a": _lu_vjp},
    jvp={"a": _lu_jvp},
    samples=(lambda generator: Sample((well_conditioned(generator, 3, 3),)),),
    pattern=patterns.core,
    doc="P A = L U in one array, and the pivots; with F = L^-1 P dA U^-1, dL = L tril(F, -1), dU = triu(F) U",
)


@beside("scipy.linalg.lu_factor")
@over_batches(2)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """Return the factors LU of a matrix, and the pivots; see `scipy.linalg.lu_factor`.

    Examples
    --------
    >>> import numpy as np
    >>> lu_factor(np.array([[2.0]]))[0]
    array([[2.]])
    """
    _check_finite("lu_factor", check_finite, a)
    if a.shape[0] == a.shape[1]:
        lu, pivots = LU_FACTOR(a)
        return lu, pivots
    pivots, small = _pivots(a), min(a.shape)
    ordered = a[row_order(pivots, rows=a.shape[0])]
    lu, _ = LU_FACTOR(ordered[:small, :small])
    if a.shape[0] > small:
        below = solve_triangular(lu, transpose(ordered[small:]), trans=1, check_finite=False)
        return np.concatenate([lu, transpose(below)]), pivots
    right = solve_triangular(lu, ordered[:, small:], lower=True, unit_diagonal=True, check_finite=False)
    return np.concatenate([lu, right], axis=1), pivots


@with_signature("scipy.linalg.lu_solve")
def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int, check_finite: bool, **_: Any) -> Any:
    """Solve with the factors of `lu_factor`; see `scipy.linalg.lu_solve`. Differentiable in the factors and in `b`.

    Examples
    --------
    >>> import numpy as np
    >>> lu_solve(lu_factor(np.array([[2.0]])), np.array([8.0]))
    array([4.])
    """
    lu, pivots = lu_and_piv
    return _lu_solve(lu, pivots, b, trans, check_finite)


@over_batches(2, 1, "1|2")
def _lu_solve(lu: Any, pivots: Any, b: Any, trans: int, check_finite: bool) -> Any:
    _check_finite("lu_solve", check_finite, lu, b)
    if b.shape[0] != lu.shape[0]:
        raise ValueError(f"lu_solve: shapes {lu.shape} and {b.shape} do not fit")
    order = row_order(pivots, rows=lu.shape[-1])
    if trans == 0:
        inner = solve_triangular(lu, b[order], lower=True, unit_diagonal=True, check_finite=False)
        return solve_triangular(lu, inner, check_finite=False)
    inner = solve_triangular(lu, b, trans=trans, check_finite=False)
    solution = solve_triangular(lu, inner, trans=trans, lower=True, unit_diagonal=True, check_finite=False)
    return solution[numpy.argsort(order)]


# ---- Eigenvalues: with M = V^H dA V, dw = diag(M) and dV = V (F * M), F[i, j] = 1/(w[j] - w[i]) off the diagonal


def _eigh_primal(a: Any, *, lower: bool = True, driver: Any = None, by_index: Any = None, by_value: Any = None) -> Any:
    """The whole decomposition, for the rules; for a subset it contains exactly the vectors that SciPy computes."""
    if by_index is None and by_value is None:
        return EighResult(*scipy.linalg.eigh(a, lower=lower, driver=driver, check_finite=False))
    w, v = scipy.linalg.eigh(a, lower=lower, check_finite=False)
    subset = {"subset_by_index": by_index, "subset_by_value": by_value}
    some, vectors = scipy.linalg.eigh(a, lower=lower, driver=driver, check_finite=False, **subset)
    chosen = _chosen(w, by_index, by_value)
    if chosen.stop - chosen.start != some.shape[0]:
        raise UnsupportedError("eigh: an eigenvalue lies on a bound of subset_by_value; move the bound")
    w[chosen], v[:, chosen] = some, vectors
    return EighResult(w, v)


def _chosen(w: Any, by_index: Any, by_value: Any) -> slice:
    """The positions of a subset among all eigenvalues."""
    if by_index is not None:
        return slice(int(by_index[0]), int(by_index[1]) + 1)
    return slice(*(int(numpy.searchsorted(w, bound, side="right")) for bound in by_value))


def _symmetric(static: dict[str, Any]) -> Any:
    def drawn(generator: numpy.random.Generator) -> Sample:
        a = generator.standard_normal((3, 3))
        return Sample((a + a.T + 4 * numpy.diag(numpy.arange(3)),), static)

    return drawn


# SciPy's default driver, evr, turns the signs of eigenvectors with rounding; the samples' evd keeps them.
EIGH: Primitive = Primitive(
    "scipy.linalg.eigh",
    _eigh_primal,
    **eigh_rules("scipy.linalg.eigh"),
    samples=(_symmetric({"driver": "evd"}), _symmetric({"driver": "evd", "lower": False})),
    doc="A = V diag(w) V^H, from one triangle; with M = V^H dA V, dw = diag(M), dV = V (M / (w_j - w_i))",
)
EIGVALSH: Primitive = Primitive(
    "scipy.linalg.eigvalsh",
    lambda a, *, lower=True, driver=None: scipy.linalg.eigvalsh(a, lower=lower, driver=driver, check_finite=False),
    **eigvalsh_rules("scipy.linalg.eigvalsh"),
    samples=(_symmetric({}), _symmetric({"lower": False})),
    doc="eigenvalues of a Hermitian matrix, from one triangle; equal ones need equal cotangents",
)


@with_signature("scipy.linalg.eigh")
@over_batches(2, 2)
def eigh(
    a: Any, b: Any, *, lower: bool, eigvals_only: bool, type: int, check_finite: bool, subset_by_index: Any,
    subset_by_value: Any, driver: str | None, **_: Any,
) -> Any:  # fmt: skip
    """Return eigenvalues and eigenvectors of a Hermitian (generalised) problem; see `scipy.linalg.eigh`.

    A subset is taken from the whole decomposition. Derivatives of eigenvectors need distinct eigenvalues; those of
    complex eigenvectors hold for functions that do not depend on the vectors' phases.

    Examples
    --------
    >>> import numpy as np
    >>> eigh(np.diag([1.0, 3.0]), eigvals_only=True)
    array([1., 3.])
    """
    _check_finite("eigh", check_finite, a)
    if b is not None:
        return _generalised(a, b, lower, eigvals_only, type, subset_by_index, subset_by_value, driver)
    if eigvals_only:
        w = EIGVALSH(a, lower=lower, driver=None if driver in _SUBSET_DRIVERS else driver)
        return w[_subset(w, subset_by_index, subset_by_value)]
    w, v = EIGH(a, lower=lower, driver=driver, by_index=subset_by_index, by_value=subset_by_value)
    chosen = _subset(w, subset_by_index, subset_by_value)
    return w[chosen], v[:, chosen]


_SUBSET_DRIVERS = ("evx",)


def _subset(w: Any, by_index: Any, by_value: Any) -> slice:
    if by_index is None and by_value is None:
        return slice(None)
    if by_index is not None and (by_value is not None or not 0 <= by_index[0] <= by_index[1] < w.shape[0]):
        raise ValueError("eigh: pass a single subset of existing indices")
    return _chosen(plain_value(w), by_index, by_value)


def _generalised(
    a: Any, b: Any, lower: bool, eigvals_only: bool, type: int, by_index: Any, by_value: Any, driver: Any
) -> Any:
    """A v = w B v as a standard problem for L^-1 A L^-H, with B = L L^H; the vectors get the signs of SciPy's."""
    options: Any = {"subset_by_index": by_index, "subset_by_value": by_value, "driver": driver, "lower": lower}
    theirs = scipy.linalg.eigh(plain_value(a), plain_value(b), type=type, **options)
    if type != 1:
        raise UnsupportedError("eigh: only problems of type 1, A v = w B v, are differentiated")
    factor = cholesky(b if lower else conjugate_transpose(b), lower=True, check_finite=False)
    left = solve_triangular(factor, unfold(a, lower), lower=True, check_finite=False)
    reduced = conjugate_transpose(solve_triangular(factor, conjugate_transpose(left), lower=True, check_finite=False))
    if eigvals_only:
        w = EIGVALSH(reduced)
        return w[_subset(w, by_index, by_value)]
    w, y = EIGH(reduced)
    chosen = _subset(w, by_index, by_value)
    v = solve_triangular(factor, y[:, chosen], trans=2, lower=True, check_finite=False)
    return w[chosen], v * _signs(plain_value(v), theirs[1])


def _signs(ours: Any, theirs: Any) -> Any:
    """The numbers of modulus 1 that convert these eigenvectors to SciPy's."""
    ratio = (ours.conj() * theirs).sum(axis=0) / (ours.conj() * ours).sum(axis=0)
    if ratio.shape[0] and numpy.abs(ours * ratio - theirs).max() > 1e-6 * numpy.abs(theirs).max():
        raise UnsupportedError("eigh: eigenvalues are equal, so their vectors are an arbitrary basis. " + ADVICE)
    return ratio / numpy.abs(ratio)
