"""The objects that a callable captures, each as a node: its contents, what it was, and how to rebuild it.

An object holds others by index, key, name, or as the elements of a set. If one of these is rebuilt, so are the tables
that find something by it: a dictionary or set by its keys and elements, a dictionary of addresses by ``id``.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import operator
import random
import types
import weakref
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._core.programs.callables import Linked, Made
from ..._core.programs.replay import Replays
from ..._core.scalars.complex import of_numbers
from ...errors import RepeatError, pass_on
from ...structure import Container, slots_of
from .array_copies import same_bits
from .generators import differ, state_of
from .hidden_state import position, reader_of

#: Classes of values that never change.
ATOMS = frozenset(
    (
        *(float, int, str, bool, type(None), complex, bytes, range, type(...)),
        *(np.float64, np.float32, np.int64, np.bool_),
        *(types.WrapperDescriptorType, types.MethodDescriptorType),  # methods of classes that are written in C
    )
)
GENERATORS = (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)
MEMORY = (bytearray, array)
WEAK_DICTS = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
WEAK = (*WEAK_DICTS, weakref.WeakSet)
#: Dictionaries that are filled by key.
DICTS = frozenset((dict, OrderedDict, defaultdict, Counter, *WEAK_DICTS))
#: Staged and lifted functions.
WRAPPERS = (Replays, Linked)
#: Views of dictionaries, and what makes them.
VIEWS: dict[Any, Any] = {
    type(make(kind())): make for kind in (dict, OrderedDict) for make in (kind.keys, kind.values, kind.items)
}
#: Smaller integers are not addresses of objects.
_ADDRESSES = 1 << 20


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One captured object: its contents, and how to rebuild it around other contents.

    Attributes
    ----------
    original : object
    inside : list
        The objects inside: a `Node` for each that may have to be rebuilt, the object itself for any other. Those that
        an entry is found by come first, at `places` among the keys; the objects that `keys` belong to come last.
    make : callable or None
        ``make(inside) -> object``. If there is a `shell`, ``make(inside, shell)`` fills the shell instead. None if the
        object is not rebuilt but watched.
    shell : callable or None
        Makes the empty object; given for kinds of objects that may contain themselves.
    keys : list or None
        The indices, keys or names of the last objects in `inside`, if the object can be written to (`effects`).
    read : callable or None
        The contents of such an object at present, by index, key or name.
    can_change : bool
        Whether the object is one that programs write to, other than a variable or a function.
    lifted : bool
        Whether the object contains a traced value.
    links : tuple of int
        The ids of the nodes inside.
    names : list of str
        For a namespace, all names that its functions look up.
    held : numpy.ndarray or None
        For an array, its numbers.
    flat : (callable, list) or None
        For a table of atoms alone, a function that lists its keys and items, and what it gave at first.
    """

    original: Any
    inside: list[Any]
    make: Any
    shell: Callable[[], Any] | None = None
    keys: Any = None
    read: Any = None
    can_change: bool = False
    has_changed: Callable[[], bool] | None = None
    places: Sequence[int] = ()
    held: Any = None
    flat: tuple[Callable[[Any], list[Any]], list[Any]] | None = None
    names: list[str] = field(default_factory=list)
    links: tuple[int, ...] = ()
    lifted: bool = False

    def within(self, done: dict[int, Any]) -> list[Any]:
        """The objects inside; `done` has those that were rebuilt, by node."""
        return self.inside if self.flat else [rebuilt(inner, done) for inner in self.inside]

    def changed(self, value: Any, done: dict[int, Any]) -> dict[Any, Any] | None:
        """The contents of what stands for the object after a run for which `done` was rebuilt; None if it left them."""
        if self.flat is not None:
            items, before = self.flat[0](value), self.flat[1]
            if len(items) == len(before) and all(map(operator.is_, items, before)):
                return None
        now: dict[Any, Any] = self.read(value)
        return now if self._is_other(now, done) else None

    def _is_other(self, now: dict[Any, Any], done: dict[int, Any]) -> bool:
        if len(now) != len(self.keys):
            return True
        inside = self.within(done)
        keys = _replaced(self.keys, self.places, inside)
        if isinstance(self.original, (set, weakref.WeakSet)):  # which has no order
            return any(key not in now for key in keys)
        before = inside[len(inside) - len(keys) :]
        for (key, value), known, was in zip(now.items(), keys, before, strict=True):
            if value is not was or (key is not known and key != known):
                return True
        return False

    def differs(self) -> bool:
        """Whether the object has changed since it was captured."""
        if self.has_changed is not None:
            return self.has_changed()
        return self.keys is not None and self.changed(self.original, {}) is not None


