"""numpy functions that make, copy, index and fill arrays, for programs whose numbers may be traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from tapeengine._core.array import Array
from tapeengine._core.assignment import add_at
from tapeengine._core.creation import fresh, from_values
from tapeengine._core.trace import value_of

__all__ = ["CREATION", "asarray", "copy", "plain"]


def plain(x: Any) -> Any:
    """A value, or a list or tuple of them, without derivatives."""
    if isinstance(x, (list, tuple)):
        return type(x)(plain(item) for item in x) if type(x) in (list, tuple) else x
    return value_of(x)


def asarray(value: Any, dtype: Any = None, **options: Any) -> Any:
    """numpy.asarray: a traced array is returned as it is, if the dtype fits; plain arrays as well."""
    if type(value) is Array or isinstance(value, numpy.ndarray):
        same = dtype is None or value.dtype == numpy.dtype(dtype)
        return value if same else value.astype(dtype)
    return from_values(value, dtype)


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """numpy.copy."""
    return a.copy() if type(a) is Array else from_values(a, None) if plain(a) is not a else fresh(numpy.copy(a, order))


def like(function: Callable[..., Any]) -> Callable[..., Any]:
    """zeros_like and its kind: fresh values of the shape and dtype of another array."""

    def made(a: Any, *args: Any, **options: Any) -> Any:
        return fresh(function(plain(a), *args, **options))

    made.__name__, made.__doc__ = function.__name__, f"numpy.{function.__name__}."
    return made


def full_like(a: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """numpy.full_like, with a fill value that may be traced."""
    result = fresh(numpy.empty_like(plain(a), dtype=dtype, **options))
    result[...] = fill_value
    return result


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """numpy.copyto."""
    if where is True:
        dst[...] = src
    else:
        mask = numpy.broadcast_to(plain(where), dst.shape)
        dst[mask] = spread(src, dst.shape)[mask]


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A value broadcast to a shape."""
    return numpy.broadcast_to(asarray(x), shape)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """numpy.take_along_axis: one read by integer arrays."""
    if axis is None:
        return arr.reshape(-1)[plain(indices)]
    return arr[along_axis(arr.shape, plain(indices), axis)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """numpy.put_along_axis: one write by integer arrays."""
    if axis is None:
        arr.reshape(-1)[plain(indices)] = values
    else:
        arr[along_axis(arr.shape, plain(indices), axis)] = values


def along_axis(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that picks `indices` along one axis and everything along the others."""
    axis %= len(shape)
    grids = numpy.ogrid[tuple(slice(n) for n in shape)]
    return tuple(indices if i == axis else grid for i, grid in enumerate(grids))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """numpy.fill_diagonal of a matrix, or of an array whose axes have one length."""
    places = numpy.arange(min(a.shape))
    a[(places,) * a.ndim] = val


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """numpy.put."""
    a.reshape(-1)[numpy.arange(a.size).take(plain(ind), mode=mode)] = v


def putmask(a: Any, mask: Any, values: Any) -> None:
    """numpy.putmask with values of the array's shape, or one that broadcasts to it."""
    copyto(a, values, where=mask)


def at(ufunc: Any, a: Any, index: Any, value: Any = None) -> None:
    """ufunc.at for add and subtract: elements change as often as the index names them."""
    if ufunc is numpy.add:
        add_at(a, index, value)
    elif ufunc is numpy.subtract:
        add_at(a, index, -value)
    else:
        raise NotImplementedError


CREATION: dict[Any, Callable[..., Any]] = {
    numpy.copy: copy,
    numpy.zeros_like: like(numpy.zeros_like),
    numpy.ones_like: like(numpy.ones_like),
    numpy.empty_like: like(numpy.empty_like),
    numpy.full_like: full_like,
    numpy.copyto: copyto,
    numpy.take_along_axis: take_along_axis,
    numpy.put_along_axis: put_along_axis,
    numpy.fill_diagonal: fill_diagonal,
    numpy.put: put,
    numpy.putmask: putmask,
}
