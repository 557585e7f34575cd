"""The sparse matrix for programs: traced entries and a constant pattern."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import Counterpart, Standing, beside, find, method_beside, refuse_traced
from tapeengine_scipy._values import floating, is_traced
from tapeengine_scipy.sparse import arithmetic
from tapeengine_scipy.sparse.pattern import TIMES, Pattern


class SparseArray(Standing, path=""):
    """A sparse matrix whose entries may be traced.

    Parameters
    ----------
    data : array of shape (n,)
        The entries.
    pattern : Pattern
        The positions of the entries.

    Examples
    --------
    >>> import numpy as np
    >>> a = coo_array((np.array([2.0, 3.0]), ([0, 1], [1, 0])), shape=(2, 2))
    >>> a @ np.array([1.0, 10.0])
    array([20.,  3.])
    """

    _path = "scipy.sparse.coo_array"
    _takes_plain = True
    __array_priority__ = 100.0

    def __init__(self, data: Any, pattern: Pattern) -> None:
        self.entries = data
        self.pattern = pattern

    @property
    def data(self) -> Any:
        """The entries, where their order is that of SciPy's matrix."""
        if not self.pattern.order:
            raise UnsupportedError(
                "sparse: which entries are stored, and in which order, is not defined for results of operations; use "
                "toarray(), sums, or a matrix of your own entries"
            )
        return self.entries

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.pattern.shape

    @property
    def T(self) -> "SparseArray":
        """The transpose, with the same entries."""
        return SparseArray(self.entries, self.pattern.transposed())

    @property
    def _parts(self) -> tuple[Any, Pattern]:
        return self.entries, self.pattern

    def __matmul__(self, x: Any) -> Any:
        """Multiply by a sparse matrix, or by a dense vector or matrix."""
        if issparse(x):
            return SparseArray(*arithmetic.product(self._parts, as_sparse(x)._parts))
        return TIMES(self.entries, _fitting(x, self.shape[1]), pattern=self.pattern)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply a sparse matrix, or a dense vector or matrix, by this matrix."""
        if issparse(x):
            return as_sparse(x) @ self
        x = floating(x)
        product = TIMES(self.entries, _fitting(x.T, self.shape[0]), pattern=self.pattern, transposed=True)
        return product.T

    def dot(self, other: Any) -> Any:
        """Multiply by a number, or by a matrix or vector."""
        return self @ other if issparse(other) or np.ndim(other) else self * other

    def __add__(self, other: Any) -> Any:
        """Add a sparse matrix, or a dense one, which gives a dense one; of all numbers only 0, as in SciPy."""
        if issparse(other):
            return SparseArray(*arithmetic.total(self._parts, as_sparse(other)._parts))
        if np.ndim(other) == 0:
            if is_traced(other) or other != 0:
                raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported, as in SciPy")
            return self
        return dense(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract an operand that `__add__` accepts."""
        return self + (-as_sparse(other) if issparse(other) else -np.asarray(other) if np.ndim(other) else -other)

    def __rsub__(self, other: Any) -> Any:
        """Subtract from an operand that `__add__` accepts."""
        return -self + other

    def __neg__(self) -> "SparseArray":
        """Negate the entries."""
        return SparseArray(-self.entries, self.pattern)

    def __abs__(self) -> "SparseArray":
        """Take the absolute values of the elements."""
        data, pattern = arithmetic.merged(*self._parts)
        return SparseArray(np.abs(data), pattern)

    def __mul__(self, factor: Any) -> Any:
        """Multiply by a number, or elementwise by an operand that broadcasts; sparse *matrices* use matrix products."""
        if self.pattern.is_matrix and (issparse(factor) or np.ndim(factor)):
            return self @ factor
        return self.multiply(factor)

    def __rmul__(self, factor: Any) -> Any:
        """Multiply with the operands exchanged."""
        if self.pattern.is_matrix and (issparse(factor) or np.ndim(factor)):
            return self.__rmatmul__(factor)
        return self.multiply(factor)

    def multiply(self, factor: Any) -> "SparseArray":
        """Multiply elementwise by a number, a sparse matrix or an operand that broadcasts."""
        if issparse(factor):
            return SparseArray(*arithmetic.elementwise(self._parts, as_sparse(factor)._parts))
        return self._scaled(self.entries * self._factors(factor), factor)

    def __truediv__(self, divisor: Any) -> "SparseArray":
        """Divide by a number, or elementwise by an operand that broadcasts."""
        if issparse(divisor):
            raise UnsupportedError("sparse: the quotient of two sparse arrays is not differentiated")
        return self._scaled(self.entries / self._factors(divisor), divisor)

    def _scaled(self, entries: Any, by: Any) -> "SparseArray":
        return SparseArray(entries, self.pattern.marked("") if np.ndim(by) else self.pattern)

    def power(self, n: Any) -> "SparseArray":
        """Take powers of the elements, with a single exponent other than 0."""
        if np.ndim(n) or (not is_traced(n) and n == 0):
            raise NotImplementedError("sparse: powers of elements are those with a nonzero number as the exponent")
        data, pattern = arithmetic.merged(*self._parts)
        return SparseArray(data**n, pattern)

    def __pow__(self, n: Any) -> "SparseArray":
        """Take powers: of the elements, or of a sparse *matrix*."""
        if not self.pattern.is_matrix:
            return self.power(n)
        raise UnsupportedError("sparse: powers of a sparse matrix are not differentiated; write a @ a")

    def __getitem__(self, index: Any) -> Any:
        """Index by two whole numbers, which gives a number, or by two slices, which gives a sparse matrix."""
        found = arithmetic.part(self.entries, self.pattern, index)
        return SparseArray(*found) if isinstance(found, tuple) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Refuse to write: the pattern is constant."""
        raise UnsupportedError("sparse: entries cannot be assigned; build a matrix with other entries")

    def __eq__(self, other: object) -> Any:
        raise UnsupportedError("sparse: sparse matrices cannot be compared; compare their toarray()")

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return bool(self.pattern.size)
        raise ValueError("the truth value of a sparse array with more than one element is ambiguous")

    def sum(self, axis: Any = None, dtype: None = None, out: None = None) -> Any:
        """Sum the entries, all of them or along an axis."""
        if dtype is not None or out is not None:
            raise UnsupportedError("sparse: the options dtype and out of sum are not differentiated; omit them")
        return arithmetic.sums(self.entries, self.pattern, axis)

    def mean(self, axis: Any = None) -> Any:
        """Return the sum divided by the number of elements."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        return self.sum(axis) / count

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal as a dense vector."""
        return arithmetic.diagonal(self.entries, self.pattern, k)

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal."""
        return np.sum(self.diagonal(offset))

    def transpose(self, axes: Any = None, copy: bool = False) -> "SparseArray":
        """Return the transpose."""
        if axes not in (None, (1, 0)):
            raise ValueError("sparse matrices do not support an axes parameter other than (1, 0)")
        return self.T

    def tocoo(self, copy: bool = False) -> "SparseArray":
        """Return the matrix with its entries in their order."""
        return SparseArray(self.entries, self.pattern.marked(self.pattern.order and "coo"))

    def tocsr(self, copy: bool = False) -> "SparseArray":
        """Return the matrix with its entries row by row; those at one position are added."""
        return self if self.pattern.order in ("csr", "") else SparseArray(*arithmetic.by_rows(*self._parts))

    def tocsc(self, copy: bool = False) -> "SparseArray":
        """Return the matrix with its entries column by column; those at one position are added."""
        return self.T.tocsr().T

    def asformat(self, format: str | None, copy: bool = False) -> "SparseArray":
        """Return the matrix with its entries in the order of a format."""
        if format not in (None, "coo", "csr", "csc"):
            refuse_traced(f"scipy.sparse.coo_array.asformat({format!r})", self.entries)
        return getattr(self, f"to{format}")() if format in ("coo", "csr", "csc") else self

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> "SparseArray":
        """Convert the entries."""
        return SparseArray(np.astype(self.entries, dtype), self.pattern)

    def copy(self) -> "SparseArray":
        """Return the matrix with a copy of its entries."""
        return SparseArray(self.entries * 1.0, self.pattern)

    def conj(self, copy: bool = True) -> "SparseArray":
        """Conjugate the entries."""
        return SparseArray(np.conj(self.entries), self.pattern)

    conjugate = conj

    @property
    def real(self) -> "SparseArray":
        """The real parts."""
        return SparseArray(np.real(self.entries), self.pattern)

    @property
    def imag(self) -> "SparseArray":
        """The imaginary parts."""
        return SparseArray(np.imag(self.entries), self.pattern)

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return len(self.data)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 2

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self.entries.dtype

    def _factors(self, factor: Any) -> Any:
        """The factor of each entry."""
        if numpy.ndim(factor) == 0:
            return factor
        factor = floating(factor)
        if numpy.broadcast_shapes(factor.shape, self.shape) != self.shape:
            raise UnsupportedError(f"sparse: a factor of shape {factor.shape} does not broadcast to {self.shape}")
        places = [self.pattern.rows, self.pattern.columns][2 - factor.ndim :]
        return factor[tuple(0 if size == 1 else at for at, size in zip(places, factor.shape, strict=True))]

    @property
    def __class__(self) -> Any:
        """The class of all arrays, or of all matrices, in SciPy."""
        return scipy.sparse.spmatrix if self.pattern.is_matrix else scipy.sparse.sparray

    @property
    def _theirs(self) -> Any:  # type: ignore[override]
        return self.pattern.of_scipy(plain_value(self.entries))

    @property
    def _is_traced(self) -> bool:  # type: ignore[override]
        return is_traced(self.entries)

    @property
    def format(self) -> str:
        """SciPy's name of the format of plain entries."""
        refuse_traced("the format of a sparse matrix", self.entries)
        return "coo"

    def __getattr__(self, name: str) -> Any:
        made = (
            [] if name.startswith("_") or "pattern" not in vars(self) else [self._theirs.tocsr(), self._theirs.tocsc()]
        )
        if (made and name == "offsets") or any(hasattr(matrix, name) for matrix in made):
            refuse_traced(f"{name} of a sparse matrix", self.entries)
        return super().__getattr__(name)

    def of_scipy(self) -> Any:
        """Return SciPy's own matrix with plain entries."""
        return self.pattern.of_scipy(self.entries)

    def toarray(self) -> Any:
        """Return the dense matrix."""
        return arithmetic.dense(*self._parts)

    def todense(self) -> Any:
        """Return the dense matrix; that of a sparse *matrix* is a numpy.matrix, which cannot hold derivatives."""
        if self.pattern.is_matrix:
            refuse_traced("todense of a sparse matrix, which gives a numpy.matrix (use toarray),", self.entries)
        return self.toarray()


