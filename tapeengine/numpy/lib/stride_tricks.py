"""numpy.lib.stride_tricks, for programs that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib import stride_tricks as _theirs

from ..._core.arrays.array import Array, form_of, view
from ..._core.arrays.functions import offered
from ...errors import UnsupportedError

__all__ = ["as_strided", "sliding_window_view"]

sliding_window_view = offered(_theirs.sliding_window_view)


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """`numpy.lib.stride_tricks.as_strided`: a view, which cannot be written to if it shows elements several times.

    Raises
    ------
    UnsupportedError
        If strides lead to memory outside the elements of `x`.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda a: as_strided(a, (2, 2), (8, 8)).sum())(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 1.])
    """
    if type(x) is not Array:
        return _theirs.as_strided(x, shape, strides, subok, writeable)
    shown = _theirs.as_strided(form_of(x), shape, strides)
    if not is_within(shown, form_of(x)):
        raise UnsupportedError(
            f"as_strided of a traced array of shape {x.shape} would read memory outside its elements. Pass the "
            "whole array with strides of its own layout, or use sliding_window_view"
        )
    writeable = writeable and not repeats(shown)
    return view(x, lambda values: as_strided(values, shown.shape, shown.strides, writeable=writeable))


def is_within(shown: Any, x: Any) -> bool:
    """Whether a view shows elements of an array only."""
    (first, last), (start, end) = map(numpy.lib.array_utils.byte_bounds, (shown, x))
    if end - start == x.nbytes:  # without gaps
        return bool(
            not shown.size or (start <= first and last <= end and not (numpy.array(shown.strides) % x.itemsize).any())
        )
    return bool(numpy.isin(offsets(shown), offsets(x)).all())


def repeats(shown: Any) -> bool:
    """Whether a view shows elements more than once."""
    reach = 0
    for stride, extent in sorted(zip(map(abs, shown.strides), shown.shape, strict=True)):
        if extent > 1 and stride <= reach:
            return True
        reach += (extent - 1) * stride
    return False


def offsets(x: Any) -> Any:
    """The distance of each element from the first one, in bytes."""
    total: Any = numpy.zeros((), int)
    for extent, stride in zip(x.shape, x.strides, strict=True):
        total = total[..., None] + numpy.arange(extent) * stride
    return total


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
