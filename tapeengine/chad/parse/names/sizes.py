"""What the sizes of arguments say about a program, which is read once for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from ...._core.programs.native import LARGE
from .types import class_fields

#: No axes of an array.
NO_AXES = frozenset[int]()


def ones_of(array: Any) -> frozenset[int]:
    """Give the axes of an array that have one element, which numpy stretches."""
    shape = array.shape
    return frozenset(axis for axis, n in enumerate(shape) if n == 1) if 1 in shape else NO_AXES


def is_large(array: Any) -> bool:
    """Tell whether BLAS multiplies a matrix, by one as wide as its shorter side, in less time than loops."""
    return array.ndim == 2 and array.size * min(array.shape) >= LARGE  # type: ignore[no-any-return]


#: The depth of parts whose sizes the reader knows: deeper ones are in recursive data.
DEEPEST = 20


@dataclass
class Sizes:
    """What the reader of a program knows about the sizes of its arguments.

    * `ones`: the axes of one element of each array, by the path from the name of a parameter.
    * `are_large`: whether BLAS is to multiply matrices.
    """

    ones: dict[str, frozenset[int]] = field(default_factory=dict)
    are_large: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Sizes:
        """Look at the arrays in values by name."""
        found = cls()
        for name, value in values.items():
            found.look(name, value)
        return found

    def look(self, path: str, value: Any) -> None:
        """Note what the arrays in a value say; the elements of a list, and what lies deep, may have several sizes."""
        pending = [(path, 0, value)]
        while pending:
            place, depth, one = pending.pop()
            if isinstance(one, numpy.ndarray):
                self.are_large |= is_large(one)
                if place and (ones := ones_of(one)):
                    self.ones[place] = ones
            is_named = place and not isinstance(one, list) and depth < DEEPEST
            parts = one if isinstance(one, list) else parts_of(one)
            pending += [(f"{place}.{i}" if is_named else "", depth + 1, part) for i, part in enumerate(parts)]


def parts_of(value: Any) -> Sequence[Any]:
    """Give the parts of a record, each of which has a type of its own."""
    if type(value) is dict:
        return list(value.values())
    return value if isinstance(value, tuple) else [getattr(value, f) for f in class_fields(type(value)) or ()]
