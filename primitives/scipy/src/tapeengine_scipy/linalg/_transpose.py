"""Transposes of stacks of matrices, for rules and compositions."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine_scipy._values import is_complex as is_complex


def transpose(a: Any) -> Any:
    """Swap the last two axes."""
    return np.swapaxes(a, -1, -2)


def conjugate_transpose(a: Any) -> Any:
    """Conjugate and swap the last two axes."""
    return np.conj(np.swapaxes(a, -1, -2)) if is_complex(a) else np.swapaxes(a, -1, -2)


def conjugate(a: Any) -> Any:
    """Conjugate; a real value is unchanged."""
    return np.conj(a) if is_complex(a) else a


def diagonal(a: Any) -> Any:
    """The diagonals of a stack of matrices."""
    return np.diagonal(a, axis1=-2, axis2=-1)


def on_diagonal(d: Any) -> Any:
    """Diagonal matrices with diagonals `d`."""
    return d[..., :, None] * numpy.eye(numpy.shape(d)[-1], dtype=d.dtype)


def fold(full: Any, lower: bool = True) -> Any:
    """Return the cotangent of the one triangle that an operation on Hermitian matrices reads.

    `full` is the cotangent of the whole Hermitian matrix. An entry off the diagonal occurs in it twice, once
    conjugated, and only the real part of the diagonal is used.
    """
    both = full + conjugate_transpose(full)
    off = np.tril(both, -1) if lower else np.triu(both, 1)
    return off + on_diagonal(np.real(diagonal(full)))


def unfold(triangle: Any, lower: bool = True) -> Any:
    """Return the Hermitian matrix with the given `triangle`; the transpose of `fold`."""
    off = np.tril(triangle, -1) if lower else np.triu(triangle, 1)
    return off + conjugate_transpose(off) + on_diagonal(np.real(diagonal(triangle)))
