"""Values whose classes have other operations than those of the language's types, although they derive from these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy

from ..._core.structures.constructors import hidden
from ...naming import attribute_of

#: Classes of values that are what their types say.
PLAIN = frozenset((float, int, bool, str, list, tuple, dict, OrderedDict))
ARRAYS = (numpy.ndarray, numpy.memmap)


def is_strange(value: Any) -> bool:
    """Tell whether the operations of a value may differ from those of its type.

    Its class derives from Python's or numpy's, or has more digits, or it is a record that has attributes of its own in
    the place of those of its class.
    """
    if type(value) in PLAIN:
        return False
    dtype = attribute_of(value, "dtype")
    if isinstance(dtype, numpy.dtype) and dtype.kind == "f" and dtype.itemsize > 8:
        return True
    if type(value) in ARRAYS or isinstance(value, numpy.generic | Enum):
        return False
    is_own = isinstance(value, float | int | str | list | tuple | dict | numpy.ndarray)
    return hidden(value) or (is_own and not hasattr(type(value), "_fields"))


def holds_strange(values: Iterable[Any]) -> bool:
    """Tell whether a list of numbers, or of such lists, has elements of such classes."""
    for value in values:
        if type(value) is float or type(value) is int:
            continue
        if is_strange(value) or (isinstance(value, list | tuple) and holds_strange(value)):
            return True
    return False


def named(value: Any) -> str:
    """Give the name of a value's class, with the dtype of an array."""
    of = f" of {value.dtype}" if isinstance(value, numpy.ndarray) else ""
    of = " with attributes of its own in the place of those of its class" if hidden(value) else of
    return type(value).__name__ + of
