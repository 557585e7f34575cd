"""What the text of a program calls when it runs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["add_all", "plus", "zeros_like"]


def plus(a: Any, b: Any) -> Any:
    """Add two cotangents of boxes or of parts of them."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return (a[0], *map(plus, a[1:], b[1:]))
    if isinstance(a, list):
        return list(map(plus, a, b))
    return operator.add(a, b)


def add_all(array: Any, value: Any) -> None:
    """Add an array into another one."""
    if value is None:
        return
    for i, x in enumerate(value):
        if isinstance(x, list | np.ndarray):
            add_all(array[i], x)
        else:
            array[i] = plus(array[i], x)


def zeros_like(x: Any) -> Any:
    """Zeros of the shape of an array."""
    if isinstance(x, tuple):
        return None
    if isinstance(x, list):
        return [zeros_like(y) for y in x]
    return np.zeros(x.shape) if isinstance(x, np.ndarray) else 0.0
