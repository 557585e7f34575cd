"""numpy's creation functions for programs: the arrays may hold traced numbers and be assigned to."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy

from .._core.arrays.array import Array, form_of, fresh, from_values, holds_traced, is_number
from .._core.arrays.functions import offered
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.sweeps.trace import value_of
from ..duals.creation import copy as copy
from ..duals.creation import copy_mode, like, plain
from ..duals.creation import full_like as full_like
from ..naming import named_like

__all__ = [
    "arange",
    *("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "empty_like", "eye"),
    *("bartlett", "blackman", "hamming", "hanning", "kaiser"),
    *("asarray_chkfinite", "fromiter", "geomspace", "linspace", "logspace"),
    *("copy", "full", "full_like", "identity", "ones", "ones_like", "tri", "zeros", "zeros_like"),
]


def taken(value: Any) -> Any:
    """What numpy makes an array of.

    It is the conversion of an object that converts itself (`__array__`), which may be traced; nested lists in place of
    an array or a Series of objects that holds traced numbers; any other value as it is.
    """
    if type(value) in _OF_NUMBERS:
        return value
    if not isinstance(value, (numpy.ndarray, numpy.generic)):
        convert = getattr(type(value), "__array__", None)
        value = value if convert is None else convert(value)
    if type(value) is not Array and getattr(value, "dtype", None) == numpy.dtype(object):
        items = numpy.asarray(value).tolist()
        return items if holds_traced(items) else value
    return value


#: The parameters of `arange` that may be traced.
BOUNDS = ("start", "stop", "step")
_OF_NUMBERS = frozenset({list, tuple, float, int, complex, Dual, ComplexDual, Array})


def check(function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raise numpy's error for an option."""
    function(0.0, **{name: form_of(option) for name, option in options.items()})


def array(
    object: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", ndmin: int = 0, **options: Any
) -> Any:
    """numpy.array; nested lists and arrays of objects may hold traced numbers; a traced array is copied."""
    copy = copy_mode(copy)
    if options or type(order) is not str or order != "K" or type(ndmin) is not int or ndmin:
        check(numpy.array, {**options, "order": order, "ndmin": ndmin})
    object = taken(object)
    if not copy and not holds_traced(object):
        result = numpy.array(object, dtype, copy=copy, order=order, ndmin=ndmin, **options)
        return result if numpy.may_share_memory(result, object) else fresh(result)
    if type(object) is Array and not is_number(object):
        # numpy reads "A" only for a copy in the same dtype
        if order in ("A", "a") and not (copy and dtype in (None, object.dtype)):
            order = "K"
        result = object.astype(object.dtype if dtype is None else dtype, order, copy=bool(copy))
    else:
        result = from_values(object, dtype, order=order, **options)
    if copy is False and result is not object and holds_traced(object):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    while ndmin > result.ndim:
        result = result[None]
    return result


