"""The boundary between Python's values and the leaves of lowered programs: numbers, and columns of arrays.

A column holds one leaf of all elements: nested lists or arrays of numbers. A member of a recursive sum is one leaf, a
tuple of the number of its option and of the leaves inside, or None for a cotangent of zero.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from ..._core.programs.native import Form, fits
from ..._core.tape.above import ABOVE
from ...errors import CotangentError, StructureError
from ...structure import check_fields, is_made_by_python
from ..language.derivative_types import cotangent
from ..language.strangers import is_strange, named
from ..language.types import (
    FLOAT,
    UNIT,
    Array,
    Bool,
    Fixed,
    Float,
    Function,
    Int,
    LNamed,
    Named,
    Product,
    Sum,
    Type,
    is_discrete,
    numbers_of,
    show,
)
from ..language.values import check_discrete, field_of, is_record, parts_in, record_of, suffixes
from ..lowering.patterns import stored
from ..ordinary import check_trees
from .forms import Forms

#: A place in a value: a name, or a pair of another place and a suffix; it is formatted only for errors.
Path = Any


def shown(path: Path) -> str:
    """Format a place."""
    parts = []
    while isinstance(path, tuple):
        path, part = path
        parts.append(part)
    return "".join([path, *reversed(parts)])


#: Where the paths of the cotangent of a program's value begin: None stands for no real number there, as with duals.
VALUE = "value"
#: Names the value of a run on dual numbers in errors: an ``except`` block may return another type.
PLAIN = "what the plain function returns here"
#: The dtypes of numbers, and the kinds of arrays that are taken for them.
DTYPES: Mapping[type, Any] = {Float: numpy.float64, Int: numpy.int64, Bool: numpy.bool_}
ACCEPTED: Mapping[type, str] = {Float: "fiu", Int: "iu", Bool: "b"}


class Converter:
    """Converts values of a module's types; `classes` are those of its records, by their names."""

    def __init__(self, types: Mapping[str, Sum], classes: Mapping[str, type]) -> None:
        self.types = types
        self.classes = classes
        self.forms: dict[int, tuple[Type, Form | None]] = {}  # by the types' ids: they are looked up at each call

    def conformed(self, of: Type, value: Any, path: Path) -> Any:
        """Convert a Python value to the type: ints to floats where it says so; a value of the type is unchanged.

        It raises `StructureError` if the value is not of the type; the message contains the path to the place.
        """
        if self.fits(of, value):
            return value
        if self.types:
            check_trees((value,))
        return self.restored(of, iter(self.flat(of, value, path)), value)

    def returned(self, of: Type, value: Any) -> Any:
        """Give a value of the plain program as the typed program returns it."""
        return shaped_like(self.restored(of, iter(self.flat(of, value, PLAIN))), value)

    def tangent(self, of: Type, primal: Any, value: Any, path: Path) -> Any:
        """Give a tangent or a cotangent in the structure of its primal: zeros for None, None for what is discrete.

        It raises `CotangentError` if it does not fit the primal; the message contains the path to the place.
        """
        return self.given(of, iter(self.cotangent(of, value, primal, path)), primal)

    def fits(self, of: Type, value: Any) -> bool:
        """Tell whether a value of any depth needs no conversion; False if that is not quick to see."""
        if id(of) not in self.forms:
            self.forms[id(of)] = of, Forms(self.classes, self.types).find(of)
        form = self.forms[id(of)][1]
        return form is not None and fits(form, value, check_trees)

    # ------------------------------------------------------------ values

    def flat(self, of: Type, value: Any, path: Path) -> list[Any]:
        """Give the leaves of a value."""
        if is_strange(value):
            raise refusal(of, named(value), path)
        match of:
            case Product(items):
                each = zip(items, self.parts(of, value, path), suffixes(of), strict=True)
                return [x for t, v, suffix in each for x in self.flat(t, v, (path, suffix))]
            case Sum(options):
                k, inside = self.member(of, value, path)
                found = [self.flat(t, inside, path) if i == k else nothing(t) for i, t in enumerate(options)]
                return [k, *itertools.chain.from_iterable(found)]
            case Array(element):
                every = enumerate(self.elements(of, value, path))
                return columns(element, [self.flat(element, v, (path, f"[{i}]")) for i, v in every])
            case Named():
                k, inside = self.member(of, value, path)
                return [(k, *self.flat(self.options(of)[k], inside, path))]
        return [number(of, value, path)]

    def restored(self, of: Type, leaves: Iterator[Any], like: Any = None) -> Any:
        """Give the value that has these leaves; another one, if given, determines the kinds of sequences."""
        match of:
            case Product(items):
                likes = (None,) * len(items) if like is None else self.parts(of, like, "")
                return self.record(of, [self.restored(t, leaves, k) for t, k in zip(items, likes, strict=True)], like)
            case Sum(options):
                tag, made = next(leaves), None
                for k, t in enumerate(options):
                    if k == tag:
                        made = self.restored(t, leaves, like)
                    else:
                        skip(t, leaves)
                return self.tagged(tag, made)
            case Array(element):
                rows, is_like = rows_of(element, leaves), isinstance(like, list | tuple)
                each = zip(rows, like if is_like else itertools.repeat(None))
                made = [self.restored(element, iter(row), k) for row, k in each]
                return (tuple(made) if type(like) is tuple else made) if is_like else self.array(element, made)
            case Named():
                tag, *inside = next(leaves)
                return self.tagged(tag, self.restored(self.options(of)[tag], iter(inside), like))
        leaf = next(leaves)
        return like if type(like) is numpy.float64 and of == Float() else leaf

    # ------------------------------------------------------------ cotangents and tangents

    def cotangent(self, of: Type, d: Any, value: Any, path: Path) -> list[Any]:
        """Give the leaves of a cotangent of a value; None is zero."""
        match of:
            case Float():
                return [self.real(d, value, path)]
            case Product(items) if items:
                given = self.parts_of(of, d, path)
                each = zip(items, given, self.parts(of, value, path), suffixes(of), strict=True)
                return [x for t, y, v, suffix in each for x in self.cotangent(t, y, v, (path, suffix))]
            case Sum(options):
                k, inside = self.member(of, value, path)
                found = [
                    self.cotangent(t, d, inside, path) if i == k else nothing(linear(t)) for i, t in enumerate(options)
                ]
                return list(itertools.chain.from_iterable(found))
            case Array(element) if width(linear(element)):
                every = enumerate(zip(self.elements_of(d, value, path), value, strict=True))
                found = [self.cotangent(element, x, v, (path, f"[{i}]")) for i, (x, v) in every]
                return columns(linear(element), found)
            case Named():
                if d is None and (value is None or not is_strict(path)):
                    return [None]
                k, inside = self.member(of, value, path)
                return [(k, *self.cotangent(self.options(of)[k], d, inside, path))]
        if d is not None:
            check_discrete(d, shown(path))
        return []

    def given(self, of: Type, leaves: Iterator[Any], value: Any) -> Any:
        """Give the cotangent or tangent of a value that has these leaves; None is zero."""
        match of:
            case Float():
                return self.real_of(next(leaves))
            case Product(items) if not is_discrete(of):
                each = zip(items, self.parts(of, value, ""), strict=True)
                return self.record(of, [self.given(t, leaves, v) for t, v in each], value)
            case Sum(options) if not is_discrete(of):
                k, inside = self.member(of, value, "")
                made = None
                for i, t in enumerate(options):
                    if i == k:
                        made = self.given(t, leaves, inside)
                    else:
                        skip(linear(t), leaves)
                return self.tagged(k, made)
            case Array(element) if width(linear(element)):
                found = [next(leaves) for _ in range(width(linear(element)))]
                rows: Iterable[Any] = itertools.repeat(itertools.repeat(None)) if found[0] is None else zip(*found)
                return self.sequence([self.given(element, iter(row), v) for row, v in zip(rows, value)], value)
            case Named():
                k, inside = self.member(of, value, "")
                box = next(leaves)
                rest = itertools.repeat(None) if box is None else iter(box[1:])
                return self.tagged(k, self.given(self.options(of)[k], rest, inside))
        return of_plain(value, None)

    # ------------------------------------------------------------ how Python's values look

    def options(self, of: Sum | Named) -> tuple[Type, ...]:
        """Give the options of a sum."""
        return of.options if isinstance(of, Sum) else self.types[of.name].options

    def parts(self, of: Product, value: Any, path: Path) -> Sequence[Any]:
        """Give the parts of a record or a tuple."""
        found = parts_in(of, value) if of != UNIT else () if value is None else None
        if found is None or (of.name and type(value) is not self.classes.get(of.name)):
            raise refusal(of, type(value).__name__ + " of another definition" * (found is not None), path)
        return found

    def member(self, of: Sum | Named, value: Any, path: Path) -> tuple[int, Any]:
        """Give the number of the option that a value belongs to, and its payload."""
        for i, option in enumerate(self.options(of)):
            if is_member(value, option):
                return i, value
        raise refusal(of, type(value).__name__, path)

    def elements(self, of: Array, value: Any, path: Path) -> Iterable[Any]:
        """Give the elements of an array."""
        if (
            isinstance(value, numpy.ndarray)
            and value.ndim == 1
            and value.dtype.kind in ACCEPTED.get(type(of.element), "")
        ):
            return value.tolist()  # type: ignore[no-any-return]
        if not isinstance(value, numpy.ndarray | list | tuple) or getattr(value, "ndim", 1) == 0:
            raise refusal(of, type(value).__name__, path)
        return value

    def real(self, d: Any, value: Any, path: Path) -> Any:
        """Give the cotangent of a number."""
        if d is None:
            return refuse_none(value, path)
        if isinstance(d, numpy.ndarray) and d.shape == ():
            d = d[()]
        if not isinstance(d, int | float | numpy.floating | numpy.integer | numpy.bool_):
            raise CotangentError(f"{shown(path)} is of type {type(d).__name__}, which does not fit float")
        return float(d)

    def real_of(self, leaf: Any) -> Any:
        """Give the cotangent of a number from its leaf."""
        return 0.0 if leaf is None else float(leaf)

    def parts_of(self, of: Product, d: Any, path: Path) -> Sequence[Any]:
        """Give the cotangents of the parts of a record or a tuple, which is also a list of several types."""
        d = tuple(d) if type(d) is list else d
        found = (None,) * len(of.items) if d is None or of == UNIT else parts_in(of, d)
        if found is None:
            raise CotangentError(f"{shown(path)} is of type {type(d).__name__}, which does not fit {show(of)}")
        return found

    def elements_of(self, d: Any, value: Any, path: Path) -> Any:
        """Give the cotangents of the elements of an array."""
        if d is None:
            refuse_none(value, path)
            return (None,) * len(value)
        if not isinstance(d, numpy.ndarray | list | tuple) or len(d) != len(value):
            raise CotangentError(f"{shown(path)} does not have the {len(value)} elements of its primal")
        return d

    def record(self, of: Product, parts: list[Any], like: Any) -> Any:
        """Make a record or a tuple."""
        if of == UNIT:
            return None
        cls: Any = self.classes[of.name] if of.name else tuple
        if isinstance(of, Fixed):
            return of.value if like is None else like
        if not parts and cls not in (dict, tuple) and not is_made_by_python(cls):
            return like
        return record_of(cls, of.fields, parts) if of.name else tuple(parts)

    def tagged(self, k: int, inside: Any) -> Any:
        """Make a member of a sum."""
        return inside

    def array(self, element: Type, made: list[Any]) -> Any:
        """Make an array of numbers from elements, if these are of one shape; otherwise a list."""
        kind = type(numbers_of(element))
        is_even = kind in DTYPES and list not in map(type, made) and len({numpy.shape(m) for m in made}) <= 1
        return numpy.array(made, dtype=DTYPES[kind]) if is_even else made

    def sequence(self, made: list[Any], like: Any) -> Any:
        """Make the cotangent of an array of the kind of its primal."""
        if isinstance(like, tuple):
            return tuple(made)
        return numpy.array(made, dtype=float).reshape(like.shape) if isinstance(like, numpy.ndarray) else made