def dense(a: Any) -> Any:
    """The dense array of a sparse operand of ``+`` and ``-``, whose results are plain for sparse *arrays* only."""
    if scipy.sparse.isspmatrix(a):
        raise UnsupportedError(
            "sparse: a dense array added to a sparse matrix gives a numpy.matrix, which cannot hold derivatives; "
            "add to its toarray()"
        )
    return a.toarray()


def _of_elements(name: str) -> Any:
    """The method of a function with f(0) = 0, which numpy's ufunc of that name calls."""

    def method(self: SparseArray) -> SparseArray:
        data, pattern = arithmetic.merged(*self._parts)
        return SparseArray(getattr(np, name)(data), pattern)

    method.__name__, method.__doc__ = name, f"Apply `numpy.{name}` to the elements."
    return method_beside(method)


for _name in (
    "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "sqrt", "expm1", "log1p", "deg2rad",
    "rad2deg", "rint", "sign", "floor", "ceil", "trunc",
):  # fmt: skip
    setattr(SparseArray, _name, _of_elements(_name))


def issparse(value: Any) -> bool:
    """Whether a value is a sparse matrix; see `scipy.sparse.issparse`."""
    return isinstance(value, SparseArray) or bool(scipy.sparse.issparse(value))


def _fitting(x: Any, length: int) -> Any:
    x = floating(x)
    if x.ndim not in (1, 2) or x.shape[0] != length:
        raise ValueError(f"a sparse product needs a vector or matrix with {length} rows, not shape {x.shape}")
    return x


