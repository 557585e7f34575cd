"""The kinds of values that are arrays in the language: Python's lists and tuples, numpy's arrays.

The text of a program says which kind an expression has (`tapeengine.chad.parse.analyses.lists`). A derivative computes
with arrays; its value gets the kinds that the plain program's value has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from .types import BOOL, INT, UNIT, Array, Bool, Float, Int, Product, Sum, Type, has_arrays, numbers_of, rank_of
from .values import field_of, record_of

#: The steps to a part of a value: positions, names of fields and keys; None where the text does not say which element.
Steps = tuple[int | str | None, ...]
#: A parameter, and the steps to a part of it.
Place = tuple[str, Steps]


@dataclasses.dataclass(frozen=True)
class ListOf:
    """A list, or a tuple of any length, of elements of the kind `element`. Without `made` it adds to another kind."""

    element: Kind = None
    made: type | None = list


@dataclasses.dataclass(frozen=True)
class TupleOf:
    """A tuple or record: the kinds of its items, the names of its fields or a dict's keys, and its class."""

    items: tuple[Kind, ...]
    names: tuple[str, ...] = ()
    made: Any = None

    def named(self, name: str) -> Kind:
        """Give the kind of a field."""
        return self.items[self.names.index(name)] if name in self.names else None

    def with_named(self, name: str, kind: Kind) -> TupleOf:
        """Give the record or dict with another kind of a field, which may be new."""
        if name not in self.names:
            return TupleOf((*self.items, kind), (*self.names, name), self.made)
        items = tuple(kind if n == name else k for n, k in zip(self.names, self.items, strict=True))
        return TupleOf(items, self.names, self.made)


@dataclasses.dataclass(frozen=True)
class Given:
    """An argument or a part of one, or a slice of these; with branches, one of several.

    * `is_mixed`: whether it may also be something else than these and a list of the program's own.
    * `or_list`: whether it may also be a list of the program's own.
    * `held`: what it also has as elements, which the function puts there.
    """

    places: frozenset[Place]
    is_mixed: bool = False
    or_list: bool = False
    held: Kind = None


#: A numpy array, or a number of one.
ARRAY = "array"
#: A number of Python's.
NUMBER = "number"
#: A numpy array or a number: what operators give that mean something else for lists, or refuse these.
COMPUTED = "computed"
#: A list in one case and something else in another, which only a run of the plain program tells.
MIXED = "mixed"
#: One of too many parts of arguments.
SOME = "some"
#: Classes of numbers in lists.
NUMBERS = frozenset((float, int, bool))
#: Whatever the other assignments of a name say.
ANY = "any"
#: None where the text does not say.
Kind = ListOf | TupleOf | Given | str | None


def of_arrays(kind: Kind, of: Type) -> Kind:
    """Give the part of a kind that says something about a value of a type; None where that holds no arrays."""
    match of:
        case Array(element):
            if isinstance(kind, TupleOf):  # an annotation makes a display an array
                kinds = {of_arrays(item, element) for item in kind.items}
                return ListOf(kinds.pop(), tuple) if len(kinds) == 1 and not kind.names else MIXED
            if isinstance(kind, ListOf):
                return ListOf(of_arrays(kind.element, element), kind.made)
            if isinstance(kind, Given) and isinstance(element, Float | Int | Bool):
                kind = dataclasses.replace(kind, held=None)
            return MIXED if kind in (None, SOME) else kind
        case Product(items, name, fields):
            is_open = isinstance(kind, Given) and (kind.is_mixed or kind.or_list or kind.held)
            if not name and items and (kind in (None, SOME, MIXED) or is_open or isinstance(kind, ListOf)):
                return MIXED
            if isinstance(kind, Given):
                steps = fields if name else range(len(items))
                kind = TupleOf(tuple(Given(frozenset((n, (*s, k)) for n, s in kind.places)) for k in steps))
            if not (isinstance(kind, TupleOf) and len(kind.items) == len(items)):
                kind = TupleOf((MIXED,) * len(items))
            elif set(kind.names) == set(fields):
                kind = TupleOf(tuple(map(kind.named, fields)) if fields else kind.items)
            found = tuple(map(of_arrays, kind.items, items))
            return TupleOf(found) if any(k is not None for k in found) else None
        case Sum(options) if arrays := [o for o in options if has_arrays(o)]:
            return of_arrays(kind, arrays[0]) if len(options) - (UNIT in options) == 1 else MIXED
    return None


