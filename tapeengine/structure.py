"""Containers: the classes that hold further values, how to decompose them and how to rebuild them.

The core knows lists, tuples and dicts. A `Container` describes any other class: it is derived for namedtuples and
dataclasses, and registered for others.
"""

import abc
import collections
import contextlib
import dataclasses
import enum
import fractions
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ._core.structures.interleave import Fields
from .errors import StructureError, full_name, module_of

__all__ = ["Container", "Structures", "of_object", "own_slots", "slots_of"]


class Transformed(abc.ABC):  # noqa: B024
    """Functions that transforms make, of a class of the core, which registers itself here."""


#: Leaves that are not differentiated and pass through unchanged.
DISCRETE: tuple[type, ...] = (
    *(int, bool, str, bytes, type(None), range, slice, type(...), type),
    *(numpy.integer, numpy.bool_, numpy.datetime64, numpy.dtype, fractions.Fraction, enum.Enum, functools.partial),
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, numpy.ufunc),
    Transformed,
)
#: Modules of Python with classes of constants, which are discrete as well.
OF_CONSTANTS = frozenset(("datetime", "decimal", "ipaddress", "pathlib", "re", "uuid", "zoneinfo"))


@dataclasses.dataclass(frozen=True)
class Container:
    """How to decompose and rebuild the instances of one class.

    Attributes
    ----------
    take : callable
        ``take(value) -> (children, aux)``: the values inside, in a fixed order, and what else `make` needs.
    make : callable
        ``make(aux, children) -> value``: a new container of the same kind.
    names : callable
        ``names(aux) -> sequence of str``: the path suffix of each child in errors, such as ``.left``.
    fields : Fields, optional
        The named fields of the class. The core then reads and writes these, and does not call the three functions.

    Examples
    --------
    >>> pair = Container(lambda p: ([p.real, p.imag], None), lambda aux, c: complex(*c), lambda aux: [".real", ".imag"])
    >>> pair.make(None, pair.take(1 + 2j)[0])
    (1+2j)
    """

    take: Callable[[Any], tuple[Sequence[Any], Any]]
    make: Callable[[Any, Sequence[Any]], Any]
    names: Callable[[Any], Sequence[str]]
    fields: Fields | None = None


def kept_names(cls: type) -> frozenset[str]:
    """The attributes that hold what a `cached_property` has computed of the others: a copy computes them again."""
    return frozenset(name for name in dir(cls) if is_kept(inspect.getattr_static(cls, name, None)))


def is_kept(attribute: Any) -> bool:
    """Whether an attribute of a class is a `cached_property`, of `functools` or another package."""
    return any(base.__name__ == "cached_property" for base in type(attribute).__mro__)


def besides(value: Any, kept: frozenset[str]) -> dict[str, Any]:
    """The attributes in the object's dictionary without those that are kept results."""
    found = getattr(value, "__dict__", {})
    return {name: x for name, x in found.items() if name not in kept} if kept else dict(found)


def of_namedtuple(cls: type) -> Container:
    """The container of a namedtuple class; attributes that are numbers are differentiated as well."""
    kept = kept_names(cls)

    def take(value: Any) -> tuple[Sequence[Any], Any]:
        items, rest = tuple(tuple.__iter__(value)), getattr(value, "__dict__", None) and besides(value, kept)
        if not rest:
            return items, None
        numbers = (name for name, x in rest.items() if not isinstance(x, DISCRETE))
        named = [name for name in numbers if not {"__float__", "__complex__"}.isdisjoint(dir(type(rest[name])))]
        return (*items, *map(rest.get, named)), (named, {name: x for name, x in rest.items() if name not in named})

    def make(aux: Any, children: Sequence[Any]) -> Any:
        value: Any = tuple.__new__(cls, children[: len(names)])
        if aux:
            value.__dict__.update(aux[1], **dict(zip(aux[0], children[len(names) :], strict=True)))
        return value

    names = [f".{name}" for name in cls._fields]  # type: ignore[attr-defined]
    return Container(take, make, lambda aux: [*names, *(f".{name}" for name in aux[0])] if aux else names)


def of_dataclass(cls: Any) -> Container:
    """The container of a dataclass, frozen or not; attributes that are not fields are copied unchanged."""
    names = tuple(field.name for field in dataclasses.fields(cls))
    fields = Fields(cls, names, check_fields if reads_by_code(cls, names) else None, kept_names(cls))
    return Container(fields.take, fields.make, fields.names, fields)


#: The descriptors of fields that are no code: of slots, and of namedtuples.
PLACES = types.MemberDescriptorType, type(vars(collections.namedtuple("Item", "x"))["x"])


def reads_by_code(cls: type, names: Sequence[str]) -> bool:
    """Whether Python code runs where one of these attributes is read, or another object is found than is stored."""
    found = [inspect.getattr_static(cls, name, None) for name in names]
    others = [x for x in found if not isinstance(x, PLACES)]
    is_own = not isinstance(inspect.getattr_static(cls, "__getattribute__"), types.WrapperDescriptorType)
    return is_own or any(issubclass(cls, tuple) or hasattr(type(x), "__set__") for x in others)