def rebuilt(inner: Any, done: dict[int, Any]) -> Any:
    """The replacement of an object inside another one; `done` has the rebuilt objects, by node."""
    return done.get(id(inner), inner.original) if type(inner) is Node else inner


def _replaced(keys: Sequence[Any], places: Sequence[int], inside: Sequence[Any]) -> Sequence[Any]:
    """Keys, some of which are the first objects inside."""
    if not places:
        return keys
    found = list(keys)
    for place, key in zip(places, inside, strict=False):
        found[place] = key
    return found


def _finders(keys: Iterable[Any]) -> list[int]:
    """The places of the keys that are objects of the program, contain such, or may be addresses of such."""
    return [k for k, key in enumerate(keys) if type(key) not in ATOMS or (type(key) is int and key > _ADDRESSES)]


# -- kinds of objects --------------------------------------------------------------------------------------------------
def of_list(value: list[Any]) -> Node:
    """A list."""
    node = Node(value, list(value), _extend, list, range(len(value)), _items, can_change=True)
    if ATOMS.issuperset(map(type, value)):
        node.flat = list, node.inside
    return node


def _extend(inside: list[Any], made: list[Any]) -> None:
    made.extend(inside)


def _items(value: Any) -> dict[int, Any]:
    return dict(enumerate(value))


def of_dict(value: Any) -> Node:
    """A dictionary, also a weak one, with those of its keys that are objects of the program."""
    keys = list(value)
    places = _finders(keys)

    def make(inside: list[Any], made: Any) -> None:
        for key, item in zip(_replaced(keys, places, inside), inside[len(places) :]):
            made[key] = item
        if type(value) in WEAK:
            _keeping(made, inside)

    inside = [*(keys[k] for k in places), *value.values()]
    node = Node(value, inside, make, lambda: _emptied(value), keys, dict, can_change=True, places=places)
    if not places and ATOMS.issuperset(map(type, inside)):
        node.flat = _flat, keys + inside
    return node


def _flat(value: Any) -> list[Any]:
    return [*value, *value.values()]


def of_set(value: Any) -> Node:
    """A set, also a weak one, with its elements."""
    keys = list(value)
    places = _finders(keys)
    if not places:
        held = value.copy()
        return Node(value, [None] * len(keys), lambda inside: held.copy(), None, keys, dict.fromkeys, True)

    def make(inside: list[Any], made: Any) -> None:
        made.update(_replaced(keys, places, inside))
        if type(value) in WEAK:
            _keeping(made, inside)

    inside = [*(keys[k] for k in places), *(None for _ in keys)]
    return Node(value, inside, make, lambda: _emptied(value), keys, dict.fromkeys, can_change=True, places=places)


def _emptied(value: Any) -> Any:
    made = value.copy()  # which `copy.copy` does not do for a WeakSet: its copies share their elements
    made.clear()
    return made


def of_frozenset(value: frozenset[Any]) -> Node:
    """A set that cannot be written to."""
    return Node(value, list(value), frozenset)


def of_slice(value: slice) -> Node | None:
    """A slice, if one of its parts is not a number."""
    parts = [value.start, value.stop, value.step]
    return None if ATOMS.issuperset(map(type, parts)) else Node(value, parts, lambda inside: slice(*inside))


class Kept(weakref.ref[Any]):
    """A weak reference in a copy: it keeps its object alive, because the original may be kept by what is not copied."""

    kept: Any


def of_reference(value: weakref.ref[Any]) -> Node | None:
    """A weak reference."""
    return None if value() is None else Node(value, [value()], lambda inside: _keeping(Kept(inside[0]), inside))


