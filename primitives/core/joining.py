"""Arrays joined, stacked, repeated, rolled and padded. All of these are linear."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import plain, sample_of
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    in_order,
    is_traced,
    ndim_of,
    normal_axes,
    normal_axis,
    shape_of,
)

#: From so many arrays on, the places where they end are added up once, and not for each.
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
    return unbroadcast(np.sum(np.reshape(ct, shape), axis=axis + 1), x_space)


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


def dstack(tup: Any) -> Any:
    """Join arrays along their third axis; see `numpy.dstack`."""
    return concatenate([np.atleast_3d(as_array(part)) for part in tup], 2)


def column_stack(tup: Any) -> Any:
    """Join vectors as columns; see `numpy.column_stack`."""
    parts = [as_array(part) for part in tup]
    return concatenate([np.reshape(p, (-1, 1)) if ndim_of(p) < 2 else p for p in parts], 1)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Join an array and values; see `numpy.append`."""
    x, y = as_array(arr), as_array(values)
    return concatenate((x, y), axis) if axis is not None else concatenate((np.ravel(x), np.ravel(y)))


def block(arrays: Any) -> Any:
    """Join nested lists of blocks; see `numpy.block`."""
    joined = _block(arrays, max(_depth(arrays), _widest(arrays)), _depth(arrays))
    return joined if isinstance(arrays, list) else np.copy(joined, "C")


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _widest(arrays: Any) -> int:
    return max(map(_widest, arrays)) if isinstance(arrays, list) else ndim_of(arrays)


def _block(arrays: Any, ndim: int, depth: int) -> Any:
    if isinstance(arrays, list):
        return concatenate([_block(part, ndim, depth - 1) for part in arrays], ndim - depth)
    return np.reshape(arrays, (1,) * (ndim - ndim_of(arrays)) + shape_of(arrays))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat elements; see `numpy.repeat`."""
    x = as_array(a)
    x, axis = (np.ravel(x), 0) if axis is None or not ndim_of(x) else (x, normal_axis(axis, ndim_of(x)))
    if numpy.size(repeats) == 1:
        return REPEAT(x, repeats=int(numpy.ravel(repeats)[0]), axis=axis)
    return in_order(x[along(axis, numpy.repeat(numpy.arange(shape_of(x)[axis]), repeats))], "C")


def order_of(x: Any) -> str:
    """Return the memory order of numpy's results from an array's slices."""
    return "F" if is_traced(x) and ndim_of(x) and x.flags.fnc else "C"


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Insert values before the given positions; see `numpy.insert`."""
    x, obj = as_array(arr), plain(obj)
    v = np.array(values, dtype_of(x))
    x, axis = (np.ravel(x), 0) if axis is None else (x, normal_axis(axis, ndim_of(x)))
    shape, extent = list(shape_of(x)), shape_of(x)[axis]
    index = (
        numpy.arange(extent)[obj] if isinstance(obj, slice) else numpy.asarray(obj, None if numpy.size(obj) else int)
    )
    if index.dtype == bool:
        index = numpy.flatnonzero(index)
    if index.ndim == 0:
        v = np.moveaxis(np.reshape(v, (1,) * (len(shape) - ndim_of(v)) + shape_of(v)), 0, axis)
    shape[axis] = shape_of(v)[axis] if index.size == 1 and ndim_of(v) == len(shape) else index.size
    place = numpy.insert(numpy.arange(extent), obj, extent + numpy.arange(shape[axis]))
    joined = np.concatenate((x, np.broadcast_to(v, tuple(shape))), axis=axis)
    return in_order(joined[along(axis, place)], order_of(x))


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **keywords: Any) -> Any:
    """Apply a function to the vectors along an axis; see `numpy.apply_along_axis`."""
    moved = np.moveaxis(as_array(arr), axis, -1)
    lead = shape_of(moved)[:-1]
    parts = [as_array(func1d(moved[index], *args, **keywords)) for index in numpy.ndindex(*lead)]
    found = shape_of(parts[0])
    value = np.reshape(stack(parts), lead + found)
    ends = tuple(range(len(lead), len(lead) + len(found)))
    start = normal_axis(axis, ndim_of(moved))
    return np.moveaxis(value, ends, tuple(start + position for position in range(len(found))))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """Apply a reduction along axes, one after the other; see `numpy.apply_over_axes`."""
    value = as_array(a)
    for axis in numpy.atleast_1d(axes):
        axis = normal_axis(axis, ndim_of(value))
        found = func(value, axis)
        value = found if ndim_of(found) == ndim_of(value) else np.expand_dims(found, axis)
    return value


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements cyclically along an axis; see `numpy.roll`."""
    steps = tuple(map(int, shift)) if numpy.ndim(shift) else int(shift)
    return ROLL(as_array(a), shift=steps, axis=tuple(axis) if isinstance(axis, Sequence) else axis)


def tile(A: Any, reps: Any) -> Any:
    """Repeat a whole array along axes; see `numpy.tile`."""
    x = as_array(A)
    counts = tuple(numpy.atleast_1d(reps) + 0)  # a truth value is a number
    ndim = max(len(counts), ndim_of(x))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - ndim_of(x)) + shape_of(x)
    if all(count == 1 for count in counts):
        return np.reshape(np.copy(x, "K"), shape)
    paired = np.reshape(x, tuple(part for extent in shape for part in (1, extent)))
    spread = np.broadcast_to(paired, tuple(p for pair in zip(counts, shape, strict=True) for p in pair))
    return np.reshape(np.copy(spread, "C"), tuple(count * extent for count, extent in zip(counts, shape, strict=True)))


def resize(a: Any, new_shape: Any) -> Any:
    """Return an array of another shape, filled with repetitions; see `numpy.resize`."""
    shape = (new_shape,) if isinstance(new_shape, (int, numpy.integer)) else tuple(new_shape)
    if any(extent < 0 for extent in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = np.ravel(as_array(a))
    size, extent = int(numpy.prod(shape)), shape_of(flat)[0]
    if size == 0 or extent == 0:
        return numpy.zeros(shape, dtype_of(flat))
    return np.reshape(flat[numpy.arange(size) % extent], shape)


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
