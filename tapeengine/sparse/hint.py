"""A word to those whose dense Jacobian is mostly zero."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["LARGE", "hint_at_sparse"]

#: Entries from which on a dense Jacobian is looked at: 8 MB.
LARGE = 1_000_000
#: A sparse Jacobian is worth a word where it takes less than this part of the sweeps.
PART = 0.1


def hint_at_sparse(matrix: Any) -> None:
    """Warn where a sparse Jacobian would have cost less than a tenth.

    What it costs is at least as many sweeps as a row or a column has entries, whichever is less; the dense one has
    taken as many as there are rows or columns.

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
            "that are not zero. te.sparse_jacobian, or te.sparse_hessian for second derivatives, takes about "
            f"{sweeps} sweeps in place of {min(matrix.shape):,}",
            stacklevel=4,
        )
