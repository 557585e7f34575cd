"""Elements chosen by conditions and indices: where, select, choose, take, extract, triangles, diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import plain, sample_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .joining import along
from .ufuncs import of_names
from .values import as_array, compiled_axis, dtype_of, in_order, ndim_of, normal_axis, number_or_array, shape_of

_MASK = numpy.array([[True, False, True], [False, False, True]])


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    return numpy.where(condition, x, y)[()]


def _kept(ct: Any, condition: Any, space: Any, sign: bool) -> Any:
    zero = numpy.zeros((), dtype=space.dtype)
    return unbroadcast(np.where(condition, ct, zero) if sign else np.where(condition, zero, ct), space)


WHERE = linear(
    "numpy.where",
    lambda condition, x, y: _chosen(condition, x, y),
    {
        "condition": None,
        "x": lambda ct, condition, x_space: _kept(ct, condition, x_space, True),
        "y": lambda ct, condition, y_space: _kept(ct, condition, y_space, False),
    },
    samples=(
        Sample((_MASK, uniform((2, 3)), uniform((2, 3)))),
        Sample((_MASK, uniform((3,)), 0.0)),
        Sample((_MASK, uniform((2, 1)), uniform((3,)))),
        Sample((True, uniform(()), uniform(()))),
        Sample((_MASK[0], uniform((3,), dtype=numpy.float32), uniform((1,), dtype=numpy.float32))),
        Sample((_MASK[0], uniform((3,), dtype=complex), uniform((3,)))),
    ),
    pattern=patterns.elementwise,
    doc="x where the condition holds, y elsewhere; each gets ct where it was taken, and zeros elsewhere",
)


def where(condition: Any, /, *choices: Any) -> Any:
    """Choose between two arrays; see `numpy.where`. With only a condition, return the positions where it holds."""
    if not choices:
        return np.nonzero(condition)
    if len(choices) != 2:
        raise ValueError("either both or neither of x and y should be given")
    condition = False if condition is None else condition
    mask = condition if isinstance(condition, numpy.ndarray) and condition.dtype == bool else np.not_equal(condition, 0)
    value = WHERE(mask, *map(as_array, choices))
    return value if ndim_of(value) else np.array(value)  # numpy returns an array of shape () for numbers


def _triangle_samples() -> tuple[Sample, ...]:
    return (
        Sample((uniform((3, 3)),)),
        Sample((uniform((2, 3, 4)),), {"k": 1}),
        Sample((uniform((4, 2), dtype=numpy.float32),), {"k": -1}),
        Sample((uniform((2, 2), dtype=complex),)),
    )


def _of_triangle(function: Any, which: str) -> Primitive:
    made = linear(
        f"numpy.{function.__name__}",
        lambda m, k=0: function(m, k),
        lambda ct, k, m_space: unbroadcast(made(ct, k=k), m_space),
        static=("k",),
        samples=_triangle_samples,
        pattern=patterns.moves,
        doc=f"the {which} triangle; dm = the {which} triangle of ct",
    )
    return made


TRIL, TRIU = _of_triangle(numpy.tril, "lower"), _of_triangle(numpy.triu, "upper")


def _triangle(primitive: Any) -> Any:
    def rule(m: Any, k: int = 0) -> Any:
        x = as_array(m)
        return primitive(np.broadcast_to(x, shape_of(x) * 2) if ndim_of(x) == 1 else x, k=k)

    return rule


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Choose the first array whose condition holds; see `numpy.select`."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError("numpy.select: give the same number of conditions and choices, at least one")
    for position, condition in enumerate(condlist):
        if numpy.asarray(condition).dtype != bool:
            raise TypeError(f"invalid entry {position} in condlist: should be boolean ndarray")
    *choices, value = _of_one_dtype([*choicelist, default])
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        value = np.where(condition, choice, value)
    return in_order(value, "C")


def _of_one_dtype(choices: Sequence[Any]) -> list[Any]:
    """Return arrays and numbers, the last one in the dtype of all of them."""
    found = [as_array(choice) for choice in choices]
    last = np.asarray(found[-1])
    if last.dtype.kind not in "biufc":
        raise UnsupportedError(f"a choice or default of dtype {last.dtype} has no derivative: give numbers")
    return [*found[:-1], np.astype(last, numpy.result_type(*map(sample_of, found)))]


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Choose each element from the array selected by an index; see `numpy.choose`."""
    options = _of_one_dtype(choices)
    index = _bounded(numpy.asarray(a).astype(int, casting="safe"), len(options), mode)
    value = options[-1]
    for position in reversed(range(len(options) - 1 or 1)):
        value = np.where(index == position, options[position], value)
    return in_order(number_or_array(value), "C")


def _bounded(index: Any, extent: int, mode: str) -> Any:
    """Map indices into ``range(extent)`` according to numpy's parameter `mode`."""
    if mode == "wrap":
        return index % extent
    if mode == "clip":
        return numpy.clip(index, 0, extent - 1)
    if index.size and not (-extent <= index.min() and index.max() < extent):
        raise IndexError(f"index {index.max()} is out of bounds for an axis of {extent} elements")
    return index


def take(a: Any, indices: Any, axis: Any = None, out: None = None, mode: str = "raise") -> Any:
    """Take elements along an axis; see `numpy.take`."""
    x, indices = as_array(a), plain(indices)
    x, axis = (np.ravel(x), 0) if axis is None else (x, normal_axis(compiled_axis(axis), ndim_of(x)))
    if 0 in shape_of(x):
        return numpy.take(numpy.empty(shape_of(x), dtype_of(x)), indices, axis, mode=mode)  # type: ignore[call-overload]
    index = numpy.take(numpy.arange(shape_of(x)[axis]), indices, mode=mode)  # type: ignore[call-overload]
    if numpy.ndim(index) == 0:
        part = x[along(axis, int(index))]
        return part if ndim_of(part) == 0 else np.copy(part, "C")
    return in_order(x[along(axis, index)], "C")


def compress(condition: Any, a: Any, axis: Any = None, out: None = None) -> Any:
    """Take the slices along an axis where a condition holds; see `numpy.compress`."""
    if ndim_of(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a if ndim_of(a) else np.ravel(a), np.flatnonzero(condition), axis)


RULES = {
    **of_names(vars(), numpy),
    numpy.tril: _triangle(TRIL),
    numpy.triu: _triangle(TRIU),
}
