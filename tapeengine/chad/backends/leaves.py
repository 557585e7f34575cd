"""Convert between values of terms and the leaves that a lowered program takes and gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..derivative_types import cotangent
from ..intermediate.analysis import linear
from ..intermediate.operations import REAL
from ..intermediate.statements import ArrayOf, BoxOf
from ..linear import Sparse
from ..lowering.patterns import array_types, leaf_types, stored
from ..types import Array, Named, Product, Sum, Type, is_discrete
from ..values import Tagged


class Values:
    """Conversion between values of terms and the leaves of a lowered program."""

    def __init__(self, types: Mapping[str, Sum], dense: bool = False) -> None:
        self.types = types
        self.dense = dense

    def option(self, of: Named, index: int) -> tuple[Values, Type]:
        """Give the conversion of the payloads of an option of a recursive sum, as stored in a box, and their type."""
        return Values(self.types) if self.dense else self, self.types[of.name].options[index]

    # ------------------------------------------------------------ values

    def flat(self, of: Type, value: Any) -> list[Any]:
        """Give the leaves of a value."""
        match of:
            case Product(items):
                return [x for t, v in zip(items, value, strict=True) for x in self.flat(t, v)]
            case Sum(options):
                found: list[Any] = [value.option]
                for k, t in enumerate(options):
                    found += (
                        self.flat(t, value.payload) if k == value.option else self.nothing(leaf_types(t, self.dense))
                    )
                return found
            case Array(element):
                return self.columns(array_types(of, self.dense), [self.flat(element, v) for v in value])
            case Named():
                inside, payload = self.option(of, value.option)
                return [(value.option, *inside.flat(payload, value.payload))]
        return [value]

    def nothing(self, types: Sequence[Any]) -> list[Any]:
        """Give leaves that are never read."""
        return [
            self.array([], t) if isinstance(t, ArrayOf) else None if isinstance(t, BoxOf) else 0.0 if t == REAL else 0
            for t in types
        ]

    def columns(self, types: Sequence[ArrayOf], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Give the arrays of the leaves of all elements; only the size if elements have no leaves."""
        if not types:
            return [len(rows)]
        return [self.array([row[k] for row in rows], t) for k, t in enumerate(types)]

    def array(self, column: list[Any], of: ArrayOf) -> Any:
        """Give an array of leaves."""
        if of.rank == 1:
            return column
        return np.array(column, dtype=float if of.element == REAL else int) if column else np.zeros((0,) * of.rank)

    def restored(self, of: Type, leaves: Iterator[Any]) -> Any:
        """Give the value that has these leaves."""
        match of:
            case Product(items):
                return tuple([self.restored(t, leaves) for t in items])
            case Sum(options):
                tag = next(leaves)
                payload: Any = None
                for k, t in enumerate(options):
                    if k == tag:
                        payload = self.restored(t, leaves)
                    else:
                        self.skip(t, leaves)
                return Tagged(tag, payload)
            case Array(element):
                count = len(array_types(of, self.dense))
                if not count:
                    return [self.restored(element, leaves) for _ in range(next(leaves))]
                columns = [next(leaves) for _ in range(count)]
                return [self.restored(element, iter([c[i] for c in columns])) for i in range(len(columns[0]))]
            case Named():
                box = next(leaves)
                inside, option = self.option(of, box[0])
                return Tagged(box[0], inside.restored(option, iter(box[1:])))
        return next(leaves)

    def skip(self, of: Type, leaves: Iterator[Any]) -> None:
        """Skip the leaves of an option that does not occur."""
        for _ in leaf_types(of, self.dense):
            next(leaves)

    # ------------------------------------------------------------ cotangents

    def cotangent(self, of: Type, d: Any, value: Any) -> list[Any]:
        """Give the leaves of a sparse cotangent of a value."""
        if is_discrete(of) or stored(cotangent(of)) == Product(()):
            return []
        match of:
            case Product(items):
                ds = [None] * len(items) if d is None else d
                each = zip(items, ds, value, strict=True)
                return [x for t, y, v in each for x in self.cotangent(t, y, v)]
            case Sum(options):
                return self.cotangent_of_member(options, d, value)
            case Array(element):
                entries = self.entries(element, d, len(value))
                types = array_types(Array(stored(cotangent(element))), self.dense)
                return self.columns(types, [self.cotangent(element, x, v) for x, v in zip(entries, value, strict=True)])
            case Named():
                if d is None:
                    return [None]
                inside, payload = self.option(of, value.option)
                return [(value.option, *inside.cotangent(payload, d.payload, value.payload))]
        return [0.0 if d is None else d]

    def cotangent_like(self, of: Type, d: Any, value: Any, leaves: Iterable[Any]) -> list[Any]:
        """Give the leaves of a sparse cotangent of a value that has these leaves, in their shapes.

        A reverse pass reads the sizes of rows from cotangents; values of terms without rows do not contain them.
        """
        each = zip(leaves, leaf_types(of, self.dense), strict=True)
        likes = [x for x, t in each if linear(t) is not None]
        found = zip(self.cotangent(of, d, value), likes, strict=True)
        return [np.zeros(x.shape) if isinstance(y, np.ndarray) and not y.size else y for y, x in found]

    def entries(self, element: Type, d: Any, size: int) -> list[Any]:
        """Give the cotangents of all elements of an array."""
        if d is None:
            return [None] * size
        return Sparse(self.types).collect(cotangent(Array(element)), d, size)  # type: ignore[arg-type]

    def cotangent_of_member(self, options: Sequence[Type], d: Any, value: Any) -> list[Any]:
        """Give the leaves of a cotangent of a member of a sum: zeros for the other options."""
        found: list[Any] = []
        for k, t in enumerate(options):
            if k == value.option:
                found += self.cotangent(t, None if d is None else d.payload, value.payload)
            elif not is_discrete(t):
                found += self.nothing(leaf_types(stored(cotangent(t)), self.dense))
        return found

    def sparse(self, of: Type, leaves: Iterator[Any], value: Any) -> Any:
        """Give the sparse cotangent of a value that has these leaves."""
        if is_discrete(of) or stored(cotangent(of)) == Product(()):
            return None
        match of:
            case Product(items):
                return tuple([self.sparse(t, leaves, v) for t, v in zip(items, value, strict=True)])
            case Sum(options):
                return self.sparse_of_member(options, leaves, value)
            case Array(element):
                columns = [next(leaves) for _ in array_types(Array(stored(cotangent(element))), self.dense)]
                if columns[0] is None:
                    return None
                rows = enumerate(value)
                return ("entries", [(i, self.sparse(element, iter([c[i] for c in columns]), v)) for i, v in rows])
            case Named():
                box = next(leaves)
                if box is None:
                    return None
                inside, payload = self.option(of, box[0])
                return Tagged(box[0], inside.sparse(payload, iter(box[1:]), value.payload))
        return float(next(leaves))

    def sparse_of_member(self, options: Sequence[Type], leaves: Iterator[Any], value: Any) -> Any:
        """Give the sparse cotangent of a member of a sum."""
        found = None
        for k, t in enumerate(options):
            if k == value.option:
                found = self.sparse(t, leaves, value.payload)
            elif not is_discrete(t):
                for _ in leaf_types(stored(cotangent(t)), self.dense):
                    next(leaves)
        return Tagged(value.option, found)
