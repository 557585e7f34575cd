"""Watch what a program captures: find out whether it has changed since the program was recorded."""

from __future__ import annotations

import functools
import operator
import threading
import types
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.programs.replay import Checks
from ..errors import module_of
from ..forms import is_traced
from ..structure import Structures
from ..transforms.captures import nodes
from ..transforms.captures.array_copies import ArrayCopies, same_bits
from ..transforms.captures.generators import differ, state_of
from ..transforms.captures.hidden_state import SHOWN
from ..transforms.captures.kinds import Kinds
from ..transforms.captures.nodes import ATOMS, GENERATORS, Node, attributes_of, parts_of
from ..transforms.captures.program_objects import is_fixed, is_plain
from .reports import facts_of, obstacle_of

#: What a partial function consists of.
_OF_PARTIAL = operator.attrgetter("func", "args", "keywords", "__dict__")
#: Packages whose objects are not watched: they are known, or change with threads or messages.
APART = frozenset(("builtins", "concurrent", "logging", "multiprocessing", "tapeengine", "threading"))
#: Functions that look up names, which they keep.
ACCESSORS = (operator.attrgetter, operator.methodcaller)


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
    checks : Checks
        The comparisons to make.
    named : list of str
        The names that captured functions of `operator` look up.

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

    __slots__ = ("_copies", "_generators", "_obstacle", "_structures", "checks", "named")

    atoms = ATOMS
    facts, is_fixed = staticmethod(facts_of), staticmethod(is_fixed)

    def __init__(self, structures: Structures, value: Any, copies: ArrayCopies) -> None:
        self._structures, self._copies = structures, copies
        self._generators: list[Any] = []
        self._obstacle: str | None = None
        self.named: list[str] = []
        self.checks = Checks()
        self.checks.look(value, self)

    def open(self, value: Any) -> Sequence[Any]:
        """Watch an object that `Checks` does not know; return what it contains."""
        if type(value) is np.ndarray and value.dtype != object:
            held = self._copies.of(value)
            if held is not None:
                self.checks.add_array(value, held, same_bits)
            return ()
        if type(value) is functools.partial:
            self.checks.add_contents(functools.partial(_OF_PARTIAL, value))
            return _OF_PARTIAL(value)
        if type(value) is threading.Event:
            self._watch(value, lambda event: {"is_set": event.is_set()})
            return ()
        node = Watched(self._structures, self._copies, is_traced).of_other_kind(value, type(value))
        if node is None:
            return ()
        if issubclass(type(value), GENERATORS):
            self._generators.append(value)
        elif node.held is not None:
            self.checks.add_array(value, node.held, same_bits)
        elif issubclass(type(value), (set, *nodes.MEMORY)):
            self.checks.add(node.differs)
        elif node.keys is not None:
            self._watch(value, node.read)
        if type(value) in ACCESSORS:
            self.named += [name for text in node.inside if type(text) is str for name in text.split(".")]
        if not self._has_more(value, node) or not attributes_of(value):
            return node.inside
        self._watch(value, attributes_of)
        return [*node.inside, *attributes_of(value).values()]

    @staticmethod
    def _has_more(value: Any, node: Node) -> bool:
        """Whether an object may have attributes besides the contents that its node reads."""
        kind: Any = type(value)
        return kind is defaultdict or not (node.read is parts_of or is_plain(kind) or is_fixed(kind))

    @property
    def obstacle(self) -> str:
        """The reason why no run can be replayed, empty if there is none; found before the first replay."""
        if self._obstacle is None:
            self._obstacle = obstacle_of(self.checks.found) or self._taken_away()
        return self._obstacle

    def _taken_away(self) -> str:
        for part in self.checks.found:
            if type(part) is not types.FunctionType and hasattr(type(part), "__next__") and type(part) not in SHOWN:
                return f"it captures a {type(part).__name__}, of which each reading takes something away"
        return ""

    def __bool__(self) -> bool:
        """Whether there is something to compare."""
        return len(self.checks) > 0

    def _watch(self, value: Any, read: Callable[[Any], dict[Any, Any]]) -> None:
        """Compare the objects inside a captured one, which can be replaced."""
        kind: Any = type(value)
        if is_plain(kind):
            self.checks.add_attributes(value)
            return

        def inside() -> Sequence[Any]:
            now = read(value)
            return [kind if type(value) is kind else None, *map(str, now), *now.values()]

        self.checks.add_contents(inside)

    def is_same(self) -> bool:
        """Whether nothing has changed: the same objects or equal numbers, and arrays with the same bits."""
        return self.checks.same()

    def generators(self) -> Sequence[Any]:
        """The states of the captured generators."""
        return list(map(state_of, self._generators)) if self._generators else ()

    def has_drawn(self, before: Sequence[Any]) -> bool:
        """Whether a captured generator has been drawn from since its state was one of these."""
        return any(differ(a, b) for a, b in zip(self.generators(), before, strict=True))


class Watched(Kinds):
    """Makes the nodes of objects that are watched only."""

    __slots__ = ()

    def of_other_kind(self, value: Any, kind: type) -> Node | None:
        """As `Kinds.of_other_kind`; objects that compute their attributes are not asked for any."""
        if type(kind.__getattribute__) is types.FunctionType and not is_fixed(kind):
            return nodes.of_watched(value, parts_of(value))
        return super().of_other_kind(value, kind)

    def _of_library(self, value: Any, kind: Any) -> Node | None:
        held = None if is_fixed(kind) else parts_of(value)
        if held:
            return nodes.of_watched(value, held)
        return nodes.of_state(value) or (of_attributes(value) if is_of_library(value) else None)


def is_of_library(value: Any) -> bool:
    """Whether an object is of a class of a library that gives its objects attributes on which a value may depend."""
    kind: Any = type(value)
    return module_of(kind).partition(".")[0] not in APART and is_fixed(kind) and bool(attributes_of(value))


def of_attributes(value: Any) -> Node:
    """An object of a library's class, whose attributes are looked into unless they are such objects."""
    node = nodes.of_watched(value, parts_of(value))
    node.inside = [item for item in node.inside if not is_of_library(item) or issubclass(type(item), GENERATORS)]
    return node
