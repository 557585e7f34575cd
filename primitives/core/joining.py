"""Arrays joined, stacked, repeated, rolled and padded. All of these are linear."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import sample_of
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .ufuncs import of_names
from .values import (
    as_array,
    in_order,
    ndim_of,
    normal_axes,
    normal_axis,
    shape_of,
)

#: With at least this many arrays, the positions at which they end are computed together, not one by one.
MANY = 16


def along(axis: int, part: Any) -> tuple[Any, ...]:
    """Return the index that applies `part` to one axis and takes all of the axes before it."""
    return (slice(None),) * axis + (part,)


def _own_part(ct: Any, index: int, xs_spaces: Any, axis: int, end_of: Callable[[int], int] | None) -> Any:
    space, axis = xs_spaces[index], normal_axis(axis, xs_spaces[index].ndim)
    end = end_of(index) if end_of else sum(space.shape[axis] for space in xs_spaces[: index + 1])
    return unbroadcast(ct[along(axis, slice(end - space.shape[axis], end))], space)


def _layer(ct: Any, index: int, xs_spaces: Any, axis: int) -> Any:
    return unbroadcast(ct[along(normal_axis(axis, xs_spaces[index].ndim + 1), index)], xs_spaces[index])


def inside(axis: int) -> int:
    """Convert an axis of a block's entries to an axis of the block."""
    return axis + 1 if axis >= 0 else axis


CONCATENATE = linear(
    "numpy.concatenate",
    lambda *xs, axis=0, dtype=None, end_of=None: numpy.concatenate(xs, axis=axis, dtype=dtype),
    {"xs": _own_part},
    block=lambda ts, spaces, axis, dtype, end_of: numpy.concatenate(ts, axis=inside(axis), dtype=dtype),
    variadic=True,
    samples=(
        Sample((uniform((2, 3)), uniform((1, 3)), uniform((0, 3)))),
        Sample((uniform((2, 3)), uniform((2, 1))), {"axis": -1}),
        Sample((uniform((2,), dtype=numpy.float32), uniform((3,)))),
        Sample((uniform((2,)), uniform((2,), dtype=complex))),
        Sample((uniform((2,)),)),
        Sample((uniform((2,)), uniform((1,))), {"dtype": numpy.float32}),
    ),
    pattern=patterns.moves,
    doc="arrays joined along an axis; each gets its part of ct",
)
STACK = linear(
    "numpy.stack",
    lambda *xs, axis=0, dtype=None: numpy.stack(xs, axis=axis, dtype=dtype),
    {"xs": _layer},
    block=lambda ts, spaces, axis, dtype: numpy.stack(ts, axis=inside(axis), dtype=dtype),
    variadic=True,
    samples=(
        Sample((uniform((2, 3)), uniform((2, 3)))),
        Sample((uniform((2, 3)), uniform((2, 3)), uniform((2, 3))), {"axis": -1}),
        Sample((uniform((2,), dtype=numpy.float32), uniform((2,))), {"axis": 1}),
        Sample((uniform(()), uniform(()))),
    ),
    pattern=patterns.moves,
    doc="arrays joined along a fresh axis; each gets its layer of ct",
)


def _repeat_vjp(ct: Any, x_space: Any, repeats: int, axis: int) -> Any:
    axis = normal_axis(axis, x_space.ndim)
    shape = (*x_space.shape[: axis + 1], max(repeats, 0), *x_space.shape[axis + 1 :])  # of no elements -1 is one, too
    copies = np.moveaxis(np.reshape(ct, shape), axis + 1, 0)
    is_short = 1 < math.prod(shape[axis + 2 :]) < 64 > repeats > 0  # numpy adds rows as short as these slowly
    return unbroadcast(sum(copies[1:], copies[0]) if is_short else np.sum(copies, axis=0), x_space)


REPEAT = linear(
    "numpy.repeat",
    lambda x, *, repeats, axis: numpy.repeat(x, repeats, axis=axis),
    _repeat_vjp,
    samples=(
        Sample((uniform((2, 3)),), {"repeats": 2, "axis": 0}),
        Sample((uniform((2, 3)),), {"repeats": 3, "axis": -1}),
        Sample((uniform((2,), dtype=numpy.float32),), {"repeats": 2, "axis": 0}),
        Sample((uniform((2,), dtype=complex),), {"repeats": 1, "axis": 0}),
    ),
    pattern=patterns.moves,
    doc="each element a number of times; dx = the sum of ct over the copies",
)


