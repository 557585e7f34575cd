"""The collector, Cayley-transformed (DN section 7, Fig. 9).

    D[R] = (R, (ID, R -o (Staged c -> Staged c)))
    0 = id                   f + g = f . g
    SCall (i, f) a (c, m) = (c, m with i |-> (f, a) added in)        SCotan u (c, m) = (u c, m)
    SResolve (c, m) = SResolve (f a (c, m without i))                from 0 : Staged c on

Here 0 and + take constant time. An input's backpropagator changes one scalar of c: it makes the cells on the way to
the scalar, which are few if c is a balanced tree, and as many as c has if it is a chain (section 7.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..derivative import Inputs
from ..maps import Map, insert, pop_highest
from ..structure import paths, read, update
from .wrapper import Step

State = tuple[Any, Map | None]
Updater = Callable[[State], State]


def identity(state: State) -> State:
    """0."""
    return state


class Cayley(Step):
    """The step."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.paths = paths(inputs.type, inputs.primals, inputs.types)

    def plus(self, *updaters: Updater) -> Updater:
        """``f . g``."""

        def composed(state: State) -> State:
            for updater in reversed(updaters):
                state = updater(state)
            return state

        return composed

    def call(self, link: tuple[int, Any], a: float) -> Updater:
        """SCall."""
        i, f = link
        return lambda state: (state[0], insert(state[1], i, (f, a), self.factor, self.counts.step))

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """0, + and SCall."""
        return {"0": lambda: identity, "+": self.plus, "SCall": self.call}

    def collect(self, place: int, z: float, collected: Any) -> Any:
        """The collector with z added at a place."""
        self.counts.additions += 1
        return update(collected, self.paths[place], lambda a: z + a, self.counts.step)

    def input(self, place: int) -> Any:
        r"""``\z. SCotan (add z at the place)``."""
        return lambda z: lambda state: (self.collect(place, z, state[0]), state[1])

    def empty(self) -> Any:
        """0 : c."""
        self.counts.step(len(self.paths))
        return self.inputs.cotangent(lambda x: 0.0)

    def at(self, collected: Any, place: int) -> float:
        """The cotangent at a place."""
        return float(read(collected, self.paths[place]))

    def resolve(self, calls: list[tuple[Any, float]], last: int) -> Callable[[int], float]:
        """SResolve."""
        collected, m = self.plus(*[self.call(link, z) for link, z in calls])((self.empty(), None))
        while m is not None:
            _, (f, a), rest = pop_highest(m, self.counts.step)
            self.counts.calls += 1
            collected, m = f(a)((collected, rest))
        return lambda place: self.at(collected, place)