def check_fields(value: Any, names: Sequence[str], parts: Sequence[Any]) -> None:
    """Require that an object gives the fields that were put into it, where code of its class reads them."""
    for name, part in zip(names, parts, strict=True):
        if getattr(value, name) is not part:
            raise StructureError(
                f"{type(value).__name__} computes its attribute {name} by code of its own, from another value that is "
                "stored. Register the class, tapeengine.register_container, and use no typed program for it"
            )


def of_object(cls: Any, static: Sequence[str] = ()) -> Container:
    """The container of a class with attributes in ``__slots__`` and ``__dict__``, rebuilt without its constructor.

    Attributes named in `static`, and those with names that Python reserves, are copied unchanged.
    """
    _check_class(cls)
    static = (static,) if isinstance(static, str) else static
    slots, kept = slots_of(cls), kept_names(cls)

    def take(value: Any) -> tuple[Sequence[Any], Any]:
        found = stored(value, slots, kept)
        inside = [name for name in found if name not in static and not name.startswith("__")]
        return [found.pop(name) for name in inside], (inside, found)

    def make(aux: Any, children: Sequence[Any]) -> Any:
        value = object.__new__(cls)
        for name, child in (*aux[1].items(), *zip(aux[0], children, strict=True)):
            if name in slots:
                object.__setattr__(value, name, child)
            else:
                value.__dict__[name] = child
        return value

    return Container(take, make, lambda aux: [f".{name}" for name in aux[0]])


