"""What a run wrote into the objects that it captures, and how these writes reach the program's own objects.

An object holds other objects by index, key or name. A run has written to it if it holds other objects afterwards, or
the same ones in another order.
"""

from __future__ import annotations

from collections import deque
from types import CellType, FunctionType
from typing import Any, cast

import numpy as np

from tapeengine.structure import Structures
from tapeengine.transforms.captures import Node, Snapshot, is_plain, keys_of, parts_of, same_bits, set_parts

__all__ = ["Effects"]


class Effects:
    """The effects of one run on the objects of a snapshot.

    Parameters
    ----------
    structures : Structures
    snapshot : Snapshot
    done : dict
        The objects that were rebuilt for the run, by node; see `Snapshot.around`.

    Attributes
    ----------
    changed : list of (Node, dict)
        The objects that were written to, and their contents now, by index, key or name.
    arrays : list of numpy.ndarray
        The arrays whose numbers changed.

    Examples
    --------
    >>> from tapeengine.transforms.captures import ArrayCopies
    >>> kept = [1, 2]
    >>> snapshot = Snapshot(Structures(), kept.pop, ArrayCopies())
    >>> snapshot.around([])()
    2
    """

    __slots__ = ("_done", "_made_from", "_structures", "arrays", "changed")

    def __init__(self, structures: Structures, snapshot: Snapshot, done: dict[int, Any]) -> None:
        self._structures = structures
        self._done = done
        self.arrays: list[Any] = []
        self.changed: list[tuple[Node, dict[Any, Any]]] = []
        for node in snapshot.nodes:
            if node.held is not None:
                value = self._of(node)
                self.arrays += [] if same_bits(node.held, value) else [value]
            elif node.keys is not None:
                now = contents(structures, node, self._of(node))
                if self._is_other(node, now):
                    self.changed.append((node, now))
        self._made_from = {id(self._of(node)): node for node in snapshot.nodes} if self.changed else {}

    def __bool__(self) -> bool:
        return bool(self.changed or self.arrays)

    def _of(self, inner: Any) -> Any:
        return self._done.get(id(inner), inner.original) if type(inner) is Node else inner

    def _is_other(self, node: Node, now: dict[Any, Any]) -> bool:
        keys, inside = node.keys, node.inside
        if len(now) != len(keys):
            return True
        before = inside[len(inside) - len(keys) :]
        for (key, value), known, inner in zip(now.items(), keys, before, strict=True):
            if value is not self._of(inner) or (key is not known and key != known):
                return True
        return False

    def shared(self) -> list[Any]:
        """The objects that later runs do not copy, and would therefore write to again."""
        return [node.original for node, _ in self.changed if not (node.lifted or node.changes)]

    def values(self) -> list[Any]:
        """The contents of the objects that were written to, and the changed arrays themselves."""
        return self.arrays + [value for _, now in self.changed for value in now.values()]

    def fresh(self) -> list[Any]:
        """The values that were not captured before."""
        return [value for value in self.values() if id(value) not in self._made_from]

    def sources(self) -> list[dict[Any, Node | None]]:
        """The captured object in each place that was written to; None for an object that was not captured."""
        return [{key: self._made_from.get(id(value)) for key, value in now.items()} for _, now in self.changed]

    def write_on(self, sources: list[dict[Any, Node | None]]) -> bool:
        """Write all effects into the program's own objects, given equal `sources`; return whether that is possible."""
        for (node, now), found in zip(self.changed, sources, strict=True):
            if self._of(node) is not node.original:
                own = {key: _own(value, found.get(key)) for key, value in now.items()}
                if not write(self._structures, node, own):
                    return False
        return True


def _own(value: Any, source: Node | None) -> Any:
    return value if source is None else source.original


def contents(structures: Structures, node: Node, value: Any) -> dict[Any, Any]:
    """The present contents of a writable object, by index, key or name, following its node's `keys`."""
    kind = type(value)
    if node.names:
        return {name: value[name] for name in node.names if name in value}
    if kind is list or kind is deque:
        return dict(enumerate(value))
    if kind is dict:
        return dict(value)
    if kind is CellType:
        return _cell(value)
    if kind is np.ndarray:
        return dict(enumerate(value.flat))
    if kind is FunctionType or is_plain(cast(Any, kind)):
        return dict(vars(value))
    container = structures.find(kind)
    if container is None or container.fields is not None:
        return parts_of(value)
    children, aux = container.take(value)
    return dict(zip(keys_of(container.names(aux), value), children, strict=True))


def _cell(cell: CellType) -> dict[Any, Any]:
    try:
        return {"cell_contents": cell.cell_contents}
    except ValueError:  # the name was deleted
        return {}


def write(structures: Structures, node: Node, now: dict[Any, Any]) -> bool:
    """Write the contents that `contents` found in another object into a captured one; return whether that worked."""
    value, kind = node.original, type(node.original)
    if kind is list:
        value[:] = now.values()
    elif kind is deque:
        value.clear()
        value.extend(now.values())
    elif kind is np.ndarray:
        for k, item in now.items():
            value.flat[k] = item
    elif kind is dict or (isinstance(value, dict) and structures.find(kind) is not None):
        for name in node.names or list(value):
            value.pop(name, None)
        value.update(now)
    elif all(type(key) is tuple or (type(key) is str and key.isidentifier()) for key in now):
        set_parts(value, now, node.keys)
    else:
        return False
    return True
