"""Hashes of the states that a chain of steps has passed, in bounded memory."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core.sweeps.trace import value_unseen
from ...forms import flatten
from ...structure import Structures

#: The largest number of blocks of steps; a longer chain has longer blocks.
MOST = 2**16
_WORD = 2**64


class PassedStates:
    """The hashes of the states after `n` steps: for each leaf, a sum over each block of steps."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.block = max(1, -(-n // MOST))
        self.sums = array("Q")
        self._count = 0

    def add(self, hashed: Sequence[int]) -> None:
        """Add the hashes of the state after the next step."""
        if self._count % self.block == 0:
            self.sums.extend([0] * len(hashed))
        first = len(self.sums) - len(hashed)
        for k, word in enumerate(hashed, first):
            self.sums[k] = self.mixed(self.sums[k], word, self._count)
        self._count += 1

    def mixed(self, total: int, word: int, position: int) -> int:
        """A sum with one more word; the odd factor makes it depend on the order of the steps."""
        return (total + word * (2 * (position % self.block) + 1)) % _WORD

    def steps_of(self, position: int) -> range:
        """The steps of the block of a step."""
        first = position - position % self.block
        return range(first, min(first + self.block, self.n))

    def of(self, position: int, leaves: int) -> array[int]:
        """The sums of a step's block, one for each leaf."""
        first = position // self.block * leaves
        return self.sums[first : first + leaves]


class Comparison:
    """The states of a later run, whose steps come in rising or falling order, compared block by block."""

    def __init__(self, states: PassedStates) -> None:
        self._states = states
        self._sums: list[int] = []
        self._count = 0

    def add(self, hashed: Sequence[int], position: int) -> bool:
        """Add the hashes of the state after a step; whether its block is complete."""
        self._sums = self._sums or [0] * len(hashed)
        self._sums = [self._states.mixed(total, word, position) for total, word in zip(self._sums, hashed, strict=True)]
        self._count += 1
        return self._count == len(self._states.steps_of(position))

    def differs(self, position: int) -> int:
        """End a block: the number, from 1, of the first leaf whose sum differs; 0 if none does."""
        found, self._sums, self._count = self._sums, [], 0
        were = self._states.of(position, len(found))
        return next((k for k, (a, b) in enumerate(zip(found, were, strict=True), 1) if a != b), 0)


def sketch(leaf: Any) -> Any:
    """Three numbers in place of an array's: a weighted sum, that of the places that are not finite, the largest one.

    States that differ by rounding have sketches that differ by rounding. Chance alone gives others the same sketch.
    """
    x = value_unseen(leaf)
    if not isinstance(x, np.ndarray) or x.size < 4:
        return x
    if x.dtype.kind not in "fc":
        return hash(x.tobytes())
    is_finite, weights = np.isfinite(x).ravel(), np.arange(x.size) * 0.6180339887498949 % 1.0 + 1.0
    y = np.where(is_finite, x.ravel(), 0.0)
    return np.array([y @ weights, ~is_finite @ weights, np.abs(y).max()], x.dtype)


def hashes(structures: Structures, state: Any) -> list[int]:
    """A hash of the bits of each leaf of a state."""
    if type(state) is float:
        return [_hash(state)]
    return [_hash(value_unseen(leaf)) for leaf in flatten(structures, state)[0]]


def _hash(value: Any) -> int:
    if isinstance(value, float) and value == value:
        return struct.unpack("q", struct.pack("d", value))[0]  # type: ignore[no-any-return]
    if isinstance(value, complex):
        value = np.complex128(value)
    if hasattr(value, "tobytes") and not value.dtype.hasobject:
        return _hash(float(value)) if value.shape == () and value.dtype == float else hash(value.tobytes())
    return hash(value) if isinstance(value, (int, str, bytes, complex)) else 0
