"""Arithmetic of sparse matrices: entries are computed with derivatives, positions once, as constants."""

import math
import operator
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy.sparse.pattern import TIMES, Pattern


def _keys(pattern: Pattern) -> Any:
    """A number for the position of each entry."""
    return pattern.rows.astype(numpy.int64) * pattern.shape[1] + pattern.columns


def _at(keys: Any, like: Pattern, shape: tuple[int, int], order: str = "") -> Pattern:
    return Pattern(keys // shape[1], keys % shape[1], shape, like.is_matrix, order)


def merged(data: Any, pattern: Pattern) -> tuple[Any, Pattern]:
    """Add up entries at equal positions."""
    keys, places = numpy.unique(_keys(pattern), return_inverse=True)
    if len(keys) == len(places):
        return data, pattern
    return placed(data, places, len(keys)), _at(keys, pattern, pattern.shape)


def by_rows(data: Any, pattern: Pattern) -> tuple[Any, Pattern]:
    """The entries row by row, those at equal positions added up."""
    data, pattern = merged(data, pattern)
    keys = _keys(pattern)
    places = numpy.argsort(keys)
    return data[places], _at(keys[places], pattern, pattern.shape, "csr")


def total(a: tuple[Any, Pattern], b: tuple[Any, Pattern]) -> tuple[Any, Pattern]:
    """The sum of two sparse matrices."""
    if a[1].shape != b[1].shape:
        raise ValueError(f"inconsistent shapes: {a[1].shape} and {b[1].shape}")
    keys = numpy.concatenate([_keys(a[1]), _keys(b[1])])
    return merged(np.concatenate([a[0], b[0]]), _at(keys, a[1], a[1].shape))


def elementwise(a: tuple[Any, Pattern], b: tuple[Any, Pattern]) -> tuple[Any, Pattern]:
    """The product of two sparse matrices, element by element."""
    if a[1].shape != b[1].shape:
        raise UnsupportedError(
            f"sparse: an elementwise product of shapes {a[1].shape} and {b[1].shape} is not differentiated"
        )
    (left, mine), (right, theirs) = merged(*a), merged(*b)
    keys, first, second = numpy.intersect1d(_keys(mine), _keys(theirs), return_indices=True)
    return left[first] * right[second], _at(keys, mine, mine.shape)


def product(a: tuple[Any, Pattern], b: tuple[Any, Pattern]) -> tuple[Any, Pattern]:
    """The matrix product of two sparse matrices, with one product for each pair of matching entries."""
    (left, mine), (right, theirs) = a, b
    if mine.shape[1] != theirs.shape[0]:
        raise ValueError(f"matmul: dimension mismatch of {mine.shape} and {theirs.shape}")
    order = numpy.argsort(theirs.rows, kind="stable")
    counts = numpy.bincount(theirs.rows, minlength=theirs.shape[0])
    starts = numpy.cumsum(counts) - counts
    met = counts[mine.columns]
    first = numpy.repeat(numpy.arange(mine.size), met)
    within = numpy.arange(len(first)) - numpy.repeat(numpy.cumsum(met) - met, met)
    second = order[starts[mine.columns[first]] + within]
    shape = (mine.shape[0], theirs.shape[1])
    found = Pattern(mine.rows[first], theirs.columns[second], shape, mine.is_matrix, "")
    return merged(left[first] * right[second], found)


def part(data: Any, pattern: Pattern, index: Any) -> tuple[Any, Pattern] | Any:
    """Index by two whole numbers, which gives a number, or by two slices, which gives a sparse matrix."""
    if not isinstance(index, tuple) or len(index) != 2:
        raise _not_read(index)
    if all(isinstance(i, slice) for i in index):
        starts = [range(size)[i] for i, size in zip(index, pattern.shape, strict=True)]
        places = [numpy.full(size, -1) for size in pattern.shape]
        for place, chosen in zip(places, starts, strict=True):
            place[numpy.asarray(chosen, dtype=int)] = numpy.arange(len(chosen))
        rows, columns = places[0][pattern.rows], places[1][pattern.columns]
        kept = numpy.flatnonzero((rows >= 0) & (columns >= 0))
        shape = (len(starts[0]), len(starts[1]))
        return data[kept], Pattern(rows[kept], columns[kept], shape, pattern.is_matrix, "")
    try:
        row, column = (range(size)[operator.index(i)] for i, size in zip(index, pattern.shape, strict=True))
    except TypeError:
        raise _not_read(index) from None
    return np.sum(data[numpy.flatnonzero((pattern.rows == row) & (pattern.columns == column))])


def _not_read(index: Any) -> UnsupportedError:
    return UnsupportedError(
        f"sparse: [{index!r}] is not differentiated; take a number a[i, j], a part a[i:j, k:l], or a.toarray()[...]"
    )


def sums(data: Any, pattern: Pattern, axis: Any) -> Any:
    """The sum of all entries, or the sums of columns (axis 0) or of rows."""
    if axis is None:
        return np.sum(data)
    if pattern.is_matrix or axis not in (0, 1, -1, -2):
        raise UnsupportedError(
            "sparse: sums along an axis are for sparse arrays, with axis 0 or 1; a SciPy matrix gives a "
            "numpy.matrix, which cannot hold derivatives"
        )
    places = [pattern.columns, pattern.rows][axis % 2]
    return placed(data, places, pattern.shape[1 - axis % 2])


def placed(data: Any, places: Any, length: int) -> Any:
    """A vector of the sums of entries at each position."""
    at = Pattern(places, numpy.arange(len(places)), (length, max(len(places), 1)))
    ones = numpy.ones(len(places), data.dtype)
    return TIMES(ones, data, pattern=at) if len(places) else np.zeros(length, data.dtype)


def dense(data: Any, pattern: Pattern) -> Any:
    """The dense array."""
    return placed(data, _keys(pattern), math.prod(pattern.shape)).reshape(pattern.shape)


def diagonal(data: Any, pattern: Pattern, k: int) -> Any:
    """The k-th diagonal."""
    rows, columns = pattern.shape
    length = max(min(rows + min(k, 0), columns - max(k, 0)), 0)
    chosen = numpy.flatnonzero(pattern.columns - pattern.rows == k)
    return placed(data[chosen], pattern.rows[chosen] + min(k, 0), length)