def stored(value: Any, slots: Sequence[str], kept: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The attributes of an object as they are stored; code of its class may run where they are read."""
    found = {}
    for name in slots:
        with contextlib.suppress(AttributeError):
            found[name] = object.__getattribute__(value, name)
    return {**found, **(besides(value, kept) if kept else getattr(value, "__dict__", {}))}


def is_made_by_python(cls: type) -> bool:
    """Whether Python code has made a class, so that its objects consist of attributes, and its own can be replaced.

    C code makes such classes too (`array.array`), with a constructor in C or none.
    """
    is_of_c = getattr(vars(cls).get("__new__"), "__self__", None) is cls or bool(cls.__flags__ & 1 << 7)
    return bool(cls.__flags__ & 1 << 9) and not is_of_c


def _check_class(cls: Any) -> None:
    """Refuse what is no class, and classes whose objects consist of more than attributes."""
    if not isinstance(cls, type):
        raise StructureError(f"register_container takes a class, not {cls!r}")
    base = next((base for base in cls.__mro__[:-1] if not is_made_by_python(base)), None)
    if base is not None:
        what = "" if base is cls else f" is a {base.__name__}, which"
        raise StructureError(
            f"register_container takes a class whose objects consist of their attributes, and {cls.__name__}{what} "
            f"keeps its contents elsewhere. Write a class with an attribute for the {base.__name__}; "
            "numbers are differentiated where they are floats"
        )


def refused(cls: type, path: str, verb: str, do: str, otherwise: str = "") -> StructureError:
    """Return the error for a leaf of a class that is no number, array or container."""
    try:
        _check_class(cls)
        how = f"make it a dataclass, register the class, tapeengine.register_container({cls.__qualname__})"
    except StructureError:  # the advice to register it would be refused
        how = "convert it to one of these, write a class with an attribute for it"
    if hasattr(cls, "__next__"):
        how = "make a list of it"
    elif hasattr(cls, "__await__"):
        how = "run it inside the program, asyncio.run(...)"
    return StructureError(
        f"{path} {verb} a {full_name(cls)}, which the engine cannot take apart. {do} numbers, "
        f"arrays and containers of them; {how}{otherwise}"
    )


@functools.lru_cache(maxsize=4096)
def slots_of(cls: type) -> tuple[str, ...]:
    """The slots of a class and of those that it is derived from, by their attribute names."""
    return tuple(name for base in cls.__mro__ for name in own_slots(base))


def own_slots(cls: type) -> list[str]:
    """The slots of one class by their attribute names; private names are mangled with the class name."""
    found = cls.__dict__.get("__slots__", ())
    if not found:
        return []
    names = [found] if isinstance(found, str) else list(found)
    private = [name.startswith("__") and not name.endswith("__") for name in names]
    mangled = [f"_{cls.__name__.lstrip('_')}{n}" if p else n for n, p in zip(names, private, strict=True)]
    return [name for name in mangled if name not in ("__dict__", "__weakref__")]


def of_mapping(base: Any, state: Callable[[Any], Any], empty: Callable[[Any], Any]) -> Container:
    """The container of a dict class; `empty(state(value))` makes the empty instance for the rebuilt items.

    Items are read and written as `base` stores them, since a class may have methods that show something else.
    """

    def take(value: Any) -> tuple[Sequence[Any], Any]:
        return list(base.values(value)), (list(base.keys(value)), state(value))

    def make(aux: Any, children: Sequence[Any]) -> Any:
        result = empty(aux[1])
        base.update(result, zip(aux[0], children, strict=True))
        return result

    return Container(take, make, lambda aux: [f"[{key!r}]" for key in aux[0]])


def of_dict_class(cls: Any) -> Container:
    """The container of a subclass of dict with dict's constructor; attributes are copied unchanged."""

    def empty(attributes: dict[str, Any]) -> Any:
        result = cls.__new__(cls)
        if attributes:
            result.__dict__.update(attributes)
        return result

    kept = kept_names(cls)
    if kept or not cls.__dictoffset__:
        return of_mapping(dict, lambda value: besides(value, kept), empty)
    return of_mapping(dict, lambda value: dict(value.__dict__), empty)


def of_sequence(make: Callable[[Any], Any]) -> Container:
    """The container of a class whose instances are made from an iterable of items."""
    return Container(
        lambda value: (list(value), len(value)),
        lambda aux, children: make(children),
        lambda aux: [f"[{i}]" for i in range(aux)],
    )


#: How many classes are kept, since a program may make classes in each run.
KEPT = 1024

#: The containers that the core handles itself.
PLAIN: Mapping[type, Container] = types.MappingProxyType(
    {
        list: of_sequence(list),
        tuple: of_sequence(tuple),
        dict: Container(
            lambda value: (list(value.values()), list(value)),
            lambda keys, children: dict(zip(keys, children, strict=True)),
            lambda keys: [f"[{key!r}]" for key in keys],
        ),
    }
)


def builtin_containers() -> dict[type, Container]:
    """The containers of the standard library beyond list, tuple and dict."""
    return {
        collections.OrderedDict: of_mapping(
            collections.OrderedDict, lambda value: None, lambda state: collections.OrderedDict()
        ),
        collections.defaultdict: of_mapping(
            dict, lambda value: collections.defaultdict(value.default_factory), collections.defaultdict.copy
        ),
        collections.deque: Container(
            lambda value: (list(value), (len(value), value.maxlen)),
            lambda aux, children: collections.deque(children, aux[1]),
            lambda aux: [f"[{i}]" for i in range(aux[0])],
        ),
        types.SimpleNamespace: Container(
            lambda value: (list(vars(value).values()), list(vars(value))),
            lambda aux, children: types.SimpleNamespace(**dict(zip(aux, children, strict=True))),
            lambda aux: [f".{name}" for name in aux],
        ),
    }


class Structures:
    """The container classes that an engine knows.

    Parameters
    ----------
    registered : mapping, optional
        Classes beyond those of the standard library, namedtuples and dataclasses, or their libraries and names.

    Attributes
    ----------
    known : dict of type to Container or None
        The classes found so far; None for classes of leaves.
    """

    def __init__(self, registered: Mapping[type | tuple[str, str], Container] | None = None) -> None:
        self._registered: dict[Any, Container | None] = {**builtin_containers(), **(registered or {})}
        self.known = self._registered.copy()

    def find(self, cls: type) -> Container | None:
        """The container of a class, or None for a class that is a leaf."""
        try:
            return self.known[cls]
        except KeyError:
            if len(self.known) > KEPT:
                self.known = self._registered.copy()
            found = self.known[cls] = self._look(cls)
            return found

    def opened(self, value: Any) -> tuple[Sequence[Any], Container, Any] | None:
        """The children of a container, the `Container`, and the `aux` of its `make` and `names`; None for a leaf."""
        kind = type(value)
        container = None if kind is float else PLAIN.get(kind) or self.find(kind)
        if container is None:
            return None
        children, aux = container.take(value)
        return children, container, aux

    def named(self, value: Any) -> list[tuple[str, Any]] | None:
        """The children of a container, each with its path suffix; None for a leaf."""
        opened = self.opened(value)
        if opened is None:
            return None
        children, container, aux = opened
        return list(zip(container.names(aux), children, strict=True))

    def register(self, cls: type, container: Container) -> None:
        """Register a class, even if its instances have been treated as leaves before."""
        self.known[cls] = self._registered[cls] = container

    def is_discrete(self, value: object) -> bool:
        """Whether a leaf passes through without a cotangent: a constant, or a set of constants."""
        if isinstance(value, DISCRETE):
            return True
        if any(module_of(cls).partition(".")[0] in OF_CONSTANTS for cls in type(value).__mro__):
            return True
        return isinstance(value, set | frozenset) and all(map(self.is_discrete, value))

    def _look(self, cls: type) -> Container | None:
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return of_namedtuple(cls)
        if dataclasses.is_dataclass(cls):
            return of_dataclass(cls)
        named = self._registered.get((module_of(cls).partition(".")[0], cls.__name__))
        if named is not None:
            return named
        if issubclass(cls, dict) and cls.__init__ is dict.__init__:
            return of_dict_class(cls)
        return None
