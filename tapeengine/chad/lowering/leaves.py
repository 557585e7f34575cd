"""Conversion between values and lists of operands, for parameters, results, joins and loops."""

from __future__ import annotations

from collections.abc import Iterator

from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.lowering import values as V
from tapeengine.chad.lowering.arrays import Arrays
from tapeengine.chad.lowering.builder import converted, zero_of
from tapeengine.chad.lowering.patterns import (
    all_parts,
    array_types,
    first_part,
    first_rows,
    is_dense,
    leaf_type,
    leaf_types,
    part,
    parts,
    stored,
)
from tapeengine.chad.types import (
    Array,
    LNamed,
    Product,
    Sum,
    Type,
)

ZERO_SIZE = F.Const(0, WHOLE)


class Leaves(Arrays):
    """Methods of the rules that pass values from one place to another."""

    def flat(self, value: V.Value, of: Type, dense: bool) -> list[F.Operand]:
        """Give the operands of a value, one for each of `leaf_types`."""
        match stored(of):
            case Product(items):
                return [x for k, t in enumerate(items) for x in self.flat(part(value, k), t, dense)]
            case Sum(options):
                assert isinstance(value, V.Member)
                found = [self.operand(value.tag)]
                for t, x in zip(options, value.options, strict=True):
                    found += (
                        [self.nothing(leaf) for leaf in leaf_types(t, dense)] if x is None else self.flat(x, t, dense)
                    )
                return found
            case Array() as array:
                return self.flat_rows(value, array, dense)
            case LNamed(name):
                return [F.Const(None, F.BoxOf(name, True)) if isinstance(value, V.Zero) else self.operand(value)]
        return [converted(self.operand(value), leaf_type(of))]

    def nothing(self, of: F.Type) -> F.Operand:
        """Give a value of a type that is never read."""
        if isinstance(of, F.ArrayOf):
            return self.b.new(of, (ZERO_SIZE,) * of.rank)
        return F.Const(None, of) if isinstance(of, F.BoxOf) else zero_of(of)

    def default(self, like: V.Value) -> V.Value:
        """Give a value with the pattern of another, which is never read."""
        match like:
            case F.Var() | F.Const():
                return self.nothing(like.type)
            case V.Tup(items):
                return V.Tup(tuple(map(self.default, items)))
            case V.Member(_, options):
                return V.Member(F.Const(0, WHOLE), tuple(None if x is None else self.default(x) for x in options))
            case V.Rows():
                if first_part(like.element) is None:
                    return V.Rows(ZERO_SIZE, like.element)
                return V.Rows(ZERO_SIZE, self.default_rows(like.element))
            case V.Pull() | V.Items():
                return self.default(self.rows(like))
        return like

    def default_rows(self, of: V.Value) -> V.Value:
        """Give the pattern of the elements of an empty array."""
        match of:
            case V.Part(array, indices):
                assert isinstance(array.type, F.ArrayOf)
                rank = array.type.rank - len(indices)
                return V.Part(self.b.new(F.ArrayOf(array.type.element, rank), (ZERO_SIZE,) * rank))
            case V.Rows(size, element):
                return V.Rows(None if size is None else ZERO_SIZE, self.default_rows(element))
            case V.Tup() | V.Member():
                return V.rebuilt(of, self.default_rows)
        return of

    def flat_rows(self, value: V.Value, of: Array, dense: bool) -> list[F.Operand]:
        """Give the arrays of the leaves of an array."""
        if isinstance(value, V.Zero):
            return [F.Const(None, t) for t in array_types(of, dense)]
        rows = self.rows(value)
        wanted = array_types(of, dense)
        if not wanted:
            return [self.size(rows)]
        if all_parts(rows.element) and (first_rows(rows.element) is None or is_dense(rows) == dense):
            found: list[F.Operand] = [self.whole(p) for p in parts(rows.element)]
            if [x.type for x in found] == wanted:
                return found
        return list(self.converted(rows, of, dense))

    def converted(self, rows: V.Rows, of: Array, dense: bool) -> list[F.Var]:
        """Copy an array so that every leaf is stored, with rows as references unless they are dense."""
        element = of.element
        wanted = array_types(of, dense)
        size = self.size(rows)
        if dense and not is_dense(rows):
            raise V.NotLowered("rows of different sizes instead of equal ones")
        arrays = [self.b.new(t, (size, *self.inner_sizes(rows, element, t.rank - 1))) for t in wanted]
        with self.b.loop(size, hint="i") as body:
            self.write(arrays, (body.step,), self.index(rows, body.step), element, dense)
        return arrays

    def inner_sizes(self, rows: V.Rows, element: Type, count: int) -> tuple[F.Operand, ...]:
        """Give the sizes of the rows of a dense array."""
        found: list[F.Operand] = []
        inner: V.Value = rows.element
        while len(found) < count:
            row = first_rows(inner)
            if row is None or row.size is None:
                raise V.NotLowered("rows of unknown sizes")
            found.append(row.size)
            inner = row.element
        return tuple(found)

    def write(self, arrays: list[F.Var], at: tuple[F.Operand, ...], value: V.Value, of: Type, dense: bool) -> None:
        """Store an element's leaves."""
        of = stored(of)
        if isinstance(of, Array) and dense:
            rows = self.rows(value)
            with self.b.loop(self.size(rows), hint="j") as body:
                self.write(arrays, (*at, body.step), self.index(rows, body.step), of.element, dense)
            return
        if isinstance(of, Product):
            taken = 0
            for k, t in enumerate(of.items):
                n = len(array_types(Array(t), dense))
                self.write(arrays[taken : taken + n], at, part(value, k), t, dense)
                taken += n
            return
        for array, x in zip(arrays, self.flat(value, of, dense), strict=True):
            self.b.add(F.Store(array, at, x))

    def restored(self, of: Type, leaves: Iterator[F.Var], dense: bool, size: F.Operand | None = None) -> V.Value:
        """Build a value from operands: the inverse of `flat`."""
        match stored(of):
            case Product(items):
                return V.Tup(tuple(self.restored(t, leaves, dense) for t in items))
            case Sum(options):
                tag = next(leaves)
                return V.Member(tag, tuple(self.restored(t, leaves, dense) for t in options))
            case Array(element) as array:
                if not array_types(array, dense):
                    return V.Rows(size or next(leaves), self.pattern(element, leaves, dense, 1))
                pattern = self.pattern(element, leaves, dense, 1)
                first = first_part(pattern)
                assert first is not None
                return V.Rows(size or self.b.size(first.array), pattern)
        return next(leaves)

    def pattern(self, of: Type, leaves: Iterator[F.Var], dense: bool, depth: int) -> V.Value:
        """Give the pattern of the elements of stored arrays."""
        match stored(of):
            case Product(items):
                return V.Tup(tuple(self.pattern(t, leaves, dense, depth) for t in items))
            case Sum(options):
                tag = V.Part(next(leaves))
                return V.Member(tag, tuple(self.pattern(t, leaves, dense, depth) for t in options))
            case Array(element):
                inner = self.pattern(element, leaves, dense, depth + 1)
                first = first_part(inner)
                assert first is not None
                return V.Rows(self.b.size(first.array, depth) if dense else None, inner)
        return V.Part(next(leaves))

    def declared(self, of: Type, hint: str, dense: bool) -> tuple[V.Value, list[F.Var]]:
        """Make variables for the leaves of a value, such as a parameter."""
        types = leaf_types(of, dense)
        found = [self.b.fresh(hint if len(types) == 1 else f"{hint}_{k}", t) for k, t in enumerate(types)]
        return self.restored(of, iter(found), dense), found

    def empty(self, element: Type) -> V.Rows:
        """Make an array without elements."""
        of = Array(element)
        leaves = iter([self.b.new(t, (ZERO_SIZE,) * t.rank) for t in array_types(of, True)])
        return self.restored(of, leaves, True, ZERO_SIZE)  # type: ignore[return-value]

    # ------------------------------------------------------------ whole arrays

    def total(self, array: V.Value, is_real: bool) -> V.Value:
        """Write the sum of an array of numbers."""
        of, zero = (REAL, F.Const(0.0, REAL)) if is_real else (WHOLE, F.Const(0, WHOLE))
        if isinstance(array, V.Items):
            found: F.Operand = zero
            for x in array.items:
                found = self.b.compute("add" if is_real else "iadd", found, self.operand(x))
            return found
        if isinstance(array, V.Zero):
            return V.ZERO
        total = self.b.fresh("total", of)
        self.b.add(F.Assign((total,), (zero,)))
        with self.b.loop(self.size(array)) as body:
            self.b.add(F.Add(total, self.operand(self.index(array, body.step))))
        return total

    def copy(self, array: V.Value, of: Type) -> V.Rows:
        """Copy an array, so that it can be added to in place."""
        assert isinstance(of, Array)
        rows = self.rows(array)
        return self.stored_build(self.size(rows), lambda i: self.index(rows, i))

    def concatenated(self, first: V.Value, second: V.Value, of: Array) -> V.Value:
        """Write the concatenation of two arrays."""
        parts_ = [self.rows(x) for x in (first, second)]
        sizes = [self.size(x) for x in parts_]
        if isinstance(first, V.Items) and isinstance(second, V.Items):
            return V.Items((*first.items, *second.items), first.of)
        dense = all(map(is_dense, parts_)) and not any(first_rows(r.element) for r in parts_)
        types = array_types(of, dense)
        if not types:
            return V.Rows(self.b.compute("iadd", *sizes), parts_[0].element)
        size = self.b.compute("iadd", *sizes)
        arrays = [self.b.new(t, (size,)) for t in types]
        for rows, n, start in zip(parts_, sizes, (F.Const(0, WHOLE), sizes[0]), strict=True):
            with self.b.loop(n) as body:
                at = self.b.compute("iadd", start, body.step)
                self.write(arrays, (at,), self.index(rows, body.step), of.element, dense)
        return self.restored(of, iter(arrays), dense, size)
