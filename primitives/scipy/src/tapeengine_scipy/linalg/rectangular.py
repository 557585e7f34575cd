"""Functions of rectangular matrices: norms, pseudoinverses, least squares, null spaces; all at constant rank."""

import math
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import decides
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, of_python
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._transpose import conjugate_transpose
from tapeengine_scipy.linalg.solve import _check_finite


@beside("scipy.linalg.norm")
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """Return a norm of a matrix or a vector; see `scipy.linalg.norm`.

    Examples
    --------
    >>> import numpy as np
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    a = floating(a)
    _check_finite("norm", check_finite, a)
    if axis is not None or keepdims or not _is_by_lapack(a, ord=ord):
        return np.linalg.norm(a, ord, axis, keepdims)
    scale = float(_scale(a)) if a.ndim == 1 else 1.0
    return of_python(np.linalg.norm(a, ord) if scale == 1.0 else np.linalg.norm(a / scale, ord) * scale)


@decides("scipy.linalg.norm.is_by_lapack", Sample((uniform((2, 2)),), {"ord": 2}))
def _is_by_lapack(a: Any, *, ord: Any) -> bool:
    """Whether SciPy computes the norm by BLAS or LAPACK, which return Python's numbers."""
    if a.ndim == 1:
        return bool(a.size) and ord in (None, 2)
    return a.ndim == 2 and ord in (1, numpy.inf) and (numpy.isfortran(a) or numpy.isfortran(a.T))


@decides("scipy.linalg.norm.scale", Sample((numpy.array([1e200, 1.0]),)), Sample((uniform((2,)),)))
def _scale(a: Any) -> Any:
    """A power of two as large as a vector whose squares leave the range of its precision, otherwise 1."""
    largest, range_ = float(numpy.abs(a).max()), int(numpy.finfo(a.dtype).maxexp) - 4
    power = math.frexp(largest)[1] if 0.0 < largest < math.inf else 0
    return math.ldexp(1.0, max(-range_, min(power, range_))) if abs(power) > range_ // 3 else 1.0


@with_signature("scipy.linalg.pinv")
@over_batches(2)
def pinv(a: Any, atol: float | None, rtol: float | None, return_rank: bool, check_finite: bool) -> Any:
    """Return the pseudoinverse of a matrix; see `scipy.linalg.pinv`. Its derivative holds at constant rank.

    Examples
    --------
    >>> import numpy as np
    >>> pinv(np.array([[2.0], [0.0]]))
    array([[0.5, 0. ]])
    """
    _check_finite("pinv", check_finite, a)
    relative = max(a.shape) * numpy.finfo(a.dtype).eps if rtol is None else rtol
    if atol is not None:
        largest = float(numpy.linalg.norm(plain_value(a), 2)) if a.size else 0.0
        relative += atol / largest if largest else 0.0
    inverse = np.linalg.pinv(a, relative)
    return (inverse, numpy.intp(np.linalg.matrix_rank(a, rtol=relative))) if return_rank else inverse


@with_signature("scipy.linalg.lstsq")
@over_batches(2, "1|2")
def lstsq(a: Any, b: Any, cond: float | None, check_finite: bool, lapack_driver: str | None, **_: Any) -> Any:
    """Return a least-squares solution, residues, the rank and singular values; see `scipy.linalg.lstsq`.

    Differentiable in `a` and `b`, at constant rank.

    Examples
    --------
    >>> import numpy as np
    >>> lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))[0].round(12)
    array([2.])
    """
    _check_finite("lstsq", check_finite, a, b)
    if lapack_driver not in (None, "gelsd", "gelsy", "gelss"):
        raise ValueError(f'LAPACK driver "{lapack_driver}" is not found')
    cut = float(numpy.finfo(a.dtype).eps) if cond is None else cond
    x, residues, rank, values = np.linalg.lstsq(a, b, cut)
    if lapack_driver == "gelsy" or a.shape[0] <= a.shape[1] or rank < a.shape[1]:
        residues = numpy.empty((0,), x.dtype)
    elif b.ndim == 1:
        residues = np.reshape(residues, ())[()]
    return x, residues, int(rank), None if lapack_driver == "gelsy" else values


@with_signature("scipy.linalg.null_space")
@over_batches(2)
def null_space(A: Any, rcond: float | None, check_finite: bool, lapack_driver: str, **_: Any) -> Any:
    """Return a basis of the null space; see `scipy.linalg.null_space`. Of one with more than one vector, which is
    arbitrary, there is no derivative; the projector onto it is ``I - pinv(A) @ A``.

    Examples
    --------
    >>> import numpy as np
    >>> abs(null_space(np.array([[1.0, 0.0]])))
    array([[0.],
           [1.]])
    """
    basis = scipy.linalg.null_space(plain_value(A), rcond, check_finite=check_finite, lapack_driver=lapack_driver)
    if basis.shape[1] == 0:
        return basis
    if basis.shape[1] > 1:
        raise UnsupportedError(
            "null_space: a basis of more than one vector is arbitrary, so it has no derivative; use the projector "
            "numpy.eye(n) - linalg.pinv(A) @ A"
        )
    found = basis - np.linalg.pinv(A) @ (A @ basis)  # projects the basis; the first derivative is that of the basis
    for _ in range(2):
        found = found - np.linalg.pinv(A) @ (A @ found)
    return found / np.sqrt(np.real(conjugate_transpose(found) @ found))
