"""The nodes of captured objects, by their classes."""

from __future__ import annotations

import functools
import types
import weakref
from collections import ChainMap, UserDict, UserList
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._core.programs.callables import Made
from ..._core.scalars.complex import ComplexDual
from ...errors import module_of
from ...naming import names_in
from ...structure import Structures
from . import nodes
from .array_copies import ArrayCopies
from .hidden_state import SHOWN, SOURCES, is_closed, reaches
from .nodes import DICTS, GENERATORS, Node, parts_of
from .program_objects import is_fixed, is_library, is_made_by_parts, is_plain, owner_of

#: Methods of objects whose classes are written in C; a program cannot replace them.
BOUND = (types.BuiltinMethodType, types.MethodWrapperType)
#: Modules of Python's library whose objects pass on data between calls and threads, and cannot be copied.
PASSING = {"queue", "_thread", "concurrent.futures._base", "_contextvars"}
#: What makes the nodes of the objects of a class, not of its subclasses.
BY_KIND: dict[Any, Callable[[Any], Node | None]] = {
    functools.partial: nodes.of_partial,
    Made: nodes.of_made,
    ComplexDual: nodes.of_complex,
    types.MethodType: nodes.of_method,
    slice: nodes.of_slice,
    frozenset: nodes.of_frozenset,
    weakref.ref: nodes.of_reference,
    nodes.Kept: nodes.of_reference,
    **dict.fromkeys(DICTS, nodes.of_dict),
    # Of Python's library; they hold what a program puts into their attributes.
    **dict.fromkeys((types.SimpleNamespace, ChainMap, UserDict, UserList), nodes.of_plain),
}
#: Those of the objects of classes and of their subclasses.
BY_CLASS: tuple[tuple[Any, Callable[[Any], Node | None]], ...] = (
    (GENERATORS, nodes.of_generator),
    ((set, weakref.WeakSet), nodes.of_set),
    (nodes.MEMORY, nodes.of_memory),
    (nodes.WRAPPERS, nodes.of_wrapper),
)


class Kinds:
    """Makes the node of an object by its class.

    Parameters
    ----------
    structures : Structures
        The container classes that are looked into.
    copies : ArrayCopies
    is_wanted : callable
        Whether a leaf is one of those that are looked for.
    """

    __slots__ = ("_copies", "_structures", "_wanted")

    _barren: dict[int, Any]  # objects that refer to no leaf, during a search

    def __init__(self, structures: Structures, copies: ArrayCopies, is_wanted: Callable[[Any], bool]) -> None:
        self._structures = structures
        self._copies = copies
        self._wanted = is_wanted

    def of_other_kind(self, value: Any, kind: type) -> Node | None:
        """The node of an object other than functions, variables, lists and tuples; None if it is not searched."""
        make = BY_KIND.get(kind)
        if make is not None:
            return make(value)
        if isinstance(value, np.ndarray):
            return nodes.of_objects(value) if value.dtype == object else self._array(value)
        make = next((make for kinds, make in BY_CLASS if isinstance(value, kinds)), None)
        if make is not None:
            return make(value)
        if kind in BOUND and (owner := owner_of(value)) is not None:
            return nodes.of_bound(value, owner)
        return self._container(value, kind)

    def _container(self, value: Any, kind: type) -> Node | None:
        container = self._structures.find(kind)
        if is_plain(kind) and (container is None or container.fields is not None):
            return nodes.of_plain(value)
        if container is not None:
            return nodes.of_container(value, container)
        is_open = is_made_by_parts(kind) or hasattr(kind, "__tapeengine_parts__")
        return nodes.of_object(value) if is_open else self._of_library(value, kind)

    def _of_library(self, value: Any, kind: Any) -> Node | None:
        """The node of an object of an unknown class (such as a spline), if the object contains a leaf that is wanted.

        Other instances of a program's classes, classes, modules, and objects that pass on data are watched: a write to
        one is an effect.
        """
        if isinstance(value, SOURCES) and not isinstance(value, SHOWN):
            return nodes.of_source(value)
        is_space = isinstance(value, (type, types.ModuleType))
        if not is_space and not is_closed(kind) and reaches(value, self._wanted, self._data, self._barren):
            node = nodes.of_library(value)
            if node is not None:
                return node
        module = module_of(kind)
        if module == "argparse":
            return nodes.of_plain(value)
        if module in PASSING:
            return nodes.of_passing(value)
        return None if is_fixed(value if is_space else kind) else nodes.of_watched(value, parts_of(value))

    def _data(self, f: types.FunctionType) -> Sequence[Any]:
        """The data in its namespace that a function reads."""
        return ()

    def _array(self, value: Any) -> Node | None:
        held = self._copies.of(value)
        return None if held is None else nodes.of_array(value, held)


def data_of(f: types.FunctionType) -> tuple[list[str], list[str]] | None:
    """The names of data that a function reads in its namespace, and undefined names that it would read.

    Modules, classes and functions of libraries are no data. None if the function reads none.
    """
    space, names = f.__globals__, names_of(f)
    data = [name for name in names if name in space and not is_fixed(space[name])]
    return (data, [name for name in names if name not in space]) if data else None


def names_of(f: types.FunctionType) -> tuple[str, ...]:
    """The names that a function of the program may look up; none for a library's."""
    library = is_library(f.__globals__.get("__name__"), f.__code__.co_filename)
    return () if library else names_in(f.__code__, True)
