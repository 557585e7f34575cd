"""Find and rebind what a callable captures: closure conversion of ordinary Python callables.

A function that is run again later (`checkpoint`, `iterate`, tasks, rules) must see what it saw at the time of the call,
although the program may since have rebound a loop variable, appended to a list, written to an array or drawn from a
generator. So a `Snapshot` is taken before the first run. It looks into the cells of closures, default and partial
arguments, the objects of bound methods, containers, arrays, random generators, and the global data that functions of
the program read. Traced values become arguments of the function; other captured objects that can change are copied.
"""

from __future__ import annotations

import copy
import functools
import os
import random
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tapeengine._core.scalars.complex import ComplexDual, of_numbers
from tapeengine.structure import Structures, slots_of
from tapeengine.transforms.forms import is_traced
from tapeengine.transforms.source_lines import LIBRARIES

__all__ = [
    *("ArrayCopies", "Node", "Snapshot", "global_names", "is_fixed"),
    *("is_plain", "keys_of", "parts_of", "same_bits", "set_parts"),
]

#: Classes of values that never change.
ATOMS = frozenset(
    (
        *(float, int, str, bool, type(None), complex, bytes, range, slice, type(...)),
        *(np.float64, np.float32, np.int64, np.bool_, np.ufunc),
    )
)
#: Directories of the standard library and of installed packages.
_INSTALLED = (os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__)))
_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)


class ArrayCopies:
    """Copies of captured arrays. All snapshots that found the same numbers in an array share one copy.

    An array that is captured repeatedly and never changes, such as the data of a model, is copied once.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def of(self, array: Any) -> Any:
        """Return a copy of the present contents of an array."""
        known = self._known.get(id(array))
        if known is not None and known[0]() is array and same_bits(known[1], array):
            return known[1]
        made = array.copy(order="K")
        key = id(array)
        self._known[key] = (weakref.ref(array, lambda ref: self._forget(key, ref)), made)
        return made

    def _forget(self, key: int, ref: Any) -> None:
        known = self._known.get(key)
        if known is not None and known[0] is ref:
            del self._known[key]


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays hold the same bits; always false for arrays of objects."""
    if a.dtype != b.dtype or a.shape != b.shape or a.dtype.hasobject:
        return False
    if isinstance(a, np.ma.MaskedArray) and not np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)):
        return False
    a, b = np.asarray(a), np.asarray(b)
    if a.flags.c_contiguous and b.flags.c_contiguous and a.nbytes:
        word = np.uint8 if a.nbytes % 8 else np.uint64  # an element may be no whole number of words
        a, b = (x.reshape(-1).view(np.uint8).view(word) for x in (a, b))
        return bool((a == b).all())
    return bool(a.tobytes() == b.tobytes())


class Node:
    """One captured object: its contents, and how to rebuild it around other contents.

    Attributes
    ----------
    original : object
    inside : list
        The objects inside: a `Node` for each that may have to be rebuilt, the object itself for any other.
    make : callable
        ``make(inside) -> object``. If there is a `shell`, ``make(inside, shell)`` fills the shell instead.
    shell : callable or None
        Makes the empty object; given for kinds of objects that may contain themselves.
    lifted, changes : bool
        Whether the object contains a traced value, and whether it contains something that can change.
    keys : list or None
        The indices, keys or names of the last objects in `inside`, if the object can be written to (`effects`).
    names : list of str
        For a namespace, all names that its functions look up.
    held : numpy.ndarray or None
        For an array, its numbers.
    """

    __slots__ = ("changes", "held", "inside", "keys", "lifted", "make", "names", "original", "shell")

    def __init__(
        self,
        original: Any,
        inside: list[Any],
        make: Any,
        shell: Callable[[], Any] | None = None,
        changes: bool = False,
        keys: Sequence[Any] | None = None,
    ) -> None:
        self.original = original
        self.inside = inside
        self.make = make
        self.shell = shell
        self.keys: Any = keys
        self.held: Any = None
        self.names: list[str] = []
        self.lifted = False
        self.changes = changes


