"""Translate Python annotations and classes to types."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy

from ....errors import UnsupportedError, full_name, pass_on
from ....structure import reads_by_code
from ...language.annotations import Array as ArrayOf
from ...language.annotations import Fields
from ...language.types import BOOL, EMPTY, FLOAT, INT, UNIT, Array, Fixed, Function, Named, Product, Sum, Type


@dataclasses.dataclass(frozen=True)
class Known:
    """A type from another function, with the classes and the recursive sums that it may name."""

    of: Type
    classes: dict[str, type]
    named: dict[str, Sum]


class Unresolved(Exception):
    """A name that is not defined yet: perhaps a program that is defined further down."""


class UnknownType(Exception):
    """An annotation has no type in the language. The message gives an alternative."""


class OfValues(UnknownType):
    """A type that depends on values, which dual numbers do not ask for."""


def has_free_fields(cls: Any) -> bool:
    """Tell whether a class is a dataclass whose fields can be assigned, and an assignment does nothing else."""
    is_record = isinstance(cls, type) and dataclasses.is_dataclass(cls)
    has_own = is_record and inspect.getattr_static(cls, "__setattr__") is object.__setattr__
    return has_own and not computes_attributes(cls)


def is_plain(cls: type) -> bool:
    """Tell whether a class is not a record and has its own ``__init__``."""
    return class_fields(cls) is None and isinstance(getattr(cls, "__init__", None), types.FunctionType)


def class_fields(cls: Any) -> tuple[str, ...] | None:
    """Give the field names of a dataclass or NamedTuple, None for any other class."""
    if dataclasses.is_dataclass(cls) and isinstance(cls, type):
        return tuple(f.name for f in dataclasses.fields(cls))
    if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    return None


def computes_attributes(cls: type) -> bool:
    """Tell whether code of a record's class runs where an attribute is read or set."""
    setting = getattr(inspect.getattr_static(cls, "__setattr__"), "__code__", None)
    return getattr(setting, "co_filename", GENERATED) != GENERATED or reads_by_code(cls, class_fields(cls) or ())


#: The file of constructors and comparisons that dataclasses and NamedTuples get.
GENERATED = "<string>"
#: The methods of tuples for items and comparisons.
ITEMS = ("__len__", "__getitem__", "__iter__", "__contains__", "__reversed__")
ORDER = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")


def redefines(cls: type, names: Sequence[str]) -> bool:
    """Tell whether a record's class defines some methods itself, instead of using those of tuples."""
    found = [(getattr(cls, name, None), name) for name in names]
    own = [f for f, name in found if f not in (getattr(tuple, name, None), getattr(object, name, None), None)]
    return any(getattr(getattr(f, "__code__", None), "co_filename", "") != GENERATED for f in own)


#: Annotations, and origins of them, that do not say the types of what is inside.
VAGUE = (
    *(str, list, tuple, dict, object, numpy.ndarray, Mapping, Sequence, Iterable, Collection, Callable),
    *(getattr(typing, name) for name in "List Tuple Dict Mapping Sequence Iterable Collection Callable".split()),
    *(typing.Any, typing.Final),
)


def is_vague(annotation: Any) -> bool:
    """Tell whether the type of a parameter with an annotation is that of its argument (no union of dataclasses is)."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, typing.TypeVar):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(m not in (None, type(None)) and class_fields(m) is None for m in args)
    if isinstance(annotation, type) and issubclass(annotation, Enum | numpy.generic):
        return True
    if isinstance(annotation, type) and (is_open(annotation) or is_plain(annotation)):
        return True
    if any(annotation is v for v in VAGUE) or (origin is Callable and not isinstance(args[0], list)):
        return True
    if origin in (list, tuple, Sequence, Iterable, Collection):
        return any(map(is_vague, args))
    return origin in (typing.Literal, numpy.ndarray, dict, Mapping)


def hints_of(cls: Any) -> dict[str, Any]:
    """Give the annotations of a class and of those that it inherits from."""
    return {n: t for c in reversed(cls.__mro__) for n, t in inspect.get_annotations(c).items()}


#: Whether the types of a class's fields depend on values; False for one that is being looked at.
OPEN: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_open(cls: type) -> bool:
    """Tell whether the types of a record's fields depend on its values: texts, and fields without annotations."""
    if cls not in OPEN:
        OPEN[cls] = False
        outer = {**vars(builtins), **vars(sys.modules.get(cls.__module__, builtins))}
        hints = hints_of(cls) if class_fields(cls) else {}
        OPEN[cls] = any(is_open_field(meant(hints.get(f, typing.Any), outer)) for f in class_fields(cls) or ())
    return OPEN[cls]


