"""numpy functions that create, copy, index and fill arrays, for programs with traced numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .._core.arrays.array import (
    Array,
    add_at,
    counts_as_double,
    form_of,
    fresh,
    from_values,
    holds_traced,
    is_number,
    numbers_of,
    put_overlapping,
)
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.sweeps.trace import value_of
from ..errors import UnsupportedError
from ..naming import named_like


def plain(x: Any) -> Any:
    """A value without its derivative; in a list or tuple, every item without its own."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(plain, x)) if type(x) in (list, tuple) and holds_traced(x) else x
    return numbers_of(x) if type(x) is Array and not is_number(x) else value_of(x)


def asarray(value: Any, dtype: Any = None, **options: Any) -> Any:
    """numpy.asarray: an array, traced or plain, is returned unchanged if its dtype fits."""
    if type(value) is Array or isinstance(value, numpy.ndarray):
        same = dtype is None or value.dtype == numpy.dtype(dtype)
        return value if same else value.astype(dtype)
    return from_values(value, dtype)


def objects(x: Any) -> Any:
    """The array of objects that numpy makes of an argument: an array's elements become numbers of Python."""
    if isinstance(x, (list, tuple)) and x:
        return numpy.stack([*map(objects, x)])
    if type(x) is Array and not is_number(x):
        made = numpy.empty_like(form_of(x), object)
        made[...] = numpy.fromiter(x.reshape(-1).tolist(), object, x.size).reshape(x.shape)
    elif type(x) in (Array, Dual, ComplexDual):
        made = numpy.empty((), object)
        made[()] = x
    else:
        made = numpy.asanyarray(x, object)
    return made


def copy_mode(copy: Any) -> bool | None:
    """What an argument `copy` of numpy means: True, False, or None for a copy where one is needed."""
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    if isinstance(copy, numpy._CopyMode):
        return None if copy is numpy._CopyMode.IF_NEEDED else bool(copy)
    return None if copy is None else bool(copy)


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """numpy.copy."""
    bool(subok)  # raises numpy's error
    if type(a) is Array and not is_number(a):
        return a.copy("K" if order is None else order)
    return from_values(a, None, order=order) if holds_traced(a) else fresh(numpy.copy(a, order))