class Snapshot:
    """The objects that a callable or structure captures at the time of construction.

    Parameters
    ----------
    structures : Structures
        The container classes that are looked into.
    value : object
        A callable, or a structure of callables and their arguments.
    copies : ArrayCopies
    is_wanted : callable
        Decides whether a leaf becomes an argument; by default, whether it is traced.
    with_globals : bool
        Whether to bind global data. It must be false for functions that are pickled by name.
    to_rebuild : bool
        Whether `around` and `again` will be called. If not, classes and modules are left out.

    Attributes
    ----------
    captured : list
        The leaves that became arguments, each once, in a fixed order.

    Examples
    --------
    >>> factor = [2.0]
    >>> def f(x):
    ...     return factor[0] * x
    >>> snapshot = Snapshot(Structures(), f, ArrayCopies())
    >>> factor[0] = 5.0
    >>> snapshot.again([])(1.0), snapshot.around([])(1.0)
    (2.0, 5.0)
    """

    __slots__ = (
        "_copies",
        "_nodes",
        "_order",
        "_root",
        "_spaces",
        "_structures",
        "_to_rebuild",
        "_wanted",
        "_with_globals",
        "captured",
    )

    def __init__(
        self,
        structures: Structures,
        value: Any,
        copies: ArrayCopies,
        is_wanted: Callable[[Any], bool] = is_traced,
        with_globals: bool = True,
        to_rebuild: bool = True,
    ) -> None:
        self.captured: list[Any] = []
        self._structures = structures
        self._copies = copies
        self._wanted = is_wanted
        self._with_globals = with_globals
        self._to_rebuild = to_rebuild
        self._nodes: dict[int, Any] = {}
        self._spaces: dict[int, Node] = {}
        self._order: list[Node] = []
        self._start(value, [])

    def beside(self, value: Any) -> Snapshot:
        """Take the snapshot of another object at the same time, sharing the nodes that this snapshot has found.

        Examples
        --------
        >>> f = [2.0].append
        >>> Snapshot(Structures(), f, ArrayCopies()).beside((f, 1.0)).around([]) == (f, 1.0)
        True
        """
        found = object.__new__(Snapshot)
        found._structures, found._copies = self._structures, self._copies
        found._wanted, found._with_globals, found._to_rebuild = self._wanted, self._with_globals, self._to_rebuild
        found.captured, found._nodes = self.captured.copy(), self._nodes.copy()
        found._spaces, found._order = {}, self._order.copy()
        found._start(value, self._order)
        if not self._spaces.keys().isdisjoint(found._spaces):  # the two read other names of the same namespace
            return Snapshot(self._structures, value, self._copies, self._wanted, self._with_globals)
        return found

    def _start(self, value: Any, known: Sequence[Node]) -> None:
        self._root = self._look(value)
        self._settle(known)

    def around(self, values: Sequence[Any], done: dict[int, Any] | None = None) -> Any:
        """Return the object itself, with other values in place of the leaves in `captured`.

        `done` collects, by node, the objects that were rebuilt around them.
        """
        return self._made(values, [node for node in self._order if node.lifted], {}, done)

    def again(
        self, values: Sequence[Any], made: dict[int, Any] | None = None, done: dict[int, Any] | None = None
    ) -> Any:
        """Return the object as it was when the snapshot was taken, built of fresh copies.

        `made` maps nodes to the arrays and generators to use; those that are missing are added to it.
        `done` collects the rebuilt objects, as in `around`.
        """
        new = [node for node in self._order if node.lifted or node.changes]
        return self._made(values, new, {} if made is None else made, done)

    def take_over(self, made: dict[int, Any]) -> None:
        """Append to the program's lists what a run appended to the copies that `again` made of them."""
        for node in self._order:
            if node.shell is list and id(node) in made and len(made[id(node)]) > len(node.inside):
                node.original.extend(made[id(node)][len(node.inside) :])

    @property
    def nodes(self) -> list[Node]:
        """The captured objects, from the inside out."""
        return self._order

    @property
    def generators(self) -> list[Any]:
        """The captured random generators."""
        return [node.original for node in self._order if isinstance(node.original, _GENERATORS)]

    def generators_in(self, made: dict[int, Any]) -> list[Any]:
        """The generators that `again` made in place of the captured ones."""
        return [made[id(node)] for node in self._order if isinstance(node.original, _GENERATORS)]

    def _made(
        self,
        values: Sequence[Any],
        new: Sequence[Node],
        made: dict[int, Any],
        done: dict[int, Any] | None = None,
    ) -> Any:
        """The root around what is made anew, from the inside out; shells come first and are filled at last."""
        if type(self._root) is not Node:
            return self._root
        done = {} if done is None else done
        shells = [node for node in new if node.shell is not None]
        for node in shells:
            done[id(node)] = node.shell()  # type: ignore[misc]
        for node in new:
            if type(node.make) is int:
                done[id(node)] = values[node.make]
            elif node.shell is None:
                one = made.get(id(node))
                done[id(node)] = one = node.make(_contents(node, done)) if one is None else one
                if not node.inside:
                    made[id(node)] = one
        for node in shells:
            made[id(node)] = done[id(node)]
            node.make(_contents(node, done), done[id(node)])
        return done.get(id(self._root), self._root.original)

    # -- search ------------------------------------------------------------------------------------------------------
    def _look(self, value: Any) -> Any:
        """Visit an object without recursion; nodes are listed in postorder, contents before containers."""
        root, is_new = self._entered(value)
        pending = [(root, 0)] if is_new and root.make is not None else []
        while pending:
            node, k = pending.pop()
            while k < len(node.inside):
                found, is_new = self._entered(node.inside[k])
                node.inside[k] = found
                k += 1
                if is_new and found.make is not None:
                    pending += [(node, k), (found, 0)]
                    break
                if is_new:
                    self._order.append(found)
            else:
                self._order.append(node)
        return root

    def _settle(self, known: Sequence[Node]) -> None:
        """Set `lifted` and `changes` of each node that is not among the `known` ones."""
        for space in self._spaces.values():
            space.inside = [self._nodes.get(id(value), value) for value in space.inside]
            self._order.append(space)
        while self._to_rebuild and self._settle_once(known):
            pass

    def _settle_once(self, known: Sequence[Node]) -> bool:
        """Visit the nodes in order; return whether another pass is needed, because a node preceded its contents."""
        early = changed = False
        settled = set(map(id, known))
        for node in self._order[len(known) :]:
            lifted, changes = node.lifted, node.changes
            for inner in node.inside:
                if type(inner) is Node:
                    lifted, changes = lifted or inner.lifted, changes or inner.changes
                    early = early or id(inner) not in settled
            changed = changed or (lifted, changes) != (node.lifted, node.changes)
            node.lifted, node.changes = lifted, changes
            settled.add(id(node))
        return early and changed

    def _entered(self, value: Any) -> tuple[Any, bool]:
        """The node of an object, or the object itself if it needs no node; and whether the node has just been made."""
        kind = type(value)
        if kind in ATOMS or kind is Node or (kind is tuple and holds_atoms(value)):
            return value, False
        known = self._nodes.get(id(value))
        if known is not None:
            return known, False
        node = self._node(value, kind)
        if node is None:
            return value, False
        self._nodes[id(value)] = node
        return node, True

    def _node(self, value: Any, kind: type) -> Node | None:
        if self._wanted(value):
            node = Node(value, [], len(self.captured))
            node.lifted = True
            self.captured.append(value)
            return node
        if kind is tuple:
            return Node(value, list(value), tuple)
        if kind is functools.partial:
            return _partial(value)
        if kind is ComplexDual:
            return Node(value, [value.real, value.imag], lambda inside: of_numbers(*inside))
        if kind is types.FunctionType:
            return self._function(value)
        if kind is types.CellType:
            return _cell(value)
        if kind is list:
            return Node(value, list(value), lambda inside, made: made.extend(inside), list, True, range(len(value)))
        if kind is dict:
            keys = list(value)
            return Node(value, list(value.values()), lambda i, made: made.update(zip(keys, i)), dict, True, keys)
        if isinstance(value, np.ndarray):
            return _objects(value) if value.dtype == object else self._array(value)
        if isinstance(value, _GENERATORS):
            return _generator(value)
        if kind is types.MethodType:
            return Node(value, [value.__func__, value.__self__], lambda inside: types.MethodType(*inside))
        if isinstance(value, (set, bytearray)):
            held = copy.copy(value)
            return Node(value, [], lambda inside: copy.copy(held), changes=True)
        owner = getattr(value, "__self__", None)
        if isinstance(owner, _GENERATORS) and owner not in (random._inst, _numpy_generator()):
            return Node(value, [owner], lambda inside: getattr(inside[0], value.__name__))
        return self._container(value, kind)

    def _container(self, value: Any, kind: type) -> Node | None:
        container = self._structures.find(kind)
        if container is not None and container.fields is None:
            children, aux = container.take(value)
            make = container.make
            keys = None if issubclass(kind, tuple) else keys_of(container.names(aux), value)
            return Node(value, list(children), lambda i: make(aux, i), changes=keys is not None, keys=keys)
        if is_plain(kind):
            return _of_parts(value, vars(value), lambda made, found: made.__dict__.update(found))
        if container is not None or _is_made_by_parts(kind):
            return _of_parts(value, parts_of(value), lambda made, found: set_parts(made, found, ()))
        return self._of_library(value)

    def _of_library(self, value: Any) -> Node | None:
        """The node of an object of an unknown class (such as a spline), if the object contains a leaf that is wanted.

        Other instances of a program's classes, and classes and modules, are watched: a write to one is an effect.
        """
        is_space = isinstance(value, (type, types.ModuleType))
        if is_space and not self._to_rebuild:
            return None
        fixed = is_fixed(value if is_space else type(value))
        held = getattr(value, "__dict__", None) if fixed else parts_of(value)
        if type(held) is not dict or (fixed and is_space):
            return None
        if is_space or not any(map(self._wanted, held.values())):
            return None if fixed else Node(value, list(held.values()), None, keys=list(held))
        held = parts_of(value)

        def make(inside: list[Any]) -> Any:
            made = copy.copy(value)
            set_parts(made, dict(zip(held, inside)), ())
            return made

        return Node(value, list(held.values()), make, keys=list(held))

    def _array(self, value: Any) -> Node | None:
        base = value
        while isinstance(base, np.ndarray) and not base.flags.writeable:
            base = base.base
        if base is None:
            return None
        held = self._copies.of(value)
        node = Node(value, [], lambda inside: held.copy(order="K"), changes=True)
        node.held = held
        return node

    def _function(self, f: types.FunctionType) -> Node | None:
        """A function: the cells of its closure, its default arguments, and the global data that it reads."""
        cells = list(f.__closure__ or ())
        space, data = self._global_data(f)
        own = vars(f)
        if not cells and not f.__defaults__ and not f.__kwdefaults__ and not data and not own:
            return None
        names_of_own = list(own)

        def make(inside: list[Any]) -> Any:
            closure = tuple(inside[1 : 1 + len(cells)])
            names = f.__globals__ if inside[0] is None else inside[0]
            made = types.FunctionType(f.__code__, names, f.__name__, inside[1 + len(cells)], closure)
            made.__kwdefaults__ = inside[2 + len(cells)]
            made.__dict__.update(zip(names_of_own, inside[len(inside) - len(names_of_own) :]))
            made.__module__, made.__qualname__ = f.__module__, f.__qualname__
            return made

        inside = [space, *cells, f.__defaults__, f.__kwdefaults__, *data, *own.values()]
        return Node(f, inside, make, changes=bool(own), keys=names_of_own)

    def _global_data(self, f: types.FunctionType) -> tuple[Node | None, list[Any]]:
        """The namespace that a function reads, and the data in it: no modules, classes or library functions."""
        names = f.__globals__
        if not self._with_globals or _is_library(names.get("__name__"), f.__code__.co_filename):
            return None, []
        looked_up = global_names(f.__code__)
        read = [name for name in looked_up if name in names and not is_fixed(names[name])]
        if not read:
            return None, []
        space = self._spaces.get(id(names))
        if space is None:
            keys: list[str] = []
            space = Node(names, [], lambda inside, made: made.update(zip(keys, inside)), lambda: dict(names), keys=keys)
            self._spaces[id(names)] = self._nodes[id(names)] = space
        space.names += [name for name in looked_up if name not in names]
        for name in read:
            if name not in space.keys:
                space.keys.append(name)
                space.names.append(name)
                space.inside.append(names[name])
                space.changes = space.changes or type(names[name]) is not types.FunctionType
        return space, [names[name] for name in read]


