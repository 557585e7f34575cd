"""What generated programs call beside numpy and `math`: reads and accumulations that take a line of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeengine._core.machine import apply_opcode, opcodes
from tapeengine.chad.generate.values import NotGenerated, Uneven
from tapeengine.chad.primitives import REAL, evaluate_op
from tapeengine.spaces import ProductSpace, Space, space_of

__all__ = ["Operations", "padded"]

Floats = NDArray[np.float64]
AnySpace = Space | ProductSpace

#: A copy of an array with so many times fewer elements than another costs next to nothing beside work on that one.
SMALLER = 8


class Operations:
    """The functions that generated programs know as ``ops``.

    ``ops.<opcode>_`` computes an opcode on floats as C does, ``ops.whole_<opcode>`` along axes.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("whole_"):
            found = _elementwise(name.removeprefix("whole_"))
        elif name.endswith("_") and not name.startswith("_"):
            opcode = name[:-1]
            found = lambda *args: evaluate_op(opcode, args)  # noqa: E731
        else:
            raise AttributeError(name)
        setattr(self, name, found)
        return found

    @staticmethod
    def maximum_(a: float, b: float) -> float:
        """The larger one; NaN if the first is NaN."""
        return a if a >= b or a != a else b

    @staticmethod
    def minimum_(a: float, b: float) -> float:
        """The smaller one; NaN if the first is NaN."""
        return a if a <= b or a != a else b

    @staticmethod
    def array(values: list[Any], kind: type, rank: int = 1) -> NDArray[Any]:
        """What a loop collected, as an array of a rank even if it is empty; rows of different sizes are filled up."""
        if rank > 1 and len({v.shape for v in values}) > 1:
            return padded(values, kind, fill=1.0)  # where most functions have no pole
        made: NDArray[Any] = np.array(values, dtype=kind)
        return made if made.ndim == rank else made.reshape((len(values),) + (0,) * (rank - 1))

    @staticmethod
    def plus(a: Any, b: Any) -> Any:
        """The sum of two cotangents of a box or a list; None is zero. It takes time where both have something."""
        if a is None:
            return b
        if b is None:
            return a
        if type(a) is tuple:
            return tuple([Operations.plus(x, y) for x, y in zip(a, b, strict=True)])
        return [Operations.plus(x, y) for x, y in zip(a, b, strict=True)] if type(a) is list else a + b

    @staticmethod
    def nothings(x: list[Any] | None) -> list[None] | None:
        """Zero cotangents of the elements of a list; None for that of an option which was not taken."""
        return None if x is None else [None] * len(x)

    @staticmethod
    def accumulate(into: list[Any], ct: list[Any] | None) -> None:
        """Adds the cotangent of a list in place."""
        for i, x in enumerate(ct or ()):
            into[i] = Operations.plus(into[i], x)

    @staticmethod
    def all_shares(ct: list[Any] | None) -> Any:
        """The sum of the cotangents of all elements of a list."""
        total = None
        for x in ct or ():
            total = Operations.plus(total, x)
        return total

    @staticmethod
    def before(ct: list[Any] | None, size: int) -> list[Any] | None:
        """The first elements of the cotangent of a list."""
        return ct and ct[:size]

    @staticmethod
    def behind(ct: list[Any] | None, size: int) -> list[Any] | None:
        """The elements of the cotangent of a list from a position on."""
        return ct and ct[size:]

    @staticmethod
    def filled(ct: Floats | None, *shape: int) -> Floats:
        """The cotangent of an array in a box; None is zero."""
        return np.zeros(shape) if ct is None else ct

    @staticmethod
    def window(x: NDArray[Any], start: int, size: int, dim: int) -> NDArray[Any]:
        """A view of ``size`` elements from ``start`` on along one dimension.

        Raises
        ------
        IndexError
            Where the array ends before.
        """
        if start == 0 and size == x.shape[dim]:
            return x
        if size > 0 and start < 0:
            raise NotGenerated("a row of indices that begins with negative ones")
        if size > 0 and start + size > x.shape[dim]:
            raise IndexError(f"index {start + size - 1} is out of range for an array of size {x.shape[dim]}")
        view: NDArray[Any] = x[(slice(None),) * dim + (slice(max(start, 0), max(start, 0) + size),)]
        return view

    @staticmethod
    def products(a: Floats, b: Floats, order: tuple[int, int, int]) -> Floats:
        """Products of matrices one by one, with dimension k of ``a @ b`` at place ``order[k]`` in memory.

        A factor that is much smaller than the other is laid out in order first: for a transposed one matmul takes up
        to three times as long.
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

    @staticmethod
    def prefix(x: NDArray[Any], size: int, dim: int) -> NDArray[Any]:
        """A view of the first elements, for reads of which not all may happen."""
        if size > x.shape[dim]:
            raise NotGenerated("a masked read behind the end of an array")
        view: NDArray[Any] = x if size == x.shape[dim] else x[(slice(None),) * dim + (slice(0, size),)]
        return view

    @staticmethod
    def reach(x: NDArray[Any], size: int, counts: NDArray[Any], dim: int, where: int | None) -> NDArray[Any]:
        """The first elements along a dimension; zeros behind the last one, which must not be where it counts.

        Raises
        ------
        IndexError
            Where an element counts that there is not.
        """
        if size <= x.shape[dim]:
            return x[(slice(None),) * dim + (slice(0, size),)]
        behind = counts if where is None else counts[(slice(None),) * where + (slice(x.shape[dim], None),)]
        if np.any(behind):
            raise IndexError(f"index {x.shape[dim]} is out of range for an array of size {x.shape[dim]}")
        return Operations.unwindow(x, size, dim)

    @staticmethod
    def unreach(d: Floats, size: int, dim: int) -> Floats:
        """The transpose of `reach`, for an array of a size."""
        if d.shape[dim] > size:
            return d[(slice(None),) * dim + (slice(0, size),)]
        return Operations.unwindow(d, size, dim)

    @staticmethod
    def windows(x: Floats, rows: int, columns: int) -> Floats:
        """A view whose row i is the part of a vector that begins at i."""
        if rows == 0 or columns == 0:
            return np.zeros((rows, columns))
        return np.lib.stride_tricks.sliding_window_view(x, columns)

    @staticmethod
    def unwindows(d: Floats) -> Floats:
        """The transpose of `windows`: each row added where it begins."""
        rows, columns = d.shape
        result = np.zeros(max(rows + columns - 1, 0))
        for j in range(min(d.shape)):
            if columns <= rows:
                result[j : j + rows] += d[:, j]
            else:
                result[j : j + columns] += d[j]
        return result

    @staticmethod
    def correlate(x: Floats, w: Floats, size: int) -> Floats:
        """Sums of products with each window of a vector, of which there are ``size``."""
        return np.correlate(x, w, "valid") if size and w.size else np.zeros(size)

    @staticmethod
    def convolve(d: Floats, w: Floats, size: int) -> Floats:
        """The transpose of `correlate` with respect to the vector, whose size is given."""
        return np.convolve(d, w) if d.size and w.size else np.zeros(max(size, 0))

    @staticmethod
    def same_size(first: int, second: int) -> int:
        """The size of two arrays, which has to be the same."""
        if first != second:
            raise Uneven("arrays of different sizes")
        return first

    @staticmethod
    def spread(x: Any, shape: tuple[int, ...]) -> Floats:
        """A new array of this shape that a value is broadcast into."""
        result = np.empty(shape)
        result[...] = x
        return result

    @staticmethod
    def unwindow(d: Floats, size: int, dim: int) -> Floats:
        """The array itself, or a longer one with zeros behind it."""
        if d.shape[dim] == size:
            return d
        result = np.zeros((*d.shape[:dim], size, *d.shape[dim + 1 :]), d.dtype)
        result[(slice(None),) * dim + (slice(0, d.shape[dim]),)] = d
        return result

    @staticmethod
    def add_at(d: Floats, index: tuple[Any, ...], value: Any) -> None:
        """Accumulate at indices that may occur more than once: bincount for vectors, else `numpy.add.at`."""
        if d.ndim == 1 and index[0].size > 0 and np.shape(value) == index[0].shape and index[0].min() >= 0:
            d += np.bincount(index[0].ravel(), np.ravel(value), d.size)
        else:
            np.add.at(d, index, value)

    @staticmethod
    def scale(ct: Any, factor: Any) -> Any:
        """Multiply; exactly zero where the cotangent is zero, whatever the factor."""
        return (
            np.where(ct == 0, 0.0, ct * factor) if np.ndim(ct) or np.ndim(factor) else 0.0 if ct == 0 else ct * factor
        )

    @staticmethod
    def scatter(base: Floats, index: NDArray[np.int64], values: Any) -> Floats:
        """A copy of an array with values added at indices.

        A list of no rows has lost how long they would be, so that an empty base need not fit to no values.
        """
        result = np.array(base)
        if index.size:
            np.add.at(result, index, values)
        return result

    @staticmethod
    def space(x: Any) -> AnySpace:
        """The vector space of a value, for rules that need no more of it."""
        return space_of(x)

    @staticmethod
    def cotangents(whole: tuple[Any, ...], given: Mapping[int, Any]) -> tuple[Any, ...]:
        """The cotangent of a tuple: zeros for the parts that have none."""
        return tuple(given[i] if i in given else np.zeros(np.shape(x))[()] for i, x in enumerate(whole))

    @staticmethod
    def within(index: Any, sizes: Any, counts: Any = True) -> Any:
        """Indices into rows of different sizes, the negative ones from the end; 0 where they do not count.

        Raises
        ------
        IndexError
            Where one that counts is out of range.
        """
        found = np.where(index < 0, index + sizes, index)
        fits = (found >= 0) & (found < sizes)
        if not np.all(fits | ~np.asarray(counts)):
            raise IndexError("index is out of range for a row")
        return np.where(fits, found, 0)

    @staticmethod
    def nonempty_rows(x: NDArray[Any], sizes: Any, counts: Any = True) -> NDArray[Any]:
        """The array itself; a fold of a row that counts needs a first element."""
        if np.any((sizes == 0) & counts):
            raise IndexError("fold of an empty array")
        if not x.size:
            return np.zeros([max(n, 1) for n in x.shape])[tuple(slice(0, n) for n in x.shape[:-1])]
        return x

    @staticmethod
    def nonempty(x: NDArray[Any], dim: int) -> NDArray[Any]:
        """The array itself; a fold needs a first element."""
        if x.shape[dim] == 0:
            raise IndexError("fold of an empty array")
        return x

    @staticmethod
    def shares(x: Floats, extreme: Any, dim: int) -> Floats:
        """For each element its part in the largest or smallest one: equals have equal parts."""
        is_one = x == extreme(x, axis=dim, keepdims=True)
        parts: Floats = is_one / is_one.sum(axis=dim, keepdims=True)
        return parts

    @staticmethod
    def others(x: Floats, dim: int) -> Floats:
        """For each element the product of all others, also where some are zero."""
        moved = np.moveaxis(x, dim, -1)
        ones = np.ones_like(moved[..., :1])
        before = np.concatenate((ones, np.cumprod(moved[..., :-1], axis=-1)), axis=-1)
        after = np.concatenate((ones, np.cumprod(moved[..., :0:-1], axis=-1)), axis=-1)[..., ::-1]
        return np.moveaxis(before * after, -1, dim)

    @staticmethod
    def cumsum_back(x: Floats, dim: int) -> Floats:
        """Sums of all elements from each on along one dimension."""
        result: Floats = np.flip(np.cumsum(np.flip(x, dim), dim), dim)
        return result

    @staticmethod
    def whole_choose(a: Any, b: Any) -> Any:
        """1 where a is the larger one, a half at a tie."""
        return np.where((a > b) | (a != a), 1.0, np.where(a == b, 0.5, 0.0))

    @staticmethod
    def whole_expit(a: Any) -> Any:
        """1 / (1 + exp(-a)), without overflow."""
        e = np.exp(-np.abs(a))
        return np.where(a >= 0, 1.0, e) / (1.0 + e)

    @staticmethod
    def whole_softplus(a: Any) -> Any:
        """log(1 + exp(a)), without overflow."""
        return np.maximum(a, 0.0) + np.log1p(np.exp(-np.abs(a)))

    @staticmethod
    def whole_trunc(a: Any) -> Any:
        """Integers, towards zero."""
        return np.trunc(a).astype(np.int64)

    @staticmethod
    def whole_floor(a: Any) -> Any:
        """Integers, downwards."""
        return np.floor(a).astype(np.int64)

    @staticmethod
    def whole_ceil(a: Any) -> Any:
        """Integers, upwards."""
        return np.ceil(a).astype(np.int64)


#: How many times as much memory as its elements an array may take that is filled up to the longest row.
MOST = 64


def padded(values: list[Any], kind: Any, fill: float = 0.0) -> NDArray[Any]:
    """Arrays of different shapes as one array, filled up behind their elements.

    Raises
    ------
    NotGenerated
        Where few long rows among many short ones would take too much memory.
    """
    shape = tuple(max(sizes) for sizes in zip(*(v.shape for v in values), strict=True))
    if len(values) * np.prod(shape) > MOST * sum(v.size for v in values) + 10**6:
        raise NotGenerated("rows of very different sizes")
    result = np.full((len(values), *shape), fill if kind in (float, np.float64) else 0, dtype=kind)
    if len(shape) == 1:
        result[np.arange(shape[0]) < np.array([len(v) for v in values])[:, None]] = np.concatenate(values)
        return result
    for row, value in zip(result, values, strict=True):
        row[tuple(map(slice, value.shape))] = value
    return result


def _elementwise(opcode: str) -> Callable[..., Any]:
    """An opcode element by element: the core's loop where it is one of the opcode table's."""
    if opcode in REAL:
        return partial(_whole, opcodes()[opcode])

    def compute(*args: Any) -> Any:
        arrays = np.broadcast_arrays(*args)
        values = [evaluate_op(opcode, [v.item() for v in each]) for each in zip(*(a.flat for a in arrays), strict=True)]
        return np.array(values, dtype=type(values[0]) if values else float).reshape(arrays[0].shape)

    return compute


def _whole(op: int, *args: Any) -> Floats:
    operands = [np.ascontiguousarray(x, dtype=float) for x in np.broadcast_arrays(*args)]
    out = np.empty(operands[0].shape)
    apply_opcode(op, operands[0].ravel(), operands[-1].ravel(), out.ravel())
    return out