def as_sparse(a: Any) -> SparseArray:
    """Return a `SparseArray` unchanged, and a matrix of `scipy.sparse` with constant entries."""
    if isinstance(a, SparseArray):
        return a
    if not scipy.sparse.issparse(a):
        raise TypeError(f"a sparse matrix is needed, not {type(a).__name__}")
    if a.ndim != 2:
        raise UnsupportedError(f"sparse: an array of {a.ndim} axes has no rules; use its toarray()")
    coo = a.tocoo()
    order = a.format if a.format in ("csr", "csc") else "coo"
    return SparseArray(floating(coo.data), Pattern(coo.row, coo.col, coo.shape, scipy.sparse.isspmatrix(a), order))


def _form_of(kind: str, arg1: Any, shape: Any) -> str:
    """The format whose form an argument has: ``(data, (row, col))``, ``(data, indices, indptr)``, ``(data, offsets)``.

    Empty for other arguments of a class of a kind.
    """
    count = len(arg1) if isinstance(arg1, tuple) else 0
    if kind == "dia":
        return kind if count == 2 and shape is not None else ""
    if count == 2 and isinstance(arg1[1], (tuple, list)):
        return "coo"
    return kind if count == 3 and kind != "coo" else ""


def _of_form(form: str, arg1: Any, shape: Any, dtype: Any) -> tuple[Any, Pattern]:
    """The entries and their places, which SciPy's matrix of the entries' numbers has."""
    data = floating(arg1[0])
    entries = data if dtype is None else np.astype(data, dtype)
    numbers = numpy.arange(1, numpy.size(entries) + 1).reshape(entries.shape)
    found = getattr(scipy.sparse, f"{form}_array")((numbers, *arg1[1:]), shape=shape)  # which raises SciPy's errors
    if form in ("csr", "csc"):
        found.check_format(full_check=True)
        if len(found.indices) != entries.shape[0]:
            raise ValueError(f"indptr ends at {len(found.indices)}, but there are {entries.shape[0]} entries")
    places = found.tocoo()
    pattern = Pattern(*places.coords, found.shape, order="" if form == "dia" else form)
    return np.ravel(entries)[places.data - 1] if form == "dia" else entries, pattern