def has_lists(kind: Kind, of: Type) -> bool:
    """Tell whether a value of a type may have lists with floats in them, by its kind."""
    if isinstance(of, Product):
        return any(map(has_lists, kind.items if isinstance(kind, TupleOf) else (kind,) * len(of.items), of.items))
    return has_arrays(of) and numbers_of(of) not in (INT, BOOL) and kind not in (None, ARRAY, COMPUTED)


def depends(kind: Kind) -> bool:
    """Tell whether arguments, or a run, decide a kind."""
    if isinstance(kind, ListOf):
        return depends(kind.element)
    if isinstance(kind, TupleOf):
        return any(map(depends, kind.items))
    return kind == MIXED or isinstance(kind, Given)


def decided(kind: Kind, classes: dict[str, Any]) -> Kind:
    """Give a kind for arguments of which `class_of` of the core tells lists and arrays; elsewhere it still depends."""
    match kind:
        case ListOf(element, made):
            return ListOf(decided(element, classes), made)
        case TupleOf(items):
            return dataclasses.replace(kind, items=tuple(decided(item, classes) for item in items))
        case Given(places, is_mixed, or_list, None):
            told = {told_at(classes.get(name), steps) for name, steps in places}
            found = told.pop() if len(told) == 1 else MIXED
            return kind if depends(found) or (is_mixed if isinstance(found, ListOf) else or_list) else found
    return kind


def told_at(of: Any, steps: Steps) -> Kind:
    """Give the kind of a part of an argument of a class; MIXED where the class does not tell it."""
    for step in steps:
        match of:
            case (cls, *_) if cls is numpy.ndarray:
                return ARRAY
            case (cls, element) if cls is list and not isinstance(step, str):
                of = element
            case (cls, *parts) if cls is tuple and isinstance(step, int) and -len(parts) <= step < len(parts):
                of = parts[step]
            case (cls, keys, *parts) if cls is dict and step in keys:
                of = parts[keys.index(step)]
            case _:
                return MIXED
    match of:
        case (cls, element) if cls is list:
            return ListOf(told_at(element, ()))
        case (cls, *_) if cls is numpy.ndarray:
            return ARRAY
    return NUMBER if of in NUMBERS else MIXED


def list_axes(kind: Kind, rank: int) -> int | None:
    """Tell how many outer axes of an array of numbers are lists: none, one or all; None if it is another number."""
    count = 0
    while isinstance(kind, ListOf) and count < rank:
        if kind.made is not list:
            return None
        kind, count = kind.element, count + 1
    return count if count in (0, 1, rank) and not depends(kind) else None


def is_direct(of: Type, kind: Kind) -> bool:
    """Tell whether the core can build a value with the lists that it has in Python; `with_kinds` makes the others."""
    if of == UNIT or (isinstance(of, Sum) and kind is not None) or (isinstance(of, Product) and kind == MIXED):
        return False
    if isinstance(of, Product):
        kinds = kind.items if isinstance(kind, TupleOf) and len(kind.items) == len(of.items) else [None] * len(of.items)
        return all(map(is_direct, of.items, kinds))
    rank = rank_of(of)
    return list_axes(kind, rank) is not None if rank else not depends(kind)


def with_kinds(kind: Kind, value: Any, given: dict[str, Any], plain: Callable[[], Any] = lambda: None) -> Any:
    """Give a value, or a tangent of it, with lists where its kind has them.

    * `given`: the arguments.
    * `plain`: gives the value of the plain program, for kinds that neither the text nor the arguments tell.
    """

    def part_of(kind: Kind, part: Any, key: Any) -> Any:
        return with_kinds(kind, part, given, lambda: parts_at({"": plain()}, "", (key,))[0])

    def each_of(items: tuple[Kind, ...], parts: Iterable[Any], keys: Iterable[Any]) -> list[Any]:
        return list(map(part_of, items, parts, keys))

    match kind:
        case "mixed":
            return as_listed(plain(), value)
        case "any" if isinstance(value, numpy.ndarray) and value.ndim:  # of elements that were appended
            return as_listed(plain(), value)
        case ListOf(element, made) if made is not None and isinstance(value, numpy.ndarray | list):
            if isinstance(value, numpy.ndarray) and (value.ndim == 1 or list_axes(kind, value.ndim) == value.ndim):
                return made(value.tolist())
            return made(each_of((element,) * len(value), value, range(len(value))))
        case TupleOf(items) if isinstance(value, tuple) and len(value) == len(items):
            found = each_of(items, value, range(len(items)))
            return type(value)(*found) if hasattr(value, "_fields") else tuple(found)
        case TupleOf(items) if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = names_in(value)
            return record_of(type(value), names, each_of(items, (getattr(value, name) for name in names), names))
        case TupleOf(items) if isinstance(value, dict):
            return dict(zip(value, each_of(items, value.values(), value), strict=True))
        case Given(places, is_mixed, or_list, held):
            likes = [part for place in places for part in parts_at(given, *place)]
            shapes = set(map(shape_of, likes))
            is_other = or_list and not isinstance(likes[0], list) if likes else True
            is_open = is_other or len(shapes) > 1 or MIXED in shapes
            if held is not None and not is_open:
                is_open = shapes != {(list, told_shape(held, given))}
            return as_listed(plain() if is_open or (is_mixed and shapes != {None}) else likes[0], value)
    return value


