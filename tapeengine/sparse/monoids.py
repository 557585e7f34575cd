"""Sums over other monoids than numbers: the elements that replace cotangents, and the action of records on them.

A backpropagator sums what arrives at a number along all paths from the result, and passes the sum through each
operation's linear map. This needs only a commutative monoid and, for each partial, a homomorphism of it (CHAD 11.3;
EC Fig. 3 calls them zero, plus and the linear primitives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["Edge", "Monoid", "Ways", "absolute", "booleans", "index_sets", "intervals", "provenance", "reals"]

T = TypeVar("T")


class Edge(NamedTuple):
    """The dependence of one element on another, through which a contribution passes.

    Attributes
    ----------
    operation : str
        The name of the operation.
    partial : float
        The partial derivative.
    line : object
        The source line that recorded it; None unless the engine of the backpropagator has `debug` on.
    """

    operation: str
    partial: float
    line: Any


class Monoid(Generic[T]):
    """A commutative monoid on which partials act.

    Parameters
    ----------
    zero : T
        The element of a number without contributions.
    one : T
        The initial element of each number of the result, if no cotangent is given.
    add : callable
        ``add(x, y)``: associative and commutative, with `zero` as its neutral element.
    through : callable
        ``through(edge, x)``: additive in `x`, and zero at zero.

    Examples
    --------
    >>> import tapeengine as te
    >>> from tapeengine.sparse.monoids import Monoid
    >>> longest = Monoid(float("-inf"), 0, max, lambda edge, x: x + 1)
    >>> value, backpropagator = te.vjp(lambda x, y: x * y * y + x, 2.0, 3.0)
    >>> te.backpropagate(backpropagator, monoid=longest)
    (3, 3)
    """

    def __init__(self, zero: T, one: T, add: Callable[[T, T], T], through: Callable[[Edge, T], T]) -> None:
        self.zero, self.one, self.add, self.through = zero, one, add, through


def reals() -> Monoid[float]:
    """Return the real numbers, as in usual cotangents; zero maps to zero through any partial."""
    return Monoid(0.0, 1.0, lambda x, y: x + y, lambda edge, x: edge.partial * x if x != 0.0 else 0.0)


def booleans() -> Monoid[bool]:
    """Return booleans: whether a number is used for the result at all, even through partials that are zero."""
    return Monoid(False, True, lambda x, y: x or y, lambda edge, x: x)


def index_sets() -> Monoid[frozenset[Any]]:
    """Return sets under union: with a different set for each number of the result, a primal gets those it affects."""
    return Monoid(frozenset(), frozenset([0]), lambda x, y: x | y, lambda edge, x: x)


def absolute() -> Monoid[float]:
    """Return sums of absolute values, for first-order error bounds: no two paths cancel."""
    return Monoid(0.0, 1.0, lambda x, y: x + y, lambda edge, x: abs(edge.partial) * x if x != 0.0 else 0.0)


def intervals() -> Monoid[tuple[float, float]]:
    """Return intervals (low, high), which are added by their ends and scaled by partials."""

    def through(edge: Edge, x: tuple[float, float]) -> tuple[float, float]:
        ends = [edge.partial * end if end != 0.0 else 0.0 for end in x]
        return min(ends), max(ends)

    return Monoid((0.0, 0.0), (-1.0, 1.0), lambda x, y: (x[0] + y[0], x[1] + y[1]), through)


@dataclass(frozen=True)
class Ways:
    """The number of paths of a contribution, and the number of these through each source line."""

    count: int
    lines: Counter[Any]


def provenance() -> Monoid[Ways]:
    """Return counts of paths: how often a primal contributes to the result, and through which source lines.

    Examples
    --------
    >>> import tapeengine as te
    >>> value, backpropagator = te.vjp(lambda x, y: x * x + y, 2.0, 3.0)
    >>> from tapeengine.sparse.monoids import provenance
    >>> [ways.count for ways in te.backpropagate(backpropagator, monoid=provenance())]
    [2, 1]
    """

    def add(x: Ways, y: Ways) -> Ways:
        return Ways(x.count + y.count, x.lines + y.lines)

    def through(edge: Edge, x: Ways) -> Ways:
        here = Counter({edge.line: x.count}) if edge.line is not None and x.count else Counter()
        return Ways(x.count, x.lines + here)

    return Monoid(Ways(0, Counter()), Ways(1, Counter()), add, through)
