"""Functions for programs that have no counterpart in Python or numpy.

Inside a `program` they are constructors of the language. Elsewhere, and in a program that runs as plain Python, they
are the functions in this module, which take floats, numpy arrays, lists and dual numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

T = TypeVar("T")
S = TypeVar("S")


def fold(f: Callable[[T, T], T], xs: Sequence[T], *init: T) -> T:
    """Reduce an array with an associative function.

    Parameters
    ----------
    f : callable
        Combines two elements. It must be associative, because the order of combination is not fixed.
    xs : array
        The elements; not empty, unless there is a start.
    *init
        An optional start, combined from the left.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.fold(lambda a, b: a * b, [2.0, 3.0, 4.0])
    24.0
    """
    items = [*init, *xs]
    if not items:
        raise IndexError("fold of an empty array")
    result = items[0]
    for item in items[1:]:
        result = f(result, item)
    return result


def scan(f: Callable[[S, T], S], xs: Sequence[T], init: S) -> Any:
    """Give the states ``s = f(s, x)`` after each element, starting at ``init``.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.scan(lambda s, x: s + x, [1.0, 2.0, 3.0], 0.0)
    [1.0, 3.0, 6.0]
    """
    states = []
    state = init
    for x in xs:
        state = f(state, x)
        states.append(state)
    return states


def gather(xs: Any, indices: Any) -> Any:
    """Give ``[xs[i] for i in indices]``.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.gather([1.0, 2.0, 3.0], [2, 0])
    [3.0, 1.0]
    """
    return [xs[i] for i in indices] if isinstance(xs, list) else xs[numpy.asarray(indices, dtype=int)]


def scatter(xs: Any, indices: Any, values: Any) -> Any:
    """Give a copy of ``xs`` with ``values[k]`` added at ``indices[k]`` for each k.

    Elements are numbers, rows, tuples or dataclasses; those with parts are added part by part.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.scatter([0.0, 0.0], [1, 1, 0], [1.0, 2.0, 3.0])
    [3.0, 3.0]
    """
    result = [xs[i] for i in range(len(xs))]
    for i, value in zip(indices, values, strict=True):
        result[i] = added(result[i], value)
    return result


def added(a: Any, b: Any) -> Any:
    """Add numbers and arrays, and lists, tuples and dataclasses part by part.

    Examples
    --------
    >>> added((1.0, [2.0]), (3.0, [4.0]))
    (4.0, [6.0])
    """
    cls: Any = type(a)
    if isinstance(a, list | tuple):
        parts = [added(x, y) for x, y in zip(a, b, strict=True)]
        return cls(*parts) if hasattr(a, "_fields") else cls(parts)
    if dataclasses.is_dataclass(a):
        return cls(*[added(getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a)])
    return a + b


def replicate(n: int, x: Any) -> Any:
    """Give an array of ``n`` times ``x``.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.replicate(2, 1.5)
    [1.5, 1.5]
    """
    return [x] * n
