"""Convert between Python values and the evaluator's: dataclasses and tuples, unions and `Tagged`, arrays and lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy

from .._core.programs.native import Form, fits
from .._core.tape.above import ABOVE
from ..errors import CotangentError, StructureError
from .backends.forms import Forms
from .backends.machine import NotAssembled
from .derivative_types import cotangent
from .linear import Sparse
from .ordinary import check_trees
from .strangers import is_strange, named
from .types import (
    BOOL,
    FLOAT,
    INT,
    UNIT,
    Array,
    Bool,
    Float,
    Function,
    Int,
    LArray,
    Named,
    Product,
    Sum,
    Type,
    is_discrete,
    numbers_of,
    show,
)
from .values import Tagged, field_of, parts_in, record_of, suffixes

#: A place in a value: a name, or a pair of another place and a suffix; it is formatted only for errors.
Path = Any


def shown(path: Path) -> str:
    """Format a place."""
    parts = []
    while isinstance(path, tuple):
        path, part = path
        parts.append(part)
    return "".join([path, *reversed(parts)])


#: Names the value of a run on dual numbers in errors: an ``except`` block may return another type.
PLAIN = "what the plain function returns here"


class Converter:
    """Converts values of a module's types."""

    def __init__(self, types: Mapping[str, Sum], classes: Mapping[str, type]) -> None:
        self.types = types
        self.classes = classes
        self.forms: dict[int, tuple[Type, Form | None]] = {}  # by the types' ids: they are looked up at each call

    def conformed(self, of: Type, value: Any, path: Path) -> Any:
        """Convert a Python value to the type: ints to floats where it says so; a value of the type is unchanged.

        Raises
        ------
        StructureError
            As `inward`.
        """
        if self.fits(of, value):
            return value
        if self.types:
            check_trees((value,))
        return self.outward(of, self.inward(of, value, path), value)

    def tangent(self, of: Type, primal: Any, value: Any, path: Path) -> Any:
        """Give a tangent in the structure of its primal: zeros for None, None for what is discrete.

        Raises
        ------
        CotangentError
            As `cotangent_in`.
        """
        if is_discrete(of):
            return of_plain(primal, None)
        if of in (FLOAT, Array(FLOAT)) and self.fits(of, value):
            return value
        inside = self.inward(of, primal, path)
        found = self.cotangent_in(of, value, inside, path)
        return self.cotangent_out(of, found, inside, primal, Sparse(self.types))

    def fits(self, of: Type, value: Any) -> bool:
        """Tell whether a value of any depth needs no conversion; False if that is not quick to see."""
        if id(of) not in self.forms:
            self.forms[id(of)] = of, self.form_of(of)
        form = self.forms[id(of)][1]
        return form is not None and fits(form, value, check_trees)

    def form_of(self, of: Type) -> Form | None:
        """Give the form of a type; None if it has none."""
        try:
            return Forms(self.classes, self.types)(of)
        except NotAssembled:
            return None

    def inward(self, of: Type, value: Any, path: Path) -> Any:
        """Convert a Python value to the evaluator's.

        Raises
        ------
        StructureError
            If the value is not of the type; the message contains the path to the place.
        """
        if is_strange(value):
            raise StructureError(f"{shown(path)} is of type {named(value)} where {show(of)} is wanted")
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
            case Product():
                return self._product(of, value, path)
            case Sum() | Named():
                options = of.options if isinstance(of, Sum) else self.types[of.name].options
                return self._member(of, options, value, path)
            case Array(element):
                return self._array(element, value, path)
            case Function() if callable(value):
                return value
        raise StructureError(f"{shown(path)} is of type {type(value).__name__} where {show(of)} is wanted")

    def _product(self, of: Product, value: Any, path: Path) -> Any:
        if of == UNIT and value is None:
            return ()
        parts = parts_in(of, value)
        if parts is None:
            raise StructureError(f"{shown(path)} is of type {type(value).__name__} where {show(of)} is wanted")
        each = zip(of.items, parts, suffixes(of), strict=True)
        return tuple([self.inward(t, v, (path, suffix)) for t, v, suffix in each])

    def _member(self, of: Type, options: tuple[Type, ...], value: Any, path: Path) -> Tagged:
        for i, option in enumerate(options):
            name = option.name if isinstance(option, Product) else ""
            if type(value).__name__ == name if name else (value is None) == (option == UNIT):
                return Tagged(i, self.inward(option, value, path))
        raise StructureError(f"{shown(path)} is of type {type(value).__name__} where {show(of)} is wanted")

    def _array(self, element: Type, value: Any, path: Path) -> list[Any]:
        if isinstance(value, numpy.ndarray):
            if element == FLOAT and value.ndim == 1 and value.dtype.kind in "fiu":
                return [float(v) for v in value.tolist()]
            if element == INT and value.ndim == 1 and value.dtype.kind in "iu":
                return list(value.tolist())
            if element == BOOL and value.ndim == 1 and value.dtype.kind == "b":
                return list(value.tolist())
        if isinstance(value, numpy.ndarray | list | tuple) and getattr(value, "ndim", 1) > 0:
            return [self.inward(element, v, (path, f"[{i}]")) for i, v in enumerate(value)]
        raise StructureError(f"{shown(path)} is of type {type(value).__name__} where {show(Array(element))} is wanted")

    def outward(self, of: Type, value: Any, like: Any = None) -> Any:
        """Convert a value of the evaluator to Python; `like`, if given, determines the kind of sequence."""
        match of:
            case Product(items, name, fields):
                if of == UNIT:
                    return () if type(like) is tuple else None
                likes = self._parts(of, like)
                made = [self.outward(t, v, k) for t, v, k in zip(items, value, likes, strict=True)]
                return record_of(self.classes[name], fields, made) if name else tuple(made)
            case Sum() | Named():
                options = of.options if isinstance(of, Sum) else self.types[of.name].options
                return self.outward(options[value.option], value.payload, like)
            case Array(element):
                return self._sequence(element, value, like)
            case _:
                return value

    def returned(self, of: Type, value: Any) -> tuple[Any, Any]:
        """Give a value of the plain program in the evaluator's form, and as the typed program returns it."""
        inside = self.inward(of, value, PLAIN)
        return inside, shaped_like(self.outward(of, inside), value)

    def _parts(self, of: Product, like: Any) -> list[Any]:
        if like is None:
            return [None] * len(of.items)
        return [field_of(like, f) for f in of.fields] if of.name else list(like)

    def _sequence(self, element: Type, value: Any, like: Any) -> Any:
        if isinstance(like, list | tuple):
            return [self.outward(element, v, k) for v, k in zip(value, like, strict=True)]
        made = [self.outward(element, v) for v in value]
        numbers = numbers_of(element)
        if numbers in (FLOAT, INT, BOOL):
            shapes = {numpy.shape(m) for m in made}
            if len(shapes) <= 1:
                kind = {FLOAT: numpy.float64, INT: numpy.int64, BOOL: numpy.bool_}[numbers]
                return numpy.array(made, dtype=kind)
        return made

    def cotangent_in(self, of: Type, value: Any, primal: Any, path: Path) -> Any:
        """Convert a cotangent (or tangent) given by a user to a sparse linear value; None is zero.

        Raises
        ------
        CotangentError
            If it does not fit the primal; the message contains the path to the place.
        """
        match of:
            case Float():
                if value is None:
                    return 0.0
                if isinstance(value, int | float | numpy.floating | numpy.integer | numpy.bool_):
                    return float(value)
                if isinstance(value, numpy.ndarray) and value.shape == ():
                    return float(value)
            case Int() | Bool():
                return ()
            case Product():
                return self._product_cotangent(of, value, primal, path)
            case Sum() | Named():
                options = of.options if isinstance(of, Sum) else self.types[of.name].options
                if value is None:
                    return None
                payload = self.cotangent_in(options[primal.option], value, primal.payload, path)
                return Tagged(primal.option, payload)
            case Array(element):
                if value is None:
                    return None
                if not isinstance(value, numpy.ndarray | list | tuple) or len(value) != len(primal):
                    raise CotangentError(f"{shown(path)} does not have the {len(primal)} elements of its primal")
                each = enumerate(zip(value, primal, strict=True))
                return ("entries", [(i, self.cotangent_in(element, v, x, (path, f"[{i}]"))) for i, (v, x) in each])
            case _:
                pass
        raise CotangentError(f"{shown(path)} is of type {type(value).__name__}, which does not fit {show(of)}")

    def _product_cotangent(self, of: Product, value: Any, primal: Any, path: Path) -> Any:
        if of == UNIT:
            return ()
        if value is None:
            return None
        parts = parts_in(of, value)
        if parts is None:
            raise CotangentError(f"{shown(path)} is of type {type(value).__name__}, which does not fit {show(of)}")
        each = zip(of.items, parts, primal, suffixes(of), strict=True)
        return tuple([self.cotangent_in(t, v, x, (path, suffix)) for t, v, x, suffix in each])

    def cotangent_out(self, of: Type, value: Any, primal: Any, like: Any, linear: Sparse) -> Any:
        """Convert a sparse cotangent or tangent to Python, in the structure of its primal; discrete leaves are None."""
        match of:
            case Float():
                return value
            case Int() | Bool():
                return None
            case Product(items, name, fields):
                if is_discrete(of):
                    return of_plain(like, None)
                parts = (None,) * len(items) if value is None else value
                each = zip(items, parts, primal, self._parts(of, like), strict=True)
                zeroed = [(t, linear.zero(cotangent(t)) if v is None else v, x, k) for t, v, x, k in each]
                made = [self.cotangent_out(t, v, x, k, linear) for t, v, x, k in zeroed]
                return record_of(self.classes[name], fields, made) if name else tuple(made)
            case Sum() | Named():
                options = of.options if isinstance(of, Sum) else self.types[of.name].options
                option = options[primal.option]
                payload = linear.zero(cotangent(option)) if value is None else value.payload
                return self.cotangent_out(option, payload, primal.payload, like, linear)
            case Array(element):
                return self._array_out(of, element, value, primal, like, linear)
            case _:
                return None

    def _array_out(self, of: Array, element: Type, value: Any, primal: Any, like: Any, linear: Sparse) -> Any:
        if is_discrete(of):
            return of_plain(like, None)
        linear_type = cotangent(of)
        assert isinstance(linear_type, LArray)
        parts = linear.collect(linear_type, value, len(primal))
        likes = [None] * len(primal) if like is None or isinstance(like, numpy.ndarray) else like
        made = [self.cotangent_out(element, v, x, k, linear) for v, x, k in zip(parts, primal, likes, strict=True)]
        if isinstance(like, tuple):
            return tuple(made)
        numbers = numbers_of(element)
        if isinstance(like, list) or numbers != FLOAT:
            return made
        if isinstance(like, numpy.ndarray):
            return numpy.array(made, dtype=numpy.float64).reshape(like.shape)
        return numpy.array(made, dtype=numpy.float64) if len({numpy.shape(m) for m in made}) <= 1 else made


def refuse_none(value: Any, cotangent: Any, path: Path) -> None:
    """Refuse None as the cotangent of a real number, as dual numbers do; the cotangent fits the value otherwise."""
    is_array = isinstance(value, numpy.ndarray)
    if cotangent is None and (isinstance(value, float | numpy.floating) or (is_array and value.dtype.kind == "f")):
        raise CotangentError(f"{shown(path)} is None, and the value has a derivative: give 0.0")
    if isinstance(value, list | tuple) or (is_array and isinstance(cotangent, list | tuple)):
        for k, x in enumerate(value):
            refuse_none(x, None if cotangent is None else cotangent[k], (path, f"[{k}]"))
    elif isinstance(value, dict) or dataclasses.is_dataclass(value):
        for n in value if isinstance(value, dict) else value.__dataclass_fields__:
            refuse_none(field_of(value, n), None if cotangent is None else field_of(cotangent, n), (path, f".{n}"))


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