def _roll_vjp(ct: Any, x_space: Any, shift: Any, axis: Any) -> Any:
    back = tuple(-one for one in shift) if isinstance(shift, tuple) else -shift
    return unbroadcast(ROLL(ct, shift=back, axis=axis), x_space)


ROLL = linear(
    "numpy.roll",
    lambda x, *, shift, axis=None: numpy.roll(x, shift, axis=axis),
    _roll_vjp,
    samples=(
        Sample((uniform((2, 3)),), {"shift": 1}),
        Sample((uniform((2, 3)),), {"shift": -2, "axis": 1}),
        Sample((uniform((2, 3)),), {"shift": (1, 2), "axis": (0, 1)}),
        Sample((uniform((3,), dtype=numpy.float32),), {"shift": 4, "axis": 0}),
        Sample((uniform((3,), dtype=complex),), {"shift": 1, "axis": 0}),
    ),
    pattern=patterns.moves,
    doc="elements moved round an axis; dx = ct rolled back",
)


def concatenate(arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along an axis; see `numpy.concatenate`."""
    parts = [as_array(part) for part in arrays]
    if axis is None:
        dtype = numpy.result_type(*map(sample_of, parts)) if dtype is None else dtype  # Python's numbers adapt
        parts, axis = [np.ravel(part) for part in parts], 0
    most, end_of = min(map(ndim_of, parts), default=0), None
    if len(parts) > MANY and type(axis) is int and -most <= axis < most:
        end_of = tuple(itertools.accumulate(shape_of(part)[axis] for part in parts)).__getitem__
    return CONCATENATE(*parts, axis=axis, dtype=dtype, end_of=end_of)


def stack(arrays: Any, axis: int = 0, out: None = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along an additional axis; see `numpy.stack`."""
    return STACK(*[as_array(part) for part in arrays], axis=axis, dtype=dtype)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along their second axis, vectors along their first; see `numpy.hstack`."""
    parts = [np.atleast_1d(as_array(part)) for part in tup]
    return concatenate(parts, 0 if ndim_of(parts[0]) == 1 else 1, dtype=dtype)


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join arrays along their first axis, vectors as rows; see `numpy.vstack`."""
    return concatenate([np.atleast_2d(as_array(part)) for part in tup], 0, dtype=dtype)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Join an array and values; see `numpy.append`."""
    x, y = as_array(arr), as_array(values)
    return concatenate((x, y), axis) if axis is not None else concatenate((np.ravel(x), np.ravel(y)))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat elements; see `numpy.repeat`."""
    x = as_array(a)
    x, axis = (np.ravel(x), 0) if axis is None or not ndim_of(x) else (x, normal_axis(axis, ndim_of(x)))
    if numpy.size(repeats) == 1:
        return REPEAT(x, repeats=int(numpy.ravel(repeats)[0]), axis=axis)
    return in_order(x[along(axis, numpy.repeat(numpy.arange(shape_of(x)[axis]), repeats))], "C")


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements cyclically along an axis; see `numpy.roll`."""
    steps = tuple(map(int, shift)) if numpy.ndim(shift) else int(shift)
    return ROLL(as_array(a), shift=steps, axis=tuple(axis) if isinstance(axis, Sequence) else axis)


def shifted(x: Any, axes: Any, sign: int) -> Any:
    """Move the zero frequency to the middle (sign 1) or back (-1)."""
    x = as_array(x)
    chosen = normal_axes(axes, ndim_of(x))
    shape = shape_of(x)
    shift = tuple(shape[axis] // 2 if sign > 0 else -(shape[axis] // 2) for axis in chosen)
    return ROLL(x, shift=shift, axis=chosen)


def fftshift(x: Any, axes: Any = None) -> Any:
    """Move the zero frequency to the middle; see `numpy.fft.fftshift`."""
    return shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """Undo `fftshift`; see `numpy.fft.ifftshift`."""
    return shifted(x, axes, -1)


RULES = of_names(vars(), numpy, numpy.fft)
