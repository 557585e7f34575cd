"""Sparse environment vectors and sparse cotangents (EC section 4.1, Fig. 5).

    EV G = Map from places in G to cotangents; an absent place has the cotangent 0
    0 = empty        + = union        one_x d = {x |-> d}        split = take the last place out

The transformation is the same. Zeros and one-hot vectors now take constant time, but where parts of a term meet, their
maps are united, which costs a logarithmic factor (EC appendix A).
"""

from __future__ import annotations

from typing import Any

from tapeengine.chad.types import Type
from tapeengine.ladder.chad.dense import Dense, Types
from tapeengine.ladder.chad.sparse import Sparse
from tapeengine.ladder.maps import Map, items, pop_highest, union

__all__ = ["SparseVectors"]


class SparseVectors(Dense):
    """The step."""

    linear = Sparse

    def zero(self, g: Types) -> Map | None:
        """The empty map."""
        self.counts.step()
        return None

    def plus(self, g: Types, v: Map | None, w: Map | None) -> Map | None:
        """Union; the cotangents of a place in both maps are added."""
        self.counts.step()
        return union(v, w, self.combine, self.counts.step)

    def combine(self, one: tuple[Type, Any], other: tuple[Type, Any]) -> tuple[Type, Any]:
        """The sum of two cotangents, paired with their type."""
        return one[0], self.d.plus(one[0], one[1], other[1])

    def one(self, g: Types, place: int, d: Any) -> Map:
        """A map with one place."""
        self.counts.step()
        return Map(place, (g[place], d), None, None)

    def split(self, g: Types, v: Map | None) -> tuple[Map | None, Any]:
        """Take out the last place of the context, which is the highest key."""
        self.counts.step()
        if v is not None:
            place, (_, d), rest = pop_highest(v, self.counts.step)
            if place == len(g) - 1:
                return rest, d
        return v, self.d.zero(g[-1])

    def run(self, g: Types, v: Map | None) -> tuple[Any, ...]:
        """All components."""
        found = dict(items(v))
        self.counts.step(len(g))
        return tuple(found[k][1] if k in found else self.d.zero(of) for k, of in enumerate(g))