class _Format(Counterpart):
    """The metaclass of SciPy's classes of formats, which matrices with traced entries do not have.

    A class that is derived from one of these is derived from SciPy's.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], path: str = "") -> Any:
        if path:
            return super().__new__(cls, name, bases, body, path)
        return type(name, tuple(getattr(base, "_theirs_of", base) for base in bases), body)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is SparseArray and instance.pattern.is_matrix == cls.__name__.endswith("matrix"):
            refuse_traced(f"isinstance of a sparse matrix and {cls.__name__}", instance.entries)
        return super().__instancecheck__(instance)


def _class_of(name: str, forms: str) -> Any:
    """A class that makes `SparseArray`s of traced entries, and SciPy's matrices of plain ones."""
    kind, is_matrix, path = name[:3], name.endswith("matrix"), f"scipy.sparse.{name}"

    @beside(path, differs=True, keeps=True)
    def make(
        arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None
    ) -> SparseArray:
        if isinstance(arg1, SparseArray) and shape is None:
            data, places = arg1.entries, arg1.pattern
        elif form := _form_of(kind, arg1, shape):
            data, places = _of_form(form, arg1, shape, dtype)
        else:
            refuse_traced(f"{path} of a dense array", arg1)
            data, places = as_sparse(find(path)(arg1, shape=shape))._parts
        made = SparseArray(data, places.marked(places.order, is_matrix))
        return made.asformat(kind if kind != "dia" else None)

    body = {"__new__": lambda cls, *args, **keywords: make(*args, **keywords), "__module__": __name__}
    doc = f"A sparse matrix; see `{path}`. Traced entries give a `SparseArray`: those in {forms}."
    return _Format(name, (), {**body, "__doc__": doc}, path)


_POSITIONS, _COMPRESSED = "``(data, (row, col))``", "``(data, (row, col))`` or ``(data, indices, indptr)``"
coo_array, coo_matrix = (_class_of(name, _POSITIONS) for name in ("coo_array", "coo_matrix"))
csr_array, csr_matrix = (_class_of(name, _COMPRESSED) for name in ("csr_array", "csr_matrix"))
dia_array, dia_matrix = (_class_of(name, "``(data, offsets)``") for name in ("dia_array", "dia_matrix"))
csc_array, csc_matrix = (_class_of(name, _COMPRESSED) for name in ("csc_array", "csc_matrix"))


def isspmatrix(x: Any) -> bool:
    """Whether a value is a sparse matrix, and not an array; see `scipy.sparse.isspmatrix`."""
    return isinstance(x, scipy.sparse.spmatrix)


def matmul(a: Any, b: Any) -> Any:
    """Multiply a sparse and a dense matrix or vector, in either order.

    Either may be traced; the sparse one may be of `scipy.sparse`, which itself does not support traced arrays.

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
    """Return a sparse matrix with the positions of `a` and the entries `data`, in the order of ``a.tocoo()``."""
    pattern = as_sparse(a).pattern
    data = np.asarray(data)
    if data.shape != (pattern.size,):
        raise ValueError(f"with_data: the matrix has {pattern.size} entries, but data has shape {data.shape}")
    return SparseArray(floating(data), pattern)
