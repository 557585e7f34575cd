"""The states of the global random generators, of `random` and of numpy.

Reading a state takes longer than running a small program. So a state is read once and kept until the memory of its
generator changes: the words of the Mersenne Twister, and the stored normal number.
"""

from __future__ import annotations

import _random
import sys
from ctypes import string_at
from typing import Any

import numpy as np

__all__ = ["States", "generator_states", "same_states", "set_generators"]

States = tuple[Any, Any]

#: 624 words and the position of the next one, as `numpy.random.MT19937` has them in memory.
_TWISTER_BYTES = 625 * 4
#: The C fields that a class gives its objects lie behind the head of each object.
_HEAD = object.__basicsize__
_PYTHON_BYTES = _random.Random.__basicsize__ - _HEAD


class Reader:
    """Reads the states, and caches the last result."""

    def __init__(self) -> None:
        self._known: tuple[Any, States] = (None, (None, None))

    def states(self) -> States:
        """The states of the global generators of `random` and `numpy.random`; None for a module not yet imported."""
        memory = _memory()
        known = self._known
        if memory is not None and known[0] == memory:
            return known[1]
        states = _states()
        if memory is not None and _memory() == memory:  # no other thread has drawn meanwhile
            self._known = memory, states
        return states


def _states() -> States:
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random")
    return (
        python.getstate() if python is not None else None,
        numpy.get_state(legacy=False) if numpy is not None else None,
    )


def _memory() -> tuple[Any, ...] | None:
    """All bytes that determine a state; None if a generator is not a Mersenne Twister."""
    python: Any = sys.modules.get("random")
    numpy: Any = sys.modules.get("numpy.random")
    found: list[Any] = []
    if python is not None:
        own: Any = python._inst
        if getattr(python.getstate, "__self__", None) is not python._inst:
            return None
        found += [string_at(id(own) + _HEAD, _PYTHON_BYTES), own.gauss_next]
    if numpy is not None:
        state = numpy.mtrand._rand
        bits = state._bit_generator
        if type(bits) is not numpy.MT19937:
            return None
        fields = numpy.RandomState.__basicsize__ - _HEAD
        found += [string_at(id(state) + _HEAD, fields), string_at(bits.ctypes.state_address, _TWISTER_BYTES)]
    return tuple(found)


generator_states = Reader().states


def set_generators(states: States) -> None:
    """Set the global generators to given states."""
    python, numpy = states
    if python is not None:
        sys.modules["random"].setstate(python)
    if numpy is not None:
        sys.modules["numpy.random"].set_state(numpy)


def same_states(a: States, b: States) -> bool:
    """Whether two states are equal, so that no number was drawn between them."""
    if a is b:
        return True
    if a[0] != b[0] or (a[1] is None) != (b[1] is None):
        return False
    return a[1] is None or _as_bytes(a[1]) == _as_bytes(b[1])


def _as_bytes(state: dict[str, Any]) -> list[Any]:
    values = [*state.values(), *state["state"].values()]
    return [x.tobytes() if isinstance(x, np.ndarray) else x for x in values if not isinstance(x, dict)]