def _contents(node: Node, done: dict[int, Any]) -> list[Any]:
    """What is inside an object, of which some has been made anew."""
    return [done.get(id(inner), inner.original) if type(inner) is Node else inner for inner in node.inside]


def holds_atoms(value: tuple[Any, ...]) -> bool:
    """Whether a tuple holds only objects that are not looked into."""
    return ATOMS.issuperset(map(type, value))


def parts_of(value: Any) -> dict[Any, Any]:
    """The contents of an object: attributes by name; for a subclass of list or dict, items by ``(index or key,)``."""
    found = dict(getattr(value, "__dict__", ()))
    for name in (name for base in type(value).__mro__ for name in slots_of(base)):
        if hasattr(value, name):
            found[name] = getattr(value, name)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, deque)) else ()
    found.update({(key,): item for key, item in items})
    return found


def set_parts(value: Any, parts: dict[Any, Any], known: Sequence[Any]) -> None:
    """Write the contents that `parts_of` found in another object into this one, whose contents were `known`."""
    for name in [name for name in known if name not in parts and type(name) is str]:
        object.__delattr__(value, name)
    for name, item in parts.items():
        if type(name) is str:
            object.__setattr__(value, name, item)
    items = {key[0]: item for key, item in parts.items() if type(key) is tuple}
    if isinstance(value, dict):
        dict.clear(value)
        dict.update(value, items)
    elif isinstance(value, (list, deque)):
        value.clear()
        value.extend(items.values())


