"""A collector of scalars (DN section 8).

    Staged c = (Map Z R, Map Z (R -o (Staged c -> Staged c), R))        the cotangent of scalar i at key i
    rebuild : (Z -> R) -> c                        builds the input's structure from its scalars

However deep the structure of the input is, its scalars are in a balanced tree: all operations take constant time up to
factors of log T and log I, where T is the cost of the program and I the size of its input.
"""

from __future__ import annotations

from typing import Any

from ..maps import Map, insert
from .cayley import Cayley


class Scalars(Cayley):
    """The step: another collector."""

    def empty(self) -> Map | None:
        """The map without scalars."""
        return None

    def collect(self, place: int, z: float, collected: Any) -> Any:
        """The map with z added at a place."""

        def plus(a: float, b: float) -> float:
            self.counts.additions += 1
            return a + b

        return insert(collected, place, z, plus, self.counts.step)

    def at(self, collected: Any, place: int) -> float:
        """The cotangent at a place; 0 if there were no contributions."""
        while collected is not None and collected.key != place:
            self.counts.step()
            collected = collected.left if place < collected.key else collected.right
        return 0.0 if collected is None else float(collected.value)
