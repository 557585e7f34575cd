"""numpy.poly1d with traced coefficients."""

from typing import Any

import numpy

from .._core.arrays.array import holds_traced
from ._creation import asarray

__all__ = ["poly1d"]


class poly1d(numpy.poly1d):
    """`numpy.poly1d`: a list of traced numbers becomes a traced array, not an array of objects.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda a: np.poly1d([a, 2.0])(3.0))(1.0)
    3.0
    """

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        super().__init__(asarray(c_or_r) if holds_traced(c_or_r) else c_or_r, r, variable)
