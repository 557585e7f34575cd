"""Values at the boundary of generated programs: Python's on one side, floats and numpy arrays on the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tapeengine.chad.generate.boundary_rows import DTYPES, Place, places, rows_in
from tapeengine.chad.generate.boxing import Boxing, form_of
from tapeengine.chad.generate.layout import Layout
from tapeengine.chad.generate.lower import Lower
from tapeengine.chad.generate.values import Along, Boxed, Choice, Items, Member, NotGenerated, Tup, Value
from tapeengine.chad.imperative import Const, Ref
from tapeengine.chad.types import UNIT, Array, Bool, Float, Int, Named, Product, Sum, Type, is_discrete, show

__all__ = ["Boundary", "parameter"]

ACCEPTED: Mapping[str, str] = {"float": "fiu", "int": "iu", "bool": "b"}


def parameter(L: Lower, name: str, of: Type, params: list[Ref]) -> Value:
    """Make the value of a parameter; each of its leaves becomes a parameter of the generated function."""
    return _parameter(L, name, of, params, ())


def _parameter(L: Lower, name: str, of: Type, params: list[Ref], axes: tuple[str, ...]) -> Value:
    if L.layout.is_boxed(of):
        params.append(L.b.fresh(name, (), L.layout.kind(of)))
        return Boxed(params[-1], of)
    match of:
        case Float() | Int() | Bool():
            ref = L.b.fresh(name, axes, type(of).__name__.lower())
            params.append(ref)
            return ref
        case Product(items, _, fields):
            parts = fields or tuple(str(i) for i in range(len(items)))
            made = [_parameter(L, f"{name}_{f}", t, params, axes) for f, t in zip(parts, items, strict=True)]
            return Tup(tuple(made))
        case Array(element):
            axis = L.axes.fresh(Const(0))
            first = len(params)
            value = _parameter(L, name, element, params, (*axes, axis))
            if len(params) == first:
                raise NotGenerated("an array of empty elements")
            L.axes.sizes[axis] = L.b.emit("size", (params[first],), (len(axes),), axes=(), kind="int", hint=f"n_{name}")
            return Along(axis, value, _sizes(L, name, params, axes, axis) if L.general and axes else None)
        case Sum() | Named():
            tag = L.b.fresh(f"{name}_option", axes, "int")
            params.append(tag)
            options = tuple(_parameter(L, name, t, params, axes) for t in L.layout.options(of))
            return Choice(of, tag, options)
    raise NotGenerated(f"a parameter of type {type(of).__name__}")


def _sizes(L: Lower, name: str, params: list[Ref], axes: tuple[str, ...], axis: str) -> Ref:
    """Make the parameter that says how long the rows along an axis are."""
    sizes = L.b.fresh(f"{name}_sizes", axes, "int")
    params.append(sizes)
    L.naturals.add(sizes.name)
    L.bounds[sizes.name] = L.size_of(axis)
    return sizes


class Boundary:
    """Converts arguments, results and cotangents.

    Parameters
    ----------
    classes : mapping of str to type
        The classes that named products stand for.
    types : mapping of str to Sum
        What recursive sum types stand for.
    """

    def __init__(self, classes: Mapping[str, type], types: Mapping[str, Sum] = MappingProxyType({})) -> None:
        self.classes = classes
        self.layout = Layout(types)
        self.boxing = Boxing(self.layout, classes, self)

    def leaves_in(self, of: Type, value: Any) -> list[Any]:
        """Take a Python value apart into floats and arrays.

        Parameters
        ----------
        of : Type
        value

        Raises
        ------
        NotGenerated
            Where the value has no such form: rows of different sizes, or not of this type.
        """
        if self.layout.is_boxed(of):
            return [self.boxing.into(of)(value)]
        match of:
            case Float() | Int() | Bool():
                return [_number(type(of).__name__.lower(), value)]
            case Sum() | Named():
                return self._member(of, form_of(self.layout, of), value)
            case Product(items):
                if of == UNIT and value is None:
                    return []
                parts = self._parts(of, value)
                return [leaf for t, v in zip(items, parts, strict=True) for leaf in self.leaves_in(t, v)]
            case Array(element):
                return self._columns(element, value, 1)
        raise NotGenerated(f"a value of type {type(of).__name__}")

    def rows_in(self, of: Type, form: Value, value: Any) -> list[Any]:
        """Take a Python value with rows of different sizes apart into floats, arrays and sizes of rows."""
        return rows_in(of, form, value, self._parts, _number, fill=1.0, member=self._member)

    def _member(self, of: Type, form: Value, value: Any) -> list[Any]:
        """Take a member of a sum apart: the number of its option, and the leaves of all options."""
        if isinstance(form, Boxed):
            return [self.boxing.into(of)(value)]
        assert isinstance(form, Choice)
        taken = self._option(of, value)
        found: list[Any] = [taken]
        for k, (option, inner) in enumerate(zip(self.layout.options(of), form.options, strict=True)):
            found += self.rows_in(option, inner, value) if k == taken else map(_unread, places(inner))
        return found

    def _option(self, of: Type, value: Any) -> int:
        """Give the number of the option that a value is of."""
        for k, option in enumerate(self.layout.options(of)):
            is_named = isinstance(option, Product) and option.name and type(value).__name__ == option.name
            if is_named or (option == UNIT and value is None):
                return k
        raise NotGenerated(f"a {type(value).__name__} where {show(of)} is wanted")

    def _parts(self, of: Product, value: Any) -> list[Any]:
        if of.name and type(value).__name__ == of.name:
            return [getattr(value, f) for f in of.fields]
        if not of.name and isinstance(value, tuple) and len(value) == len(of.items):
            return list(value)
        raise NotGenerated(f"a value that is no {of.name or 'tuple'}")

    def _columns(self, of: Type, value: Any, rank: int) -> list[Any]:
        """Take an array apart into one numpy array for each leaf of its elements."""
        match of:
            case Float() | Int() | Bool():
                return [_array(type(of).__name__.lower(), value, rank)]
            case Array(element):
                return self._columns(element, value, rank + 1)
            case Product(items) if rank == 1 and isinstance(value, list | tuple):
                columns = list(zip(*(self._parts(of, v) for v in value), strict=True)) or [()] * len(items)
                each = zip(items, columns, strict=True)
                return [leaf for t, column in each for leaf in self._columns(t, list(column), 1)]
            case Sum() | Named():
                whole: Type = of
                for _ in range(rank):
                    whole = Array(whole)
                return self.rows_in(whole, form_of(self.layout, whole), value)
        raise NotGenerated(f"an array of {type(of).__name__}")

    def out(self, of: Type, value: Value, taken: Iterator[Any], like: Any = None) -> Any:
        """Put leaves together to a Python value of the form of a `Value`."""
        return self._at(of, value, [next(taken) for _ in places(value)], (), like)

    def _at(
        self, of: Type, value: Value, arrays: list[Any], index: tuple[int, ...], like: Any, is_cotangent: bool = False
    ) -> Any:
        if is_cotangent and is_discrete(of):
            return None
        match of, value:
            case _, Boxed():
                return (
                    self.boxing.cotangent_out(of)(arrays[0], like) if is_cotangent else self.boxing.out(of)(arrays[0])
                )
            case _, Member() | Choice():
                return self._member_at(of, value, arrays, index, like, is_cotangent)
            case Product(items, name), Tup(parts):
                if of == UNIT:
                    return None
                likes = [None] * len(items) if like is None else self._parts(of, like)
                taken = iter(arrays)
                made = []
                for t, v, k in zip(items, parts, likes, strict=True):
                    made.append(self._at(t, v, [next(taken) for _ in places(v)], index, k, is_cotangent))
                return self.classes[name](*made) if name else tuple(made)
            case Array(element), Items(parts):
                taken = iter(arrays)
                each = [
                    self._at(element, v, [next(taken) for _ in places(v)], index, None, is_cotangent) for v in parts
                ]
                return _sequence(element, each)
            case Array(), Along():
                return self._array_at(of, value, arrays, index, like, is_cotangent)
        x = arrays[0][index] if index else arrays[0]
        return x.item() if isinstance(x, np.ndarray | np.generic) else x

    def _member_at(
        self, of: Type, value: Member | Choice, arrays: list[Any], index: tuple[int, ...], like: Any, is_cotangent: bool
    ) -> Any:
        """Put a member of a sum together; the cotangent of one without floats is that class with nothing in it."""
        if isinstance(value, Member):
            return self._at(self.layout.options(of)[value.option], value.payload, arrays, index, like, is_cotangent)
        k = self._option(of, like) if is_cotangent else int(arrays[0][index] if index else arrays[0])
        option = self.layout.options(of)[k]
        if is_cotangent and isinstance(option, Product) and option.name and is_discrete(option):
            return self.classes[option.name](*(None for _ in option.items))
        return self._at(option, value.options[k], _taken(value, arrays, k), index, like, is_cotangent)

    def _array_at(
        self, of: Array, value: Along, arrays: list[Any], index: tuple[int, ...], like: Any, is_cotangent: bool
    ) -> Any:
        inner = value.element
        whole = arrays[0][index] if index and arrays[0] is not None else arrays[0]  # discrete leaves may be None
        if value.sizes is None and len(arrays) == 1 and isinstance(_innermost(inner), Ref):
            return _shaped(whole, like)
        if like is not None:
            count = len(like)
        else:
            count = whole.shape[0] if value.sizes is None else int(arrays[-1][index] if index else arrays[-1])
        if isinstance(inner, Ref):
            return _shaped(whole[:count], like)
        own = arrays if value.sizes is None else arrays[:-1]
        if isinstance(inner, Along) and isinstance(inner.element, Ref) and type(like) is list and _are_arrays(like):
            rows = own[0][index] if index else own[0]
            return [row[: len(k)] for row, k in zip(rows, like, strict=False)]
        likes = list(like) if isinstance(like, list | tuple | np.ndarray) else [None] * count
        each = (self._at(of.element, inner, own, (*index, i), likes[i], is_cotangent) for i in range(count))
        if isinstance(like, list | tuple):
            return type(like)(each)
        return _sequence(of.element, list(each))

    def cotangent_in(self, of: Type, value: Value, cotangent: Any, results: Sequence[Any]) -> list[Any]:
        """Take a cotangent of a result, whose leaves are given, apart; zero stands for None and for discrete parts."""
        if cotangent is None or is_discrete(of):
            return [None if place.kind in ("box", "list") else 0.0 for place in places(value)]
        match of, value:
            case _, Boxed():
                return [self.boxing.cotangent_into(of)(cotangent, results[0])]
            case _, Member(_, k, payload):
                return self.cotangent_in(self.layout.options(of)[k], payload, cotangent, results)
            case _, Choice():
                return self._member_cotangent(of, value, cotangent, results)
            case Product(items), Tup(parts):
                left = iter(results)
                each = zip(items, parts, self._parts(of, cotangent), strict=True)
                return [x for t, v, d in each for x in self.cotangent_in(t, v, d, [next(left) for _ in places(v)])]
            case Array(element), Items(parts):
                if not isinstance(cotangent, np.ndarray | list | tuple) or len(cotangent) != len(parts):
                    raise NotGenerated("a cotangent of another size")
                left = iter(results)
                pairs = zip(parts, cotangent, strict=True)
                return [x for v, d in pairs for x in self.cotangent_in(element, v, d, [next(left) for _ in places(v)])]
            case Float(), _:
                return [_number("float", cotangent)]
            case Array(), Along() if isinstance(_innermost(value), Ref) and not _is_ragged(value):
                return self.leaves_in(of, cotangent)
            case Array(element), Along(_, inner, None) if _has_sums(inner):
                return self._cotangents(element, inner, cotangent, results)
            case Array(), Along():
                return rows_in(of, value, cotangent, self._parts, _or_zero, fill=0.0, member=self._member)
        raise NotGenerated("a cotangent of another form")

    def _member_cotangent(self, of: Type, value: Choice, cotangent: Any, results: Sequence[Any]) -> list[Any]:
        """Take the cotangent of a member of a sum apart; it has to be of the option that the member is of."""
        taken = int(results[0])
        own = _taken(value, results, taken)
        given: list[Any] = [0.0]
        for k, (t, v) in enumerate(zip(self.layout.options(of), value.options, strict=True)):
            given += self.cotangent_in(t, v, cotangent if k == taken else None, own)
        return given

    def _cotangents(self, element: Type, form: Value, cotangents: Any, results: Sequence[Any]) -> list[Any]:
        """Take the cotangents of members of sums apart, one by one, and put them into arrays."""
        if len(cotangents) != len(results[0]):
            raise NotGenerated("a cotangent of another size")
        rows = [self.cotangent_in(element, form, d, [r[i] for r in results]) for i, d in enumerate(cotangents)]
        if not rows:
            return [0.0 for _ in places(form)]
        return [np.array(column, dtype=float) for column in zip(*rows, strict=True)]

    def cotangent_out(self, of: Type, value: Value, found: Iterator[Any], like: Any) -> Any:
        """Put the leaves of a cotangent together, in the form of its primal; discrete parts are None."""
        return self._at(of, value, [next(found) for _ in places(value)], (), like, is_cotangent=True)


def _taken(value: Choice, arrays: Sequence[Any], k: int) -> list[Any]:
    """Give the leaves of the option that counts."""
    start = 1 + sum(1 for option in value.options[:k] for _ in places(option))
    return list(arrays[start : start + sum(1 for _ in places(value.options[k]))])


def _unread(place: Place) -> Any:
    """Give a leaf that nobody reads."""
    zero = {"float": 0.0, "int": 0, "bool": False}.get(place.kind)
    return np.zeros((0,) * place.rank, DTYPES[place.kind]) if place.rank else zero


def _has_sums(value: Value) -> bool:
    match value:
        case Tup(items):
            return any(map(_has_sums, items))
        case Along(_, element):
            return _has_sums(element)
    return isinstance(value, Choice | Member)


def _is_ragged(value: Value) -> bool:
    return any(place.is_ragged for place in places(value))


def _are_arrays(values: list[Any]) -> bool:
    return all(type(v) is np.ndarray and v.ndim == 1 for v in values)


def _innermost(value: Value) -> Value:
    while isinstance(value, Along):
        value = value.element
    return value


def _number(kind: str, value: Any) -> Any:
    if type(value) is {"float": float, "int": int, "bool": bool}[kind]:
        return value
    array = value if isinstance(value, np.generic | np.ndarray) else None
    if array is not None and array.shape == () and array.dtype.kind in ACCEPTED[kind]:
        return {"float": float, "int": int, "bool": bool}[kind](array)
    if kind == "float" and type(value) is int:
        return float(value)
    raise NotGenerated(f"a value that is no {kind}")


def _or_zero(kind: str, value: Any) -> Any:
    """Make a number of a part of a cotangent; None is zero, and so is what is discrete."""
    return 0 if value is None or kind != "float" else _number(kind, value)


def _array(kind: str, value: Any, rank: int) -> Any:
    try:
        array = value if isinstance(value, np.ndarray) else np.array(value, dtype=None if len(value) else DTYPES[kind])
    except (ValueError, TypeError):
        raise NotGenerated("an array of rows of different sizes") from None
    if array.size == 0 and array.ndim < rank:
        array = array.reshape(array.shape + (0,) * (rank - array.ndim))
    if array.ndim != rank or (array.dtype.kind not in ACCEPTED[kind]):
        raise NotGenerated(f"a value that is no array of {kind}")
    return np.asarray(array, dtype=DTYPES[kind])


def _shaped(array: Any, like: Any) -> Any:
    if isinstance(like, list | tuple):
        return type(like)(_nested(row, k) for row, k in zip(array, like, strict=True))
    return array


def _nested(row: Any, like: Any) -> Any:
    if isinstance(row, np.ndarray) and row.ndim:
        return _shaped(row, like)
    return row.item()


def _sequence(element: Type, values: list[Any]) -> Any:
    while isinstance(element, Array):
        element = element.element
    if isinstance(element, Float | Int | Bool) and len({np.shape(v) for v in values}) <= 1:
        return np.array(values, dtype=DTYPES[type(element).__name__.lower()])
    return values
