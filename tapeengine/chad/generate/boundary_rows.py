"""Rows of different sizes, and elements with discrete parts, as numpy arrays: rows are filled up, sizes are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from tapeengine.chad.generate.operations import padded
from tapeengine.chad.generate.values import Along, Boxed, Choice, Items, Member, NotGenerated, Tup, Value
from tapeengine.chad.imperative import Const, Ref
from tapeengine.chad.types import UNIT, Array, Product, Type

__all__ = ["DTYPES", "Place", "places", "rows_in"]

DTYPES: Mapping[str, Any] = MappingProxyType({"float": np.float64, "int": np.int64, "bool": np.bool_})
#: Takes a product apart, and makes a scalar of a kind.
Parts = Callable[[Product, Any], list[Any]]
Number = Callable[[str, Any], Any]
Members = Callable[[Type, Value, Any], list[Any]]


@dataclass(frozen=True)
class Place:
    """A leaf of a value: its kind, its rank, whether it lies in rows of different sizes or is the sizes of some."""

    kind: str
    rank: int = 0
    is_ragged: bool = False
    is_sizes: bool = False


def places(form: Value) -> Iterator[Place]:
    """Go through the leaves of a value in the order of `tapeengine.chad.generate.values.leaves`."""
    match form:
        case Tup(items) | Items(items):
            for item in items:
                yield from places(item)
        case Along(_, element, sizes):
            for place in places(element):
                yield replace(place, rank=place.rank + 1, is_ragged=place.is_ragged or sizes is not None)
            if sizes is not None:
                yield Place("int", is_sizes=True)
        case Member(_, _, payload):
            yield from places(payload)
        case Choice(_, _, options):
            yield Place("int")
            for option in options:
                yield from places(option)
        case Boxed(ref):
            yield Place(ref.kind)
        case Const() | Ref():
            yield Place(form.kind)


def rows_in(of: Type, form: Value, value: Any, parts: Parts, number: Number, fill: float, member: Members) -> list[Any]:
    """Take a value apart into its leaves.

    Parameters
    ----------
    of : Type
    form : Value
        What the value looks like in the generated program.
    value
    parts : callable
        Takes a product apart.
    number : callable
        Makes a number of a kind.
    fill : float
        What stands behind the elements of shorter rows.
    member : callable
        Takes a member of a sum apart.

    Raises
    ------
    NotGenerated
        Where the value has no such form.
    """
    match of, form:
        case Product(items), Tup(forms):
            if of == UNIT and value is None:
                return []
            each = zip(items, forms, parts(of, value), strict=True)
            return [leaf for t, f, v in each for leaf in rows_in(t, f, v, parts, number, fill, member)]
        case Array(element), Items(forms):
            if len(_sequence(value)) != len(forms):
                raise NotGenerated("an array of another size")
            each_item = zip(forms, value, strict=True)
            return [leaf for f, v in each_item for leaf in rows_in(element, f, v, parts, number, fill, member)]
        case Array(), Along(_, Const() | Ref() as inner, sizes) if _is_vector(inner.kind, value):
            vector = np.asarray(value, DTYPES[inner.kind])
            return [vector] if sizes is None else [vector, len(vector)]
        case Array(), Along(_, Along(_, Const() | Ref() as inner, Const() | Ref()), None) if _are_vectors(inner, value):
            return _rows(inner.kind, value, fill)
        case Array(element), Along(_, inner, sizes):
            each_row = [rows_in(element, inner, v, parts, number, fill, member) for v in _sequence(value)]
            found = [column(place, [row[k] for row in each_row], fill) for k, place in enumerate(places(inner))]
            return found if sizes is None else [*found, len(each_row)]
        case _, Const() | Ref():
            return [number(form.kind, value)]
        case _, Member() | Choice() | Boxed():
            return member(of, form, value)
    raise NotGenerated("a value of another form")


def _is_vector(kind: str, value: Any) -> bool:
    """Tell whether a row is one of numbers already, so that its elements need not be looked at."""
    return type(value) is np.ndarray and value.ndim == 1 and value.dtype == DTYPES[kind]


def _are_vectors(leaf: Const | Ref, value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_vector(leaf.kind, v) for v in value)


def _rows(kind: str, value: Sequence[Any], fill: float) -> list[Any]:
    """Take rows of numbers apart into the rows, filled up, and their sizes."""
    sizes = np.array([len(v) for v in value])
    same = (sizes == sizes[0]).all()
    return [np.array(value) if same else padded(list(value), DTYPES[kind], fill), sizes]


def _sequence(value: Any) -> Any:
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return value
    raise NotGenerated("a value that is no array")


def column(place: Place, rows: Sequence[Any], fill: float) -> Any:
    """Put one leaf of each row into one array."""
    dtype = DTYPES[place.kind]
    shapes = {np.shape(row) for row in rows}
    if len(shapes) > 1:
        if not place.is_ragged:
            raise NotGenerated("an array of rows of different sizes")
        return padded(list(rows), dtype, fill)
    return np.array(rows, dtype) if rows else np.zeros((0,) * (place.rank + 1), dtype)