def keys_of(names: Sequence[str], value: Any = None) -> Sequence[Any]:
    """The keys or attribute names of a container's children, read from how each is written after the container."""
    if isinstance(value, dict):
        return list(value)
    if type(value) is deque:
        return range(len(value))
    return [name[1:] if name.startswith(".") else name for name in names]


def _cell(cell: types.CellType) -> Node | None:
    try:
        content = cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None
    return Node(cell, [content], _fill_cell, types.CellType, True, ("cell_contents",))


def _fill_cell(inside: list[Any], cell: types.CellType) -> None:
    cell.cell_contents = inside[0]


def _of_parts(value: Any, held: dict[Any, Any], fill: Callable[[Any, dict[Any, Any]], None]) -> Node:
    """The node of an object that consists of its contents only."""
    kind, keys = type(value), list(held)

    def make(inside: list[Any], made: Any) -> None:
        fill(made, dict(zip(keys, inside)))

    return Node(value, list(held.values()), make, lambda: cast(Any, kind).__new__(kind), True, keys)


def _partial(value: functools.partial[Any]) -> Node:
    """The node of a partial function, which copies its arguments when it is rebuilt."""
    names = list(value.keywords)

    def make(inside: list[Any]) -> Any:
        return functools.partial(inside[0], *inside[1], **dict(zip(names, inside[2:])))

    return Node(value, [value.func, value.args, *value.keywords.values()], make)


