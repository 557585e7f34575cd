"""Binomial checkpointing: which states of a chain to keep, so that reversing it repeats the fewest steps.

With `c` states kept at a time (the first one counts) and no step run forwards more than `r` times, a chain of at most
``binomial(c + r, c)`` steps can be reversed; Griewank's treeverse attains it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

__all__ = ["Chain", "repetitions", "split"]

Step = Callable[[Any], Any]


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

    Attributes
    ----------
    final : state
        The last state.
    advanced : int
        Steps that were run without being reversed, the first run included.
    """

    def __init__(self, step: Step, length: int, kept: int, start: Any) -> None:
        self.step = step
        self.length = length
        self.kept = kept
        self.advanced = 0
        self.first: list[tuple[int, Any]] = [(0, start)]
        self._keep(self.first, length)
        position, state = self.first[-1]
        self.final = self._advance(state, length - position)

    def reverse(self, undo: Callable[[Any, int], None]) -> None:
        """Call ``undo(state, position)`` for every step, from the last to the first, with the state before it."""
        states = list(self.first)
        for end in range(self.length, 0, -1):
            self._keep(states, end)
            position, state = states[-1]
            if position == end - 1:
                states.pop()
            undo(self._advance(state, end - 1 - position), end - 1)

    def _keep(self, states: list[tuple[int, Any]], end: int) -> None:
        """Run ahead from the last state towards `end`, and keep states on the way while there is room."""
        while len(states) < self.kept and end - states[-1][0] > 1:
            position, state = states[-1]
            ahead = split(end - position, self.kept - len(states) + 1)
            states.append((position + ahead, self._advance(state, ahead)))

    def _advance(self, state: Any, steps: int) -> Any:
        for _ in range(steps):
            state = self.step(state)
        self.advanced += steps
        return state