def _keeping(made: Any, inside: list[Any]) -> Any:
    made.kept = inside
    return made


def of_address(address: int, node: Node) -> Node:
    """The ``id`` of a captured object."""
    return Node(address, [node], lambda inside: id(inside[0]))


def of_memory(value: Any) -> Node:
    """A bytearray or an `array.array`."""
    held, before = copy.copy(value), bytes(value)
    return Node(value, [], lambda inside: copy.copy(held), can_change=True, has_changed=lambda: bytes(value) != before)


def of_array(value: Any, held: Any) -> Node:
    """An array of numbers, of which `held` is a copy."""
    node = Node(value, [], lambda inside: held.copy(order="K"), can_change=True)
    node.has_changed = lambda: not same_bits(held, value)
    node.held = held
    return node


def be_view(node: Node, whole: Node) -> bool:
    """Make the copy of an array a view of that of the whole one, if the two have the same layout."""
    array, owner = node.original, whole.original
    if array is owner or type(array) is not np.ndarray or whole.held is None or whole.held.strides != owner.strides:
        return False
    offset = array.ctypes.data - owner.ctypes.data
    node.inside = [whole]
    node.make = lambda inside: np.ndarray(array.shape, array.dtype, inside[0].ravel("K"), offset, array.strides)
    return True


def of_objects(array: Any) -> Node:
    """An array of objects, for example of traced numbers."""

    def make(inside: list[Any], made: Any) -> None:
        made.flat = inside

    def shell() -> Any:
        return np.empty(array.shape, object)

    return Node(array, list(array.flat), make, shell, range(array.size), lambda a: _items(a.flat), can_change=True)


def of_generator(value: Any) -> Node | None:
    """One of the program's random generators, in its present state."""
    try:
        held = copy.deepcopy(value)
    except Exception as error:  # the operating system's generator has no state
        pass_on(error)
        return None

    def has_changed() -> bool:
        return differ(state_of(held), state_of(value))

    return Node(value, [], lambda inside: copy.deepcopy(held), can_change=True, has_changed=has_changed)


def of_cell(cell: types.CellType) -> Node | None:
    """A variable of an enclosing function."""
    try:
        content = cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None
    return Node(cell, [content], _fill_cell, types.CellType, ("cell_contents",), _cell)


def _fill_cell(inside: list[Any], cell: types.CellType) -> None:
    cell.cell_contents = inside[0]


def _cell(cell: types.CellType) -> dict[Any, Any]:
    try:
        return {"cell_contents": cell.cell_contents}
    except ValueError:  # the name was deleted
        return {}


def of_function(f: types.FunctionType, space: Node | None, data: Sequence[Any]) -> Node | None:
    """A function: the cells of its closure, its default arguments, and the data that it reads from a namespace."""
    cells = list(f.__closure__ or ())
    if not (cells or f.__defaults__ or f.__kwdefaults__ or data or vars(f)):
        return None

    def make(inside: list[Any]) -> Any:
        closure = tuple(inside[1 : 1 + len(cells)])
        names = f.__globals__ if inside[0] is None else inside[0]
        made = types.FunctionType(f.__code__, names, f.__name__, inside[1 + len(cells)], closure)
        made.__kwdefaults__ = inside[2 + len(cells)]
        made.__dict__ = inside[3 + len(cells)]
        made.__module__, made.__qualname__ = f.__module__, f.__qualname__
        return made

    return Node(f, [space, *cells, f.__defaults__, f.__kwdefaults__, vars(f), *data], make)


def of_made(value: Made) -> Node:
    """A function that a transform has made."""

    def make(inside: list[Any]) -> Made:
        made = Made(*inside[:3])
        vars(made).update(inside[3])
        return made

    return Node(value, [value.function, value.make, value.args, vars(value)], make)


def of_wrapper(value: Any) -> Node:
    """A staged or lifted function, which is made again of another function."""

    def make(inside: list[Any]) -> Any:
        return value.make(*inside, *value.args[1:]) if type(value) is Linked else value.again(*inside)

    return Node(value, [value.__wrapped__], make)


