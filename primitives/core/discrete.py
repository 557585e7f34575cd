"""Functions with a discrete or piecewise constant result, which compute on plain values.

Each has one row: the function, the names of its arguments, and the names of its other parameters in numpy's order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import plain
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample
from tapeengine.primitive.builders import decides, discrete

from .ufuncs import of_names
from .values import as_array, is_traced, shape_of

_X = numpy.array([[0.0, 1.5, -2.5], [numpy.inf, -0.0, 3.0]])
_FINITE = numpy.array([[0.0, 1.5, -2.5], [7.0, -0.5, 3.0]])
_Y = numpy.array([1.5, 1.5, 2.0])

#: Ufuncs of one and of two arguments.
_UNARY = (
    numpy.ceil,
    numpy.floor,
    numpy.isfinite,
    numpy.isinf,
    numpy.isnan,
    numpy.logical_not,
    numpy.rint,
    numpy.signbit,
    numpy.spacing,
    numpy.trunc,
)
COMPARED = (
    numpy.equal,
    numpy.floor_divide,
    numpy.greater,
    numpy.greater_equal,
    numpy.less,
    numpy.less_equal,
    numpy.not_equal,
)
_OF_TRUTH = (numpy.logical_and, numpy.logical_or, numpy.logical_xor)
_SAME = "rtol atol equal_nan"
_REDUCED = "axis"
#: Functions of one array, and their other positional parameters in order.
_OF_ONE: dict[Callable[..., Any], str] = {
    numpy.all: _REDUCED,
    numpy.any: _REDUCED,
    numpy.argmax: "axis",
    numpy.argmin: "axis",
    numpy.argsort: "axis kind order stable",
    numpy.argwhere: "",
    numpy.around: "decimals",
    numpy.count_nonzero: "axis keepdims",
    numpy.fix: "",
    numpy.flatnonzero: "",
    numpy.iscomplex: "",
    numpy.iscomplexobj: "",
    numpy.isneginf: "",
    numpy.isposinf: "",
    numpy.isreal: "",
    numpy.isrealobj: "",
    numpy.linalg.matrix_rank: "tol hermitian rtol",
    numpy.nanargmax: "axis",
    numpy.nanargmin: "axis",
    numpy.ndim: "",
    numpy.nonzero: "",
    numpy.round: "decimals",
    numpy.shape: "",
    numpy.size: "axis",
}
#: Functions of two arrays: the names of these, and of their other positional parameters.
_OF_TWO: dict[Callable[..., Any], tuple[str, str]] = {
    numpy.allclose: ("a b", _SAME),
    numpy.array_equal: ("a1 a2", "equal_nan"),
    numpy.array_equiv: ("a1 a2", ""),
    numpy.isclose: ("a b", _SAME),
    numpy.isin: ("element test_elements", "assume_unique invert"),
}


def _name(function: Any) -> str:
    family = "numpy.linalg" if function is numpy.linalg.matrix_rank else "numpy"
    return f"{family}.{function.__name__}"


def _primitive(function: Any, args: str, static: str, samples: tuple[Sample, ...]) -> Primitive:
    def primal(*values: Any, **options: Any) -> Any:
        """The function on plain values; a traced tolerance is read as a number."""
        return function(*values, **{name: plain(option) for name, option in options.items()})

    name = _name(function)
    doc = f"{name}, on plain values; no derivative goes through it"
    return discrete(
        name,
        primal if static else function,
        args=tuple(args.split()),
        static=tuple(static.split()),
        samples=samples,
        doc=doc,
    )


_ONE, _TWO = (Sample((_FINITE,)),), (Sample((_FINITE, _Y)),)


#: Functions that need samples of their own.
_OF_SAMPLES: dict[Callable[..., Any], tuple[str, str, Sample]] = {
    numpy.argpartition: ("a", "kth axis kind order", Sample((_X,), {"kth": 1})),
    numpy.digitize: ("x bins", "right", Sample((_X, _Y))),
    numpy.searchsorted: ("a v", "side sorter", Sample((_Y, _X), {"side": "right"})),
}


#: Every discrete primitive, by the numpy function that it replaces.
BY_FUNCTION: dict[Callable[..., Any], Primitive] = {
    **{function: _primitive(function, "x", "", (Sample((_X,)),)) for function in _UNARY},
    **{function: _primitive(function, "x y", "", (Sample((_X, _Y)),)) for function in (*COMPARED, *_OF_TRUTH)},
    **{function: _primitive(function, "a", static, _ONE) for function, static in _OF_ONE.items()},
    **{function: _primitive(function, args, static, _TWO) for function, (args, static) in _OF_TWO.items()},
    **{function: _primitive(function, *row[:2], (row[2],)) for function, row in _OF_SAMPLES.items()},
}


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the distinct values, and the requested indices and counts; see `numpy.unique`.

    The cotangent of a value goes to its first occurrence.
    """
    x = as_array(ar)
    x, place = (np.ravel(x), 0) if axis is None else (x, operator.index(axis))
    first, inverse, counts = _unique_indices(x, axis=place, equal_nan=equal_nan)
    values = np.moveaxis(np.take(np.moveaxis(x, place, 0), first, axis=0), 0, place)
    wanted = (return_index, return_inverse, return_counts)
    shaped = numpy.reshape(inverse, shape_of(ar)) if axis is None else inverse
    others = [found for found, asked in zip((first, shaped, counts), wanted, strict=True) if asked]
    return (values, *others) if others else values