def shape_of(x: Any) -> Any:
    """Give the classes of a list and of all levels inside; MIXED if elements differ, None for an array or a number."""
    if type(x) in (list, tuple) and NUMBERS.issuperset(map(type, x)):
        return (type(x), None) if x else (type(x),)
    names = names_in(x)
    if not names and not isinstance(x, list | tuple):
        return None
    parts = [shape_of(field_of(x, name)) for name in names] if names else list(set(map(shape_of, x)))
    return MIXED if MIXED in parts or (not names and len(parts) > 1) else (type(x), *parts)


def told_shape(kind: Kind, given: dict[str, Any]) -> Any:
    """Give what `shape_of` gives for values of a kind; MIXED where the text does not tell."""
    match kind:
        case "number" | "array" | "computed":
            return None
        case ListOf(element, made) if made is not None:
            parts = {told_shape(element, given)}
        case TupleOf(items, ()):
            made, parts = tuple, {told_shape(item, given) for item in items}
        case Given(places, False, False, None):
            parts = {shape_of(part) for place in places for part in parts_at(given, *place)}
            return parts.pop() if len(parts) == 1 else MIXED
        case _:
            return MIXED
    return MIXED if MIXED in parts or len(parts) > 1 else (made, *parts)


def as_listed(like: Any, value: Any) -> Any:
    """Make an array a list, tuple or range if another value is one, and the other way, also its rows and parts."""
    if isinstance(like, range):
        return like
    if type(value) is tuple and isinstance(like, list | numpy.ndarray):
        return as_listed(like, list(value)) if isinstance(like, list) else numpy.array(value)
    if type(like) in (list, tuple) and isinstance(value, numpy.ndarray | list):
        parts = value.tolist() if isinstance(value, numpy.ndarray) and value.ndim == 1 else value
        likes = like if len(like) == len(parts) else like[:1] * len(parts) or [None] * len(parts)
        return type(like)(map(as_listed, likes, parts))
    if type(like) is not type(value):
        return value
    if type(value) is tuple and len(like) == len(value):
        return tuple(map(as_listed, like, value))
    names = names_in(value)
    likes = like if isinstance(value, dict) else {name: getattr(like, name, None) for name in names}
    parts = [as_listed(likes.get(name), field_of(value, name)) for name in names]
    return record_of(type(value), names, parts) if names else value


def names_in(value: Any) -> Sequence[str]:
    """Give the names of the parts of a record or a dict; none for another value."""
    if isinstance(value, dict):
        return list(value)
    is_record = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return [f.name for f in dataclasses.fields(value)] if is_record else getattr(value, "_fields", ())


def parts_at(values: dict[str, Any], name: str, steps: Steps) -> list[Any]:
    """Give the parts of an argument to which steps lead; None for one that is not there, nothing in an empty list."""
    found = [values.get(name)]
    for step in steps:
        found = [part for whole in found for part in stepped(whole, step)]
    return found


def stepped(value: Any, step: int | str | None) -> Iterable[Any]:
    """Give the parts of a value to which one step leads."""
    if isinstance(value, dict):
        return value.values() if step is None else (value.get(step),)
    if isinstance(step, str):
        return (getattr(value, step, None),)
    if isinstance(value, list | tuple) and (step is None or not value):
        return value
    is_in = isinstance(value, list | tuple) and step is not None and -len(value) <= step < len(value)
    return (value[step] if is_in else None,)
