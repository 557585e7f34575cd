"""An independent propagation of dependencies: numbers that hold sets, one Python object for each element.

numpy's arrays of objects apply Python's operators element by element, so that a program in numpy runs on them as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Seen:
    """A number represented by the set of inputs from which it was computed."""

    def __init__(self, inputs: frozenset[int] = frozenset()) -> None:
        self.inputs = inputs

    def _with(self, other: Any) -> Seen:
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy applies it element by element
        return Seen(self.inputs | other.inputs) if isinstance(other, Seen) else self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _with

    def _alone(self) -> Seen:
        return self

    __neg__ = __abs__ = sin = cos = exp = sqrt = tanh = conjugate = _alone


def sets_of(value: Any) -> list[frozenset[int]]:
    """The sets of a result's numbers, in order."""
    if isinstance(value, (list, tuple)):
        return [found for part in value for found in sets_of(part)]
    if isinstance(value, np.ndarray):
        return [found for part in value.ravel().tolist() for found in sets_of(part)]
    return [value.inputs if isinstance(value, Seen) else frozenset()]


def expected(program: Callable[[Any], Any], n: int) -> list[set[int]]:
    """The inputs on which each output of a program of one vector depends."""
    x = np.array([Seen(frozenset([k])) for k in range(n)], object)
    return [set(found) for found in sets_of(program(x))]


def expected_scalars(program: Callable[[Any], Any], n: int) -> list[set[int]]:
    """The same for a program of a list of floats."""
    return [set(found) for found in sets_of(program([Seen(frozenset([k])) for k in range(n)]))]
