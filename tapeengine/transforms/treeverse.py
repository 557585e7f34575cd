"""Binomial checkpointing: which states of a chain to keep, so that reversing it repeats the fewest steps.

With `c` states kept at a time (the first one counts) and no step run forwards more than `r` times, a chain of at most
``binomial(c + r, c)`` steps can be reversed; Griewank's treeverse attains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb
from typing import Any, Protocol

__all__ = ["Chain", "repetitions", "split"]

Step = Callable[[Any], Any]

#: A position, the state there, and where the generators of random numbers were.
Kept = tuple[int, Any, Any]


class Places(Protocol):
    """Where the generators of random numbers are that the steps draw from."""

    def here(self) -> Any:
        """Where they are now."""

    def resume(self, moment: Any) -> None:
        """Put them where they were."""


def repetitions(length: int, kept: int) -> int:
    """The least r such that ``length <= binomial(kept + r, kept)``.

    Examples
    --------
    >>> repetitions(10, 3), repetitions(11, 3)
    (2, 3)
    """
    r = 0
    while comb(kept + r, kept) < length:
        r += 1
    return r


def split(length: int, kept: int) -> int:
    """How far to run ahead before the next state is kept, to reverse `length` steps with `kept` states.

    Examples
    --------
    >>> split(10, 3)
    4
    """
    if kept == 1 or length == 1:
        return length - 1
    r = repetitions(length, kept)
    first = comb(kept + r - 1, kept)  # most steps that the part before may have
    second = comb(kept - 1 + r, kept - 1)  # most that the part behind may have
    return min(length - 1, max(1, min(first, max(length - second, comb(kept + r - 2, kept) if r > 1 else 1))))


class Chain:
    """A chain of equal steps that is run forwards once, and then backwards with few states kept.

    Parameters
    ----------
    step : callable
        The next state from a state.
    length : int
        The number of steps.
    kept : int
        The most states that are kept at a time.
    start : state
        The first state.
    places : Places, optional
        The generators of random numbers that are put back where steps are run again.

    Attributes
    ----------
    final : state
        The last state.
    advanced : int
        Steps that were run without being reversed, the first run included.
    """

    def __init__(self, step: Step, length: int, kept: int, start: Any, places: Places | None = None) -> None:
        self.step = step
        self.places = places
        self.length = length
        self.kept = kept
        self.advanced = 0
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

        `step` runs the steps again, with the generators at `places`; by default it is the one that ran them first.
        `steps` counts them, from 0 on.
        """
        self.step, self.places = step or self.step, places
        states = list(self.first)
        for done in range(self.length) if steps is None else steps:
            end = self.length - done
            self._keep(states, end)
            last = states[-1]
            if last[0] == end - 1:
                states.pop()
            undo(self._advance(last, end - 1), end - 1)

    def _keep(self, states: list[Kept], end: int) -> None:
        """Run ahead from the last state towards `end`, and keep states on the way while there is room."""
        while len(states) < self.kept and end - states[-1][0] > 1:
            last = states[-1]
            position = last[0] + split(end - last[0], self.kept - len(states) + 1)
            state = self._advance(last, position)
            states.append((position, state, None if self.places is None else self.places.here()))

    def _advance(self, kept: Kept, position: int) -> Any:
        """The state at a position, from one that is kept."""
        start, state, moment = kept
        if self.places is not None:
            self.places.resume(moment)
        for _ in range(position - start):
            state = self.step(state)
        self.advanced += position - start
        return state
