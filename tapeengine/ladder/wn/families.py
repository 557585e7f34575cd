r"""Vectors over N (WN section 2.7): a vector of type t for each natural number.

    (v + w)(i) = v(i) + w(i)        (r * v)(i) = r * v(i)        v . w = the sum over all i of v(i) . w(i)

The notes find this sum suspicious: it is infinite. It is finite if one of the two is 0 outside a finite set, its
support. Functions on N and families of finite support are dual to each other: the transpose of a map into one kind is a
map from the other kind. So a family knows its support, and a sum over all of N is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import vectors


@dataclass(frozen=True)
class Family:
    """A value for each natural number.

    Attributes
    ----------
    at : callable
    support : frozenset of int or None
        Where it may differ from 0; None means everywhere.
    """

    at: Callable[[int], Any]
    support: frozenset[int] | None = None

    def __getitem__(self, index: int) -> Any:
        return self.at(index) if self.support is None or index in self.support else None

    def __add__(self, other: Family) -> Family:
        everywhere = self.support is None or other.support is None
        support = None if everywhere else (self.support or frozenset()) | (other.support or frozenset())
        return Family(lambda i: vectors.add(self[i], other[i]), support)

    def __rmul__(self, factor: float) -> Family:
        return self.map(lambda v: vectors.scale(factor, v))

    def __mul__(self, other: Family) -> float:
        return float(total(self, other, vectors.dot) or 0.0)

    def map(self, change: Callable[[Any], Any]) -> Family:
        """The family with a function applied to each value; the function maps 0 to 0."""
        return Family(lambda i: change(self.at(i)), self.support)


def total(one: Family, other: Family, combine: Callable[[Any, Any], Any]) -> Any:
    """The sum over all i of ``combine(one[i], other[i])``, which is 0 if either argument is 0."""
    supports = [family.support for family in (one, other) if family.support is not None]
    if not supports:
        raise ValueError("the sum is over all of N, so one of the two families needs a finite support")
    result: Any = None
    for i in sorted(frozenset.intersection(*supports)):
        result = vectors.add(result, combine(one[i], other[i]))
    return result
