"""Functions, beside numpy's, that the text of a whole-array program calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._core.arrays.kernels import outer as outer
from ...._core.arrays.kernels import spread as spread
from ...._core.arrays.kernels import summed as summed
from ...._core.programs.machine import apply_opcode, opcodes
from ....reference.ops import OPERATIONS
from ...intermediate.operations import OPERATIONS_BY_NAME, REAL


class Linear(np.ndarray):
    """Cotangents for partials that may be infinite: a product with zero is zero, since a linear map preserves zero."""

    __array_priority__ = 1.0  # a product by `dot` with another array is of this class

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute as numpy does, except zero times infinity."""
        plain = [np.asarray(x) for x in inputs]
        out = options.pop("out", None)
        found = np.asarray(getattr(ufunc, method)(*plain, **options))
        if ufunc is np.multiply and method == "__call__":
            found = np.where((plain[0] == 0) | (plain[1] == 0), 0.0, found)
        if out is None:
            return found.view(Linear)
        np.asarray(out[0])[...] = found
        return out[0]


class DifferentSizes(IndexError):
    """Arrays of different sizes: a zip stops at the shortest, elsewhere Python raises an error."""


Anything = NDArray[Any]
Floats = NDArray[np.float64]
#: Copying an array is cheap relative to work on another one with this many times more elements.
SMALLER = 8
#: If the number of steps varies, at most this many times more lanes than steps may be computed.
SPARSEST = 64


class Running:
    """The namespace ``ops`` of written programs: the functions of this module.

    ``ops.<operation>_`` computes an operation element by element.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] | None = globals().get(name)
        if found is None:
            if not name.endswith("_") or name.startswith("_"):
                raise AttributeError(name)
            found = elementwise(name[:-1])
        setattr(self, name, found)
        return found


def window(x: Anything, start: int, size: int, dim: int) -> Anything:
    """The elements from ``start`` on along one dimension, a negative index counting from the end."""
    if start == 0 and size == x.shape[dim]:
        return x
    if start >= 0 and start + size <= x.shape[dim]:
        return x[(slice(None),) * dim + (slice(start, start + max(size, 0)),)]
    return np.take(x, np.arange(start, start + size), dim)


def span(start: int, size: int, limit: int) -> slice:
    """A slice that is completely in range."""
    if size > 0 and (start < 0 or start + size > limit):
        raise IndexError("index out of range")
    return slice(start, start + size) if size > 0 else slice(0, 0)


def unwindow(d: Floats, size: int, dim: int) -> Floats:
    """The array itself, or a longer one padded with zeros."""
    if d.shape[dim] == size:
        return d
    if d.shape[dim] > size:
        raise IndexError("index out of range")
    result = np.zeros((*d.shape[:dim], size, *d.shape[dim + 1 :]), d.dtype)
    result[(slice(None),) * dim + (slice(0, d.shape[dim]),)] = d
    return result


def inside(index: Any, size: int) -> None:
    """Refuse indices out of range."""
    if np.any(np.asarray(index) >= size) or np.any(np.asarray(index) < -size):
        raise IndexError("index out of range")


def longest(steps: Anything) -> int:
    """The largest number of steps; an error if too many lanes would be idle."""
    most = int(steps.max(initial=0))
    if most * steps.size > SPARSEST * (int(np.maximum(steps, 0).sum()) + 10**5):
        raise IndexError("numbers of steps that vary too much")
    return most


def products(a: Floats, b: Floats, order: tuple[int, int, int]) -> Floats:
    """Products of matrices one by one, with dimension k of ``a @ b`` at place ``order[k]`` in memory.

    A factor that is much smaller than the other is first copied to C order, because matmul of a transposed one
    takes up to three times as long.
    """
    if SMALLER * b.size < a.size:
        b = np.ascontiguousarray(b)
    elif SMALLER * a.size < b.size:
        a = np.ascontiguousarray(a)
    sizes = (a.shape[0], a.shape[1], b.shape[2])
    shape = [0, 0, 0]
    for place, size in zip(order, sizes, strict=True):
        shape[place] = size
    result: Floats = np.empty(shape)
    np.matmul(a, b, out=result.transpose(order))
    return result


def add_at(d: Floats, index: tuple[Any, ...], value: Any) -> None:
    """Accumulate at indices that may occur more than once."""
    if len(index) == d.ndim == 1 and np.size(index[0]) and np.shape(value) == np.shape(index[0]):
        at = np.ravel(index[0])
        if at.min() >= 0 and at.max() < d.size:
            d += np.bincount(at, np.ravel(value), d.size)
            return
    np.add.at(d, index, value)


def extreme(f: Any, first: Any, x: Anything, dim: int) -> Any:
    """The largest or smallest of ``first`` and the elements along a dimension; no NaN."""
    found = f(first, f.reduce(x, dim)) if x.shape[dim] else first
    if np.isnan(found).any():
        raise FloatingPointError("a NaN among what is compared")
    return found if np.ndim(found) else float(found)


def running(f: Any, first: Any, x: Anything, dim: int, down: bool) -> Anything:
    """For each element, ``f`` reduced over ``first`` and all elements before it; all after it if ``down``."""
    x = np.flip(x, dim) if down else x
    start = np.broadcast_to(np.expand_dims(first, dim), (*x.shape[:dim], 1, *x.shape[dim + 1 :]))
    whole = np.concatenate((start, x), dim)
    found = f.accumulate(whole, dim)[(slice(None),) * dim + (slice(0, x.shape[dim]),)]
    return np.flip(found, dim) if down else found


def other_of_extreme(f: Any, first: Any, d_first: Any, x: Anything, d: Anything, dim: int) -> Any:
    """What `extreme` carries, such as its tangent: that of the first element equal to it, or of ``first``."""
    if not x.shape[dim]:
        return d_first
    at = np.expand_dims((np.argmax if f is np.maximum else np.argmin)(x, dim), dim)
    best, along = (np.take_along_axis(y, at, dim).squeeze(dim) for y in (x, d))
    found = np.where(best > first if f is np.maximum else best < first, along, d_first)
    return found if np.ndim(found) else found.item()


def length(a: Any, b: Any) -> Any:
    """The length of the vector (a, b): if no square is out of range, by a root of all numbers at once."""
    square = np.square(a) + np.square(b)
    return np.sqrt(square) if ((square > 1e-290) & (square < 1e290)).all() else np.hypot(a, b)


def choose_(a: Any, b: Any) -> Any:
    """1 if a is larger than b, 0.5 at a tie."""
    return 0.5 * np.add(a > b, a >= b, dtype=float)


def expit_(a: Any) -> Any:
    """1 / (1 + exp(-a)), without overflow."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1.0, e) / (1.0 + e)