def _attributes(value: Any) -> dict[Any, Any]:
    return dict(vars(value))


def of_namespace(names: dict[str, Any]) -> Node:
    """The namespace of a module; a snapshot adds to `keys`, `names` and `inside` what functions read of it."""
    keys: list[str] = []
    node = Node(names, [], lambda inside, made: made.update(zip(keys, inside)), lambda: dict(names), keys)
    node.read = lambda value: {name: value[name] for name in node.names if name in value}
    return node


def of_partial(value: functools.partial[Any]) -> Node:
    """A partial function, which copies its arguments when it is rebuilt."""
    names = list(value.keywords)

    def make(inside: list[Any]) -> Any:
        return functools.partial(inside[0], *inside[1], **dict(zip(names, inside[2:])))

    return Node(value, [value.func, value.args, *value.keywords.values()], make, None, names, _keywords)


def _keywords(value: functools.partial[Any]) -> dict[Any, Any]:
    return dict(value.keywords)


def of_complex(value: Any) -> Node:
    """A complex number of traced parts."""
    return Node(value, [value.real, value.imag], lambda inside: of_numbers(*inside))


def of_method(value: types.MethodType) -> Node:
    """A bound method."""
    return Node(value, [value.__func__, value.__self__], lambda inside: types.MethodType(*inside))


def of_bound(value: Any, owner: Any) -> Node:
    """A method of an object whose class is written in C, such as a random generator or a list."""
    return Node(value, [owner], lambda inside: getattr(inside[0], value.__name__))


# -- objects of classes ------------------------------------------------------------------------------------------------
def of_container(value: Any, container: Container) -> Node:
    """An object of a class of which the engine knows how it is taken apart."""
    children, aux = container.take(value)
    make = container.make
    if isinstance(value, tuple):
        return Node(value, list(children), lambda inside: make(aux, inside))

    def read(value: Any) -> dict[Any, Any]:
        children, aux = container.take(value)
        return dict(zip(_keys(container.names(aux), value), children, strict=True))

    keys = _keys(container.names(aux), value)
    found = _items if type(value) is deque else parts_of if container.fields is not None else read
    return Node(value, list(children), lambda inside: make(aux, inside), None, keys, found, can_change=True)


def _keys(names: Sequence[str], value: Any) -> Sequence[Any]:
    """The keys or attribute names of a container's children, read from how each is written after the container."""
    if isinstance(value, dict):
        return list(value if type(value) is OrderedDict else dict.keys(value))
    if type(value) is deque:
        return range(len(value))
    return [name[1:] if name.startswith(".") else name for name in names]


def of_plain(value: Any) -> Node:
    """An object that consists of its attributes only."""
    return _of_parts(value, vars(value), _attributes, lambda made, found: made.__dict__.update(found))


def of_object(value: Any, empty: Callable[[], Any] | None = None) -> Node:
    """An object that consists of its attributes and items only."""
    return _of_parts(value, parts_of(value), parts_of, lambda made, found: set_parts(made, found, ()), empty)


def _of_parts(
    value: Any,
    held: dict[Any, Any],
    read: Callable[[Any], dict[Any, Any]],
    fill: Callable[[Any, dict[Any, Any]], None],
    empty: Callable[[], Any] | None = None,
) -> Node:
    kind: Any = type(value)
    keys = list(held)

    def make(inside: list[Any], made: Any) -> None:
        fill(made, dict(zip(keys, inside)))

    shell = empty or (lambda: kind.__new__(kind))
    return Node(value, list(held.values()), make, shell, keys, read, can_change=True)


def of_library(value: Any) -> Node | None:
    """An object of an unknown class, such as a spline, which is made anew with other contents; None if it cannot be."""
    kind: Any = type(value)
    if isinstance(value, tuple):
        return _of_tuple(value)
    if hasattr(kind, "__del__"):  # which would end what a copy shares
        return None
    try:
        object.__new__(kind)
    except TypeError:  # it consists of more than attributes
        parts = reduction(value)
        return None if parts is None else Node(value, parts, lambda inside: copy.copy(Reduced(inside)))
    return of_object(value, lambda: object.__new__(kind))