def _objects(array: Any) -> Node:
    """The node of an array of objects, for example of traced numbers."""

    def make(inside: list[Any], made: Any) -> None:
        made.flat = inside

    return Node(array, list(array.flat), make, lambda: np.empty(array.shape, object), True, range(array.size))


def _generator(value: Any) -> Node | None:
    """The node of one of the program's random generators, in its present state."""
    try:
        held = copy.deepcopy(value)
    except Exception:  # the operating system's generator has no state
        return None
    return Node(value, [], lambda inside: copy.deepcopy(held), changes=True)


def _numpy_generator() -> Any:
    return np.random.mtrand._rand


@functools.lru_cache(maxsize=4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a function and the functions defined in it may look up in the global namespace."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(global_names(constant)))
    return tuple(found)


def is_fixed(value: Any) -> bool:
    """Whether programs do not change a global value: a module, a class, a library function."""
    if isinstance(value, type):
        return _is_library(value.__module__, _file_of(value.__module__))
    if type(value) is types.ModuleType:
        return _is_library(value.__name__, getattr(value, "__file__", None))
    if isinstance(value, (types.BuiltinFunctionType, np.ufunc)):
        return True
    if type(value) is types.FunctionType:
        closed = value.__closure__ is None
        return closed and _is_library(value.__globals__.get("__name__"), value.__code__.co_filename)
    return False


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


@functools.lru_cache(maxsize=4096)
def _is_library(module: str | None, file: str | None) -> bool:
    """Whether code belongs to Python, to an installed package or to the engine, and not to the program."""
    root = (module or "").partition(".")[0]
    if root in LIBRARIES or root in sys.stdlib_module_names:
        return not (file or "").startswith("<doctest")
    return (file or "").startswith(_INSTALLED)


@functools.lru_cache(maxsize=4096)
def is_plain(kind: Any) -> bool:
    """Whether a class is the program's and its instances consist of their attributes only."""
    return (
        kind.__new__ is object.__new__
        and kind.__dictoffset__ != 0
        and not any("__slots__" in vars(cls) for cls in kind.__mro__[:-1])
        and _is_made_by_parts(kind)
    )


@functools.lru_cache(maxsize=4096)
def _is_made_by_parts(kind: Any) -> bool:
    """Whether a class is the program's and its instances can be rebuilt from their attributes and items."""
    base: Any = next((base for base in (list, dict, deque) if issubclass(kind, base)), object)
    of_their_own = ("__copy__", "__deepcopy__", "__del__", "__setstate__", "__getattribute__")
    return (
        not _is_library(kind.__module__, _file_of(kind.__module__))
        and kind.__new__ is base.__new__
        and kind.__reduce_ex__ is base.__reduce_ex__
        and kind.__reduce__ is base.__reduce__
        and not any(name in vars(cls) for cls in kind.__mro__[: kind.__mro__.index(base)] for name in of_their_own)
    )
