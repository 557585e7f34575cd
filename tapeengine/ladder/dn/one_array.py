r"""No cotangent collector (DN section 10.1).

    Staged c = Array (R -o (Staged c -> IO ()), R)
    the backpropagator of an input = \z s. return ()

After resolving, the cotangent of an input is the number staged for the id of its backpropagator: the inputs have the
first ids, so ``c[i] = snd(m[i])``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import Arrays, State, nothing


class OneArray(Arrays):
    """The step: only the staging array."""

    def input(self, place: int) -> Any:
        """Nothing to call."""
        return lambda z: nothing

    def allocate(self, last: int) -> State:
        """No collector."""
        self.counts.step(last)
        return [], [(lambda z: nothing, 0.0)] * last

    def collected(self, state: State) -> Callable[[int], float]:
        """The cotangents staged for the first ids."""
        return lambda place: float(state[1][place][1])
