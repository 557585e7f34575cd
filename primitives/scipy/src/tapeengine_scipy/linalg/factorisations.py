"""Factorisations that a solve computes once and its derivative rules reuse.

A rule cannot access intermediate results of a primal, so the factorisation is passed as a static parameter: an object
that factorises a matrix when asked and keeps the factors for the next request. It identifies matrices by their values:
for another matrix (when the tape is replayed at other inputs) it factorises again.
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy


class Factorisation:
    """Solves systems with one matrix or its transpose, and keeps its factors and its last transposed solution.

    The rules for the matrix and for the right-hand side both need the same transposed solution, so the last one is
    kept.

    Parameters
    ----------
    factorise : callable
        ``factorise(matrix) -> factors``.
    solve : callable
        ``solve(factors, rhs, transposed) -> solution``.
    check_finite : bool
        Whether to refuse infinities and NaNs.
    """

    def __init__(self, factorise: Callable[..., Any], solve: Callable[..., Any], check_finite: bool = False) -> None:
        self._check_finite = check_finite
        self._factorise = factorise
        self._solve = solve
        self._matrix: tuple[Any, ...] = ()
        self._factors: Any = None
        self._transposed: tuple[Any, Any] | None = None

    def factors(self, *matrix: Any) -> Any:
        """Return the factors of a matrix, given as one array or several."""
        marks = tuple(map(fingerprint, matrix))
        if len(marks) != len(self._matrix) or not all(map(_same, self._matrix, marks)):
            self._refuse_infinities(*matrix)
            self._factors = self._factorise(*matrix)
            self._transposed = None
            self._matrix = marks
        return self._factors

    def solve(self, matrix: tuple[Any, ...], rhs: Any, transposed: bool = False) -> Any:
        """Solve with the matrix, or with its transpose."""
        factors = self.factors(*matrix)
        if not transposed:
            self._refuse_infinities(rhs)
            return self._solve(factors, rhs, False)
        mark, last = fingerprint(rhs), self._transposed
        if last is None or not _same(last[0], mark):
            last = self._transposed = (mark, self._solve(factors, rhs, True))
        return last[1].copy()

    def _refuse_infinities(self, *values: Any) -> None:
        if self._check_finite and not all(map(is_finite, values)):
            raise ValueError("solve: array must not contain infs or NaNs")


def is_finite(a: Any) -> bool:
    """Whether all elements are finite. First tests the sum, which is finite only if they are, and needs no array."""
    return bool(numpy.isfinite(a.sum()) or numpy.isfinite(a).all())


def fingerprint(a: Any) -> Any:
    """Return the product of a matrix with a fixed vector, which identifies the matrix without a copy of it.

    Matrices with equal fingerprints differ by less than the rounding error of the product. A vector is its own
    fingerprint.
    """
    if a.ndim < 2:
        return a.copy()
    return a @ numpy.cos(numpy.arange(1.0, a.shape[-1] + 1.0)).astype(a.dtype)


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and bool((a == b).all())


def general(check_finite: bool = False) -> Factorisation:
    """Return a factorisation LU of a matrix, or of a stack of them."""
    return Factorisation(_lu, _lu_solve, check_finite)


def positive(check_finite: bool = False) -> Factorisation:
    """Return a Cholesky factorisation of a Hermitian positive definite matrix."""
    return Factorisation(_cholesky, _cholesky_solve, check_finite)


def banded(lower: int, upper: int) -> Factorisation:
    """Return a factorisation LU of a band matrix in LAPACK's storage."""
    return Factorisation(
        lambda ab: _band_lu(ab, lower, upper),
        lambda factors, rhs, transposed: _band_solve(factors, rhs, transposed, lower, upper),
    )


def _lu(a: Any) -> Any:
    lu, pivots = scipy.linalg.lu_factor(a, check_finite=False)
    if not numpy.all(numpy.diagonal(lu, axis1=-2, axis2=-1)):
        raise numpy.linalg.LinAlgError("solve: the matrix is singular")
    return lu, pivots


def _lu_solve(factors: Any, rhs: Any, transposed: bool) -> Any:
    return scipy.linalg.lu_solve(factors, rhs, trans=int(transposed), check_finite=False)


def _cholesky(a: Any) -> Any:
    return scipy.linalg.cho_factor(a, lower=True, check_finite=False)


def _cholesky_solve(factors: Any, rhs: Any, transposed: bool) -> Any:
    if not transposed:
        return scipy.linalg.cho_solve(factors, rhs, check_finite=False)
    return scipy.linalg.cho_solve(factors, rhs.conj(), check_finite=False).conj()


def _band_lu(ab: Any, lower: int, upper: int) -> Any:
    (gbtrf,) = scipy.linalg.get_lapack_funcs(("gbtrf",), (ab,))
    room = numpy.zeros((2 * lower + upper + 1, ab.shape[1]), dtype=gbtrf.dtype)
    room[lower:] = ab
    lu, pivots, info = gbtrf(room, lower, upper, overwrite_ab=True)
    if info > 0:
        raise numpy.linalg.LinAlgError("solve_banded: the matrix is singular")
    return lu, pivots


def _band_solve(factors: Any, rhs: Any, transposed: bool, lower: int, upper: int) -> Any:
    lu, pivots = factors
    if len(rhs) != len(pivots):  # LAPACK would print it
        raise ValueError(f"solve_banded: {len(rhs)} rows on the right of {len(pivots)} equations")
    (gbtrs,) = scipy.linalg.get_lapack_funcs(("gbtrs",), (lu, rhs))
    columns = rhs.reshape(len(rhs), -1)  # also those of several right-hand sides
    return gbtrs(lu, lower, upper, columns, pivots, trans=int(transposed))[0].reshape(rhs.shape)
