"""Operands that numpy's numbers and ufuncs read as arrays; Python's floats refuse them."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from typing import Any

import numpy

READ = (Sequence, memoryview, array, ctypes.Array, ctypes._SimpleCData)


def is_read(x: Any) -> bool:
    """Whether numpy reads an operand as an array: a sequence, or memory of numbers."""
    return isinstance(x, READ) and not isinstance(x, (str, bytes))


def repeats(x: Any) -> bool:
    """Whether a product with x is Python's repetition of a sequence."""
    return is_read(x) and any("__mul__" in vars(cls) for cls in type(x).__mro__)


def joins(ufunc: Any, x: Any) -> bool:
    """Whether an operator of numpy's numbers computes elementwise with x."""
    return is_read(x) and not (ufunc is numpy.multiply and repeats(x))
