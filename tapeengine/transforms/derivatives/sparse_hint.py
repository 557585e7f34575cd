"""A warning for dense Jacobians that are mostly zero."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

#: The number of entries from which a dense Jacobian is examined: 8 MB.
LARGE = 1_000_000
#: The largest ratio of sweeps, sparse over dense, at which the warning is issued.
PART = 0.1


def hint_at_sparse(matrix: Any) -> None:
    """Warn if a sparse Jacobian would have cost less than a tenth.

    It costs at least as many sweeps as the longest row or the longest column has entries, whichever is smaller; the
    dense one has cost as many as there are rows or columns.

    Parameters
    ----------
    matrix : numpy.ndarray of shape (rows, columns)
    """
    if matrix.size < LARGE:
        return
    entries = matrix != 0
    sweeps = int(min(np.count_nonzero(entries, axis=axis).max(initial=0) for axis in (0, 1)))
    if sweeps < PART * min(matrix.shape):
        warnings.warn(
            f"this Jacobian of {matrix.shape[0]:,} x {matrix.shape[1]:,} has {np.count_nonzero(entries):,} entries "
            "different from zero. te.sparse_jacobian, or te.sparse_hessian for second derivatives, takes about "
            f"{sweeps} sweeps instead of {min(matrix.shape):,}",
            stacklevel=4,
        )
