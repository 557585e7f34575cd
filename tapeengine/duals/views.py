"""numpy functions that rearrange an array: where numpy makes a view, a view of the storage without a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .._core.arrays.array import Array, form_of, from_values, numbers_of, view
from .._core.scalars.scalar import Dual
from .creation import copy_mode, plain, sample_of

#: Functions of one array and of options for its arrangement, which return a view or a list of views.
NAMES = (
    "array_split atleast_1d atleast_2d atleast_3d broadcast_to diagonal dsplit expand_dims flip fliplr flipud hsplit "
    "matrix_transpose moveaxis permute_dims rollaxis rot90 split squeeze swapaxes transpose unstack vsplit"
).split()
#: Classes of most places and axes. Others may hold traced numbers, for which numpy would call the rule again.
PLAIN = frozenset((int, str, type(None)))


def on_views(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of a function for traced arrays."""

    def rearranged(a: Any, *args: Any, **options: Any) -> Any:
        if not (PLAIN.issuperset(map(type, args)) and PLAIN.issuperset(map(type, options.values()))):
            args, options = plain(args), {name: plain(option) for name, option in options.items()}
        if type(a) is Dual:
            found = function(sample_of(a), *args, **options)
            if isinstance(found, float):
                return copied(a, found)
            a = from_values(a)
        if type(a) is not Array:
            return function(a, *args, **options)
        return view(a, lambda values: function(values, *args, **options))

    rearranged.__name__ = function.__name__
    return rearranged


def copied(a: Any, found: Any) -> Any:
    """The number that numpy returns for a number: one of numpy's, or Python's number itself."""
    return from_values(a)[()] if isinstance(found, numpy.float64) else a


def several(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of `atleast_1d` and similar functions, which take any number of arrays."""
    one = on_views(function)

    def all_of_them(*arrays: Any) -> Any:
        results = [one(a) for a in arrays]
        return results[0] if len(results) == 1 else tuple(results)

    return all_of_them


def trim_zeros(a: Any, *args: Any, **options: Any) -> Any:
    """numpy.trim_zeros, which depends on the values."""
    numbers_of(a)
    return on_views(numpy.trim_zeros)(a, *args, **options)


def ravel(a: Any, order: Any = "C") -> Any:
    """numpy.ravel."""
    a = from_values(a) if type(a) is Dual else a
    if type(a) is not Array:
        return numpy.ravel(a, order)
    if order in ("K", "k") and a.size and not numpy.may_share_memory(form_of(a).ravel("K"), form_of(a)):
        a = +a  # in the order in which numpy's loops go through the elements, which is not always that of a copy
    return view(a, lambda values: numpy.ravel(values, order), order)


def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Any:
    """numpy.reshape."""
    copy = copy_mode(copy)
    if type(a) is Dual:
        found = numpy.reshape(sample_of(a), shape, order, copy=copy)
        if isinstance(found, float):
            return copied(a, found)
        a = from_values(a)
    if type(a) is not Array:
        return numpy.reshape(a, shape, order, copy=copy)
    if copy:
        a = a.copy("F" if order == "F" or (order == "A" and a.flags.fnc) else "C")
    return view(a, lambda values: numpy.reshape(values, shape, order, copy=False if copy is False else None), order)


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, **options: Any) -> Any:
    """numpy.lib.stride_tricks.sliding_window_view; windows overlap, so they are read-only."""
    return on_views(numpy.lib.stride_tricks.sliding_window_view)(x, window_shape, axis)


def views() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Every numpy function of this kind, with its counterpart for traced arrays."""
    table = {getattr(numpy, name): on_views(getattr(numpy, name)) for name in NAMES if hasattr(numpy, name)}
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        table[getattr(numpy, name)] = several(getattr(numpy, name))
    table[numpy.ravel], table[numpy.reshape], table[numpy.trim_zeros] = ravel, reshape, trim_zeros
    table[numpy.lib.stride_tricks.sliding_window_view] = sliding_window_view
    for name in ("diagonal", "matrix_transpose"):
        if hasattr(numpy.linalg, name):
            table[getattr(numpy.linalg, name)] = on_views(getattr(numpy.linalg, name))
    return table


VIEWS = views()