def is_open_field(annotation: Any) -> bool:
    """Tell whether the type of a field depends on its value; one that may be None is a union."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(m not in (None, type(None)) and is_vague(m) for m in typing.get_args(annotation))
    return is_vague(annotation)


def meant(annotation: Any, outer: Mapping[str, Any]) -> Any:
    """Give the object of an annotation that is a text, if its names are defined."""
    try:
        text = isinstance(annotation, str)
        return annotation_object(ast.parse(annotation, mode="eval").body, outer) if text else annotation
    except Exception as error:  # a name that is not defined yet: that of a class
        pass_on(error)
        return annotation


def annotation_object(node: ast.expr, outer: Mapping[str, Any]) -> Any:
    """Give the Python object of an annotation, where names outside mean these objects, without evaluating text."""

    def found(node: ast.expr) -> Any:
        return annotation_object(node, outer)

    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(text)):
            try:
                return found(ast.parse(text, mode="eval").body)
            except SyntaxError:
                raise UnknownType(f"{text!r} is no type of the language") from None
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name not in outer:
                raise Unresolved(name)
            return outer[name]
        case ast.Attribute(value=value, attr=attr):
            return looked_up(getattr, found(value), attr)
        case ast.Subscript(value=value, slice=index):
            owner = found(value)
            return str if owner is typing.Literal else looked_up(operator.getitem, owner, found(index))
        case ast.Tuple(elts=elts):
            return tuple(map(found, elts))
        case ast.List(elts=elts):
            return list(map(found, elts))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return found(left) | found(right)
    raise UnknownType(f"{ast.unparse(node)} is no type of the language")


def looked_up(get: Callable[[Any, Any], Any], owner: Any, key: Any) -> Any:
    """Give an attribute or an item in an annotation."""
    try:
        return get(owner, key)
    except (AttributeError, LookupError, TypeError) as error:
        raise UnknownType(str(error)) from None


def name_classes(known: dict[str, type], found: Mapping[str, type]) -> None:
    """Add classes by their names, by which alone types tell records apart: two classes of one name are refused."""
    for name, cls in found.items():
        if known.setdefault(name, cls) is not cls:
            both = f"{full_name(known[name])} and {full_name(cls)}"
            raise UnsupportedError(f"a program has two classes of one name, {both}: give one of them another name")


class TypeTable:
    """Translates annotations; records the classes of products and the definitions of recursive sums.

    * `resolve`: returns the Python object of a name in the program's scope, for annotations written as strings.
    * `classes`: the class of each named product.
    * `named`: the definition of each recursive sum type.
    """

    def __init__(self, resolve: Callable[[str], Any]) -> None:
        self.resolve = resolve
        self.classes: dict[str, type] = {}
        self.named: dict[str, Sum] = {}
        self._open: dict[frozenset[Any], str] = {}
        self._recursive: set[str] = set()
        self._around: set[tuple[Any, ...]] = set()

    def learn(self, classes: Mapping[str, type], named: Mapping[str, Sum]) -> None:
        """Take over the classes and the recursive sums that a type of another function may name."""
        name_classes(self.classes, classes)
        self.named.update(named)

    def known(self, of: Type) -> Known:
        """Give a type for another function."""
        return Known(of, self.classes, self.named)

    def __call__(self, annotation: Any) -> Type:
        """Translate an annotation.

        It raises `UnknownType` if the annotation has no type in the language, or its type contains itself other than by
        a union.
        """
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if not isinstance(annotation, str | type):  # no name, by which alone a type can contain itself
            return self._translated(annotation)
        place = (annotation, *self._open)
        if place in self._around:
            name = annotation if isinstance(annotation, str) else annotation.__name__
            ends = "A | None for such a dataclass A" if name is annotation else f"{name} | None in its place"
            raise UnknownType(f"{name} contains itself, which only a union ends: write {ends}")
        self._around.add(place)
        try:
            return self._translated(annotation)
        finally:
            self._around.remove(place)

    def _translated(self, annotation: Any) -> Type:
        simple = {float: FLOAT, int: INT, bool: BOOL, None: UNIT, type(None): UNIT}
        if isinstance(annotation, Known):
            self.learn(annotation.classes, annotation.named)
            return annotation.of
        if isinstance(annotation, Fixed):
            self.classes[annotation.name] = type(annotation.value)
            return annotation
        if isinstance(annotation, Fields):
            return self.record(annotation.cls, {key: self(part) for key, part in annotation.by_key})
        if isinstance(annotation, str):
            return self(self.resolve(annotation))
        if isinstance(annotation, ArrayOf):
            return Array(self(annotation.element))
        try:
            if annotation in simple:
                return simple[annotation]
        except TypeError:
            pass
        return self._generic(annotation) if typing.get_origin(annotation) is not None else self._class(annotation)

    def record(self, cls: type, items: Mapping[Any, Type]) -> Product:
        """Give the type of a record of a class, or of a dict with fixed keys, with parts of these types."""
        name_classes(self.classes, {cls.__name__: cls})
        return Product(tuple(items.values()), cls.__name__, tuple(items))

    def _generic(self, annotation: Any) -> Type:
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, types.UnionType):
            return self._union(args)
        if origin is tuple:
            if Ellipsis in args:
                return Array(self(args[0]))
            return Product(tuple(map(self, args))) if args else EMPTY
        if args and (origin in (list, Sequence, Iterable, Collection) or getattr(origin, "__name__", "") == "Array"):
            return Array(self(args[0]), origin is list)
        if origin is Callable and args and isinstance(args[0], list):
            return Function(tuple(map(self, args[0])), self(args[1]))
        raise UnknownType(f"{annotation} is no type of the language")

    def _class(self, annotation: Any) -> Type:
        fields = class_fields(annotation)
        if fields is None:
            raise UnknownType(
                f"{annotation!r} is no type of the language: use float, int, bool, None, tuple[...], te.Vec, "
                "te.Array[...], a frozen dataclass, a NamedTuple, a union of dataclasses or Callable[[...], ...]"
            )
        hints = self.field_annotations(annotation)
        if is_open(annotation):
            raise OfValues(f"{annotation.__name__} has fields of any type, which only its values tell")
        return self.record(annotation, {field: self(hint) for field, hint in hints.items()})

    def field_annotations(self, cls: Any) -> dict[str, Any]:
        """Give the annotation of each field of a record; None where the values say the type.

        A program changes no record, so that a dataclass need not be frozen.
        """
        hints, outer = hints_of(cls), vars(sys.modules.get(cls.__module__, builtins))
        given = {f: hints.get(f, Any) for f in class_fields(cls) or ()}
        return {
            f: None if is_open_field(meant(hint, {**vars(builtins), **outer})) else hint for f, hint in given.items()
        }

    def _union(self, members: tuple[Any, ...]) -> Type:
        resolved = [self.resolve(m) if isinstance(m, str) else m for m in members]
        resolved = [self.resolve(m.__forward_arg__) if isinstance(m, typing.ForwardRef) else m for m in resolved]
        others = [m for m in resolved if m not in (None, type(None))]
        for member in others if len(others) > 1 else ():
            if class_fields(member) is None:
                raise UnknownType(
                    f"a union has dataclasses as its members, or None and one other type, not {member!r}: leave the "
                    "parameter without an annotation, then the argument says which of the types it has"
                )
        key = frozenset(resolved)
        name = " | ".join("None" if m in (None, type(None)) else getattr(m, "__name__", str(m)) for m in resolved)
        if key in self._open:
            self._recursive.add(self._open[key])
            return Named(self._open[key])
        self._open[key] = name
        try:
            of = Sum(tuple(map(self, resolved)), name)
        finally:
            del self._open[key]
        if name not in self._recursive:
            return of
        self.named[name] = of
        return Named(name)

    def options(self, type_: Type) -> tuple[Type, ...] | None:
        """Give the options of a sum type, None for any other type."""
        if isinstance(type_, Named):
            return self.named[type_.name].options if type_.name in self.named else None
        return type_.options if isinstance(type_, Sum) else None