def is_member(value: Any, option: Type) -> bool:
    """Tell whether a value belongs to an option of a sum."""
    if isinstance(option, Fixed):
        return bool(value == option.value)
    if isinstance(option, Product) and option.name:
        return is_record(value, option.name, option.fields)
    return (value is None) == (option == UNIT)


def is_strict(path: Path) -> bool:
    """Tell whether a place is one of a program's value."""
    return shown(path).startswith(VALUE)


def refuse_none(value: Any, path: Path) -> float:
    """Give zero for None; refuse it as the cotangent of what has a derivative in a program's value."""
    is_real = value.dtype.kind == "f" if isinstance(value, numpy.ndarray | numpy.generic) else isinstance(value, float)
    if is_real and is_strict(path):
        raise CotangentError(f"{shown(path)} is None, and the value has a derivative: give 0.0")
    return 0.0


def refusal(of: Type, name: str, path: Path) -> StructureError:
    """Give the error for a value of another type."""
    where = shown(path)
    advice = ": convert it, or change the annotation" * where.startswith("the argument")
    return StructureError(f"{where} is of type {name} where {show(of)} is wanted{advice}")


def number(of: Type, value: Any, path: Path) -> Any:
    """Convert a number."""
    if isinstance(value, numpy.ndarray) and value.shape == ():
        value = value[()]
    match of:
        case Float():
            if isinstance(value, int | float | numpy.floating | numpy.integer) and not isinstance(value, bool):
                return float(value)
        case Int():
            if isinstance(value, int | numpy.integer) and not isinstance(value, bool):
                return int(value)
        case Bool():
            if isinstance(value, bool | numpy.bool_):
                return bool(value)
        case Function() if callable(value):
            return value
    raise refusal(of, type(value).__name__, path)