def unique_values(x: Any, /) -> Any:
    """Return the distinct values, with every NaN; see `numpy.unique_values`."""
    x = np.ravel(as_array(x))
    return x[_unique_places(x)]


@decides("numpy.unique_values.places", Sample((_Y,)))
def _unique_places(x: Any) -> Any:
    """Return where the elements of `numpy.unique_values`, which may be in any order, occur first."""
    order = numpy.argsort(numpy.unique_values(x), kind="stable")
    places = numpy.empty_like(order)
    places[order] = numpy.unique(x, return_index=True, equal_nan=False)[1]
    return places


@decides("numpy.unique_indices", Sample((_Y,), {"axis": 0, "equal_nan": True}))
def _unique_indices(x: Any, *, axis: int, equal_nan: bool) -> tuple[Any, ...]:
    """Return what `numpy.unique` finds beside the values; of a vector without its slow stable sort."""
    if type(equal_nan) is not bool or x.ndim > 1 or not x.size or x.dtype.kind != "f" or numpy.isnan(x).any():
        return numpy.unique(x, True, True, True, axis, equal_nan=equal_nan)[1:]
    order = numpy.argsort(x)
    ranked = x[order]
    starts = numpy.append(0, numpy.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    counts, inverse = numpy.diff(starts, append=x.size), numpy.empty_like(order)
    inverse[order] = numpy.repeat(numpy.arange(len(starts)), counts)
    return numpy.minimum.reduceat(order, starts), inverse, counts


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype to which operands are promoted; see `numpy.result_type`."""
    return numpy.result_type(*(_typed(one) for one in arrays_and_dtypes))


def _typed(value: Any) -> Any:
    if not is_traced(value):
        return value
    dtype = getattr(value, "dtype", None)
    return 1.0 if dtype is None else dtype


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the values of two arrays that are in both, taken from the first one; see `numpy.intersect1d`."""
    x, y = np.ravel(as_array(ar1)), np.ravel(as_array(ar2))
    _, first, second = numpy.intersect1d(plain(x), plain(y), assume_unique, return_indices=True)
    values = np.concatenate((x, y))[first]
    return (values, first, second) if return_indices else values


def _of_truth(function: Any) -> Callable[..., Any]:
    """Return the rule of a ufunc that returns one of two objects."""

    def rule(x: Any, y: Any, /) -> Any:
        if any(type(part) is numpy.ndarray and part.dtype.hasobject for part in (x, y)):
            raise UnsupportedError(f"numpy.{function.__name__} of an array of objects: convert it to floats")
        return BY_FUNCTION[function](x, y)

    return rule


RULES: dict[Any, Any] = {
    **of_names(vars(), numpy),
    **BY_FUNCTION,
    **{function: _of_truth(function) for function in _OF_TRUTH},
}
