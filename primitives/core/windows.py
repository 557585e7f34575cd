"""Sliding windows: elements that are read several times, whose cotangents add up where windows overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import Array, follow
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear

from .values import normal_axes, shape_of


def _windows(x: Any, *, window: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The windows, in the order of memory that numpy gives to results computed from the view."""
    return numpy.lib.stride_tricks.sliding_window_view(x, window, axes).copy(order="K")


def _added(ct: Any, *, shape: tuple[int, ...], window: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Add windows at their positions: for each position within a window, one slice of the array."""
    total = numpy.zeros(shape, ct.dtype)
    for place in numpy.ndindex(*window):
        slices = [slice(None)] * len(shape)
        starts = dict.fromkeys(axes, 0)
        for axis, start in zip(axes, place, strict=True):
            starts[axis] += start  # an axis may occur twice, for windows of windows
        for axis, start in starts.items():
            slices[axis] = slice(start, start + ct.shape[axis])
        total[tuple(slices)] += ct[(..., *place)]
    return total


def _samples(shape: tuple[int, ...], window: tuple[int, ...], axes: tuple[int, ...], dtype: Any = float) -> Sample:
    return Sample((uniform(shape, dtype=dtype),), {"window": window, "axes": axes})


_CASES = (((5,), (3,), (0,)), ((3, 4), (2, 3), (0, 1)), ((2, 4), (3,), (1,)), ((6,), (2, 3), (0, 0)))

WINDOWS: Primitive = linear(
    "numpy.sliding_window_view",
    _windows,
    {"x": lambda ct, x_space, window, axes: WINDOWS_ADDED(ct, shape=x_space.shape, window=window, axes=axes)},
    samples=(
        *(_samples(*case) for case in _CASES),
        _samples((4,), (2,), (0,), numpy.float32),
        _samples((4,), (2,), (0,), complex),
    ),
    pattern=patterns.moves,
    doc="windows along axes; dx[k] = the sum of ct over the windows that hold element k",
)


def _added_samples() -> tuple[Sample, ...]:
    shapes = (_windows(numpy.zeros(shape), window=window, axes=axes).shape for shape, window, axes in _CASES)
    return tuple(
        Sample((uniform(windows),), {"shape": shape, "window": window, "axes": axes})
        for windows, (shape, window, axes) in zip(shapes, _CASES, strict=True)
    )


def _added_pattern(call: patterns.Call) -> Any:
    """Each element depends on the windows that contain it."""
    shape = call.static["shape"]
    held = _windows(
        numpy.arange(math.prod(shape)).reshape(shape), window=call.static["window"], axes=call.static["axes"]
    )
    return call.grouped(call.sets[0], held, math.prod(shape)).reshape(shape)


WINDOWS_ADDED: Primitive = linear(
    "numpy.sliding_windows_added",
    _added,
    {"ct": lambda t, window, axes: WINDOWS(t, window=window, axes=axes)},
    samples=_added_samples,
    pattern=_added_pattern,
    doc="windows added where they lie, the transpose of sliding_window_view",
)


def sliding_window_view(
    x: Any,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Any:
    """Return windows along axes; see `numpy.lib.stride_tricks.sliding_window_view`.

    The result is a copy, which cannot be written to. numpy's view would show later writes to `x`; here, using the copy
    after such a write is an `UnsupportedError`.
    """
    if writeable:
        raise NotImplementedError("windows of traced values are copies and cannot be written to")
    window = tuple(window_shape) if isinstance(window_shape, Sequence) else (window_shape,)
    axes = tuple(axis) if isinstance(axis, Sequence) else axis
    numpy.lib.stride_tricks.sliding_window_view(numpy.broadcast_to(0.0, shape_of(x)), window, axes)  # its errors
    array = np.asarray(x)
    windows = WINDOWS(array, window=window, axes=normal_axes(axes, len(shape_of(x))))
    if isinstance(windows, Array) and isinstance(array, Array):
        follow(windows, array)
    return np.broadcast_to(windows, windows.shape)


RULES = {numpy.lib.stride_tricks.sliding_window_view: sliding_window_view}
