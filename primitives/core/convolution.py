"""Convolution and correlation of vectors."""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import bilinear, unbroadcast

from .ufuncs import of_names
from .values import as_array, dtype_of, ndim_of, shape_of


def _whole(ct: Any, first: int, second: int, mode: str) -> Any:
    """Place the cotangent of a convolution where its mode takes it from the full convolution."""
    length = shape_of(ct)[0]
    before = {"full": 0, "same": (min(first, second) - 1) // 2, "valid": min(first, second) - 1}[mode]
    return np.concatenate((numpy.zeros(before), ct, numpy.zeros(first + second - 1 - before - length)))


def _transposed(ct: Any, other: Any, first: int, second: int, mode: str, space: Any) -> Any:
    """Return sum_j whole[k + j] other[j] for each k. Typed programs also convolve with numbers."""
    return unbroadcast(np.convolve(_whole(ct, first, second, mode), np.flip(np.atleast_1d(other), 0), "valid"), space)


def _pattern(call: patterns.Call) -> Any:
    """Each element depends on a window of each argument; the window has the length of the other argument."""
    extents = [space.shape[0] for space in call.spaces]
    parts = []
    for k, sets in call.sets.items():
        other = extents[1 - k]
        padding = numpy.zeros(other - 1, numpy.uint64)
        parts.append(patterns.windows(call, numpy.concatenate((padding, sets, padding)), other))
    found = parts[0] if len(parts) == 1 else call.union(*parts)
    start = {"full": 0, "same": (min(extents) - 1) // 2, "valid": min(extents) - 1}[call.static["mode"]]
    return found[start : start + call.shape[0]]


CONVOLVE = bilinear(
    "numpy.convolve",
    lambda a, v, *, mode="full": numpy.convolve(a, v, mode),
    {
        "a": lambda ct, v, a_space, v_space, mode: _transposed(ct, v, a_space.size, v_space.size, mode, a_space),
        "v": lambda ct, a, a_space, v_space, mode: _transposed(ct, a, v_space.size, a_space.size, mode, v_space),
    },
    samples=(
        *(
            Sample((uniform((p,)), uniform((q,))), {"mode": mode})
            for mode in ("full", "same", "valid")
            for p, q in ((5, 3), (4, 2), (3, 5), (2, 5), (3, 2))
        ),
        Sample((uniform((4,), dtype=numpy.float32), uniform((2,), dtype=numpy.float32))),
        Sample((uniform((4,)), uniform((2,), dtype=complex)), {"mode": "same"}),
    ),
    pattern=_pattern,
    doc="the convolution of two vectors; da = ct correlated with v",
)


#: numpy's numbers of the modes.
MODES = ("valid", "same", "full")


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Convolve two vectors; see `numpy.convolve`."""
    numbered = isinstance(mode, (int, numpy.integer)) and not isinstance(mode, bool) and 0 <= mode < len(MODES)
    how = MODES[mode] if numbered else mode  # numpy refuses others
    return CONVOLVE(np.atleast_1d(as_array(a)), np.atleast_1d(as_array(v)), mode=how)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Correlate two vectors; see `numpy.correlate`."""
    x, y = as_array(a), as_array(v)
    if not (ndim_of(x) and ndim_of(y)):
        raise ValueError("object of too small depth for desired array")
    is_of_objects = "O" in (dtype_of(x).kind, dtype_of(y).kind)  # which numpy does not conjugate
    if shape_of(x)[0] < shape_of(y)[0]:
        turned = np.flip(correlate(y, x, mode), 0)
        return (turned if is_of_objects else np.conjugate(turned)).copy()
    turned = np.flip(y, 0)
    return convolve(x, turned if is_of_objects else np.conjugate(turned), mode)


RULES = of_names(vars(), numpy)
