"""The states of the global random generators, of `random` and of numpy.

Reading a state takes longer than running a small program. So a state is read once and kept until the memory of its
generator changes: the words of the Mersenne Twister, and the stored normal number.
"""

from __future__ import annotations

import _random
import sys
from typing import Any

import numpy as np

from ..._core.programs.replay import Checks, Memory

States = tuple[Any, Any]

#: 624 words and the position of the next one, as `numpy.random.MT19937` has them in memory.
_TWISTER_BYTES = 625 * 4
#: The C fields that a class gives its objects lie behind the head of each object.
_HEAD = object.__basicsize__
_PYTHON_BYTES = _random.Random.__basicsize__ - _HEAD


class Reader:
    """Reads the states, and caches the last result."""

    def __init__(self) -> None:
        self._places: Places | None = None

    def states(self) -> States:
        """The states of the global generators of `random` and `numpy.random`; None for a module not yet imported."""
        places = self._places
        return places.states if places is not None and places.are_same() else self._read()

    def _read(self) -> States:
        places = Places.found()
        if places is None:
            return _states()
        if places.are_same():  # no other thread has drawn meanwhile
            self._places = places
        return places.states


class Places:
    """Where the global generators have their states, and these states.

    Parameters
    ----------
    python, numpy : module or None
        The modules `random` and `numpy.random`, if they have been imported.

    Attributes
    ----------
    are_same : callable
        Whether the modules still use these generators, in these states.
    states : tuple
        As `generator_states` returns them.
    """

    def __init__(self, python: Any, numpy: Any) -> None:
        names, places, attributes = Checks(), [], []
        names.add_names(sys.modules, ("random", "numpy.random"))
        if python is not None:
            names.add_names(vars(python), ("_inst", "getstate"))
            own = python._inst
            places.append((id(own) + _HEAD, _PYTHON_BYTES))
            attributes.append((own, "gauss_next", own.gauss_next))
        if numpy is not None:
            names.add_names(vars(numpy), ("mtrand",))
            names.add_names(vars(numpy.mtrand), ("_rand",))
            state = numpy.mtrand._rand
            bits = state._bit_generator
            places.append((id(state) + _HEAD, numpy.RandomState.__basicsize__ - _HEAD))
            places.append((bits.ctypes.state_address, _TWISTER_BYTES))
            attributes.append((state, "_bit_generator", bits))
        self.are_same = Memory(places, names, attributes).same
        self.states = _states()

    @classmethod
    def found(cls) -> Places | None:
        """Find the generators; return None if one is not a Mersenne Twister."""
        python: Any = sys.modules.get("random")
        numpy: Any = sys.modules.get("numpy.random")
        if python is not None and _owner(python) is not python._inst:
            return None
        if numpy is not None and type(numpy.mtrand._rand._bit_generator) is not numpy.MT19937:
            return None
        return cls(python, numpy)


def _owner(python: Any) -> Any:
    """The generator whose method is `random.getstate`; None where a program has replaced that function."""
    return getattr(python.getstate, "__self__", None)


def _states() -> States:
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random")
    return (
        python.getstate() if python is not None else None,
        numpy.get_state(legacy=False) if numpy is not None else None,
    )


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


def state_of(generator: Any) -> Any:
    """The state of one generator: a dict of numbers and arrays, or a tuple."""
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    if hasattr(generator, "getstate"):
        return generator.getstate()
    return getattr(generator, "bit_generator", generator).state


def set_state(generator: Any, state: Any) -> None:
    """Set one generator to a state."""
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    elif hasattr(generator, "setstate"):
        generator.setstate(state)
    else:
        getattr(generator, "bit_generator", generator).state = state


def differ(a: Any, b: Any) -> bool:
    """Whether two states of one generator differ."""
    if isinstance(a, dict):
        return any(differ(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return not np.array_equal(a, b)
    return bool(a != b)
