"""Sums of other things than numbers: what a cotangent may be in place of one, and what a record does to it.

A backpropagator adds up what arrives at a number on all ways from the result, and hands it on through each operation's
linear map. It needs no more than a commutative monoid and, for each partial, a homomorphism of it (CHAD 11.3; EC Fig. 3
calls the same things zero, plus and the linear primitives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

__all__ = ["Edge", "Monoid", "Ways", "absolute", "booleans", "index_sets", "intervals", "provenance", "reals"]

T = TypeVar("T")


class Edge(NamedTuple):
    """One element's part in another: what a contribution goes through.

    Attributes
    ----------
    operation : str
        The name of the operation.
    partial : float
        The partial derivative.
    line : object
        The source line that recorded it; None unless the backpropagator is one of an engine with `debug` on.
    """

    operation: str
    partial: float
    line: Any


class Monoid(Generic[T]):
    """A commutative monoid with an action of partials.

    Parameters
    ----------
    zero : T
        What arrives where nothing does.
    one : T
        What each number of the result begins with, where no cotangent is given.
    add : callable
        ``add(x, y)``: associative and commutative, with `zero` as its neutral element.
    through : callable
        ``through(edge, x)``: additive in `x`, and zero at zero.

    Examples
    --------
    >>> import tapeengine as te
    >>> longest = Monoid(float("-inf"), 0, max, lambda edge, x: x + 1)
    >>> value, backpropagator = te.vjp(lambda x, y: x * y * y + x, 2.0, 3.0)
    >>> te.backpropagate(backpropagator, monoid=longest)
    (3, 3)
    """

    def __init__(self, zero: T, one: T, add: Callable[[T, T], T], through: Callable[[Edge, T], T]) -> None:
        self.zero, self.one, self.add, self.through = zero, one, add, through


def reals() -> Monoid[float]:
    """Return the numbers themselves: cotangents as they usually are; zero goes to zero through any partial."""
    return Monoid(0.0, 1.0, lambda x, y: x + y, lambda edge, x: edge.partial * x if x != 0.0 else 0.0)


def booleans() -> Monoid[bool]:
    """Return whether a number takes part in the result at all, also through partials that are zero."""
    return Monoid(False, True, lambda x, y: x or y, lambda edge, x: x)


def index_sets() -> Monoid[frozenset[Any]]:
    """Return sets, united: give each number of the result a set of its own to find which of them a primal reaches."""
    return Monoid(frozenset(), frozenset([0]), lambda x, y: x | y, lambda edge, x: x)


def absolute() -> Monoid[float]:
    """Return sums of absolute values, as first-order bounds of errors need them: no two ways cancel."""
    return Monoid(0.0, 1.0, lambda x, y: x + y, lambda edge, x: abs(edge.partial) * x if x != 0.0 else 0.0)


def intervals() -> Monoid[tuple[float, float]]:
    """Return intervals (low, high), added end by end and scaled by partials."""

    def through(edge: Edge, x: tuple[float, float]) -> tuple[float, float]:
        ends = [edge.partial * end if end != 0.0 else 0.0 for end in x]
        return min(ends), max(ends)

    return Monoid((0.0, 0.0), (-1.0, 1.0), lambda x, y: (x[0] + y[0], x[1] + y[1]), through)


@dataclass(frozen=True)
class Ways:
    """On how many ways something contributes, and how many of them go through each source line."""

    count: int
    lines: Counter[Any]


def provenance() -> Monoid[Ways]:
    """Return counts of ways: how often a primal contributes to the result, and by which source lines.

    Examples
    --------
    >>> import tapeengine as te
    >>> value, backpropagator = te.vjp(lambda x, y: x * x + y, 2.0, 3.0)
    >>> [ways.count for ways in te.backpropagate(backpropagator, monoid=provenance())]
    [2, 1]
    """

    def add(x: Ways, y: Ways) -> Ways:
        return Ways(x.count + y.count, x.lines + y.lines)

    def through(edge: Edge, x: Ways) -> Ways:
        here = Counter({edge.line: x.count}) if edge.line is not None and x.count else Counter()
        return Ways(x.count, x.lines + here)

    return Monoid(Ways(0, Counter()), Ways(1, Counter()), add, through)
