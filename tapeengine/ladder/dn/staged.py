"""Linear factoring by staging calls (DN section 6, Fig. 8).

    Staged c = (c, Map Z (R -o Staged c, R))        (x, {i |-> (f, a), ...}) stands for x + f a + ...
    0 = (0, {})        (c, m) + (c', m') = (c + c', m U m')      where both have i: (f, a) U (f, a') = (f, a + a')
    SCotan x = (x, {})                      SCall (i, f) a = (0, {i |-> (f, a)})
    SResolve (c, {}) = c
    SResolve (c, m) = SResolve (f a + (c, m without i))      where i is the highest id in m, and m(i) = (f, a)

A backpropagator calls only backpropagators that were made before it, so each is called at most once, from the highest
id down. Remaining costs (section 6.2): 0 and + take time in the size of c, and U in the size of the maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from ..derivative import Inputs
from ..maps import Map, pop_highest, union
from ..structure import paths
from .naive import Collected, Monoid
from .wrapper import Step

StagedCalls = tuple[Collected, Map | None]


class Staged(Step):
    """The step."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.c = Monoid(len(paths(inputs.type, inputs.primals, inputs.types)), self.counts)

    def zero(self) -> StagedCalls:
        """0."""
        return self.c.zero(), None

    def plus(self, *parts: StagedCalls) -> StagedCalls:
        """+, with linear factoring."""
        return reduce(self.plus_two, parts)

    def plus_two(self, one: StagedCalls, other: StagedCalls) -> StagedCalls:
        """+ of two arguments."""
        return self.c.plus(one[0], other[0]), union(one[1], other[1], self.factor, self.counts.step)

    def call(self, link: tuple[int, Any], a: float) -> StagedCalls:
        """SCall."""
        i, f = link
        return self.c.zero(), Map(i, (f, a), None, None)

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """0, + and SCall."""
        return {"0": self.zero, "+": self.plus, "SCall": self.call}

    def input(self, place: int) -> Any:
        r"""``\z. SCotan (0, ..., z, ..., 0)``; `resolve` counts its call instead of the monoid."""

        def backpropagator(z: float) -> StagedCalls:
            self.counts.calls -= 1
            return self.c.one_hot(place, z), None

        return backpropagator

    def resolve(self, calls: list[tuple[Any, float]], last: int) -> Callable[[int], float]:
        """SResolve."""
        collected, m = self.plus(self.zero(), *[self.call(link, z) for link, z in calls])
        while m is not None:
            _, (f, a), rest = pop_highest(m, self.counts.step)
            self.counts.calls += 1
            collected, m = self.plus_two(f(a), (collected, rest))
        return collected.__getitem__
