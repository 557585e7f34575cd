"""The iterator over the elements of a traced array."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from .._core.arrays.array import Array, put_overlapping
from .creation import put_in_turn, put_numbered
from .foreign import replaced


def by_copy(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison of the elements as an array."""
    return lambda self, other: compare(self.copy(), arrays_of(other))


def arrays_of(value: Any) -> Any:
    """A value with arrays in place of iterators, also in lists, tuples and dicts."""
    return replaced(lambda x: x.copy() if type(x) is Flat else x, value)


class Flat:
    """ndarray.flat: the elements in C order, for reading, writing, iteration, and as an argument of functions."""

    def __init__(self, base: Array) -> None:
        self.base = base
        self.index = 0

    @property
    def coords(self) -> tuple[Any, ...]:
        """The place of the next element in the array."""
        place, found = self.index, []
        for size in reversed(self.base.shape[1:]):
            place, number = divmod(place, size)
            found.append(number)
        return (place, *reversed(found)) if self.base.ndim else ()

    def copy(self) -> Any:
        """The elements as a new array."""
        self.index = 0
        return self.base.flatten()

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self.copy().__array__(*args, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*arrays_of(inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function(*arrays_of(args), **arrays_of(options))

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Any:
        if self.index == len(self):
            raise StopIteration
        self.index += 1
        return self._elements[self.index - 1 if self.base.ndim < 2 else self._places(self.index - 1)]

    def __getitem__(self, index: Any) -> Any:
        self.index = 0
        return self._elements[self._places(self._numbers(index))]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.index = 0
        numbers, value = self._numbers(index), arrays_of(value)
        if not isinstance(numbers, numpy.ndarray):
            put_numbered(self.base, numbers, value)
        elif not put_overlapping(self.base, value, lambda target, found: target.flat.__setitem__(index, found)):
            put_in_turn(self.base, numpy.ravel(numbers), value)

    __lt__, __le__, __gt__, __ge__ = map(by_copy, (operator.lt, operator.le, operator.gt, operator.ge))
    __eq__, __ne__ = by_copy(operator.eq), by_copy(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    @property
    def _elements(self) -> Any:
        return self.base if self.base.ndim else self.base[None]

    def _places(self, numbers: Any) -> Any:
        return numpy.unravel_index(numbers, self._elements.shape)

    def _numbers(self, index: Any) -> Any:
        """The numbers of the elements selected by an index into the flat array."""
        return numpy.arange(self.base.size).flat[index]
