"""Watch what a program captures: find out whether it has changed since the program was recorded."""

from __future__ import annotations

import functools
import types
from collections.abc import Sequence
from typing import Any

from tapeengine._core.programs.replay import Checks
from tapeengine.staged.reports import handles_errors
from tapeengine.structure import Structures
from tapeengine.transforms.array_copies import ArrayCopies, same_bits
from tapeengine.transforms.captures import Snapshot
from tapeengine.transforms.generators import differ
from tapeengine.transforms.nodes import Node
from tapeengine.transforms.program_objects import is_plain
from tapeengine.transforms.rerun import Places

__all__ = ["Watch"]


class Watch:
    """The values that a callable captures now, for comparison with those that it captures later.

    Parameters
    ----------
    structures : Structures
    value : object
        A callable, or a structure of callables and their arguments.
    copies : ArrayCopies

    Attributes
    ----------
    is_traced : bool
        Whether the callable captures a number of an open trace.
    checks : Checks
        The comparisons to make.

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

    __slots__ = ("__dict__", "_captured", "_generators", "_sets", "checks", "is_traced")

    def __init__(self, structures: Structures, value: Any, copies: ArrayCopies) -> None:
        snapshot = Snapshot(structures, value, copies, to_rebuild=False)
        self.is_traced = bool(snapshot.captured)
        self._sets: list[Node] = []
        rest = any(isinstance(node.original, (set, bytearray)) for node in snapshot.nodes)
        self.checks = Checks(self._holds if rest else None)
        for node in snapshot.nodes:  # without classes and modules, whose attributes a recording does not check
            original = node.original
            if node.held is not None:
                self.checks.add_array(original, node.held, same_bits)
            elif isinstance(original, (set, bytearray)):
                self._sets.append(node)
            else:
                self._watch(node)
        self._captured = snapshot.nodes, value if type(value) is tuple else (value,)
        self._generators = Places(snapshot.generators, draws=False)

    @functools.cached_property
    def obstacle(self) -> str:
        """Why no run can be replayed, empty if there is no reason; found before the first replay."""
        nodes, program = self._captured
        captured = [part for node in nodes for part in (node.original, *node.inside) if type(part) is not Node]
        if handles_errors([*captured, *program]):
            return "it handles floating-point errors, which a replay does not report"
        state = next((part for part in captured if hasattr(type(part), "__next__")), None)
        return (
            "" if state is None else f"it captures a {type(state).__name__}, of which each reading takes something away"
        )

    def __bool__(self) -> bool:
        """Whether there is something to compare."""
        return bool(len(self.checks) or self._sets)

    def _watch(self, node: Node) -> None:
        """Compare the objects inside a captured one if they can be replaced."""
        value = node.original
        kind: Any = type(value)
        if node.keys is None and not node.names:
            return
        attributes = kind is types.FunctionType or is_plain(kind)
        if attributes or kind in (types.CellType, list, dict):
            self.checks.add(value, node.names, attributes)
            return

        def inside() -> Sequence[Any]:
            now = node.read(value)
            return [*map(str, now), *now.values()]

        self.checks.add(inside)

    def is_same(self) -> bool:
        """Whether nothing has changed: the same objects or equal numbers, and arrays with the same bits."""
        return self.checks.same()

    def _holds(self) -> bool:
        """Whether sets have the same contents."""
        return not any(node.differs() for node in self._sets)

    def generators(self) -> Sequence[Any]:
        """The states of the captured generators."""
        return self._generators.here()[1]

    def has_drawn(self, before: Sequence[Any]) -> bool:
        """Whether a captured generator has been drawn from since its state was one of these."""
        return bool(before) and any(differ(a, b) for a, b in zip(self.generators(), before, strict=True))
