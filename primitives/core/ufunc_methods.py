"""The methods of ufuncs: reduce, accumulate, outer and at.

Sums, products and extremes are reduced by their own primitives; any other ufunc of two arguments by its own rule,
applied from the first element to the last, as the method is defined.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.builders import decides, linear, unbroadcast

from .discrete import COMPARED
from .folds import EXTREMES, FOLD, is_close, parts
from .joining import along
from .reductions import by_slope, check_start, extreme, extreme_rule, from_initial, masked, spread, total_rule
from .scattering import by_place
from .values import (
    as_array,
    compiled_axis,
    dtype_of,
    form_of,
    in_order_of,
    in_turn,
    ndim_of,
    normal_axes,
    normal_axis,
    promoting,
    shape_of,
    whole_numbers,
)

_FOLDED = (
    numpy.arctan2,
    numpy.copysign,
    numpy.divide,
    numpy.float_power,
    numpy.fmod,
    numpy.hypot,
    numpy.logaddexp2,
    numpy.power,
    numpy.remainder,
    numpy.subtract,
)
_BINARY = (numpy.add, numpy.logaddexp, numpy.multiply, *EXTREMES, *_FOLDED)
_IN_PLACE_OF_ONE = (
    *(numpy.absolute, numpy.negative, numpy.positive, numpy.square, numpy.reciprocal, numpy.sqrt, numpy.cbrt),
    *(numpy.exp, numpy.expm1, numpy.log, numpy.log1p, numpy.sin, numpy.cos, numpy.tan, numpy.tanh, numpy.conjugate),
)


#: Gives a function (array, axis, dtype, keepdims, initial, where) the signature of `ufunc.reduce`.
_reduction = functools.partial(total_rule, over=0)


def _is_given(initial: Any) -> bool:
    return initial is not None and initial is not np._NoValue


def _reduced_by(function: Callable[..., Any]) -> Any:
    """Return the reduction that one of numpy's functions over axes computes."""

    @_reduction
    def reduce(array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        options: dict[str, Any] = {} if initial is np._NoValue else {"initial": initial}
        if dtype is not None:
            array = np.astype(array, dtype)
        if where is not True:
            options["where"] = where
        return function(array, axis=axis, keepdims=keepdims, **options)

    return reduce


def _truth(ufunc: Any, function: Callable[..., Any]) -> Any:
    """Return the reduction of truth values, which have no derivative."""

    @_reduction
    def reduce(array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        check_start(ufunc, initial, array, axis, where)
        value = function(array, axis=axis, keepdims=keepdims, where=where)
        return ufunc(value, initial) if _is_given(initial) else value

    return reduce


def _share(x: Any, out: Any, x_space: Any, axis: Any) -> Any:
    """Return exp(x - out), which is 1 for an element that equals the value, even if it is infinite."""
    out = spread(out, x_space, axis)
    return np.exp(np.where(np.equal(x, out), 0.0, x - out))


LOGADDEXP_REDUCE = by_slope(
    "numpy.logaddexp.reduce",
    lambda x, initial=np._NoValue, *, axis=0, keepdims=False: numpy.logaddexp.reduce(
        x, axis=axis, keepdims=keepdims, initial=initial
    ),
    {"x": _share, "initial": lambda initial, out, x_space, axis: _share(initial, out, x_space, axis)},
    samples=lambda: (
        Sample((uniform((3, 4)),), {"axis": None}),
        Sample((uniform((3, 4)),), {"axis": 1, "keepdims": True}),
        Sample((uniform((2, 3, 2), dtype=numpy.float32),), {"axis": (0, 2)}),
        Sample((uniform((2, 3)), 0.7), {"axis": 1}),
    ),
    pattern=from_initial,
    doc="log (exp(initial) + sum exp(x)) over axes; dx = ct exp(x - out)",
)


FMAX_REDUCE = extreme("numpy.fmax.reduce", numpy.fmax.reduce, 0)
FMIN_REDUCE = extreme("numpy.fmin.reduce", numpy.fmin.reduce, 0)


@_reduction
def _logaddexp_reduce(array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    check_start(numpy.logaddexp, initial, as_array(array), axis, where)
    x = masked(_cast(array, dtype), where, -numpy.inf)
    axes = normal_axes(compiled_axis(axis) if isinstance(axis, bool) else axis, ndim_of(x))
    start = _start(initial, x) if _is_given(initial) else initial
    return LOGADDEXP_REDUCE(x, start, axis=axes, keepdims=keepdims)


def _start(initial: Any, x: Any) -> Any:
    """Return an initial value in the dtype of an array, in which numpy computes."""
    return np.array(initial, dtype_of(x))[()] if dtype_of(x).kind in "fc" else initial


def _cast(array: Any, dtype: Any) -> Any:
    """Return the operand of a method in the dtype in which it is to compute."""
    x = as_array(array)
    return x if dtype is None or dtype == dtype_of(x) else np.astype(x, dtype)


def _identity(ufunc: Any, x: Any) -> Any:
    """Return the value of a reduction of no elements, in the dtype of the array; None if there is none."""
    return None if ufunc.identity is None else dtype_of(x).type(ufunc.identity)


def _folded(ufunc: Any) -> Any:
    @_reduction
    def reduce(array: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        if where is not True:
            ufunc.reduce(form_of(array), axis, dtype, None, False, form_of(initial), where)  # raises numpy's error
            raise UnsupportedError(
                f"{ufunc.__name__}.reduce has no derivative with where=: reduce the elements a[where]"
            )
        array = _cast(array, dtype)
        start = _start(initial, array) if _is_given(initial) else initial
        start = _identity(ufunc, array) if start is np._NoValue else start
        if not ndim_of(array):
            normal_axes(axis, 0)
            return np.positive(array) if start is None else ufunc(start, array)
        axes = normal_axes(compiled_axis(axis) if isinstance(axis, bool) else axis, ndim_of(array))
        whole = _by_first(array, axes if len(axes) < 2 or ufunc.identity is not None else _no_order(ufunc))
        if start is not None:
            whole = np.concatenate((np.broadcast_to(as_array(start), (1, *shape_of(whole)[1:])), whole))
        if not shape_of(whole)[0]:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        value = FOLD(whole, ufunc=ufunc, starts=(0,), reduces=True)[-1]
        value = np.copy(value) if ndim_of(value) else value
        folded, along_axes = (array, axes) if start is None else (whole, 0)
        _check_fold(ufunc, folded, value, along_axes, None)
        if all(shape_of(array)[axis] for axis in axes):
            value = in_order_of(
                value, in_turn(array)[tuple(0 if k in axes else slice(None) for k in range(ndim_of(array)))]
            )
        return np.expand_dims(value, axes) if keepdims else value

    return reduce


def _by_first(array: Any, axes: tuple[int, ...]) -> Any:
    """Return an array whose first axis goes through the given ones, in the order in memory, as numpy does."""
    if len(axes) == 1:
        return np.moveaxis(array, axes, (0,))
    steps = form_of(array).strides
    whole = np.moveaxis(array, sorted(axes, key=lambda axis: -abs(steps[axis])), range(len(axes)))
    sizes = shape_of(whole)
    return np.reshape(whole, (math.prod(sizes[: len(axes)]), *sizes[len(axes) :]))


def _no_order(ufunc: Any) -> Any:
    raise ValueError(f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified")


@decides("numpy.is_fold", Sample((numpy.array([3.0, 1.0]), 2.0), {"axis": 0, "ufunc": numpy.subtract}))
def _is_fold(x: Any, value: Any, *, axis: Any, ufunc: Any, indices: Any = None) -> bool:
    """Whether numpy's own reduction has a value."""
    found = ufunc.reduce(x, axis, initial=None) if indices is None else ufunc.reduceat(x, indices, axis)
    return is_close(found, value)


def _check_fold(ufunc: Any, x: Any, value: Any, axis: Any, indices: Any) -> None:
    """Refuse a reduction that numpy computes in another way than from the first element to the last."""
    if not _is_fold(x, value, axis=axis, ufunc=ufunc, indices=indices):
        name = ufunc.__name__
        raise UnsupportedError(
            f"on this processor numpy.{name}.{'reduce' if indices is None else 'reduceat'} does not give the last row "
            f"of numpy.{name}.accumulate, as it should. Use that row"
        )


def _accumulated(ufunc: Any, running: Callable[..., Any] | None = None) -> Any:
    """Return the rule of a ufunc's `accumulate`; `running` computes it for the array, the axis and the dtype."""
    running = functools.partial(_in_turn, ufunc) if running is None else running

    def accumulate(array: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        x = as_array(array)
        if not ndim_of(x):
            raise TypeError("cannot accumulate on a scalar")
        found = running(x, _one_axis("accumulate", axis, x), dtype)
        ufunc.resolve_dtypes((dtype_of(found), dtype_of(found), None))  # raises numpy's error, also for one element
        return in_order_of(found, in_turn(x))

    return accumulate


def _one_axis(method: str, axis: Any, x: Any) -> int:
    """Return the axis of a method that goes along one, which numpy takes in a tuple as well."""
    axes = tuple(range(ndim_of(x))) if axis is None else axis
    if isinstance(axes, tuple) and len(axes) != 1:
        raise ValueError(f"{method} does not allow multiple axes")
    return normal_axis(compiled_axis(axes[0] if isinstance(axes, tuple) else axes), ndim_of(x))


def _in_turn(ufunc: Any, array: Any, axis: int, dtype: Any) -> Any:
    x = np.moveaxis(_cast(array, dtype), axis, 0)
    return np.moveaxis(FOLD(x, ufunc=ufunc, starts=(0,)) if shape_of(x)[0] else x, 0, axis)


def _outer(ufunc: Callable[..., Any]) -> Any:
    def outer(a: Any, b: Any, /, **keywords: Any) -> Any:
        x, y = as_array(a), promoting(b)
        return ufunc(np.reshape(x, shape_of(x) + (1,) * ndim_of(y)), y, **keywords)

    return outer


def _in_parts(ufunc: Any) -> Any:
    """Return `reduceat`."""

    def reduceat(array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        x, places = _cast(array, dtype), whole_numbers(indices)
        axis = _one_axis("reduceat", axis, x)
        elements, owners, starts, ends = parts(places, shape_of(x)[axis])
        if not len(places):
            return x[along(axis, slice(0))]
        each = np.take(np.moveaxis(x, axis, 0), elements, axis=0)
        others = shape_of(each)[1:]
        columns = numpy.arange(math.prod(others))
        of_all = numpy.add.outer(owners * len(columns), columns).ravel()
        value = by_place(ufunc, np.ravel(each), of_all, len(places) * len(columns))
        if value is None:
            value = np.take(FOLD(each, ufunc=ufunc, starts=tuple(starts.tolist())), ends, axis=0)
        value = np.moveaxis(np.reshape(value, (len(places), *others)), 0, axis)
        _check_fold(ufunc, x, value, axis, places)
        with numpy.errstate(all="ignore"):
            return in_order_of(value, ufunc.reduceat(form_of(x), places, axis))

    return reduceat


def _part_sums_vjp(ct: Any, x_space: Any, indices: Any, axis: int) -> Any:
    """Add the cotangent of each part to its elements, which other parts may contain as well."""
    elements, owners, *_ = parts(indices, x_space.shape[axis])
    found = np.moveaxis(np.zeros_like(ct, shape=x_space.shape), axis, 0)
    np.add.at(found, elements, np.moveaxis(np.take(ct, owners, axis=axis), axis, 0))
    return unbroadcast(np.moveaxis(found, 0, axis), x_space)


def _part_sums_pattern(call: patterns.Call) -> Any:
    axis = call.static["axis"]
    elements, _, starts, ends = parts(call.static["indices"], call.sets[0].shape[axis])
    sets = numpy.take(call.sets[0], elements, axis)
    each = [
        call.over(sets[along(axis, slice(start, end + 1))], (axis,)) for start, end in zip(starts, ends, strict=True)
    ]
    return numpy.concatenate(each, axis=axis)


PART_SUMS = linear(
    "numpy.add.reduceat",
    lambda x, *, indices, axis: numpy.add.reduceat(x, indices, axis),
    _part_sums_vjp,
    samples=(
        Sample((uniform((6,)),), {"indices": numpy.array([0, 2, 5]), "axis": 0}),
        Sample((uniform((2, 5)),), {"indices": numpy.array([3, 1, 1, 4]), "axis": 1}),
        Sample((uniform((4, 2), dtype=numpy.float32),), {"indices": numpy.array([1, 3]), "axis": 0}),
    ),
    pattern=_part_sums_pattern,
    doc="sums of parts along an axis; an element gets the ct of the parts that contain it",
)


def _add_in_parts(array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
    """Return `add.reduceat`, whose order of additions is not that of `add.reduce`."""
    x = _cast(array, dtype)
    axis = _one_axis("reduceat", axis, x)
    places = whole_numbers(indices)
    parts(places, shape_of(x)[axis])  # raises numpy's error
    return PART_SUMS(x, indices=places, axis=axis) if len(places) else x[along(axis, slice(0))]


#: Places that are repeated more often are folded; otherwise each repetition is one operation on arrays.
_FEW = 8


def _rounds(places: Any) -> list[Any]:
    """Split positions into rounds without repeated places, and keep the order of repeated ones."""
    order = numpy.argsort(places, kind="stable")
    ranked = places[order]
    starts = numpy.flatnonzero(numpy.diff(ranked, prepend=-1))
    occurrence = numpy.empty(len(places), int)
    occurrence[order] = numpy.arange(len(places)) - numpy.repeat(starts, numpy.diff(starts, append=len(places)))
    return [numpy.flatnonzero(occurrence == k) for k in range(int(occurrence.max(initial=-1)) + 1)]


def _places_of(a: Any, indices: Any) -> Any:
    """Return the flat positions selected by an index."""
    shape = shape_of(a)
    return numpy.arange(int(numpy.prod(shape))).reshape(shape)[indices]


def _at_once(ufunc: Callable[..., Any], a: Any, flat: Any, values: Any) -> None:
    """Fold the values of each place, in their order, from what is there."""
    order = numpy.argsort(flat, kind="stable")
    ranked = flat[order]
    firsts = numpy.flatnonzero(numpy.diff(ranked, prepend=-1))
    where = numpy.unravel_index(ranked[firsts], shape_of(a))
    in_turn = numpy.argsort(numpy.concatenate((ranked[firsts], ranked)), kind="stable")
    starts = firsts + numpy.arange(len(firsts))
    found = FOLD(np.concatenate((a[where], values[order]))[in_turn], ufunc=ufunc, starts=tuple(starts.tolist()))
    a[where] = found[numpy.append(starts[1:], len(in_turn)) - 1]


def _at(ufunc: Callable[..., Any]) -> Any:
    def at(a: Any, indices: Any, b: Any = None, /) -> None:
        places = _places_of(a, indices)
        flat = numpy.ravel(places)
        values = None if b is None else np.ravel(np.broadcast_to(as_array(b), places.shape))
        if values is not None and dtype_of(values) == dtype_of(a) and (size := numpy.size(form_of(a))) < 8 * len(flat):
            whole = np.concatenate((np.ravel(a), values))
            found = by_place(ufunc, whole, numpy.concatenate((numpy.arange(size), flat)), size)
            if found is not None:
                a[...] = np.reshape(found, shape_of(a))
                return None
        if values is not None and dtype_of(values) == dtype_of(a) and numpy.bincount(flat).max(initial=0) > _FEW:
            return _at_once(ufunc, a, flat, values)
        for one in _rounds(flat):
            where = numpy.unravel_index(flat[one], shape_of(a))
            a[where] = ufunc(a[where]) if values is None else ufunc(a[where], values[one])

    return at


RULES: dict[Any, Any] = {
    **{(ufunc, "reduce"): _folded(ufunc) for ufunc in _FOLDED},
    **{(ufunc, "reduceat"): _in_parts(ufunc) for ufunc in _BINARY},
    **{(ufunc, "accumulate"): _accumulated(ufunc) for ufunc in _BINARY},
    **{(ufunc, "outer"): _outer(ufunc) for ufunc in (*_BINARY, *COMPARED)},
    **{(ufunc, "at"): _at(ufunc) for ufunc in (*_BINARY, *_IN_PLACE_OF_ONE)},
    (numpy.add, "reduce"): _reduced_by(np.sum),
    (numpy.multiply, "reduce"): _reduced_by(np.prod),
    (numpy.maximum, "reduce"): _reduced_by(np.max),
    (numpy.minimum, "reduce"): _reduced_by(np.min),
    (numpy.logical_and, "reduce"): _truth(numpy.logical_and, np.all),
    (numpy.logical_or, "reduce"): _truth(numpy.logical_or, np.any),
    (numpy.logaddexp, "reduce"): _logaddexp_reduce,
    (numpy.add, "accumulate"): _accumulated(numpy.add, np.cumsum),
    (numpy.fmax, "reduce"): _reduced_by(extreme_rule(FMAX_REDUCE, np.fmax, -numpy.inf)),
    (numpy.fmin, "reduce"): _reduced_by(extreme_rule(FMIN_REDUCE, np.fmin, numpy.inf)),
    (numpy.add, "reduceat"): _add_in_parts,
}
