"""What environment vectors and cotangents are in each step, with counts of additions and of visited nodes of trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...chad.language.types import EV, Linear, LReal
from ...chad.specification import Dense
from ...chad.specification.sparse import Sparse
from ..maps import Map, insert, pop_highest, union


class Additions(Sparse):
    """Linear values that count additions of scalars."""

    additions = 0

    def plus(self, of: Linear, a: Any, b: Any) -> Any:
        """Add two values."""
        self.additions += isinstance(of, LReal)
        return super().plus(of, a, b)

    def visit(self, nodes: int) -> None:
        """Count visited cells, or nodes of a tree."""
        self.steps += nodes


class Wide(Additions, Dense):
    """Dense cotangents (EC Fig. 4)."""


class Narrow(Additions, Sparse):
    """Sparse cotangents (EC 4.1). An environment vector is a tree of the cotangents by place, with their types."""

    def zero_structure(self, of: Linear) -> Any:
        """The zero of a product, an array or an environment vector."""
        return None

    def union(self, of: EV, a: Map | None, b: Map | None) -> Map | None:  # type: ignore[override]
        """Unite two trees; the cotangents of a place in both are added."""
        return union(a, b, lambda x, y: (x[0], self.plus(x[0], x[1], y[1])), self.visit)

    def one(self, of: EV, slot: str, a: Any) -> Map:
        """A tree with one place."""
        place = [name for name, _ in of.slots].index(slot)
        return Map(place, (of.slots[place][1], a), None, None)

    def split(self, of: EV, slot: str, a: Map | None) -> tuple[Map | None, Any]:
        """Take out the innermost place, which is the highest key."""
        if a is not None:
            place, (_, d), rest = pop_highest(a, self.visit)
            if place == len(of.slots) - 1:
                return rest, d
        return a, self.zero(of.slots[-1][1])


class Cells:
    """The environment vector as an array: finding a place takes constant time."""

    def __init__(self, values: Additions) -> None:
        self.values = values
        self.cells: list[Any] = []
        self.places: dict[str, list[int]] = {}

    def open(self, name: str, zero: Any) -> None:
        """Add a cell for a variable."""
        self.values.visit(1)
        self.places.setdefault(name, []).append(len(self.cells))
        self.cells.append(zero)

    def close(self, name: str) -> Any:
        """Remove the innermost cell, and return its content."""
        self.values.visit(1)
        self.places[name].pop()
        return self.cells.pop()

    def one(self, name: str, d: Any, plus: Callable[[Any, Any], Any] | None = None) -> None:
        """Add to a cell."""
        self.values.visit(1)
        self.add(self.places[name][-1], d, plus or partial(self.values.plus, LReal()))

    def add(self, place: int, d: Any, plus: Callable[[Any, Any], Any]) -> None:
        """Add at a place."""
        self.cells[place] = plus(self.cells[place], d)


class Tree(Cells):
    """The environment vector as a search tree: finding a place takes logarithmic time."""

    tree: Map | None = None

    def add(self, place: int, d: Any, plus: Callable[[Any, Any], Any]) -> None:
        """Add at a place."""
        self.tree = insert(self.tree, place, d, plus, self.values.visit)

    def close(self, name: str) -> Any:
        """Take the innermost place out of the tree."""
        zero, place = super().close(name), len(self.cells)
        if self.tree is not None:
            key, d, rest = pop_highest(self.tree, self.values.visit)
            if key == place:
                self.tree = rest
                return d
        return zero
