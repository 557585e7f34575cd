"""Matrices of `scipy.sparse` as constant operands in operations with traced arrays."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import scipy

from tapeengine_scipy.sparse.matrix import as_sparse, dense, matmul


def rules() -> Mapping[type, Callable[..., Any]]:
    """Map SciPy's two families of sparse classes to the rule for operators with traced arrays."""
    return {scipy.sparse.sparray: operated, scipy.sparse.spmatrix: operated}


def operated(ufunc: Any, x: Any, y: Any = None) -> Any:
    """Return the result of an operator or method with one constant sparse operand and one traced operand."""
    if not isinstance(ufunc, numpy.ufunc):
        return as_sparse(x).multiply(y) if ufunc.__name__ == "multiply" else x @ y if numpy.ndim(y) else y * x
    if ufunc is numpy.matmul:
        return matmul(x, y)
    if ufunc is numpy.multiply:
        return x * as_sparse(y) if scipy.sparse.issparse(y) else as_sparse(x) * y
    if ufunc is numpy.true_divide and scipy.sparse.issparse(x):
        return as_sparse(x).multiply(1.0 / y)  # the operator * of SciPy's matrices is @
    if ufunc is numpy.add or ufunc is numpy.subtract:
        if numpy.ndim(x) == 0 and not scipy.sparse.issparse(x) and y.format != "dok":  # which adds to all elements
            return as_sparse(y) + x  # raises SciPy's error
        return ufunc(*(dense(part) if scipy.sparse.issparse(part) else part for part in (x, y)))
    return NotImplemented
