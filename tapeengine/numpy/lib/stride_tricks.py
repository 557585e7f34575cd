"""numpy.lib.stride_tricks, for programs that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib import stride_tricks as _theirs

from ..._core.arrays.array import Array, follow
from ..._core.arrays.functions import offered
from ...errors import UnsupportedError

__all__ = ["as_strided", "sliding_window_view"]

sliding_window_view = offered(_theirs.sliding_window_view)


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """`numpy.lib.stride_tricks.as_strided`; for a traced array a copy, which cannot be written to.

    An element that is shown several times gets the sum of its cotangents. numpy's view would show later writes to `x`;
    here, using the copy after such a write is an error.

    Raises
    ------
    UnsupportedError
        If strides lead to memory outside the elements of `x`, or if the copy is used after a write to `x`.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda a: as_strided(a, (2, 2), (8, 8)).sum())(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 1.])
    """
    if type(x) is not Array:
        return _theirs.as_strided(x, shape, strides, subok, writeable)
    shape = x.shape if shape is None else tuple(shape)
    if strides is None:  # numpy's are those of an array of the new shape, if this one has no gaps
        strides = numpy.empty(shape, x.dtype).strides if x.flags.c_contiguous else x.strides
    strides = tuple(strides)
    found = numbers_at(x, offsets(shape, strides))
    if found is None:
        raise UnsupportedError(
            f"as_strided of a traced array of shape {x.shape} would read memory outside its elements. Pass the "
            "whole array with strides of its own layout, or use sliding_window_view"
        )
    axes = numpy.argsort([-abs(stride) for stride in strides], kind="stable")  # as numpy's results
    indices = found.transpose(axes).copy()
    copied = x.reshape(-1)[indices, ...].transpose(numpy.argsort(axes))
    return numpy.broadcast_to(follow(copied, x), shape)


def numbers_at(x: Any, read: Any) -> Any:
    """The numbers of an array's elements at distances from its first one, in bytes; None if some are not elements."""
    own, size = offsets(x.shape, x.strides).ravel(), x.dtype.itemsize
    first = own.min(initial=0)
    number = numpy.full((own.max(initial=first - size) - first) // size + 1, -1)
    number[(own - first) // size] = numpy.arange(own.size)
    places = (read - first) // size
    if (read % size).any() or places.min(initial=0) < 0 or places.max(initial=-1) >= number.size:
        return None
    found = number[places]
    return None if found.min(initial=0) < 0 else found


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The distance of each element from the first one, in bytes."""
    total: Any = numpy.zeros((), int)
    for extent, stride in zip(shape, strides, strict=True):
        total = total[..., None] + numpy.arange(extent) * stride
    return total


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)