def linear(of: Type) -> Type:
    """Give the type whose leaves a cotangent has."""
    return stored(cotangent(of))


def width(of: Type) -> int:
    """Give the number of leaves of a type; an array of elements without leaves has one, its size."""
    match of:
        case Product(items):
            return sum([width(t) for t in items])
        case Sum(options):
            return 1 + sum([width(t) for t in options])
        case Array(element):
            return width(element) or 1
    return 1


def nothing(of: Type) -> list[Any]:
    """Give leaves that are never read."""
    match of:
        case Product(items):
            return [x for t in items for x in nothing(t)]
        case Sum(options):
            return [0, *(x for t in options for x in nothing(t))]
        case Array(element):
            return [[] for _ in range(width(element))] or [0]
    return [0.0 if of == FLOAT else None if isinstance(of, Named | LNamed) else 0]


def skip(of: Type, leaves: Iterator[Any]) -> None:
    """Skip the leaves of an option that does not occur."""
    for _ in range(width(of)):
        next(leaves)


def columns(element: Type, rows: list[list[Any]]) -> list[Any]:
    """Give the columns of elements with these leaves; only their number if they have none."""
    return [[row[k] for row in rows] for k in range(width(element))] or [len(rows)]


def rows_of(element: Type, leaves: Iterator[Any]) -> Iterable[Sequence[Any]]:
    """Give the leaves of each element of an array."""
    found = [next(leaves) for _ in range(width(element))]
    return zip(*found) if found else itertools.repeat((), next(leaves))


