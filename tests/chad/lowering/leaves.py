"""Python's values as the leaves that a lowered program takes, and back; for tests."""

import numpy as np

from tapeengine.chad.derivative_types import cotangent
from tapeengine.chad.intermediate.statements import REAL, ArrayOf, BoxOf
from tapeengine.chad.linear import Sparse
from tapeengine.chad.lowering.patterns import array_types, leaf_types, stored
from tapeengine.chad.types import Array, Named, Product, Sum, is_discrete
from tapeengine.chad.values import Tagged


class Leaves:
    """How values of types lie in leaves; `types` says what named types stand for."""

    def __init__(self, types, dense=True):
        self.types, self.dense = types, dense

    def flat(self, of, value):
        match of:
            case Product(items):
                return [x for t, v in zip(items, value, strict=True) for x in self.flat(t, v)]
            case Sum(options):
                found = [value.option]
                for k, t in enumerate(options):
                    found += self.flat(t, value.payload) if k == value.option else self.nothing(t)
                return found
            case Array(element):
                return self.rows(element, list(value))
            case Named(name):
                return [
                    (
                        value.option,
                        *Leaves(self.types, False).flat(self.types[name].options[value.option], value.payload),
                    )
                ]
        return [value]

    def nothing(self, of):
        match of:
            case Product(items):
                return [x for t in items for x in self.nothing(t)]
            case Sum(options):
                return [0, *(x for t in options for x in self.nothing(t))]
            case Array(element):
                return self.rows(element, [])
            case Named():
                return [None]
        return [0.0]

    def rows(self, element, values):
        if not array_types(Array(element), self.dense):
            return [len(values)]
        columns = [[] for _ in array_types(Array(element), self.dense)]
        for v in values:
            for column, x in zip(columns, self.flat(element, v), strict=True):
                column.append(x)
        return [self.array(c, t) for c, t in zip(columns, array_types(Array(element), self.dense), strict=True)]

    def array(self, column, of):
        if of.rank == 1:
            return column
        return np.array(column, dtype=float if of.element == REAL else int) if len(column) else np.zeros((0,) * of.rank)

    def restored(self, of, leaves):
        match of:
            case Product(items):
                return tuple(self.restored(t, leaves) for t in items)
            case Sum(options):
                tag = next(leaves)
                payloads = [self.restored(t, leaves) for t in options]
                return Tagged(tag, payloads[tag])
            case Array(element):
                columns = [next(leaves) for _ in array_types(of, self.dense) or [0]]
                if not array_types(of, self.dense):
                    return [self.unit(element)] * columns[0]
                return [self.restored(element, iter([c[i] for c in columns])) for i in range(len(columns[0]))]
            case Named(name):
                box = next(leaves)
                return Tagged(
                    box[0], Leaves(self.types, False).restored(self.types[name].options[box[0]], iter(box[1:]))
                )
        return next(leaves)

    def unit(self, of):
        return tuple(map(self.unit, of.items)) if isinstance(of, Product) else ()

    def cotangent(self, of, d, value):
        """The leaves of a sparse cotangent of a value."""
        match of:
            case Product(items):
                ds = [None] * len(items) if d is None else d
                return [x for t, y, v in zip(items, ds, value, strict=True) for x in self.cotangent(t, y, v)]
            case Sum(options):
                found = []
                for k, t in enumerate(options):
                    mine = k == value.option
                    found += (
                        self.cotangent(t, None if d is None else d.payload, value.payload)
                        if mine
                        else self.no_cotangent(t)
                    )
                return found
            case Array() if stored(cotangent(of)) == Product(()):
                return []
            case Array(element):
                entries = {} if d is None else dict(Sparse().entries(d))
                types = array_types(stored(cotangent(of)), self.dense)
                each = [self.cotangent(element, entries.get(i), v) for i, v in enumerate(value)]
                columns = [[row[k] for row in each] for k in range(len(types))]
                return [self.array(c, t) for c, t in zip(columns, types, strict=True)]
            case Named(name):
                if d is None:
                    return [None]
                inner = Leaves(self.types, False)
                return [
                    (value.option, *inner.cotangent(self.types[name].options[value.option], d.payload, value.payload))
                ]
        return [] if is_discrete(of) else [0.0 if d is None else d]

    def no_cotangent(self, of):
        return (
            [
                []
                if isinstance(t, ArrayOf) and t.rank == 1
                else np.zeros((0,) * t.rank)
                if isinstance(t, ArrayOf)
                else None
                if isinstance(t, BoxOf)
                else 0.0
                for t in leaf_types(stored(cotangent(of)), self.dense)
            ]
            if not is_discrete(of)
            else []
        )

    def entries(self, of, leaves, value, path=()):
        """The entries of a cotangent that are not zero, by their paths."""
        match of:
            case Product(items):
                return {
                    k: x
                    for i, (t, v) in enumerate(zip(items, value, strict=True))
                    for k, x in self.entries(t, leaves, v, (*path, i)).items()
                }
            case Sum(options):
                found = {}
                for k, t in enumerate(options):
                    if k == value.option:
                        found = self.entries(t, leaves, value.payload, path)
                    else:
                        for _ in leaf_types(stored(cotangent(t)), self.dense) if not is_discrete(t) else []:
                            next(leaves)
                return found
            case Array(element):
                if stored(cotangent(of)) == Product(()):
                    return {}
                columns = [next(leaves) for _ in array_types(stored(cotangent(of)), self.dense)]
                if any(c is None for c in columns):
                    assert all(c is None for c in columns)
                    return {}
                assert all(len(c) == len(value) for c in columns)
                return {
                    k: x
                    for i, v in enumerate(value)
                    for k, x in self.entries(element, iter([c[i] for c in columns]), v, (*path, i)).items()
                }
            case Named(name):
                box = next(leaves)
                if box is None:
                    return {}
                assert box[0] == value.option
                inner = Leaves(self.types, False)
                return inner.entries(self.types[name].options[box[0]], iter(box[1:]), value.payload, path)
        if is_discrete(of):
            return {}
        x = float(next(leaves))
        return {path: x} if x != 0 else {}
