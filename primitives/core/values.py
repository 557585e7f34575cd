"""Helpers for rules and compositions: attributes of values, without numpy's protocols."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import Array
from tapeengine._core.arrays.array import form_of as form_of
from tapeengine._core.scalars.scalar import Dual
from tapeengine._core.scalars.sequences import is_read
from tapeengine.duals.creation import in_order_of as in_order_of
from tapeengine.duals.creation import sample_of
from tapeengine.primitive.spaces import is_traced as is_traced
from tapeengine.primitive.spaces import space_of

_READY = frozenset((Array, Dual, numpy.ndarray, float, int))


def as_array(value: Any) -> Any:
    """Return a traced value or a number unchanged, and a sequence as an array."""
    if type(value) in _READY:
        return value
    if isinstance(value, (list, tuple)):
        return np.array(value)
    return numpy.asarray(value) if is_read(value) else value


def promoting(value: Any) -> Any:
    """Return a number of Python as numpy's, which does not adapt to other operands, and a sequence as an array."""
    x = as_array(value)
    return x if hasattr(sample_of(x), "dtype") else np.asarray(x)[()]


def holds_traced(value: Any) -> bool:
    """Tell whether a value, or one in nested sequences, is traced."""
    return any(map(holds_traced, value)) if isinstance(value, (list, tuple)) else is_traced(value)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array; ``()`` for a number or a dual scalar."""
    shape = getattr(value, "shape", None)
    return numpy.shape(value) if shape is None and not is_traced(value) else tuple(shape or ())


def ndim_of(value: Any) -> int:
    """Return the number of axes."""
    return len(shape_of(value))


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array, a number or a dual scalar."""
    found = getattr(value, "dtype", None)
    return space_of(value).dtype if found is None else found  # type: ignore[union-attr]


def number_or_array(value: Any) -> Any:
    """Return the element of an array of shape (), as most functions of numpy do, and other values unchanged."""
    return value[()] if shape_of(value) == () and hasattr(value, "flags") else value


def in_order(value: Any, order: str) -> Any:
    """Return a value in memory order C or F: itself or a copy."""
    if ndim_of(value) < 2 or (value.flags.f_contiguous if order == "F" else value.flags.c_contiguous):
        return value
    return value.copy(order)


def without_nan(a: Any, fill: Any) -> Any:
    """Return an array in which a number stands for NaN, in the memory order of a copy, as numpy does."""
    if dtype_of(a).kind not in "fc":
        return a
    return in_order_of(np.where(np.isnan(a), fill, a), a)


def in_turn(x: Any) -> Any:
    """Return an array's values in the order in which numpy's loops go through them."""
    return numpy.positive(form_of(x))


def real_dtype(value: Any) -> Any:
    """Return the dtype of the real part of a value, for factors that must not change its precision."""
    return dtype_of(value).type(0).real.dtype


def real_part(value: Any) -> Any:
    """Return the real part of a complex value with numpy's warning, and a real value unchanged."""
    if not is_complex(value):
        return value
    warnings.warn(
        "Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning, stacklevel=4
    )
    return np.real(value)


def of_parts(real: Any, imag: Any) -> Any:
    """Return the complex value of two real parts, also where ``real + 1j * imag`` is NaN or loses a sign of zero."""
    value = np.zeros(shape_of(real), numpy.result_type(dtype_of(real), numpy.complex64))
    value.real[...] = real
    value.imag[...] = imag
    return number_or_array(value)


def is_set(option: Any) -> bool:
    """Tell whether an option such as keepdims, which may have numpy's default, is true."""
    return option is not np._NoValue and bool(option)


def whole_numbers(indices: Any) -> Any:
    """Return indices as numpy reads them: lists are converted, arrays must hold whole numbers or truth values."""
    if isinstance(indices, numpy.ndarray):
        return indices.astype(numpy.intp, casting="safe", copy=False)
    found = numpy.asarray(indices)
    return found.astype(numpy.intp) if not found.size else numpy.asarray(indices, numpy.intp)


def is_complex(value: Any) -> bool:
    """Tell whether a value is complex."""
    return bool(dtype_of(value).kind == "c")


def compiled_axis(axis: Any) -> int:
    """Return an axis as numpy's compiled functions read it, which take no truth values."""
    if isinstance(axis, bool):
        raise TypeError("an integer is required for the axis")
    return operator.index(axis)


def normal_axis(axis: Any, ndim: int) -> int:
    """Return an axis counted from the front.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    """
    position = operator.index(axis)
    if not -ndim <= position < ndim:
        raise numpy.exceptions.AxisError(position, ndim)
    return position % ndim


def normal_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the axes of a reduction, counted from the front; None means all."""
    if axis is None or (ndim == 0 and _is_integer(axis) and axis in (0, -1)):  # numpy accepts these axes for a number
        return tuple(range(ndim))
    if isinstance(axis, (tuple, list)):
        return tuple(normal_axis(one, ndim) for one in axis)
    return (normal_axis(axis, ndim),)


def _is_integer(axis: Any) -> bool:
    return type(axis) is int or isinstance(axis, numpy.integer)


def warning_as(function: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule that gives the warnings of numpy's function in place of those of its own operations."""

    @functools.wraps(rule)
    def called(*args: Any, **options: Any) -> Any:
        quiet = warnings.catch_warnings(action="ignore") if 0 in shape_of(args[0]) else nullcontext()
        with quiet, numpy.errstate(all="ignore"):
            result = rule(*args, **options)
        if not numpy.all(numpy.isfinite(form_of(result))):
            plain = {name: form_of(value) for name, value in options.items() if name != "overwrite_input"}
            function(*map(form_of, args), **plain)
        return result

    return called
