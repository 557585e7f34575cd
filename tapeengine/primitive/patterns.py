"""The structure of an operation's linear map: which elements of its arguments each element of its result depends on.

A primitive declares it as ``pattern=``, with a function from here or its own. The function gets a `Call` whose `sets`
contain, for each argument that depends on an input, one set for each element; it returns the sets of the result. A set
is a number that represents a set of inputs (0 is the empty set): sets may be moved like elements, and united. The
pattern depends on what the operation may read, not on values: a partial that happens to be zero counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = [
    "Call", "Pattern", "along", "core", "cumulates", "elementwise", "moves", "product", "reduces", "running", "solves",
    "windows",
]  # fmt: skip

Sets = Any


class Call(Protocol):
    """One recorded call, for a pattern.

    Attributes
    ----------
    sets : dict of int to numpy.ndarray of uint64
        The sets of each argument, in its shape, by the argument's index.
    spaces : sequence of Space
        The spaces of all arguments.
    static : dict
        The static parameters.
    values : dict
        Arguments that are never differentiated, by the argument's index.
    shape : tuple of int
        The shape of the result; of its first array if it has several.
    primal : callable
    """

    sets: dict[int, Sets]
    spaces: Sequence[Any]
    static: dict[str, Any]
    values: dict[int, Any]
    shape: tuple[int, ...]
    primal: Callable[..., Any]

    def union(self, x: Sets, y: Sets) -> Sets:
        """Return the unions, element by element; both broadcast."""

    def over(self, x: Sets, axes: tuple[int, ...] | None) -> Sets:
        """Return the union over axes (None: over all); these axes stay with extent 1."""

    def grouped(self, x: Sets, groups: Any, count: int) -> Sets:
        """Return `count` unions: number g is the union of the elements of `x` whose group is g."""


Pattern = Callable[[Call], Sets]


def elementwise(call: Call) -> Sets:
    """Each element of the result depends on the elements of the arguments that broadcast to it."""
    found, *others = call.sets.values()
    for other in others:
        found = call.union(found, other)
    return np.broadcast_to(found, call.shape)


def moves(call: Call) -> Sets:
    """Each element of the result is an element of an argument or a constant: the operation moves the sets."""
    sets = [
        call.values[k] if k in call.values else call.sets.get(k, np.zeros(space.shape, np.uint64))
        for k, space in enumerate(call.spaces)
    ]
    return call.primal(*sets, **{key: x for key, x in call.static.items() if key != "dtype"})


def reduces(call: Call) -> Sets:
    """Each element of the result depends on all elements along the static parameter `axis` of the first argument."""
    sets = call.sets[0]
    return np.reshape(call.over(sets, axes_of(call, sets.ndim)), call.shape)


def along(call: Call) -> Sets:
    """Each element of the result depends on all elements of its line along `axis`."""
    sets = call.sets[0]
    return np.broadcast_to(call.over(sets, axes_of(call, sets.ndim)), call.shape)


def axes_of(call: Call, ndim: int) -> tuple[int, ...] | None:
    """Return the axes that the static parameter `axis` names; None for all."""
    axis = call.static.get("axis")
    if axis is None:
        return None
    return tuple(k % ndim for k in ((axis,) if np.ndim(axis) == 0 else axis)) if ndim else ()


def cumulates(call: Call) -> Sets:
    """Each element depends on itself and those before it along `axis`."""
    axis = call.static["axis"]
    return np.moveaxis(running(call, np.moveaxis(call.sets[0], axis, 0)), 0, axis)


def running(call: Call, sets: Sets) -> Sets:
    """Return the unions of each element and those before it along the first axis, by doubling (Hillis and Steele)."""
    distance = 1
    while distance < len(sets):
        sets = np.concatenate([sets[:distance], call.union(sets[distance:], sets[:-distance])])
        distance *= 2
    return sets


def core(call: Call) -> Sets:
    """Each result's matrix, vector or number depends on all of the matrix in each argument: on its last two axes."""
    whole: Any = np.zeros((), np.uint64)
    for sets in call.sets.values():
        last = tuple(range(max(sets.ndim - 2, 0), sets.ndim))
        whole = call.union(whole, call.over(sets, last).reshape(sets.shape[:-2]))
    batch = whole.shape
    return np.broadcast_to(whole.reshape(batch + (1,) * (len(call.shape) - len(batch))), call.shape)


def solves(call: Call) -> Sets:
    """A linear system: a column of the result depends on all of the matrix and on that column of the right-hand side.

    The matrix is the first argument, on its last two axes, or a vector of its entries.
    """
    is_vector = call.spaces[1].ndim == 1
    parts = []
    if 0 in call.sets:
        a = call.sets[0]
        whole = call.over(a, tuple(range(max(a.ndim - 2, 0), a.ndim)))
        parts.append(whole[..., 0] if is_vector and a.ndim > 1 else whole)
    if 1 in call.sets:
        b = call.sets[1]
        parts.append(call.over(b, (b.ndim - 1 if is_vector else b.ndim - 2,)))
    return np.broadcast_to(parts[0] if len(parts) == 1 else call.union(*parts), call.shape)


def product(call: Call) -> Sets:
    """A matrix product: an element depends on a row of the first argument and a column of the second."""
    parts = []
    shape = call.shape
    if 0 in call.sets:
        x = call.sets[0]
        rows = call.over(x, (x.ndim - 1,))
        parts.append(rows if call.spaces[1].ndim > 1 else rows[..., 0])
    if 1 in call.sets:
        y = call.sets[1]
        columns = call.over(y, (max(y.ndim - 2, 0),))
        parts.append(
            columns if call.spaces[0].ndim > 1 and y.ndim > 1 else columns[..., 0, :] if y.ndim > 1 else columns
        )
    found = parts[0] if len(parts) == 1 else call.union(*parts)
    return np.broadcast_to(found.reshape(()) if not shape else found, shape)


def windows(call: Call, sets: Sets, extent: int) -> Sets:
    """Return the unions over windows along the first axis: of element k and the `extent` - 1 elements after it."""
    found, length = sets, 1
    while 2 * length <= extent:
        found = call.union(found[: len(found) - length], found[length:])
        length *= 2
    rest = extent - length
    return call.union(found[: len(found) - rest], found[rest:]) if rest else found