def softplus_(a: Any) -> Any:
    """log(1 + exp(a)), without overflow."""
    return np.maximum(a, 0.0) + np.log1p(np.exp(-np.abs(a)))


def real_(a: Anything) -> Floats:
    """Integers as floating-point numbers."""
    return a.astype(float)


#: Numpy's functions for operations that give integers.
ROUNDING = {"trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "round": np.rint}


def imul_(a: Any, b: Any) -> Any:
    """Products of integers that fit in 64 bits."""
    return fitting(a * b, np.multiply(a, b, dtype=float))


def whole_power(a: Any, b: Any) -> Any:
    """The power of one integer, which is no integer if the exponent is negative."""
    if b < 0:
        raise FloatingPointError("a negative power of a whole number")
    found = int(a) ** int(b)
    if found.bit_length() > 62:
        raise FloatingPointError("a whole number of more than 64 bits")
    return found


def ipow_(a: Any, b: Any) -> Any:
    """Powers of integers that fit in 64 bits."""
    if np.any(np.asarray(b) < 0):
        raise FloatingPointError("a negative power of a whole number")
    return fitting(np.power(a, b), np.power(a, b, dtype=float))


def whole(x: Floats) -> NDArray[np.int64]:
    """Whole numbers of 64 bits."""
    return fitting(x, x).astype(np.int64)  # type: ignore[no-any-return]


def fitting(x: Any, size: Floats) -> Any:
    """Whole numbers, if they are of 64 bits."""
    if not np.all(np.abs(size) < 2.0**62):
        raise FloatingPointError("a whole number of more than 64 bits")
    return x


def elementwise(name: str) -> Callable[..., Any]:
    """Compute an operation element by element, by the core's loop if it is in the opcode table."""
    if name in ROUNDING:
        return lambda a: whole(ROUNDING[name](a))
    if name in OPERATIONS:
        op = opcodes()[name]

        def of_core(*args: Any) -> Floats:
            is_even = all(type(x) is np.ndarray and x.shape == args[0].shape for x in args)
            operands = [np.ascontiguousarray(x, dtype=float) for x in (args if is_even else np.broadcast_arrays(*args))]
            out = np.empty(operands[0].shape)
            apply_opcode(op, operands[0].ravel(), operands[-1].ravel(), out.ravel())
            return out

        return of_core
    operation = OPERATIONS_BY_NAME[name]
    kind = float if operation.gives == REAL else int

    def one_by_one(*args: Any) -> Anything:
        arrays = np.broadcast_arrays(*args)
        values = [operation.compute(*(v.item() for v in each)) for each in zip(*(a.flat for a in arrays), strict=True)]
        return np.array(values, dtype=kind).reshape(arrays[0].shape)

    return one_by_one
