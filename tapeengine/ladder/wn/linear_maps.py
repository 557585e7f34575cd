"""Linear maps (WN Fig. 3): their constructors. Their meaning is defined in `application`.

    0 : s -o t          1 : s -o s          S(k) : s -o s
    m1 . m2 : r -o t    where m1 : s -o t, m2 : r -o s          m1 + m2 : s -o t
    m1 x m2 : s -o (t1, t2)             V(m) : s -o Vec t           L(f) : s -o (N -> t)
    m1 >< m2 : (t1, t2) -o s            H(m) : Vec t -o s           L'(f) : (N -> t) -o s

`VCat` and `HCat` take any number of maps, so they also serve as V and H. L and L' are V and H over all of N. A map is a
data structure: a trace of the program, which can be applied many times in both directions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..constructors import Constructor
from .families import Family

Visit = Callable[[int], None]


class LinearMap(Constructor):
    """Base class of the constructors."""


class Zero(LinearMap):
    """The map to 0."""


class One(LinearMap):
    """The identity."""


class Scale(LinearMap):
    """``S(factor)``."""

    factor: float


class Compose(LinearMap):
    """``after . before``."""

    after: LinearMap
    before: LinearMap


class Add(LinearMap):
    """``one + other``."""

    one: LinearMap
    other: LinearMap


class VCat(LinearMap):
    """``m1 x m2 x ...``, stacked vertically."""

    parts: tuple[LinearMap, ...]


class HCat(LinearMap):
    """``m1 >< m2 >< ...``, stacked horizontally."""

    parts: tuple[LinearMap, ...]


class Lambda(LinearMap):
    """``L(maps)``."""

    maps: Family


class TLambda(LinearMap):
    """``L'(maps)``."""

    maps: Family


class Computed(LinearMap, ABC):
    """A map defined by its two applications."""

    @abstractmethod
    def apply(self, x: Any) -> Any:
        """``self @ x``."""

    @abstractmethod
    def reverse(self, r: Any, visit: Visit) -> Any:
        """``r @R self``."""


class Transpose(LinearMap):
    """``m'`` of a computed map."""

    map: Computed
