"""Sparse matrices built from diagonals."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.sparse.matrix import SparseArray
from tapeengine_scipy.sparse.pattern import Pattern


def _of_diagonals(diagonals: Any, offsets: Any, shape: Any, is_matrix: bool) -> SparseArray:
    """The matrix with the given diagonals, each a number or a vector."""
    single = numpy.ndim(offsets) == 0
    if single and (not isinstance(diagonals, (list, tuple)) or not len(diagonals) or np.ndim(diagonals[0]) == 0):
        diagonals = [diagonals]
    parts = [np.atleast_1d(floating(part)) for part in diagonals]
    places = [int(k) for k in numpy.atleast_1d(offsets)]
    if len(parts) != len(places):
        raise ValueError("number of diagonals does not match the number of offsets")
    if shape is None:
        size = parts[0].shape[0] + abs(places[0])
        shape = (size, size)
    rows, columns, entries = [], [], []
    for part, k in zip(parts, places, strict=True):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if length < 0 or part.shape[0] not in (length, 1):
            raise ValueError(
                f"Diagonal length does not agree with array size ({part.shape[0]}, {length}) at offset {k}"
            )
        rows.append(numpy.arange(length) - min(k, 0))
        columns.append(numpy.arange(length) + max(k, 0))
        entries.append(np.broadcast_to(part, (length,)))
    places = Pattern(numpy.concatenate(rows), numpy.concatenate(columns), shape, is_matrix, "")
    return SparseArray(np.concatenate(entries), places)


@with_signature("scipy.sparse.diags_array")
def diags_array(diagonals: Any, offsets: Any, shape: Any, **_: Any) -> Any:
    """Build a sparse array from diagonals, which may be traced; see `scipy.sparse.diags_array`.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.grad(lambda k: (diags_array(k) @ np.ones(2)).sum())(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    return _of_diagonals(diagonals, offsets, shape, False)


@beside("scipy.sparse.diags")
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None) -> Any:
    """Build a sparse matrix from diagonals, which may be traced; see `scipy.sparse.diags`.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.grad(lambda k: (diags([k], [1]) @ np.ones(3)).sum())(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    return _of_diagonals(diagonals, offsets, shape, True)
