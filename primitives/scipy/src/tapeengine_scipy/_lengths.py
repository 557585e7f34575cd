"""The length of a Fourier, cosine or sine transform along an axis."""

from typing import Any

import numpy

import tapeengine.numpy as np

__all__ = ["length_of", "resized"]


def resized(x: Any, length: int, axis: int) -> Any:
    """Cut an axis, or pad it with zeros."""
    have = x.shape[axis]
    if have == length:
        return x
    if have > length:
        return x[(slice(None),) * (axis % x.ndim) + (slice(0, length),)]
    room = list(x.shape)
    room[axis] = length - have
    return np.concatenate([x, numpy.zeros(room, x.dtype)], axis=axis)


def length_of(n: Any, default: int, plan: Any) -> int:
    """The length of a transform."""
    if plan is not None:
        raise NotImplementedError("scipy.fft takes no precomputed plan")
    length = default if n is None else int(n)
    if length < 1:
        raise ValueError(f"invalid number of data points ({length})")
    return length
