"""Reductions to triangular form, and functions of matrices computed from eigenvalues."""

from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg.decompositions import lu_factor, row_order
from tapeengine_scipy.linalg.solve import _check_finite
from tapeengine_scipy.optimize.implicit import IMPLICIT


@with_signature("scipy.linalg.lu")
def lu(a: Any, permute_l: bool, check_finite: bool, p_indices: bool, **_: Any) -> Any:
    """Return the permutation, the lower and the upper factor of a matrix; see `scipy.linalg.lu`.

    Examples
    --------
    >>> import numpy as np
    >>> lu(np.array([[0.0, 1.0], [2.0, 3.0]]))[2]
    array([[2., 3.],
           [0., 1.]])
    """
    a = floating(a)
    _check_finite("lu", check_finite, a)
    return tuple(_lu(a, permute_l, p_indices))


@over_batches(2)
def _lu(a: Any, permute_l: bool, p_indices: bool) -> Any:
    rows, small = a.shape[0], min(a.shape)
    packed, pivots = lu_factor(a, check_finite=False)
    rank = numpy.argsort(row_order(pivots, rows=rows))
    lower = np.tril(packed[:, :small], -1) + numpy.eye(rows, small, dtype=a.dtype)
    upper = np.triu(packed[:small])
    if permute_l:
        return lower[rank], upper
    single = a.shape == (1, 1)
    if p_indices:
        return rank if single else rank.astype(numpy.intc), lower, upper
    return numpy.eye(rows, dtype=a.dtype if single else numpy.finfo(a.dtype).dtype)[rank], lower, upper


def _schur_residual(shape: tuple[int, int]) -> Callable[[Any, Any], Any]:
    """The residual of a real Schur form: A Z - Z T, Z^T Z - I, and T below its diagonal, but in blocks of two."""
    n = shape[0]
    triangle = numpy.triu_indices(n)

    def residual(both: Any, params: Any) -> Any:
        a, t, z = np.reshape(params, shape), np.reshape(both[: n * n], shape), np.reshape(both[n * n :], shape)
        blocks, inside = np.flatnonzero(np.diag(t, -1)), numpy.tril(numpy.ones((n, n), bool), -1)
        inside[blocks + 1, blocks] = False
        below = numpy.nonzero(inside)
        equal = [t[k, k] - t[k + 1, k + 1] for k in blocks]
        parts = [np.ravel(a @ z - z @ t), (z.T @ z - numpy.eye(n))[triangle], t[below]]
        return np.concatenate([*parts, np.stack(equal)] if equal else parts)

    return residual


@with_signature("scipy.linalg.schur")
@over_batches(2)
def schur(a: Any, output: str, lwork: Any, sort: Any, check_finite: bool, **_: Any) -> Any:
    """Return the real Schur form and its basis; see `scipy.linalg.schur`.

    The derivative follows from the equations that determine both factors; it costs a linear system of 2 n^2 unknowns.
    Complex forms, whose vectors have arbitrary phases, are refused; so are repeated eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> schur(np.array([[1.0, 2.0], [0.0, 3.0]]))[0]
    array([[1., 2.],
           [0., 3.]])
    """
    if a.size == 0:
        return scipy.linalg.schur(plain_value(a), output, sort=sort)  # type: ignore[no-any-return]
    if output in ("complex", "c") or a.dtype.kind == "c":
        raise UnsupportedError("schur: the vectors of a complex form have arbitrary phases; use numpy.linalg.eig")
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("schur: a square matrix is needed")

    def computed(params: Any) -> Any:
        return scipy.linalg.schur(numpy.reshape(params, shape), output, lwork, sort=sort, check_finite=check_finite)

    def solver(params: Any) -> Any:
        return numpy.concatenate([numpy.ravel(part) for part in computed(params)[:2]])

    shape, size, dtype = a.shape, a.size, numpy.result_type(a.dtype, numpy.float32)
    both = np.astype(IMPLICIT(np.ravel(a), solver=solver, residual=_schur_residual(shape)), dtype)
    found = np.reshape(both[:size], shape), np.reshape(both[size:], shape)
    return found if sort is None else (*found, computed(plain_value(a))[2])


@beside("scipy.linalg.funm", runs_callables=True)
@over_batches(2)
def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """Return a function of a matrix by its eigenvalues; see `scipy.linalg.funm`.

    `func` is called with the eigenvalues and is differentiated, so it must use tapeengine's functions or numpy's. A
    matrix without a basis of eigenvectors is refused; `expm`, `logm` and `sqrtm` accept every matrix.

    Examples
    --------
    >>> import numpy as np
    >>> funm(np.diag([1.0, 2.0]), lambda x: x * x)
    array([[1., 0.],
           [0., 4.]])
    """
    if A.size == 0 or _has_equal(scipy.linalg.eigvals(plain_value(A))):
        scipy.linalg.funm(plain_value(A), lambda x: x, disp)  # raises SciPy's errors
        raise UnsupportedError("funm: the matrix has equal eigenvalues; use expm, logm or sqrtm, which accept it")
    values, vectors = np.linalg.eig(A)
    if plain_value(values).dtype.kind != "c":
        values = values + 0j
    found = (vectors * func(values)) @ np.linalg.inv(vectors)
    size = numpy.abs(plain_value(found))
    if A.dtype.kind != "c" and (abs(plain_value(found).imag) <= 1e3 * numpy.finfo(size.dtype).eps * size.max()).all():
        found = np.real(found)
    if disp:
        return found
    return found, scipy.linalg.funm(plain_value(A), lambda x: plain_value(func(x)), disp=False)[1]


def _has_equal(values: Any) -> bool:
    """Whether two eigenvalues are equal up to rounding."""
    gaps = numpy.abs(values[:, None] - values) + numpy.diag(numpy.full(len(values), numpy.inf))
    return bool(gaps.min() <= 1e-10 * numpy.abs(values).max())
