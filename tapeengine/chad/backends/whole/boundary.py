"""Convert Python values to the leaves of whole-array programs (numbers and numpy arrays), and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...._core.programs.native import floats_of
from ....errors import UnsupportedError
from ...convert import Converter, of_plain, refuse_none
from ...intermediate.operations import REAL, TRUTH, WHOLE
from ...intermediate.statements import ArrayOf
from ...intermediate.statements import Type as FormType
from ...linear import Sparse
from ...lowering.patterns import leaf_types
from ...strangers import holds_strange, is_strange, named
from ...types import UNIT, Array, Bool, Float, Int, Product, Sum, Type, is_discrete, numbers_of, rank_of
from ...values import parts_in, record_of
from ..leaves import Values

DTYPES: Mapping[type, Any] = {Float: np.float64, Int: np.int64, Bool: np.bool_}
OF_LEAVES: Mapping[FormType, Any] = {REAL: np.float64, WHOLE: np.int64, TRUTH: np.bool_}
ACCEPTED: Mapping[type, str] = {Float: "fiu", Int: "iu", Bool: "b"}


class NotDense(UnsupportedError):
    """A value cannot be stored in arrays with rows of equal size."""


class Boundary:
    """Converts values of a program's types."""

    def __init__(self, types: Mapping[str, Sum], converter: Converter) -> None:
        self.types = types
        self.converter = converter
        self.values = Values(types, dense=True)

    def inward(self, of: Type, x: Any) -> list[Any]:
        """Decompose a value.

        Raises
        ------
        NotDense, StructureError
            If it has no leaves that are numbers and arrays, or is not of the type.
        """
        match of:
            case Float() | Int() | Bool():
                return [self.converter.inward(of, x, "an argument")]
            case Product(items) if of != UNIT:
                return [leaf for t, v in zip(items, parts(of, x), strict=True) for leaf in self.inward(t, v)]
            case Array() if rank_of(of):
                return [array(of, x)]
        leaves = self.values.flat(of, self.converter.inward(of, x, "an argument"))
        return list(map(as_array, leaves, leaf_types(of, True)))

    def outward(self, of: Type, leaves: Iterator[Any]) -> Any:
        """Rebuild a value."""
        match of:
            case Float():
                return float(next(leaves))
            case Int():
                return int(next(leaves))
            case Bool():
                return bool(next(leaves))
            case Product(items, name, fields) if of != UNIT:
                made = [self.outward(t, leaves) for t in items]
                return record_of(self.converter.classes[name], fields, made) if name else tuple(made)
            case Array() if rank_of(of):
                return next(leaves)
        return self.converter.outward(of, self.inside(of, leaves))

    def inside(self, of: Type, leaves: Iterator[Any]) -> Any:
        """Give the value of terms that has these leaves."""
        return self.values.restored(of, (x.tolist() if isinstance(x, np.ndarray) else x for x in leaves))

    def cotangent_in(self, of: Type, d: Any, results: Iterator[Any], name: str = "value") -> list[Any]:
        """Decompose the cotangent of a value with the given leaves.

        Raises
        ------
        CotangentError
            If it does not fit the value.
        """
        match of:
            case Float() if type(d) is float:
                next(results)
                return [d]
            case Product(items) if of != UNIT and (given := parts_in(of, d)) is not None:
                each = zip(items, given, strict=True)
                return [leaf for t, x in each for leaf in self.cotangent_in(t, x, results, name)]
            case Array() if rank_of(of) and numbers_of(of) == Float():
                value = next(results)
                given = fitting(d, value.shape)
                if given is not None:
                    return [given]
                results = iter([value])
        leaves = [next(results) for _ in leaf_types(of, True)]
        inside = self.inside(of, iter(leaves))
        found = self.converter.cotangent_in(of, d, inside, name)
        if name == "value":
            refuse_none(self.outward(of, iter(leaves)), d, name)
        given = self.values.cotangent_like(of, found, inside, leaves)
        return [np.array(leaf, dtype=float) if isinstance(leaf, list) else leaf for leaf in given]

    def cotangent_out(self, of: Type, leaves: Iterator[Any], like: Any) -> Any:
        """Rebuild the cotangent of an argument, or the tangent of a value; discrete parts are None."""
        if is_discrete(of):
            return of_plain(like, None)
        match of:
            case Float():
                return float(next(leaves))
            case Product(items, name, fields):
                likes = [None] * len(items) if like is None else parts(of, like)
                made = [self.cotangent_out(t, leaves, x) for t, x in zip(items, likes, strict=True)]
                return record_of(self.converter.classes[name], fields, made) if name else tuple(made)
            case Array() if rank_of(of):
                return shaped(next(leaves), like)
        inside = self.converter.inward(of, like, "an argument")
        d = self.values.sparse(of, (x.tolist() if isinstance(x, np.ndarray) else x for x in leaves), inside)
        return self.converter.cotangent_out(of, d, inside, like, Sparse(self.types))


def parts(of: Product, x: Any) -> Sequence[Any]:
    """Give the parts of a tuple or a record."""
    found = parts_in(of, x)
    if found is None or is_strange(x):
        raise NotDense(f"a value that is no {of.name or 'tuple of the same length'}")
    return found


def array(of: Type, x: Any) -> Any:
    """Read an array of numbers."""
    kind, rank = type(numbers_of(of)), rank_of(of)
    if is_strange(x):
        raise NotDense(f"a value of type {named(x)}")
    if not isinstance(x, np.ndarray):
        if not isinstance(x, list | tuple):
            raise NotDense("a value that is not an array")
        try:
            found = floats_of(x) if isinstance(x, list) else None
            if found is None and holds_strange(x):
                raise NotDense("elements of classes of their own")
            x = np.array(x, dtype=None if len(x) else DTYPES[kind]) if found is None else found
        except (ValueError, TypeError):
            raise NotDense("rows of different sizes") from None
    if x.ndim != rank or x.dtype.kind not in ACCEPTED[kind] or (rank > 1 and x.size == 0):
        raise NotDense("a value that is not an array of such numbers")
    return np.asarray(x, dtype=DTYPES[kind])


def as_array(x: Any, of: FormType) -> Any:
    """Give the column of a leaf as an array of its kind, also without elements."""
    return np.asarray(x, dtype=OF_LEAVES.get(of.element)) if isinstance(of, ArrayOf) else x


def fitting(d: Any, shape: tuple[int, ...]) -> Any:
    """Give a cotangent as an array of a shape; None if that is not possible."""
    try:
        found = floats_of(d) if isinstance(d, list) else None
        if found is None:
            found = np.asarray(d, dtype=None if isinstance(d, np.ndarray) else float)
    except (ValueError, TypeError):
        return None
    return np.asarray(found, dtype=float) if found.shape == shape and found.dtype.kind in "fiu" else None


def shaped(x: Any, like: Any) -> Any:
    """Convert an array to lists if its primal is a list."""
    if isinstance(like, list | tuple):
        return type(like)(shaped(row, k) for row, k in zip(x, like, strict=True))
    return x if x.ndim else float(x)
