"""The sparse matrix that programs hold: traced entries and a constant pattern."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine_scipy._values import floating
from tapeengine_scipy.sparse.pattern import TIMES, Pattern


class SparseArray:
    """A sparse matrix whose entries may be traced.

    Parameters
    ----------
    data : array of shape (n,)
        The entries.
    pattern : Pattern
        Where they stand.

    Examples
    --------
    >>> import numpy as np
    >>> a = coo_array((np.array([2.0, 3.0]), ([0, 1], [1, 0])), shape=(2, 2))
    >>> a @ np.array([1.0, 10.0])
    array([20.,  3.])
    """

    __array_ufunc__ = None  # so that a numpy array on the left leaves the product to __rmatmul__
    __array_priority__ = 100.0

    def __init__(self, data: Any, pattern: Pattern) -> None:
        self.data = data
        self.pattern = pattern

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.pattern.shape

    @property
    def T(self) -> "SparseArray":
        """The transpose, with the same entries."""
        return SparseArray(self.data, self.pattern.transposed())

    def __matmul__(self, x: Any) -> Any:
        """Multiply with a dense vector or matrix."""
        return TIMES(self.data, _fitting(x, self.shape[1]), pattern=self.pattern)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a dense vector or matrix with this matrix."""
        x = floating(x)
        product = TIMES(self.data, _fitting(x.T, self.shape[0]), pattern=self.pattern, transposed=True)
        return product.T

    def __mul__(self, factor: Any) -> "SparseArray":
        """Multiply all entries by a number."""
        return SparseArray(self.data * factor, self.pattern)

    __rmul__ = __mul__

    def toarray(self) -> Any:
        """Return the dense matrix."""
        return self @ numpy.eye(self.shape[1])


def _fitting(x: Any, length: int) -> Any:
    x = floating(x)
    if x.ndim not in (1, 2) or x.shape[0] != length:
        raise ValueError(f"a sparse product needs a vector or matrix with {length} rows, not shape {x.shape}")
    return x


def as_sparse(a: Any) -> SparseArray:
    """Return a `SparseArray` as it is, and one of `scipy.sparse` with its entries as constants."""
    if isinstance(a, SparseArray):
        return a
    if not scipy.sparse.issparse(a):
        raise TypeError(f"a sparse matrix is needed, not {type(a).__name__}")
    coo = a.tocoo()
    return SparseArray(floating(coo.data), Pattern(coo.row, coo.col, coo.shape))


def coo_array(arg: Any, shape: Any = None) -> SparseArray:
    """Build a sparse matrix from ``(data, (row, col))``; `data` may be traced. See `scipy.sparse.coo_array`."""
    if not (isinstance(arg, tuple) and len(arg) == 2 and isinstance(arg[1], (tuple, list))):
        return as_sparse(arg)
    data, (rows, columns) = arg
    if shape is None:
        shape = (int(numpy.max(rows)) + 1, int(numpy.max(columns)) + 1)
    return SparseArray(floating(data), Pattern(rows, columns, shape))


def csr_array(arg: Any, shape: Any = None) -> SparseArray:
    """Build a sparse matrix from ``(data, indices, indptr)``; `data` may be traced. See `scipy.sparse.csr_array`."""
    if not (isinstance(arg, tuple) and len(arg) == 3):
        return coo_array(arg, shape)
    data, indices, starts = arg
    rows = numpy.repeat(numpy.arange(len(starts) - 1), numpy.diff(starts))
    if shape is None:
        shape = (len(starts) - 1, int(numpy.max(indices)) + 1)
    return SparseArray(floating(data), Pattern(rows, indices, shape))


def csc_array(arg: Any, shape: Any = None) -> SparseArray:
    """Build a sparse matrix from ``(data, indices, indptr)`` by columns. See `scipy.sparse.csc_array`."""
    if not (isinstance(arg, tuple) and len(arg) == 3):
        return coo_array(arg, shape)
    return csr_array(arg, None if shape is None else (shape[1], shape[0])).T


def matmul(a: Any, b: Any) -> Any:
    """Multiply a sparse and a dense matrix or vector, in either order.

    Either may be traced; the sparse one may be of `scipy.sparse`, which itself does not know traced arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse
    >>> matmul(scipy.sparse.eye_array(2), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if isinstance(b, SparseArray) or scipy.sparse.issparse(b):
        return as_sparse(b).__rmatmul__(a)
    return as_sparse(a) @ b


def with_data(a: Any, data: Any) -> SparseArray:
    """Return a sparse matrix with the places of `a` and the entries `data`, in the order of ``a.tocoo()``."""
    pattern = as_sparse(a).pattern
    data = np.asarray(data)
    if data.shape != (pattern.size,):
        raise ValueError(f"with_data: the matrix has {pattern.size} entries, but data has shape {data.shape}")
    return SparseArray(floating(data), pattern)