def shaped_like(made: Any, value: Any) -> Any:
    """Restore the lengths of arrays without elements in a value that was rebuilt from its elements."""
    if isinstance(made, numpy.ndarray) and isinstance(value, numpy.ndarray) and made.size == value.size == 0:
        return made.reshape(value.shape)
    if type(made) is tuple and isinstance(value, tuple) and len(made) == len(value):
        return tuple(map(shaped_like, made, value))
    return made


def of_plain(value: Any, cotangent: Any, spells_none: bool = True, keeps_integers: bool = False) -> Any:
    """Give a cotangent or a tangent as dual numbers have it: with None for each discrete number in lists and records.

    A plain value may be an integer where its type is float, such as an empty sum. Dual numbers take no None for a list.
    The value may be deep: a list comprehension within itself needs none of the C stack, which a generator would.
    """
    if cotangent is None and not spells_none:
        return None
    if cotangent is None and type(value) is list and {int}.issuperset(map(type, value)) and not keeps_integers:
        return [None] * len(value)
    if isinstance(value, int | numpy.integer) or (isinstance(value, numpy.ndarray) and value.dtype.kind in "iub"):
        plain = value.item() if isinstance(value, numpy.integer) else value
        return plain if keeps_integers else None
    if isinstance(value, dict) or (dataclasses.is_dataclass(value) and (spells_none or cotangent is not None)):
        names = list(value if isinstance(value, dict) else value.__dataclass_fields__)
        each = [None if cotangent is None else field_of(cotangent, n) for n in names]
        made = [of_plain(field_of(value, n), d, spells_none, keeps_integers) for n, d in zip(names, each, strict=True)]
        return record_of(type(value), names, made)
    if type(value) is list and type(cotangent) is list and set(map(type, value)) == {float}:
        return cotangent
    if isinstance(value, list | tuple) and isinstance(cotangent, list | tuple | None):
        like = value if cotangent is None else cotangent
        parts = [None] * len(value) if cotangent is None else cotangent
        made = [of_plain(x, d, spells_none, keeps_integers) for x, d in zip(value, parts, strict=True)]
        return type(like)(*made) if hasattr(like, "_fields") else type(like)(made)
    return cotangent


ABOVE.undifferentiated = lambda value: of_plain(value, None)
ABOVE.check_fields = check_fields