def asarray(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """numpy.asarray; a traced array is returned unchanged if its dtype and order fit."""
    a = taken(a)
    if not holds_traced(a):
        return numpy.asarray(a, dtype, order, **options)
    check(numpy.asarray, {**options, "copy": None})
    return array(a, dtype, copy=options.get("copy"), order="K" if order is None else order)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """numpy.asanyarray."""
    a = taken(a)
    return asarray(a, dtype, order, **options) if holds_traced(a) else numpy.asanyarray(a, dtype, order, **options)


def contiguous(function: Callable[..., Any], order: str) -> Callable[..., Any]:
    """The counterpart of a function that makes an array contiguous in an order."""

    def made(a: Any, dtype: Any = None) -> Any:
        a = taken(a)
        return array(a, dtype, copy=None, order=order, ndmin=1) if holds_traced(a) else function(a, dtype)

    return named_like(made, function, f"numpy.{function.__name__}.")


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """numpy.asarray_chkfinite."""
    result = asarray(a, dtype, order)
    numpy.asarray_chkfinite(plain(result))
    return result


def fromiter(iter: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    """numpy.fromiter; the iterable may yield traced numbers."""
    items = taken(list(iter) if count < 0 else list(islice(iter, count)))
    if not holds_traced(items):
        return fresh(numpy.fromiter(items, dtype, count, **options))
    numpy.fromiter((), dtype, **options)  # raises numpy's errors
    return array(items, dtype)


def making(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of a creation function whose arguments are plain."""

    def made(*args: Any, **options: Any) -> Any:
        return fresh(function(*args, **options))

    return named_like(made, function, f"numpy.{function.__name__}.")


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **options: Any) -> Any:
    """numpy.full, with a fill value that may be traced."""
    fill_value = taken(fill_value)
    if not holds_traced(fill_value):
        return fresh(numpy.full(shape, fill_value, dtype, order, **options))
    return full_like(asarray(fill_value), fill_value, dtype, order, shape=shape, **options)


def window(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of a window function; numpy makes arrays of objects of traced numbers of up to one point."""

    def made(M: Any, *args: Any) -> Any:
        count = numpy.array([0.0, plain(M)])[1]  # as numpy reads it
        if count == 1:
            return fresh(function(*map(plain, (M, *args))))
        return function(M, *args) if count > 1 else fresh(function(count, *args))

    return named_like(made, function, f"numpy.{function.__name__}.")


def arange(*args: Any, **options: Any) -> Any:
    """numpy.arange; of a traced stop only the number of elements is read, which is discrete."""
    if not any(map(is_traced, (*args[:3], *map(options.get, BOUNDS)))) or "like" in options:
        return fresh(numpy.arange(*args, **options))
    # The same call with ones raises numpy's errors for missing and repeated arguments, and reads no traced value.
    named = {name: one(x) if name in BOUNDS else x for name, x in options.items()}
    numpy.arange(*map(one, args[:3]), *args[3:], **named)
    return stepped(*args, **options)


def is_traced(x: Any) -> bool:
    """Whether an argument is a traced number; numpy reads only the real part of a complex64."""
    return type(x) in (Dual, ComplexDual) or (type(x) is Array and not x.ndim and x.dtype.kind != "c")


def one(x: Any) -> Any:
    """Return 1.0 for an argument that is given."""
    return None if x is None else 1.0


def stepped(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Return start, start + step and further ones, at numpy's distance: the rounded difference of the first two."""
    if stop is None:
        start, stop = None, start
    start, step = 0 if start is None else start, 1 if step is None else step
    is_complex = any(isinstance(x, (complex, ComplexDual)) for x in (start, stop, step))
    kind = numpy.dtype((complex if is_complex else float) if dtype is None else dtype)
    start = start + 0j if is_complex else start
    span = stop - start
    try:
        if is_complex and kind.kind not in "cO":
            raise ValueError
        ratio = span / step
        count = max(min(map(math.ceil, (ratio.real, ratio.imag) if is_complex else (ratio,))), 0)
    except (ArithmeticError, ValueError):
        return numpy.arange(*map(value_of, (start, stop, step)), dtype=kind)  # numpy's error
    if not is_complex and ratio == 0.0 and span != 0.0:  # the quotient is too small for a number
        count = int((span > 0.0) == (step > 0.0))
    return filled(array([start, start + step][:count], kind), count, kind)


def filled(ends: Any, count: int, kind: Any) -> Any:
    """Return the first two elements and those that follow, computed as numpy does: half precision in single."""
    wide = numpy.float32 if kind.char == "e" else ends.dtype
    if count < 3:
        return ends
    first, second = ends[:1].astype(wide), ends[1:].astype(wide)
    result = fresh((first + numpy.arange(count, dtype=wide) * (second - first)).astype(kind))
    result[:2] = ends
    return result


zeros, ones, empty = making(numpy.zeros), making(numpy.ones), making(numpy.empty)
bartlett, blackman, hamming = window(numpy.bartlett), window(numpy.blackman), window(numpy.hamming)
hanning, kaiser = window(numpy.hanning), window(offered(numpy.kaiser))
eye, identity, tri = making(numpy.eye), making(numpy.identity), making(numpy.tri)
linspace, logspace, geomspace = (making(offered(f)) for f in (numpy.linspace, numpy.logspace, numpy.geomspace))
zeros_like, ones_like, empty_like = like(numpy.zeros_like), like(numpy.ones_like), like(numpy.empty_like)
ascontiguousarray, asfortranarray = contiguous(numpy.ascontiguousarray, "C"), contiguous(numpy.asfortranarray, "F")
