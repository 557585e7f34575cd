r"""Mutable arrays (DN section 9, Fig. 10).

    Staged c = (Array R, Array (R -o (Staged c -> IO ()), R))       with lengths of the inputs and of the ids
    0 = \s. return ()                        f + g = \s. f s >> g s
    SCall (i, f) a (c, m) = modify m at i: (_, a') |-> (f, a + a')
    SOneHot i a (c, m) = modify c at i: a' |-> a + a'
    SResolve (c, m) = for i from the last id down to 0: let (f, a) = m[i] in f a (c, m)

Ids are consecutive, so arrays replace the maps, and the logarithmic factors are gone: the reverse pass is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..structure import paths
from .wrapper import Step

#: The collector, and for each id its backpropagator and its staged cotangent.
State = tuple[list[float], list[tuple[Any, float]]]
Effect = Callable[[State], None]


def nothing(state: State) -> None:
    """0."""


class Arrays(Step):
    """The step."""

    def plus(self, *effects: Effect) -> Effect:
        """``f s >> g s``."""

        def sequence(state: State) -> None:
            for effect in effects:
                effect(state)

        return sequence

    def call(self, link: tuple[int, Any], a: float) -> Effect:
        """SCall."""
        i, f = link

        def effect(state: State) -> None:
            self.counts.step()
            self.counts.additions += 1
            state[1][i] = (f, state[1][i][1] + a)

        return effect

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """0, + and SCall."""
        return {"0": lambda: nothing, "+": self.plus, "SCall": self.call}

    def input(self, place: int) -> Any:
        """``SOneHot place``."""

        def one_hot(z: float) -> Effect:
            def effect(state: State) -> None:
                self.counts.step()
                self.counts.additions += 1
                state[0][place] += z

            return effect

        return one_hot

    def allocate(self, last: int) -> State:
        """SAlloc."""
        inputs = len(paths(self.inputs.type, self.inputs.primals, self.inputs.types))
        self.counts.step(inputs + last)
        return [0.0] * inputs, [(lambda z: nothing, 0.0)] * last

    def resolve(self, calls: list[tuple[Any, float]], last: int) -> Callable[[int], float]:
        """SResolve."""
        state = self.allocate(last)
        for link, z in calls:
            self.call(link, z)(state)
        for i in range(last - 1, -1, -1):
            f, a = state[1][i]
            self.counts.step()
            self.counts.calls += 1
            f(a)(state)
        return self.collected(state)

    def collected(self, state: State) -> Callable[[int], float]:
        """The cotangent at each place of the input."""
        return state[0].__getitem__
