"""numpy's `r_`, `c_`, `mgrid`, `ogrid`, `require`, `ndenumerate` and `nditer` for values that may be traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from .._core.arrays.array import Array, holds_traced
from .._core.scalars.scalar import Dual
from ..duals.creation import plain
from ..errors import UnsupportedError
from ._creation import asarray, check
from ._twins import rebound

__all__ = ["broadcast", "c_", "mgrid", "ndenumerate", "nditer", "nested_iters", "ogrid", "r_", "require"]


class ByKey:
    """An object of numpy's that makes arrays of the items of an index, by its own code also of traced ones."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs

    def __getitem__(self, key: Any) -> Any:
        """The array that numpy makes of the items."""
        items = key if isinstance(key, tuple) else (key,)
        if not any(map(is_traced_item, items)):
            return self.theirs[key]
        if any(isinstance(item, str) and item in ("r", "c") for item in items):
            raise UnsupportedError("a numpy.matrix cannot hold traced numbers: write '0,2' for 'r', '0,2,0' for 'c'")
        return rebound(type(self.theirs).__getitem__)(self.theirs, key)


class Concatenator(ByKey):
    """`numpy.r_` or `numpy.c_`."""

    def __len__(self) -> int:
        """The length of numpy's object."""
        return 0


def is_traced_item(item: Any) -> bool:
    """Whether an item of an index is traced, or a slice with a traced end."""
    return holds_traced([item.start, item.stop, item.step] if isinstance(item, slice) else item)


def require(a: Any, dtype: Any = None, requirements: Any = None, **options: Any) -> Any:
    """`numpy.require`, by its own code."""
    if not holds_traced(a):
        return numpy.require(a, dtype, requirements, **options)
    check(numpy.require, {**options, "requirements": requirements})
    return rebound(numpy.require)(a, dtype, requirements)  # type: ignore[arg-type]


class ndenumerate(numpy.ndenumerate):
    """`numpy.ndenumerate`: indices and elements, which are traced if the array is.

    Examples
    --------
    >>> [(index, float(x)) for index, x in ndenumerate([2.0, 3.0])]
    [((0,), 2.0), ((1,), 3.0)]
    """

    def __init__(self, arr: Any) -> None:
        self.iter = asarray(arr).flat


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


#: Names of the position in `numpy.nditer`, which a program may assign.
POSITIONS = frozenset({"index", "multi_index", "iterindex", "iterrange"})


class Walk:
    """`numpy.nditer` over traced arrays: numpy's own iterates over element numbers and gives the positions."""

    def __init__(self, ops: list[Any], one: bool, flags: tuple[str, ...], options: dict[str, Any]) -> None:
        if {"external_loop", "buffered"} & set(flags) or options.get("op_axes") or any(op is None for op in ops):
            raise no_walk("external_loop, buffered, op_axes and operands that it allocates")
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

    def __setattr__(self, name: str, value: Any) -> None:
        """Move to another position, by numpy's names of positions."""
        if name not in POSITIONS:
            return object.__setattr__(self, name, value)
        setattr(self.walk, name, value)
        self.started = False

    def copy(self) -> Walk:
        """An iterator at the same position."""
        made = object.__new__(Walk)
        vars(made).update(vars(self), walk=self.walk.copy())
        return made

    __copy__ = copy

    def __len__(self) -> int:
        """The number of operands."""
        return len(self.ops)

    def remove_axis(self, *args: Any) -> None:
        """Refuse, as numpy's iterator would visit other elements."""
        raise no_walk("remove_axis and remove_multi_index")

    remove_multi_index = remove_axis

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


def no_walk(what: str) -> UnsupportedError:
    """The error where elements of traced arrays are visited in another way than one by one."""
    return UnsupportedError(
        f"numpy.nditer of traced arrays visits single elements: {what} are not differentiated. Write array "
        "operations, or assign into numpy.zeros_like(a)"
    )


def nested_iters(op: Any, *args: Any, **options: Any) -> Any:
    """`numpy.nested_iters` of plain arrays."""
    if holds_traced(op if isinstance(op, (list, tuple)) else [op]):
        raise no_walk("iterators inside one another")
    return numpy.nested_iters(op, *args, **options)


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
mgrid, ogrid = ByKey(numpy.mgrid), ByKey(numpy.ogrid)
