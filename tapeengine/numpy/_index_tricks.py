"""numpy's `r_` and `c_`, `ndenumerate` and `nditer` for arrays that may hold traced numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from .._core.arrays.array import Array, holds_traced
from .._core.arrays.functions import offered
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from ..duals.creation import plain
from ..duals.outputs import numpys
from ..errors import UnsupportedError
from ._creation import arange, asarray

__all__ = ["broadcast", "c_", "ndenumerate", "nditer", "r_"]

concatenate, linspace = offered(numpy.concatenate), offered(numpy.linspace)


class Concatenator:
    """`numpy.r_` or `numpy.c_`: numpy's own runs on the numbers of the elements, and its result places the elements."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs

    def __getitem__(self, key: Any) -> Any:
        """The joined array."""
        items = key if isinstance(key, tuple) else (key,)
        if not any(map(is_traced_item, items)):
            return self.theirs[key]
        items = tuple(map(row, items))
        whole = numpys(lambda *given: self.theirs[given], items, {})
        if isinstance(whole, numpy.matrix):
            raise UnsupportedError("a numpy.matrix cannot hold traced numbers: write '0,2' for 'r', '0,2,0' for 'c'")
        parts = [item if isinstance(item, str) else asarray(item, whole.dtype) for item in items]
        places: list[Any] = []
        count = 0
        for part in parts:
            if isinstance(part, str):
                places.append(part)
                continue
            shape = numpy.shape(part)
            size = int(numpy.prod(shape, dtype=int))
            places.append(numpy.arange(count, count + size).reshape(shape)[()])
            count += size
        flat = concatenate([numpy.ravel(part) for part in parts if not isinstance(part, str)])
        return flat[numpy.asarray(self.theirs[tuple(places)])]

    def __len__(self) -> int:
        """The length of numpy's object."""
        return 0


def is_traced_item(item: Any) -> bool:
    """Whether an item of an index is traced, or a slice with a traced end."""
    return holds_traced([item.start, item.stop, item.step] if isinstance(item, slice) else item)


def row(item: Any) -> Any:
    """The array for an item; for a slice, its numbers."""
    if not isinstance(item, slice):
        return item
    if isinstance(item.step, (complex, ComplexDual)):
        return linspace(item.start or 0, item.stop, int(abs(item.step)))
    if not is_traced_item(item):
        return numpy.r_[item]
    return arange(item.start or 0, item.stop, item.step or 1)


class ndenumerate:
    """`numpy.ndenumerate`: indices and elements, which are traced if the array is.

    Examples
    --------
    >>> [(index, float(x)) for index, x in ndenumerate([2.0, 3.0])]
    [((0,), 2.0), ((1,), 3.0)]
    """

    def __init__(self, arr: Any) -> None:
        self.array = asarray(arr)
        self.indices = numpy.ndindex(*self.array.shape)

    def __iter__(self) -> Iterator[Any]:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """The next pair, in C order."""
        index = next(self.indices)
        return index, self.array[index]


def broadcast(*args: Any) -> numpy.broadcast:
    """`numpy.broadcast`, which yields the elements of traced arrays as objects.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda x: sum(a * b for a, b in np.broadcast(x, [[2.0], [3.0]])))(np.ones(2))
    array([5., 5.])
    """
    return numpy.broadcast(*(elements(x) if holds_traced(x) else x for x in args))


def elements(x: Any) -> Any:
    """An array of objects of the elements of a traced array."""
    made = numpy.empty(numpy.shape(x), object)
    for index, element in ndenumerate(x):
        made[index] = element
    return made


class Walk:
    """`numpy.nditer` over traced arrays: numpy's own iterates over element numbers and gives the positions."""

    def __init__(self, ops: list[Any], one: bool, flags: tuple[str, ...], options: dict[str, Any]) -> None:
        if {"external_loop", "buffered"} & set(flags) or any(op is None for op in ops):
            raise UnsupportedError(
                "numpy.nditer of traced arrays visits single elements: external_loop, buffered and operands that it "
                "allocates are not differentiated. Write array operations, or assign into numpy.zeros_like(a)"
            )
        self.ops, self.one, self.options = ops, one, options
        self.flags = tuple({*flags, "multi_index"})
        self.numbers = [numpy.asarray(plain(op)) for op in ops]
        self.reset()

    def reset(self) -> None:
        """Start from the beginning."""
        self.walk: Any = numpy.nditer(self.numbers, self.flags, **self.options)  # type: ignore[arg-type]
        self.started = False
        shape = self.walk.shape
        self.views = [op if op.shape == shape else numpy.broadcast_to(op, shape) for op in self.ops]

    def __iter__(self) -> Iterator[Any]:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """The elements at the next position, as writable arrays without axes."""
        if self.started:
            self.walk.iternext()
        if self.walk.finished:
            raise StopIteration
        self.started = True
        return self.value

    @property
    def value(self) -> Any:
        """The elements at the present position."""
        found = tuple(view[(*self.walk.multi_index, ...)] for view in self.views)
        return found[0] if self.one else found

    def __getitem__(self, k: int) -> Any:
        return self.views[k][(*self.walk.multi_index, ...)]

    def __setitem__(self, k: int, value: Any) -> None:
        self.views[k][self.walk.multi_index] = value

    def iternext(self) -> bool:
        """Move to the next position; False at the end."""
        return bool(self.walk.iternext())

    def __enter__(self) -> Walk:
        """Return the iterator itself."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Do nothing: writes have reached the arrays already."""

    def close(self) -> None:
        """Do nothing: writes have reached the arrays already."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.walk, name)


def nditer(op: Any, flags: Any = (), op_flags: Any = None, *args: Any, **options: Any) -> Any:
    """`numpy.nditer`: over traced arrays it visits single elements, which are traced.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda a: sum(x * x for x in np.nditer(a)))(np.array([1.0, 3.0]))
    array([2., 6.])
    """
    one = not isinstance(op, (list, tuple))
    ops = [op] if one else list(op)
    if not holds_traced(ops):
        return numpy.nditer(op, flags, op_flags, *args, **options)
    numpy.nditer(plain(op), flags, op_flags, *args, **options)  # raises numpy's errors
    named = dict(zip(("op_dtypes", "order", "casting", "op_axes", "itershape", "buffersize"), args, strict=False))
    if op_flags is not None:
        per = [op_flags] if one and op_flags and isinstance(op_flags[0], str) else op_flags
        options["op_flags"] = per
    arrays = [x if type(x) is Array else asarray(x) if holds_traced(x) or type(x) is Dual else x for x in ops]
    arrays = [x if x is None or type(x) is Array else numpy.asarray(x) for x in arrays]
    return Walk(arrays, one, tuple(flags or ()), {**named, **options})


c_, r_ = Concatenator(numpy.c_), Concatenator(numpy.r_)
