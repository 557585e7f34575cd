"""Find what a run wrote into captured objects, and apply these writes to the program's own objects.

An object holds other objects by index, key or name. A run has written to it if it holds other objects afterwards, or
the same ones in another order.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import numpy as np

from ...structure import Structures
from .array_copies import same_bits
from .closures import Snapshot
from .nodes import ATOMS, WEAK_DICTS, Node, rebuilt, set_parts


class Effects:
    """The effects of one run on the objects of a snapshot; `done` is that of `Snapshot.around`.

    Attributes
    ----------
    changed : list of (Node, dict)
        The objects that were written to, and their contents now, by index, key or name.
    arrays : list of numpy.ndarray
        The arrays whose numbers changed.
    written : frozenset of int
        The ids of the nodes of all objects that were written to, also of generators, sets and byte arrays.
    """

    __slots__ = ("_done", "_made_from", "_structures", "arrays", "changed", "written")

    def __init__(self, structures: Structures, snapshot: Snapshot, done: dict[int, Any]) -> None:
        self._structures = structures
        self._done = done
        self.arrays: list[Any] = []
        self.changed: list[tuple[Node, dict[Any, Any]]] = []
        written: set[int] = set()
        for node in snapshot.nodes:
            value = rebuilt(node, done)
            if node.held is not None:
                if not same_bits(node.held, value):
                    self.arrays.append(value)
                    written.add(id(node))
            elif node.keys is not None:
                now = node.changed(value, done)
                if now is not None:
                    self.changed.append((node, now))
                    written.add(id(node))
            elif node.differs():
                written.add(id(node))
        self.written = frozenset(written)
        self._made_from = {id(rebuilt(node, done)): node for node in snapshot.nodes} if self.changed else {}

    def __bool__(self) -> bool:
        return bool(self.changed or self.arrays)

    def shared(self) -> list[Any]:
        """The objects that later runs do not copy, and would therefore write to again."""
        return [node.original for node, _ in self.changed if node.make is None]

    def values(self) -> list[Any]:
        """The contents of the objects that were written to, and the changed arrays themselves."""
        keys = [key for node, now in self.changed if node.places for key in now if type(key) not in ATOMS]
        return self.arrays + keys + [value for _, now in self.changed for value in now.values()]

    def fresh(self) -> list[Any]:
        """The values that were not captured before."""
        return [value for value in self.values() if id(value) not in self._made_from]

    def sources(self) -> list[dict[Any, Node | None]]:
        """The captured object in each place that was written to; None for an object that was not captured."""
        return [
            {self._own_key(key): self._made_from.get(id(value)) for key, value in now.items()}
            for _, now in self.changed
        ]

    def write_on(self, sources: list[dict[Any, Node | None]]) -> bool:
        """Write all effects into the program's own objects, given equal `sources`; return whether that is possible."""
        for (node, now), found in zip(self.changed, sources, strict=True):
            own = {key: _own(value, found.get(key)) for key, value in self._with_own_keys(now)}
            moved = any(a is not b for a, b in zip(own.values(), now.values(), strict=True))
            if (moved or rebuilt(node, self._done) is not node.original) and not write(self._structures, node, own):
                return False
        return True

    def _with_own_keys(self, now: dict[Any, Any]) -> list[tuple[Any, Any]]:
        return [(self._own_key(key), value) for key, value in now.items()]

    def _own_key(self, key: Any) -> Any:
        """The program's own object for a key, which a run may have found rebuilt."""
        return key if type(key) is str else _own(key, self._made_from.get(id(key)))


def _own(value: Any, source: Node | None) -> Any:
    return value if source is None else source.original


def write(structures: Structures, node: Node, now: dict[Any, Any]) -> bool:
    """Write the contents that were read from another object into a captured one; return whether that worked."""
    value, kind = node.original, type(node.original)
    if kind is list:
        value[:] = now.values()
    elif kind is deque:
        value.clear()
        value.extend(now.values())
    elif kind is np.ndarray:
        for k, item in now.items():
            value.flat[k] = item
    elif isinstance(value, (set, weakref.WeakSet)):
        value.clear()
        value.update(now)
    elif kind in (dict, *WEAK_DICTS) or (isinstance(value, dict) and structures.find(kind) is not None):
        for name in node.names or list(value):
            value.pop(name, None)
        value.update(now)
    elif all(type(key) is tuple or (type(key) is str and key.isidentifier()) for key in now):
        set_parts(value, now, node.keys)
    else:
        return False
    return True
