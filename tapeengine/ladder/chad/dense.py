"""Dense environment vectors (EC section 2, Fig. 4).

    EV (x1 : t1, ..., xn : tn) = (D[t1]2, ..., D[tn]2)
    0 = (0, ..., 0)        + = component by component        one_x d = (0, ..., d, ..., 0)        split (e, d) = (e, d)

Functions are closure-converted first (EC section 9), so each backpropagator is called at most once. But each variable
and each constant makes a vector as wide as the context, and each term with several parts adds such vectors: the cost of
a gradient is the cost of the program times the size of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.chad.types import Product, Type
from tapeengine.ladder.chad.linear import Dense as DenseCotangents
from tapeengine.ladder.chad.vectors import Vectors
from tapeengine.ladder.chad.wrapper import Step

__all__ = ["Dense"]

Types = tuple[Type, ...]


class Dense(Step):
    """The step."""

    transformation = Vectors
    linear = DenseCotangents

    def zero(self, g: Types) -> Any:
        """0."""
        return self.d.zero(Product(g))

    def plus(self, g: Types, v: Any, w: Any) -> Any:
        """+."""
        return self.d.plus(Product(g), v, w)

    def one(self, g: Types, place: int, d: Any) -> Any:
        """One-hot."""
        return self.d.hot(Product(g), place, d)

    def split(self, g: Types, v: Any) -> tuple[Any, Any]:
        """The last component, and the vector of the others."""
        self.counts.step()
        return v[:-1], v[-1]

    def run(self, g: Types, v: Any) -> tuple[Any, ...]:
        """All components."""
        self.counts.step(len(g))
        return tuple(v)

    def sum(self, g: Types, vectors: tuple[Any, ...]) -> Any:
        """The sum of an array."""
        total = self.zero(g)
        for v in vectors:
            total = self.plus(g, total, v)
        return total

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The operations of Fig. 3."""
        named = {name: getattr(self, name) for name in ("one", "split", "run", "sum")}
        return {"0": self.zero, "+": self.plus, "ran": tuple, **named}
