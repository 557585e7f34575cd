"""Binomial checkpointing: choose which states of a chain to keep, so that its reversal repeats the fewest steps.

With at most `c` states kept at a time (including the first) and no step run forward more than `r` times, the longest
chain that can be reversed has ``binomial(c + r, c)`` steps; Griewank's treeverse attains this.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from math import comb
from typing import Any

from .rerun import Places

Step = Callable[[Any], Any]

#: A position, its state, and the positions of the random generators.
Kept = tuple[int, Any, Any]


def repetitions(length: int, kept: int) -> int:
    """The least r such that ``length <= binomial(kept + r, kept)``."""
    r = 0
    while comb(kept + r, kept) < length:
        r += 1
    return r


def split(length: int, kept: int) -> int:
    """How many steps to advance before keeping the next state, to reverse `length` steps with `kept` states."""
    if kept == 1 or length == 1:
        return length - 1
    r = repetitions(length, kept)
    second = comb(kept - 1 + r, kept - 1)  # the longest second part; by Pascal's rule the first part is never too long
    return min(length - 1, max(1, length - second, comb(kept + r - 2, kept) if r > 1 else 1))


class Chain:
    """A chain of `length` equal steps that is run forward once, and then backward with at most `kept` states kept.

    The random generators at `places` are reset when steps run again. `final` is the last state.
    """

    def __init__(self, step: Step, length: int, kept: int, start: Any, places: Places | None = None) -> None:
        self.step = step
        self.places = places
        self.length = length
        self.kept = kept
        self.first: list[Kept] = [(0, start, None if places is None else places.here())]
        self._keep(self.first, length)
        self.final = self._advance(self.first[-1], length)

    def reverse(
        self,
        undo: Callable[[Any, int], None],
        step: Step | None = None,
        places: Places | None = None,
        steps: Iterable[int] | None = None,
    ) -> None:
        """Call ``undo(state, position)`` for every step, from the last to the first, with the state before it.

        `step` repeats the steps, with the generators at `places`; by default it is the one that ran them first. `steps`
        iterates over their numbers, from 0.
        """
        run = copy.copy(self)  # other threads may reverse the chain at the same time
        run.step, run.places = step or self.step, places
        states = list(self.first)
        for done in range(self.length) if steps is None else steps:
            end = self.length - done
            run._keep(states, end)
            last = states[-1]
            if last[0] == end - 1:
                states.pop()
            undo(run._advance(last, end - 1), end - 1)

    def _keep(self, states: list[Kept], end: int) -> None:
        """Advance from the last state towards `end`, keeping states on the way while there is room."""
        while len(states) < self.kept and end - states[-1][0] > 1:
            last = states[-1]
            position = last[0] + split(end - last[0], self.kept - len(states) + 1)
            state = self._advance(last, position)
            states.append((position, state, None if self.places is None else self.places.here()))

    def _advance(self, kept: Kept, position: int) -> Any:
        """Return the state at a position, computed from a kept one."""
        start, state, moment = kept
        if self.places is not None:
            self.places.resume(moment)
        for _ in range(position - start):
            state = self.step(state)
        return state
