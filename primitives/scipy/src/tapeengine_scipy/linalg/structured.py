"""Band and Toeplitz matrices: their construction, and linear systems with them."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides, linear
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg import factorisations
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._systems import matrix_times, outer_product, solution
from tapeengine_scipy.linalg._transpose import conjugate, is_complex
from tapeengine_scipy.linalg.factorisations import Factorisation
from tapeengine_scipy.linalg.solve import _check_finite

# ---- band matrices: ab[upper + i - j, j] == a[i, j] ----------------------------------------------


def _band_slices(offset: int, size: int) -> tuple[slice, slice]:
    """Rows and columns of the diagonal with row - column = offset."""
    rows = slice(max(offset, 0), max(size + min(offset, 0), 0))
    return rows, slice(max(-offset, 0), max(size - max(offset, 0), 0))


def _placed(part: Any, at: slice, size: int) -> Any:
    """Some rows of an array whose other rows are zero."""
    room = numpy.zeros((size - part.shape[0], *part.shape[1:]), part.dtype)
    return np.concatenate([room, part] if at.start else [part, room]) if len(room) else part


def _band_outer(ct: Any, x: Any, lower: int, upper: int, transposed: bool = False) -> Any:
    """The band of ct x^T, or of x ct^T for the transposed system."""
    (left, right), size, band = (x, ct) if transposed else (ct, x), x.shape[0], []
    for offset in range(-upper, lower + 1):
        rows, columns = _band_slices(offset, size)
        entries = left[rows] * right[columns]
        band.append(_placed(entries if x.ndim == 1 else np.sum(entries, axis=1), columns, size))
    return np.stack(band)


def _band_times(ab: Any, x: Any, lower: int, upper: int, transposed: bool = False) -> Any:
    """A band matrix, or its transpose, times a vector or matrix."""
    terms, size = [], x.shape[0]
    for offset in range(-upper, lower + 1):
        rows, columns = _band_slices(offset, size)
        into, out_of = (columns, rows) if transposed else (rows, columns)
        entries = ab[upper + offset, columns]
        terms.append(_placed((entries if x.ndim == 1 else entries[:, None]) * x[out_of], into, size))
    return sum(terms[1:], terms[0])


def _band(generator: numpy.random.Generator, lower: int, upper: int, size: int) -> Any:
    """Draw a band matrix with a dominant diagonal; entries outside the matrix are drawn as well."""
    band = generator.standard_normal((lower + upper + 1, size))
    band[upper] += 4.0
    return band


def _banded_primal(
    ab: Any, b: Any, *, lower: int, upper: int, transposed: bool = False, factorisation: Factorisation | None = None
) -> Any:
    factorisation = factorisation or factorisations.banded(lower, upper)
    return factorisation.solve((ab,), b, transposed)


BANDED: Primitive = solution(
    "scipy.linalg.solve_banded",
    _banded_primal,
    times={"ab": _band_times},
    outer={"ab": _band_outer},
    samples=lambda: (
        lambda generator: Sample((_band(generator, 1, 1, 4), uniform((4,))), {"lower": 1, "upper": 1}),
        lambda generator: Sample((_band(generator, 2, 1, 5), uniform((5, 2))), {"lower": 2, "upper": 1}),
        lambda generator: Sample(
            (_band(generator, 1, 0, 4), uniform((4,))), {"lower": 1, "upper": 0, "transposed": True}
        ),
    ),
    pattern=patterns.solves,
    doc="A^-1 b of a band matrix; db = A^-T ct, dA = -(db x^T) on the band, with the factors of the primal",
)


@with_signature("scipy.linalg.solve_banded")
def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any, check_finite: bool, **_: Any) -> Any:
    """Solve a linear system with a band matrix; see `scipy.linalg.solve_banded`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_banded((0, 0), np.array([[2.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    lower, upper = l_and_u
    return _solve_banded(ab, b, int(lower), int(upper), check_finite)


@over_batches(2, "1|2")
def _solve_banded(ab: Any, b: Any, lower: int, upper: int, check_finite: bool) -> Any:
    _check_finite("solve_banded", check_finite, ab, b)
    if ab.shape[-1] != b.shape[0]:
        raise ValueError(f"solve_banded: ab has {ab.shape[-1]} columns, but b has {b.shape[0]} rows")
    if lower + upper + 1 != ab.shape[0]:
        raise ValueError(f"solve_banded: l + u + 1 is {lower + upper + 1}, but ab has {ab.shape[0]} rows")
    return BANDED(ab, b, lower=lower, upper=upper, factorisation=factorisations.banded(lower, upper))


# ---- Toeplitz matrices: T[i, j] == entries[i - j + columns - 1] ----------------------------------


def _toeplitz(entries: Any, *, columns: int) -> Any:
    windows = numpy.lib.stride_tricks.sliding_window_view(entries, columns)
    return windows[:, ::-1].copy()


def _diagonal_sums(matrix: Any) -> Any:
    rows, columns = matrix.shape
    room = numpy.zeros((columns, rows + columns), matrix.dtype)
    room[:, :rows] = matrix.T[::-1]
    # Column j, counted from the last, is shifted down by j: a skewed copy, whose row sums are the sums of diagonals.
    return room.reshape(-1)[: columns * (rows + columns - 1)].reshape(columns, -1).sum(axis=0)


def _sums_pattern(call: patterns.Call) -> Any:
    rows, columns = call.spaces[0].shape
    groups = numpy.arange(rows)[:, None] - numpy.arange(columns) + columns - 1
    return call.grouped(call.sets[0], groups, rows + columns - 1)


TOEPLITZ: Primitive = linear(
    "scipy.linalg.toeplitz",
    _toeplitz,
    lambda ct: DIAGONAL_SUMS(ct),
    samples=(Sample((uniform((5,)),), {"columns": 2}), Sample((uniform((5,), dtype=complex),), {"columns": 3})),
    pattern=patterns.moves,
    doc="a matrix with constant diagonals; the transpose sums the diagonals",
)
DIAGONAL_SUMS: Primitive = linear(
    "scipy.linalg.diagonal_sums",
    _diagonal_sums,
    lambda ct, matrix_space: TOEPLITZ(ct, columns=matrix_space.shape[1]),
    samples=(Sample((uniform((4, 2)),)), Sample((uniform((2, 3)),))),
    pattern=_sums_pattern,
    doc="the sum of each diagonal, from the upper right corner to the lower left",
)


@beside("scipy.linalg.toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    """Build a Toeplitz matrix from its first column and row; see `scipy.linalg.toeplitz`.

    Examples
    --------
    >>> import numpy as np
    >>> toeplitz(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    array([[1., 3.],
           [2., 1.]])
    """
    c = np.atleast_1d(floating(c))
    return _single_toeplitz(c, conjugate(c) if r is None else np.atleast_1d(floating(r)))


@over_batches(1, 1)
def _single_toeplitz(c: Any, r: Any) -> Any:
    if not c.size or not r.size:
        return numpy.zeros((c.size, r.size), numpy.result_type(c.dtype, r.dtype))
    entries, columns = _entries(c, r)
    return TOEPLITZ(entries, columns=columns)


def _entries(c: Any, r: Any) -> tuple[Any, int]:
    return np.concatenate([r[:0:-1], c]), r.shape[0]


def _solve_toeplitz_primal(entries: Any, b: Any, *, transposed: bool = False) -> Any:
    middle = b.shape[0] - 1
    column, row = entries[middle:], entries[middle::-1]
    return scipy.linalg.solve_toeplitz((row, column) if transposed else (column, row), b, check_finite=False)


SOLVE_TOEPLITZ: Primitive = solution(
    "scipy.linalg.solve_toeplitz",
    _solve_toeplitz_primal,
    times={"entries": lambda t, x, transposed: matrix_times(TOEPLITZ(t, columns=x.shape[0]), x, transposed)},
    outer={"entries": lambda ct, x, transposed: DIAGONAL_SUMS(outer_product(ct, x, transposed))},
    samples=lambda: (
        Sample((numpy.array([0.3, -0.5, 4.0, 1.0, 0.7]), uniform((3,)))),
        Sample((numpy.array([0.3, -0.5, 4.0, 1.0, 0.7]), uniform((3, 2)))),
        Sample((numpy.array([0.3, -0.5, 4.0, 1.0, 0.7]), uniform((3,))), {"transposed": True}),
    ),
    pattern=patterns.solves,
    doc="T^-1 b by Levinson's recursion, in O(n^2); db = T^-T ct, dT = the diagonal sums of -db x^T",
)


@beside("scipy.linalg.solve_toeplitz")
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """Solve a Toeplitz system; see `scipy.linalg.solve_toeplitz`.

    Levinson's recursion computes no factors that could be kept; a derivative costs another O(n^2) solve.

    Examples
    --------
    >>> import numpy as np
    >>> solve_toeplitz(np.array([2.0, 0.0]), np.array([2.0, 4.0]))
    array([1., 2.])
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, conjugate(floating(c_or_cr)))
    return _solve_toeplitz(c, r, b, check_finite)


@over_batches(1, 1, "1|2")
def _solve_toeplitz(c: Any, r: Any, b: Any, check_finite: bool) -> Any:
    entries, columns = _entries(np.ravel(c), np.ravel(r))
    _check_finite("solve_toeplitz", check_finite, entries, b)
    if b.shape[0] != columns or entries.shape[0] != 2 * columns - 1:
        raise ValueError(f"solve_toeplitz: the matrix has {columns} columns, but b has {b.shape[0]} rows")
    return SOLVE_TOEPLITZ(entries, b)


@decides("scipy.linalg.is_positive", Sample((numpy.ones((1, 2)),), {"lower": True, "check_finite": True}))
def _is_positive(ab: Any, *, lower: bool, check_finite: bool) -> bool:
    """True for a positive definite band matrix; raises SciPy's error otherwise."""
    scipy.linalg.cholesky_banded(ab, lower=lower, check_finite=check_finite)
    return True


@with_signature("scipy.linalg.solveh_banded")
def solveh_banded(ab: Any, b: Any, lower: bool, check_finite: bool, **_: Any) -> Any:
    """Solve a system with a Hermitian positive definite band matrix; see `scipy.linalg.solveh_banded`.

    Examples
    --------
    >>> import numpy as np
    >>> solveh_banded(np.array([[0.0, 0.0], [2.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    ab, b = floating(ab), floating(b)
    if ab.ndim < 2:
        raise ValueError("solveh_banded: ab must have two axes or more")
    if ab.ndim == 2:
        _is_positive(ab, lower=lower, check_finite=check_finite)  # raises SciPy's errors
    width, size = ab.shape[-2] - 1, ab.shape[-1]
    given = range(1, width + 1)
    if is_complex(ab):  # SciPy reads the real part of the diagonal
        main = numpy.arange(width + 1)[:, None] == (0 if lower else width)
        ab = np.where(main, np.real(ab), ab)
    if lower:
        mirrored = [_moved_along(conjugate(ab[..., k, :]), k, size) for k in reversed(given)]
        whole = np.stack([*mirrored, *(ab[..., k, :] for k in range(width + 1))], axis=-2)
    else:
        mirrored = [_moved_along(conjugate(ab[..., width - k, :]), -k, size) for k in given]
        whole = np.stack([*(ab[..., k, :] for k in range(width + 1)), *mirrored], axis=-2)
    return solve_banded((width, width), whole, b, check_finite=check_finite)


def _moved_along(row: Any, by: int, size: int) -> Any:
    """The row of the band that holds a diagonal, indexed by the columns of the opposite diagonal."""
    room = numpy.zeros((*row.shape[:-1], min(abs(by), size)), row.dtype)
    if by > 0:
        return np.concatenate([room, row[..., : max(size - by, 0)]], axis=-1)
    return np.concatenate([row[..., -by:], room], axis=-1)


@beside("scipy.linalg.circulant")
def circulant(c: Any) -> Any:
    """Build a circulant matrix from its first column; see `scipy.linalg.circulant`.

    Examples
    --------
    >>> import numpy as np
    >>> circulant(np.array([1.0, 2.0, 3.0]))[0]
    array([1., 3., 2.])
    """
    c = np.atleast_1d(floating(c))
    places = numpy.arange(c.shape[-1])
    return c[..., (places[:, None] - places) % max(c.shape[-1], 1)]
