"""Programs on few numbers: for arrays of known small sizes every element is a variable, and all builds are written out.

What is left are loops of scalars, which the register machine runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeengine.chad.generate.lower_arrays import at
from tapeengine.chad.generate.values import Along, Items, NotGenerated, Pending, Tup, Value, leaves
from tapeengine.chad.imperative import Const, Ref

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["LONGEST", "MOST_OPERATIONS", "Shapes", "itemised", "small_shapes"]

#: The shape of each leaf of the parameters.
Shapes = tuple[tuple[int, ...], ...]
#: The most elements along an axis, and the most numbers in all arrays together.
LONGEST, FEW = 16, 32
#: The most operations of a forward pass that is written for one shape: a longer one is given up after some 50 ms.
MOST_OPERATIONS = 1000


def small_shapes(arguments: Sequence[Any]) -> Shapes | None:
    """Give the shapes of the leaves of a program's arguments; None if they are not small, or all are numbers.

    Examples
    --------
    >>> small_shapes([1.5, np.zeros(3)]), small_shapes([np.zeros(1000)]), small_shapes([1.5])
    (((), (3,)), None, None)
    """
    shapes = tuple(x.shape if type(x) is np.ndarray else () for x in arguments)
    sizes = [n for shape in shapes for n in shape]
    if not sizes or min(sizes) < 1 or max(sizes) > LONGEST or any(type(x) in (list, tuple) for x in arguments):
        return None
    return shapes if sum(x.size for x in arguments if type(x) is np.ndarray) <= FEW else None


def itemised(L: Lower, value: Value, shapes: Mapping[str, tuple[int, ...]], scope: Scope) -> Value:
    """Give a parameter with its arrays item by item.

    Parameters
    ----------
    L : Lower
    value : Value
    shapes : mapping of str to tuple of int
        Of the leaves, by name.
    scope : Scope

    Raises
    ------
    NotGenerated
        For a parameter that holds anything but numbers, tuples and arrays.
    """
    match value:
        case Ref() as ref if not ref.axes:
            return ref
        case Tup(items):
            return Tup(tuple(itemised(L, item, shapes, scope) for item in items))
        case Along(_, _, None):
            return L.all_forced(_items(L, value, shapes, scope, 0))
    raise NotGenerated("a parameter that cannot be written item by item")


def _items(L: Lower, value: Value, shapes: Mapping[str, tuple[int, ...]], scope: Scope, depth: int) -> Value:
    match value:
        case Along(_, element, None):
            first = next(x.base if isinstance(x, Pending) else x for x in leaves(element))
            assert isinstance(first, Ref)
            each = [at(L, value, Const(i), scope) for i in range(shapes[first.name][depth])]
            return Items(tuple(_items(L, x, shapes, scope, depth + 1) for x in each))
        case Tup(items):
            return Tup(tuple(_items(L, item, shapes, scope, depth) for item in items))
    return value
