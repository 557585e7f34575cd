"""Operands that numpy's numbers and ufuncs read as arrays; Python's floats refuse them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

READ = (Sequence, memoryview, array, ctypes.Array, ctypes._SimpleCData)


def is_read(x: Any) -> bool:
    """Whether numpy reads an operand as an array: a sequence, or memory of numbers."""
    return not isinstance(x, (str, bytes)) and (isinstance(x, READ) or _is_indexed(x))


def _is_indexed(x: Any) -> bool:
    """Whether an object has the methods of a sequence, or gives its memory, without more that numpy asks for."""
    cls = type(x)
    if any(hasattr(cls, f"__array{name}__") for name in ("", "_ufunc", "_priority")) or isinstance(x, Mapping):
        return False
    return (hasattr(cls, "__getitem__") and hasattr(cls, "__len__")) or hasattr(x, "__array_interface__")


def repeats(x: Any) -> bool:
    """Whether a product with x is Python's repetition of a sequence."""
    return is_read(x) and any("__mul__" in vars(cls) for cls in type(x).__mro__)


def joins(ufunc: Any, x: Any) -> bool:
    """Whether an operator of numpy's numbers computes elementwise with x."""
    return is_read(x) and not (ufunc is numpy.multiply and repeats(x))