def _of_tuple(value: Any) -> Node:
    """A tuple of a class, which may make it of other arguments than its items."""
    held = parts_of(value)

    def make(inside: list[Any]) -> Any:
        parts = dict(zip(held, inside))
        made = tuple.__new__(type(value), [parts.pop(key) for key in held if type(key) is tuple])
        set_parts(made, parts, ())
        return made

    return Node(value, list(held.values()), make, None, list(held), parts_of)


class Reduced:
    """An object that `copy.copy` makes anew, from the parts that `reduction` gives."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    def __reduce_ex__(self, protocol: Any) -> Any:
        return tuple(self.parts)


def reduction(value: Any) -> list[Any] | None:
    """What makes an object, in the form of the pickle protocol: a callable, its arguments, the state, the items."""
    make = types.MappingProxyType if type(value) is types.MappingProxyType else VIEWS.get(type(value))
    if make is not None:
        return [make, (gc.get_referents(value)[0],)]
    try:
        found = value.__reduce_ex__(4)
    except Exception as error:
        pass_on(error)
        return None
    return None if isinstance(found, str) else [list(part) if isinstance(part, Iterator) else part for part in found]


def of_watched(value: Any, held: dict[Any, Any]) -> Node:
    """An object that is not rebuilt: a class, a module, or an instance of a class that makes its own objects."""
    return Node(value, list(held.values()), None, None, list(held), parts_of)


def of_passing(value: Any) -> Node:
    """A queue, future, or variable of a context or thread; not rebuilt. Adding values of `SIGNALS` is no effect."""
    held = passed_on(value)
    return Node(value, list(held.values()), None, None, list(held), passed_on)


def passed_on(value: Any) -> dict[Any, Any]:
    """What such an object holds that may be a number with a derivative, or contain one."""
    read = reader_of(value)
    found = dict(enumerate(getattr(value, "queue", ()))) if read is None else read(value)
    found["_result"] = getattr(value, "_result", None)
    return {key: item for key, item in found.items() if type(item) not in SIGNALS}


#: Classes of values that have no derivative.
SIGNALS = {int, bool, str, bytes, type(None)}


def of_source(value: Any) -> Node:
    """An iterator, generator or file, which is not rebuilt: what a run has read cannot be read again."""
    before = position(value)

    def make(inside: list[Any]) -> Any:
        raise RepeatError(
            f"a function that is run again for its derivative has read from a captured {type(value).__name__}, which "
            "cannot be read twice. Capture a list, or pass the items as arguments"
        )

    return Node(value, [], make, has_changed=lambda: position(value) != before)


def of_state(value: Any) -> Node | None:
    """An object with hidden state, and the part of the state that it shows, if that can be compared."""
    read = reader_of(value)
    if read is None:
        return None
    try:
        held, again = read(value), read(value)
    except Exception as error:  # a class that is a container in name only
        pass_on(error)
        return None
    if any(a is not b and type(a) not in ATOMS for a, b in zip(held.values(), again.values(), strict=True)):
        return None
    return Node(value, list(held.values()), None, None, list(held), read)


def parts_of(value: Any) -> dict[Any, Any]:
    """The contents of an object: attributes by name; of a subclass of list, tuple or dict also items by ``(key,)``."""
    found, kind = attributes_of(value), type(value)
    if issubclass(kind, dict):
        found.update({(key,): item for key, item in value.items()})
    elif issubclass(kind, (list, tuple, deque)):
        found.update({(k,): item for k, item in enumerate(value)})
    return found


def attributes_of(value: Any) -> dict[Any, Any]:
    """The attributes of an object by name, without those that it computes."""
    found, read = dict[Any, Any](), object.__getattribute__
    kind: type = type(value)
    own = ("default_factory",) if issubclass(kind, defaultdict) else ()
    for name in ("__dict__", *own, *slots_of(kind)):
        with contextlib.suppress(AttributeError):
            found.update(read(value, name) if name == "__dict__" else {name: read(value, name)})
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
