"""The sparse matrix that programs hold: traced entries and a constant pattern."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._passing import passed, refuse_traced
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
        """Multiply with a vector or matrix; the product with a sparse one is sparse."""
        if isinstance(x, SparseArray) or scipy.sparse.issparse(x):
            return sparse_product(self, as_sparse(x))
        return TIMES(self.data, _fitting(x, self.shape[1]), pattern=self.pattern)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a vector or matrix with this matrix."""
        if scipy.sparse.issparse(x):
            return as_sparse(x) @ self
        x = floating(x)
        product = TIMES(self.data, _fitting(x.T, self.shape[0]), pattern=self.pattern, transposed=True)
        return product.T

    def __mul__(self, factor: Any) -> Any:
        """Multiply by a number or, element by element, by what broadcasts; a sparse *matrix* is a factor."""
        if self.pattern.is_matrix and np.ndim(factor):
            return self @ factor
        return SparseArray(self.data * self._factors(factor), self.pattern)

    def multiply(self, other: Any) -> "SparseArray":
        """Multiply by a number or, element by element, by what broadcasts; the result is sparse."""
        return SparseArray(self.data * self._factors(other), self.pattern)

    def dot(self, other: Any) -> Any:
        """Multiply with a number, a vector or a matrix."""
        return self @ other if np.ndim(other) else self * other

    def __truediv__(self, divisor: Any) -> "SparseArray":
        """Divide by a number or, element by element, by what broadcasts."""
        return self.multiply(1.0 / floating(divisor))

    def __rmul__(self, factor: Any) -> Any:
        """Multiply from the other side."""
        if self.pattern.is_matrix and np.ndim(factor):
            return self.__rmatmul__(factor)
        return self * factor

    def _factors(self, factor: Any) -> Any:
        """What each entry is multiplied by."""
        if isinstance(factor, SparseArray) or scipy.sparse.issparse(factor):
            raise UnsupportedError(
                "sparse: the product of two sparse arrays, element by element, is not differentiated"
            )
        factor = floating(factor)
        if numpy.broadcast_shapes(factor.shape, self.shape) != self.shape:
            raise UnsupportedError(f"sparse: a factor of shape {factor.shape} does not broadcast to {self.shape}")
        places = [self.pattern.rows, self.pattern.columns][2 - factor.ndim :]
        return factor[tuple(0 if size == 1 else at for at, size in zip(places, factor.shape, strict=True))]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("data", "pattern"):
            raise AttributeError(name)
        found = getattr(scipy.sparse.coo_array, name)  # an AttributeError, where SciPy does not have it either
        refuse_traced(f"scipy.sparse.coo_array.{name}", self.data)
        theirs = self.of_scipy()
        return (
            passed(getattr(theirs, name), f"scipy.sparse.coo_array.{name}")
            if callable(found)
            else getattr(theirs, name)
        )

    def of_scipy(self) -> Any:
        """Return SciPy's own matrix, of plain entries."""
        return self.pattern.of_scipy(self.data)

    def toarray(self) -> Any:
        """Return the dense matrix."""
        return self @ numpy.eye(self.shape[1])


def _fitting(x: Any, length: int) -> Any:
    x = floating(x)
    if x.ndim not in (1, 2) or x.shape[0] != length:
        raise ValueError(f"a sparse product needs a vector or matrix with {length} rows, not shape {x.shape}")
    return x


def sparse_product(a: SparseArray, b: SparseArray) -> SparseArray:
    """Multiply two sparse matrices: each entry of the product is the sum over the pairs of entries that meet in it."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch of {a.shape} and {b.shape}")
    order = numpy.argsort(b.pattern.rows, kind="stable")
    starts = numpy.searchsorted(b.pattern.rows[order], numpy.arange(b.shape[0] + 1))
    counts = numpy.diff(starts)[a.pattern.columns]
    left = numpy.repeat(numpy.arange(a.pattern.size), counts)
    within = numpy.arange(len(left)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    right = order[numpy.repeat(starts[a.pattern.columns], counts) + within]
    places = a.pattern.rows[left].astype(numpy.int64) * b.shape[1] + b.pattern.columns[right]
    distinct, where = numpy.unique(places, return_inverse=True)
    products = a.data[left] * b.data[right]
    entries = np.bincount(where, weights=products, minlength=len(distinct))
    shape = (a.shape[0], b.shape[1])
    return SparseArray(
        entries, Pattern(distinct // max(shape[1], 1), distinct % max(shape[1], 1), shape, a.pattern.is_matrix)
    )


def as_sparse(a: Any) -> SparseArray:
    """Return a `SparseArray` as it is, and one of `scipy.sparse` with its entries as constants."""
    if isinstance(a, SparseArray):
        return a
    if not scipy.sparse.issparse(a):
        raise TypeError(f"a sparse matrix is needed, not {type(a).__name__}")
    coo = a.tocoo()
    return SparseArray(floating(coo.data), Pattern(coo.row, coo.col, coo.shape, scipy.sparse.isspmatrix(a)))


def _other(kind: str, arg: Any, shape: Any) -> SparseArray:
    """What is made of something that is no tuple of entries and places: of SciPy's, of a dense array, of a shape."""
    if isinstance(arg, SparseArray) and shape is None:
        return SparseArray(arg.data, arg.pattern.of_array())
    refuse_traced(f"scipy.sparse.{kind} of a dense array", arg)
    return as_sparse(getattr(scipy.sparse, kind)(arg, shape=shape))


def _entries(data: Any, dtype: Any) -> Any:
    data = floating(data)
    return data if dtype is None else np.astype(data, dtype)


def coo_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None
) -> SparseArray:
    """Build a sparse matrix from ``(data, (row, col))``; `data` may be traced. See `scipy.sparse.coo_array`."""
    if not (isinstance(arg1, tuple) and len(arg1) == 2 and isinstance(arg1[1], (tuple, list))):
        return _other("coo_array", arg1, shape)
    data, (rows, columns) = arg1
    entries = _entries(data, dtype)
    if entries.shape != numpy.shape(rows):
        raise ValueError(f"row, column, and data arrays must have one length, not {entries.shape}, {numpy.shape(rows)}")
    if shape is None:
        shape = (int(numpy.max(rows)) + 1, int(numpy.max(columns)) + 1)
    return SparseArray(entries, Pattern(rows, columns, shape))


def csr_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None
) -> SparseArray:
    """Build a sparse matrix from ``(data, indices, indptr)``; `data` may be traced. See `scipy.sparse.csr_array`."""
    if not (isinstance(arg1, tuple) and len(arg1) == 3):
        return coo_array(arg1, shape, dtype)
    data, indices, starts = arg1
    entries = _entries(data, dtype)
    pattern = scipy.sparse.csr_array((numpy.zeros(entries.shape), indices, starts), shape=shape)
    pattern.check_format(full_check=True)
    rows = numpy.repeat(numpy.arange(pattern.shape[0]), numpy.diff(pattern.indptr))
    if len(rows) != entries.shape[0]:
        raise ValueError(f"indptr ends at {len(rows)}, but there are {entries.shape[0]} entries")
    return SparseArray(entries, Pattern(rows, pattern.indices, pattern.shape))


def csc_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None
) -> SparseArray:
    """Build a sparse matrix from ``(data, indices, indptr)`` by columns. See `scipy.sparse.csc_array`."""
    if not (isinstance(arg1, tuple) and len(arg1) == 3):
        return coo_array(arg1, shape, dtype)
    return csr_array(arg1, None if shape is None else (shape[1], shape[0]), dtype).T


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
