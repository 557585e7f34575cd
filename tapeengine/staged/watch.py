"""What a program captures, watched: whether it is still what it was when the program was recorded."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from operator import is_, itemgetter
from typing import Any

import numpy as np

from tapeengine.structure import Structures
from tapeengine.transforms.captures import ArrayCopies, Node, Snapshot, same_bits
from tapeengine.transforms.effects import contents
from tapeengine.transforms.rerun import Places

__all__ = ["Watch"]

#: Classes whose objects are the same where their values are.
_ATOMS = frozenset((float, int, str, bool, bytes, complex, np.float64, np.int64))


class Watch:
    """What a callable captures now, to be compared with what it captures later.

    Parameters
    ----------
    structures : Structures
    value : object
        A callable, or a structure of callables and their arguments.
    copies : ArrayCopies

    Attributes
    ----------
    is_traced : bool
        Whether a number of an open trace is captured.

    Examples
    --------
    >>> factor = [2.0]
    >>> watch = Watch(Structures(), lambda x: factor[0] * x, ArrayCopies())
    >>> watch.is_same()
    True
    >>> factor[0] = 3.0
    >>> watch.is_same()
    False
    """

    __slots__ = ("_arrays", "_checks", "_generators", "_moment", "_sets", "is_traced")

    def __init__(self, structures: Structures, value: Any, copies: ArrayCopies) -> None:
        snapshot = Snapshot(structures, value, copies)
        self.is_traced = bool(snapshot.captured)
        self._checks: list[tuple[Callable[[], Sequence[Any]], list[Any]]] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._sets: list[tuple[Any, Any]] = []
        for node in snapshot.nodes:
            original = node.original
            if isinstance(original, (type, types.ModuleType)):  # whose attributes a recording does not see
                continue
            if node.held is not None:
                self._arrays.append((original, node.held))
            elif isinstance(original, (set, bytearray)):
                self._sets.append((original, original.copy()))
            else:
                reader = _reader(structures, node)
                if reader is not None:
                    self._checks.append((reader, list(reader())))
        self._generators = Places(snapshot.generators, draws=False)
        self._moment = self._generators.here()

    def __bool__(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self._checks or self._arrays or self._sets)

    def is_same(self) -> bool:
        """Whether everything is what it was: the same objects or equal numbers, arrays to the last bit."""
        for inside, saved in self._checks:
            now = inside()
            if len(now) != len(saved) or not (all(map(is_, now, saved)) or all(map(_equal, now, saved))):
                return False
        return not (self._sets or self._arrays) or self._holds()

    def _holds(self) -> bool:
        """Whether sets and arrays hold what they held."""
        return all(now == saved for now, saved in self._sets) and all(same_bits(x, y) for y, x in self._arrays)

    def has_drawn(self) -> bool:
        """Whether a captured generator has been drawn from."""
        return any(_differ(a, b) for a, b in zip(self._generators.here()[1], self._moment[1], strict=True))


def _reader(structures: Structures, node: Node) -> Callable[[], Sequence[Any]] | None:
    """What gives the objects inside a captured object, and their keys; None where they cannot be exchanged."""
    value = node.original
    if node.names:
        return _named(value, node.names)
    if node.keys is None:
        return None
    if type(value) is types.CellType:
        return lambda: (value.cell_contents,)
    if type(value) is list:
        return lambda: value
    if type(value) is dict:
        return lambda: [*value, *value.values()]

    def inside() -> Sequence[Any]:
        now = contents(structures, node, value)
        return [*map(str, now), *now.values()]

    return inside


def _named(space: Any, names: Sequence[str]) -> Callable[[], Sequence[Any]]:
    """What gives the values of names in a dict of globals; those that are not in it are attributes, or built in."""
    present = [name for name in names if name in space]
    absent = frozenset(names).difference(present)
    if not present:
        return lambda: (space.keys().isdisjoint(absent),)
    get = itemgetter(*present, present[0])  # of one name alone it would give no tuple

    def values() -> Sequence[Any]:
        if not space.keys().isdisjoint(absent):
            return ()
        try:
            found: Sequence[Any] = get(space)
        except KeyError:
            return ()
        return found

    return values


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or type(a) not in _ATOMS:
        return False
    return bool(np.asarray(a).tobytes() == np.asarray(b).tobytes()) if isinstance(a, (float, complex)) else bool(a == b)


def _differ(a: Any, b: Any) -> bool:
    """Whether two states of a generator differ; dicts of numbers and arrays, or tuples."""
    if isinstance(a, dict):
        return any(_differ(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return not same_bits(a, b)
    return bool(a != b)
