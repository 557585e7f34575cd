"""Transposes of stacks of matrices, for rules and compositions."""

from typing import Any

import tapeengine.numpy as np
from tapeengine_primitives.linalg_solve import conj_transpose as conjugate_transpose
from tapeengine_primitives.linalg_solve import fold, on_diagonal, unfold
from tapeengine_primitives.products import conjugated as conjugate
from tapeengine_primitives.products import swapped as transpose
from tapeengine_scipy._values import is_complex

__all__ = ["conjugate", "conjugate_transpose", "diagonal", "fold", "is_complex", "on_diagonal", "transpose", "unfold"]


def diagonal(a: Any) -> Any:
    """The diagonals of a stack of matrices."""
    return np.diagonal(a, axis1=-2, axis2=-1)
