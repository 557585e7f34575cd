"""Sparse matrices with traced entries, and derivatives of products and linear systems with them.

A matrix of `scipy.sparse` is a constant whose operators accept traced arrays. `linalg` has the solvers.

Examples
--------
>>> import numpy as np
>>> import tapeengine as te
>>> from tapeengine_scipy import sparse
>>> total = lambda data: (sparse.coo_array((data, ([0, 1], [1, 0])), shape=(2, 2)) @ np.array([1.0, 10.0])).sum()
>>> te.grad(total)(np.array([2.0, 3.0]))
array([10.,  1.])
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.sparse import linalg
from tapeengine_scipy.sparse.diagonals import diags, diags_array
from tapeengine_scipy.sparse.matrix import (
    SparseArray,
    coo_array,
    coo_matrix,
    csc_array,
    csc_matrix,
    csr_array,
    csr_matrix,
    dia_array,
    dia_matrix,
    issparse,
    isspmatrix,
    matmul,
    with_data,
)

__all__ = [
    "SparseArray", "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix", "dia_array",
    "dia_matrix", "diags", "diags_array", "issparse", "isspmatrix", "linalg", "matmul", "with_data",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.sparse")
