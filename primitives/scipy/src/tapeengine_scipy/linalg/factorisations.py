"""Factorisations that a solve computes once and its derivative rules reuse.

A rule cannot access intermediate results of a primal, so the factorisation is passed as a static parameter: an object
that factorises a matrix when asked and keeps the factors for the next request. It keeps a copy of the matrix too: for
another one (when the tape is replayed at other inputs) it factorises again. Threads may share it.
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy


class Factors:
    """The factors of one matrix, and the last transposed solution with them."""

    def __init__(self, matrix: tuple[Any, ...], factors: Any) -> None:
        self.matrix = tuple(part.copy() for part in matrix)
        self.factors = factors
        self.transposed: tuple[Any, Any] | None = None


class Factorisation:
    """Solves systems with one matrix or its transpose, and keeps its factors and its last transposed solution.

    The rules for the matrix and for the right-hand side both need the same transposed solution, so the last one is
    kept. Two objects are equal if they compute the same.

    Parameters
    ----------
    factorise : callable
        ``factorise(*matrix, *given) -> factors``; a matrix is one array or several.
    solve : callable
        ``solve(factors, rhs, transposed, *given) -> solution``.
    *given
        Hashable parameters.
    check_finite : bool
        Whether to refuse infinities and NaNs.
    """

    def __init__(
        self, factorise: Callable[..., Any], solve: Callable[..., Any], *given: Any, check_finite: bool = False
    ) -> None:
        self._computes = factorise, solve, given, check_finite
        self._last: Factors | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factorisation) and self._computes == other._computes

    def __hash__(self) -> int:
        return hash(self._computes)

    def factors(self, *matrix: Any) -> Factors:
        """Return the factors of a matrix."""
        last = self._last
        if last is None or len(last.matrix) != len(matrix) or not all(map(_same, last.matrix, matrix)):
            self._refuse_infinities(*matrix)
            last = self._last = Factors(matrix, self._computes[0](*matrix, *self._computes[2]))
        return last

    def keep(self, matrix: tuple[Any, ...], factors: Any) -> "Factorisation":
        """Keep the factors of a matrix that are known already."""
        self._last = Factors(matrix, factors)
        return self

    def solve(self, matrix: tuple[Any, ...], rhs: Any, transposed: bool = False) -> Any:
        """Solve with the matrix, or with its transpose."""
        found, (_, solve, given, _) = self.factors(*matrix), self._computes
        if not transposed:
            self._refuse_infinities(rhs)
            return solve(found.factors, rhs, False, *given)
        last = found.transposed
        if last is None or not _same(last[0], rhs):
            last = found.transposed = (rhs.copy(), solve(found.factors, rhs, True, *given))
        return last[1].copy()

    def _refuse_infinities(self, *values: Any) -> None:
        if self._computes[3] and not all(map(is_finite, values)):
            raise ValueError("solve: array must not contain infs or NaNs")


def is_finite(a: Any) -> bool:
    """Whether all elements are finite. First tests the sum, which is finite only if they are, and needs no array."""
    return bool(numpy.isfinite(a.sum()) or numpy.isfinite(a).all())


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and bool((a == b).all())


def general(check_finite: bool = False) -> Factorisation:
    """Return a factorisation LU of a matrix, or of a stack of them."""
    return Factorisation(_lu, _lu_solve, check_finite=check_finite)


def positive(check_finite: bool = False) -> Factorisation:
    """Return a Cholesky factorisation of a Hermitian positive definite matrix."""
    return Factorisation(_cholesky, _cholesky_solve, check_finite=check_finite)


def banded(lower: int, upper: int) -> Factorisation:
    """Return a factorisation LU of a band matrix in LAPACK's storage."""
    return Factorisation(_band_lu, _band_solve, lower, upper)


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
