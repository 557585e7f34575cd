"""Tables that are attributes of classes: calls that are run again share them with the program.

An object of the program that such a call has to rebuild is another object, which the table does not know.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import RepeatError
from ...naming import names_in
from .nodes import DICTS, Node
from .program_objects import is_fixed

_KINDS = frozenset((*DICTS, list, set, weakref.WeakSet))


class ClassTables:
    """The tables of the classes of captured objects that captured functions, or methods of these classes, name.

    Parameters
    ----------
    captured : sequence of Node
    """

    __slots__ = ("_tables",)

    def __init__(self, captured: Iterable[Node]) -> None:
        objects = [node.original for node in captured]
        classes = {base for one in objects for base in _classes(one) if not is_fixed(base)}
        functions = [*objects, *(part for kind in classes for part in vars(kind).values())]
        names = {name for f in functions if type(f) is types.FunctionType for name in names_in(f.__code__)}
        self._tables = [
            (f"{kind.__name__}.{name}", value)
            for kind in classes
            for name, value in vars(kind).items()
            if name in names and type(value) in _KINDS
        ]

    def refuse(self, new: Iterable[Node]) -> None:
        """Refuse to rebuild objects that one of the tables holds.

        Raises
        ------
        RepeatError
        """
        if not self._tables:
            return
        gone = {id(node.original) for node in new}
        for name, table in self._tables:
            for part in _parts(table):
                kind: Any = type(part)
                if id(part) in gone and kind.__eq__ is object.__eq__:
                    raise RepeatError(
                        f"{name} finds {part!r} by its identity, and this object has to be copied for a call that is "
                        "run apart from the program or again, because it holds traced values or is written to. "
                        "Classes are not copied: keep the table in a variable, or find the object by a name"
                    )


def _classes(value: Any) -> tuple[type, ...]:
    return (value if isinstance(value, type) else type(value)).__mro__


def _parts(table: Any) -> Iterator[Any]:
    for part in list(table):
        yield part
        if type(part) is tuple:
            yield from part