def like(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of `zeros_like` and similar functions: new values with the shape and dtype of another array."""

    def made(a: Any, *args: Any, **options: Any) -> Any:
        return fresh(function(shaped_as(a), *args, **options))

    return named_like(made, function, f"numpy.{function.__name__}.")


def shaped_as(a: Any) -> Any:
    """A plain array with the shape and dtype of a value, which may be a list that holds traced numbers."""
    return form_of(asarray(a) if isinstance(a, (list, tuple)) else a)


def is_discrete(dtype: Any) -> bool:
    """Whether arrays of a dtype hold whole numbers, truth values, times or texts, which have no derivative.

    Raises
    ------
    UnsupportedError
        If they hold numbers of a kind for which there are no derivatives, such as bfloat16 or a record.
    """
    kind = "f" if dtype is None else numpy.dtype(dtype).kind
    if kind == "V":
        raise UnsupportedError(
            f"arrays of dtype {numpy.dtype(dtype)} cannot hold derivatives. Use float32 or float64; "
            "tapeengine.value(x) drops the derivative on purpose"
        )
    return kind not in "fcO"


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, **options: Any
) -> Any:
    """numpy.full_like, with a fill value that may be traced."""
    if is_discrete(getattr(shaped_as(a), "dtype", None) if dtype is None else dtype):
        return numpy.full_like(shaped_as(a), plain(fill_value), dtype, order, subok, shape, **options)
    result = fresh(numpy.empty_like(shaped_as(a), dtype, order, subok, shape, **options))
    if type(result) is not Array and holds_traced(fill_value):  # in a thread without a trace of its own
        return numpy.broadcast_to(from_values(fill_value), result.shape).astype(result.dtype)
    is_converted = type(sample_of(fill_value)) in (complex, list)
    result[...] = from_values(fill_value) if is_converted else fill_value
    return result


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """numpy.copyto."""
    check_cast(numpy.copyto, dst, src, casting=casting)
    src = asarray(src) if isinstance(src, (list, tuple, ComplexDual)) else src
    if where is True:
        dst[...] = src
    else:
        mask = numpy.broadcast_to(mask_of(where), dst.shape)
        dst[mask] = spread(src, dst.shape)[mask]


def check_cast(function: Callable[..., Any], a: Any, values: Any, *mask: Any, **options: Any) -> None:
    """Raise numpy's error if a function does not convert values to the dtype of the array that it writes to."""
    function(numpy.zeros(1, a.dtype), *mask, sample_of(values), **options)


def sample_of(value: Any) -> Any:
    """A plain value of the same kind, by which numpy decides how it is converted."""
    if type(value) is Dual:
        return numpy.float64() if counts_as_double(value) else 0.0
    if type(value) is ComplexDual:
        return numpy.complex128() if hasattr(value, "dtype") else 0j
    if isinstance(value, (list, tuple)):
        return [sample_of(item) for item in value[:1]]
    if type(value) is Array:
        kind = is_number(value)
        return 0j if kind == 2 else value.dtype.type() if kind else numpy.zeros(1, value.dtype)
    return numpy.zeros(1, value.dtype) if isinstance(value, numpy.ndarray) else value


def number_of(x: Any) -> Any:
    """The value of a traced number, in the class of the plain program's; any other object as it is."""
    return type(sample_of(x))(value_of(x)) if type(x) in (Array, Dual, ComplexDual) else x


def mask_of(where: Any) -> Any:
    """A `where` argument as numpy reads it: lists and numbers become booleans, arrays must hold them."""
    where = plain(where)
    if isinstance(where, numpy.ndarray):
        return where.astype(bool, casting="safe", copy=False)
    return where if where is True or where is numpy._NoValue else numpy.asarray(where, bool)


def in_order_of(value: Any, x: Any) -> Any:
    """A value in the memory order of another array of its shape: itself or a copy."""
    values = form_of(value)
    if numpy.ndim(values) < 2 or values.strides == numpy.empty_like(form_of(x), values.dtype).strides:
        return value
    made = fresh(numpy.empty_like(form_of(x), values.dtype))
    made[...] = value
    return made


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A value broadcast to a shape; leading unit axes are dropped, as in an assignment."""
    x = asarray(x)
    while x.ndim > len(shape) and x.shape[0] == 1:
        x = x[0, ...]
    return numpy.broadcast_to(x, shape)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """numpy.take_along_axis: one read by integer arrays."""
    if numpy.asarray(plain(indices)).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is not None and numpy.ndim(plain(indices)) != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if axis is None:
        if numpy.ndim(plain(indices)) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return arr.reshape(-1)[plain(indices)]
    return arr[along_axis(arr.shape, plain(indices), axis)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """numpy.put_along_axis: one write by integer arrays."""
    if axis is None:
        arr.reshape(-1)[plain(indices)] = values
    else:
        arr[along_axis(arr.shape, plain(indices), axis)] = values


def along_axis(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that selects `indices` along one axis and everything along the others."""
    axis = numpy.lib.array_utils.normalize_axis_index(axis, len(shape))
    grids = numpy.ogrid[tuple(slice(n) for n in shape)]
    return tuple(indices if i == axis else grid for i, grid in enumerate(grids))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """numpy.fill_diagonal of a matrix, or of an array whose axes have equal lengths."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    if is_put(a, val, lambda target, value: numpy.fill_diagonal(target, value, wrap)):
        return
    step = 1 + int(numpy.cumprod(a.shape[:0:-1]).sum())
    end = a.shape[1] ** 2 if a.ndim == 2 and not wrap else a.size
    put_in_turn(a, numpy.arange(a.size)[:end:step], val)


def put_in_turn(a: Any, places: Any, values: Any) -> None:
    """Write values to places in the order of an array's elements; if there are too few values, they repeat."""
    check_writeable(a)
    values = numpy.ravel(as_values(a, values))
    if places.size and values.size:
        put_numbered(a, places, values[numpy.arange(places.size) % values.size])


def as_values(a: Any, values: Any) -> Any:
    """Values in the form in which they are written: lists and numbers of Python get the dtype of the array."""
    return asarray(values) if type(values) is Array or hasattr(values, "dtype") else from_values(values, a.dtype)


def check_writeable(a: Any) -> None:
    """Refuse to write to a read-only array, even if there is nothing to write."""
    if not a.flags.writeable:
        raise ValueError("assignment destination is read-only")


def put_numbered(a: Any, places: Any, values: Any) -> None:
    """Write values to places numbered in the order of an array's elements."""
    a = a if a.ndim else a[None]
    a[numpy.unravel_index(places, a.shape)] = values


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """numpy.put."""
    places, ind = numpy.arange(a.size), plain(ind)
    numpy.put(numpy.empty(a.size), ind, 0, mode)  # raises numpy's errors
    put_in_turn(a, numpy.ravel(places.take(numpy.asarray(ind, numpy.intp), mode=mode)), v)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """numpy.putmask: place number k takes value number k, modulo the number of values."""
    check_cast(numpy.putmask, a, values, [True])
    mask, values = numpy.ravel(plain(mask)), numpy.ravel(as_values(a, values))
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    check_writeable(a)
    places = numpy.flatnonzero(mask)
    if places.size and values.size:
        put_numbered(a, places, values[places % values.size])


def place(arr: Any, mask: Any, vals: Any) -> None:
    """numpy.place: the places where a mask is true take the values one after another."""
    check_cast(numpy.place, arr, vals, [True])
    if numpy.size(plain(mask)) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    places, vals = numpy.flatnonzero(plain(mask)), numpy.ravel(as_values(arr, vals))
    if places.size and not vals.size:
        raise ValueError("Cannot insert from an empty array!")
    if not is_put(arr, vals, lambda target, values: numpy.place(target, plain(mask), values)):
        put_in_turn(arr, places, vals)


def is_put(a: Any, values: Any, write: Callable[[Any, Any], None]) -> bool:
    """Write values that overlap their target; False for other values, and for a plain target."""
    return type(a) is Array and put_overlapping(a, values, write)


def at(ufunc: Any, a: Any, index: Any, value: Any = None) -> None:
    """ufunc.at for add and subtract: an element changes once for each time that the index names it."""
    value = asarray(value) if isinstance(value, (list, tuple)) else value
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
    numpy.place: place,
}
