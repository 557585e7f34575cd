"""Lowering of arrays: reading and building them; conversion between values and lists of operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..intermediate import statements as F
from ..intermediate.operations import REAL, WHOLE
from ..language.types import INT, Array, LNamed, Product, Sum, Type
from . import patterns as P
from . import values as V
from .blocks import Block
from .builder import Builder, converted, zero_of
from .patterns import part

ZERO_SIZE = F.Const(0, WHOLE)


def replace(statements: list[F.Statement], made: F.New, base: F.Var, index: F.Operand) -> bool:
    """Make a new array a row of another one."""
    for k, s in enumerate(statements):
        if s is made:
            statements[k] = F.Row(made.out, base, (index,), False)
            return True
        if isinstance(s, F.Join) and replace(s.body, made, base, index):
            return True
    return False


class Arrays:
    """Methods of the rules that read and build arrays, and pass values on; `b` is the builder."""

    b: Builder

    # ------------------------------------------------------------ reading

    def operand(self, value: V.Value) -> F.Operand:
        """Give a scalar or a box."""
        if isinstance(value, F.Var | F.Const):
            return value
        if isinstance(value, V.Zero):
            return F.Const(0.0, REAL)
        raise V.NotLowered(f"a {type(value).__name__} instead of a scalar")

    def size(self, value: V.Value) -> F.Operand:
        """Give the size of an array."""
        match value:
            case V.Items(items):
                return F.Const(len(items), WHOLE)
            case V.Pull(size):
                return size
            case V.Rows(None, element):
                part = P.first_part(element)
                if part is None:
                    raise V.NotLowered("rows without elements")
                return self.b.size(part.array, len(part.indices))
            case V.Rows(size):
                assert size is not None
                return size
        raise V.NotLowered(f"the size of a {type(value).__name__}")

    def index(self, value: V.Value, i: F.Operand, hint: str = "x") -> V.Value:
        """Give ``value[i]``."""
        if isinstance(value, V.Items) and isinstance(i, F.Const) and -len(value.items) <= i.value < len(value.items):  # type: ignore[operator]
            return value.items[i.value]  # type: ignore[index]
        if isinstance(value, V.Items):
            value = self.stored_items(value)
        within = self.b.is_within(i, self.size(value))
        if isinstance(value, V.Pull):
            return value.at(self.checked(i, value.size, within))
        assert isinstance(value, V.Rows)
        if P.first_part(value.element) is None and not within:
            i = self.checked(i, self.size(value), within)
        return self.element(value.element, i, not within, hint)

    def stored_items(self, items: V.Items) -> V.Rows:
        """Store items where all are computed, before the loops and branches that do not compute them."""
        used = list(P.variables(items))
        home = self.b.block if None in used else self.b.deepest([x for x in used if x is not None])
        child = next((block for block in self.b.block.chain() if block.parent is home), None)
        if home is self.b.block or child is None or child.before is None:
            return self.rows(items)
        with self.b.at(child.before, home):
            return self.rows(items)

    def checked(self, i: F.Operand, size: F.Operand, within: bool) -> F.Operand:
        """Give a non-negative index; the program raises IndexError if there is none."""
        if within:
            return i
        self.b.add(F.Check(i, size))
        return i if isinstance(i, F.Const) and i.value >= 0 else self.b.compute("imod", i, size)  # type: ignore[operator]

    def element(self, of: V.Value, i: F.Operand, checked: bool, hint: str = "x") -> V.Value:
        """Give the element at an index, from the pattern of all elements."""
        match of:
            case V.Part(array, indices):
                return self.part(array, (*indices, i), checked, hint)
            case V.Tup() | V.Member() | V.Rows():
                return V.rebuilt(of, lambda x: self.element(x, i, checked, hint))
            case V.Steps(block, value):
                return V.Taken(block, value, i)
        return of

    def part(self, array: F.Var, indices: tuple[F.Operand, ...], checked: bool, hint: str) -> V.Value:
        """Give a part of an array: an element if all indices are given, otherwise the start of a row.

        A row that may not exist is read at its index, even if its elements are not.
        """
        of = array.type
        assert isinstance(of, F.ArrayOf)
        if len(indices) < of.rank and not checked:
            return V.Part(array, indices)
        found = self.b.load(array, indices, checked, hint if len(indices) == of.rank else "row")
        return V.Part(found) if isinstance(found.type, F.ArrayOf) else found

    # ------------------------------------------------------------ building

    def build(
        self,
        size: F.Operand,
        at: Callable[[F.Operand], V.Value],
        hint: str = "i",
        keeps: bool = False,
        is_parallel: bool = False,
    ) -> V.Rows:
        """Write a loop that makes an array."""
        with self.b.loop(size, hint=hint, keeps=keeps, is_parallel=is_parallel) as body:
            value = at(body.step)
            element = self.kept_element(value, size, body)
        return V.Rows(size, element)

    def kept_element(self, value: V.Value, size: F.Operand, body: Block) -> V.Value:
        """Store the value of a step in arrays; return the pattern of all elements."""
        match value:
            case F.Const():
                return value
            case F.Var():
                if self.b.homes[value.name] in list(body.chain())[1:]:
                    return value
                array = self.before(body, F.ArrayOf(value.type), (size,))
                self.b.add(F.Store(array, (body.step,), value))
                return V.Part(array)
            case V.Tup() | V.Member():
                return V.rebuilt(value, lambda x: self.kept_element(x, size, body))
            case V.Rows() | V.Pull() | V.Items():
                rows = self.rows(value)
                return V.ZERO if P.is_zero(rows) else self.kept_rows(rows, size, body)
        if isinstance(value, V.FUNCTIONS):
            return V.Steps(body, value)
        if isinstance(value, V.Zero):
            outside = list(body.chain())[1:]
            known = all(v is not None and self.b.homes[v.name] in outside for v in P.variables(value))
            return value if known else V.ZERO
        raise V.NotLowered(f"an array of {type(value).__name__}")

    def before(self, body: Block, of: F.ArrayOf, sizes: tuple[F.Operand, ...]) -> F.Var:
        """Make an array directly before a loop."""
        assert body.before is not None
        assert body.parent is not None
        with self.b.at(body.before, body.parent):
            return self.b.new(of, sizes)

    def kept_rows(self, rows: V.Rows, size: F.Operand, body: Block) -> V.Rows:
        """Store the row of a step: in an array of one more dimension if all rows have the same size, else unchanged."""
        fixed = self.with_fixed_sizes(rows, body)
        if fixed is not None and P.is_dense(rows) and not P.holds_boxes(rows):
            return self.dense_rows(fixed, size, body, ())
        return V.Rows(None, self.row_references(rows, size, body))

    def with_fixed_sizes(self, rows: V.Rows, body: Block) -> V.Rows | None:
        """Give the row of a step with sizes that are known before the loop; None if a size depends on the step."""
        if rows.size is None:
            return rows
        size = self.fixed_size(rows.size, body)
        inner: V.Value | None = rows.element
        if isinstance(inner, V.Rows):
            inner = self.with_fixed_sizes(inner, body)
        return None if size is None or inner is None else V.Rows(size, inner)

    def fixed_size(self, size: F.Operand, body: Block) -> F.Operand | None:
        """Give a size before a loop, where the steps check the equality of sizes; None if it depends on the step."""
        if isinstance(size, F.Const) or self.b.homes[size.name] in list(body.chain())[1:]:
            return size
        made = self.b.made.get(size.name)
        if not isinstance(made, F.Compute) or made.operation.name not in ("isame", "iequal", "imax"):
            return None
        first = self.fixed_size(made.args[0], body)
        if first is None or made.operation.name != "imax":
            return first
        second = self.fixed_size(made.args[1], body)
        if second is None or (second == F.Const(0, WHOLE) and self.is_size(first)):
            return None if second is None else first
        assert body.before is not None and body.parent is not None
        with self.b.at(body.before, body.parent):
            return self.b.compute("imax", first, second)

    def is_size(self, x: F.Operand) -> bool:
        """Tell whether a number is the size of an array, or equal to one, and so not negative."""
        made = self.b.made.get(x.name) if isinstance(x, F.Var) else None
        if isinstance(made, F.Compute) and made.operation.name in ("isame", "iequal"):
            return any(map(self.is_size, made.args))
        return isinstance(made, F.Size)

    def dense_rows(self, rows: V.Rows, size: F.Operand, body: Block, dims: tuple[F.Operand, ...]) -> V.Rows:
        """Store rows in arrays of one more dimension."""
        assert rows.size is not None
        dims = (*dims, rows.size)

        def go(of: V.Value) -> V.Value:
            match of:
                case V.Part(array, indices):
                    assert isinstance(array.type, F.ArrayOf)
                    own = dims[: array.type.rank - len(indices)]  # the elements are the same along further axes
                    base = self.before(body, F.ArrayOf(array.type.element, 1 + len(own)), (size, *own))
                    self.copy_row(base, body, array, indices, own)
                    return V.Part(base)
                case V.Tup() | V.Member():
                    return V.rebuilt(of, go)
                case V.Rows():
                    return self.dense_rows(of, size, body, dims)
                case F.Var() if self.b.homes[of.name] not in list(body.chain())[1:]:
                    return self.kept_element(of, size, body)
            return of

        return V.Rows(rows.size, go(rows.element))

    def copy_row(
        self, base: F.Var, body: Block, array: F.Var, indices: tuple[F.Operand, ...], dims: tuple[F.Operand, ...]
    ) -> None:
        """Allocate an array that the step makes inside a larger one; copy any other array."""
        made = self.b.made.get(array.name)
        if isinstance(made, F.New) and made.sizes and not indices and replace(body.statements, made, base, body.step):
            self.b.made[array.name] = F.Row(array, base, (body.step,), False)
            return

        def go(at: tuple[F.Operand, ...], rest: tuple[F.Operand, ...]) -> None:
            if not rest:
                self.b.add(F.Store(base, (body.step, *at), self.b.load(array, (*indices, *at), False)))
                return
            with self.b.loop(rest[0], hint="j") as inner:
                go((*at, inner.step), rest[1:])

        go((), dims)

    def row_references(self, rows: V.Rows, size: F.Operand, body: Block) -> V.Value:
        """Store references to the rows of each leaf."""

        def go(of: V.Value) -> V.Value:
            match of:
                case V.Part():
                    row = self.whole(of)
                    base = self.before(body, F.ArrayOf(row.type), (size,))
                    self.b.add(F.Store(base, (body.step,), row))
                    return V.Part(base)
                case V.Tup() | V.Member():
                    return V.rebuilt(of, go)
                case V.Rows(_, element):
                    return V.Rows(None, go(element))
            return of

        found = go(self.spread(rows).element)
        if P.first_part(found) is None:
            raise V.NotLowered("rows of different sizes without elements")
        return found

    def replaced(self, rows: V.Rows, index: F.Operand, is_there: bool, value: V.Value) -> V.Rows:
        """Give an array with the element at an index replaced; a negative index in range counts from the end."""
        assert rows.size is not None
        if is_there and not self.b.is_within(index, rows.size):
            made = self.b.made.get(index.name) if isinstance(index, F.Var) else None
            if not (isinstance(made, F.Compute) and made.operation.name == "imod" and made.args[1] == rows.size):
                index = self.b.compute("imod", index, rows.size)
        return self.changed(rows, index, value, is_there)

    def own(self, rows: V.Rows) -> V.Rows:
        """Give an array to change: a copy, or the array itself if nothing else uses it afterwards.

        It is written as a change of an element that is not there, so that `in_place` chooses between the two.
        """
        return self.changed(rows, F.Const(-1, WHOLE), V.ZERO, is_there=False)

    def changed(self, rows: V.Rows, index: F.Operand | None, value: V.Value | None, is_there: bool = True) -> V.Rows:
        """Give an array with one element replaced, appended or removed."""

        def go(of: V.Value, x: V.Value | None) -> V.Value:
            if isinstance(of, V.Tup):
                return V.Tup(tuple(go(y, None if x is None else part(x, k)) for k, y in enumerate(of.items)))
            assert isinstance(of, V.Part) and isinstance(of.array.type, F.ArrayOf)
            out = self.b.fresh("a", of.array.type)
            new = zero_of(of.array.type.element) if isinstance(x, V.Zero) else None if x is None else self.operand(x)
            if is_there and self.is_element(new, of.array, index):
                return of
            self.b.made[out.name] = made = F.Changed(out, of.array, index, new, is_there)
            self.b.add(made)
            return V.Part(out)

        assert rows.size is not None
        size = rows.size
        if index is None:
            size = self.b.compute("isub" if value is None else "iadd", size, F.Const(1, WHOLE))
        return V.Rows(size, go(rows.element, value))

    def is_element(self, x: F.Operand | None, array: F.Var, index: F.Operand | None) -> bool:
        """Tell whether a value was read from an array at an index, which may have been reduced to the array's size."""
        made = self.b.made.get(x.name) if isinstance(x, F.Var) else None
        is_read = isinstance(made, F.Load) and made.array == array
        return is_read and made.indices[0] in (index, self.unreduced(index))  # type: ignore[union-attr]

    def unreduced(self, index: F.Operand | None) -> F.Operand | None:
        """Give an index before it is reduced to the size of an array."""
        made = self.b.made.get(index.name) if isinstance(index, F.Var) else None
        return made.args[0] if isinstance(made, F.Compute) and made.operation.name == "imod" else index

    def spread(self, rows: V.Rows) -> V.Rows:
        """Give rows with all leaves stored: a value that all elements share is stored for each."""
        if P.all_parts(rows.element):
            return rows
        of = rows
        return self.stored_build(self.size(rows), lambda i: self.index(of, i))

    def stored_build(self, size: F.Operand, at: Callable[[F.Operand], V.Value]) -> V.Rows:
        """Write a loop that makes an array and stores every leaf of every element."""
        with self.b.loop(size, hint="i") as body:
            element = self.kept_element(self.copied(at(body.step), body), size, body)
        return V.Rows(size, element)

    def copied(self, value: V.Value, body: Block) -> V.Value:
        """Give a copy of a value whose scalars and arrays belong to the body."""
        match value:
            case F.Var() | F.Const():
                if isinstance(value, F.Var) and self.b.homes[value.name] is body:
                    return value
                out = self.b.fresh("x", value.type)
                self.b.add(F.Assign((out,), (value,)))
                return out
            case V.Tup() | V.Member():
                return V.rebuilt(value, lambda x: self.copied(x, body))
            case V.Rows() | V.Pull() | V.Items():
                row = value
                return self.stored_build(self.size(row), lambda i: self.index(row, i))
        return value

    def rows(self, value: V.Value) -> V.Rows:
        """Give an array stored in memory."""
        match value:
            case V.Rows():
                return value
            case V.Pull(size, at):
                return self.build(size, at)
            case V.Items(items, of):
                return self.stacked(items, of)
        raise V.NotLowered(f"a {type(value).__name__} instead of an array")

    def laid(self, value: V.Value) -> V.Value:
        """Give a value whose arrays are stored in memory, so that it is known whether their rows have equal sizes."""
        match value:
            case V.Pull(size, at):
                return self.build(size, at)
            case V.Tup() | V.Member():
                return V.rebuilt(value, self.laid)
        return value

    def stacked(self, items: tuple[V.Value, ...], of: Type) -> V.Rows:
        """Store items side by side; see `Cotangents`."""
        raise NotImplementedError

    def whole(self, of: V.Part) -> F.Var:
        """Give a part of an array as a separate array."""
        if not of.indices:
            return of.array
        return self.b.load(of.array, of.indices, hint="row")

    # ------------------------------------------------------------ lists of operands: parameters, results, joins, loops

    def flat(self, value: V.Value, of: Type, dense: bool) -> list[F.Operand]:
        """Give the operands of a value, one for each of `leaf_types`."""
        match P.stored(of):
            case Product(items):
                return [x for k, t in enumerate(items) for x in self.flat(part(value, k), t, dense)]
            case Sum(options):
                assert isinstance(value, V.Member)
                found = [self.operand(value.tag)]
                for t, x in zip(options, value.options, strict=True):
                    found += (
                        [self.nothing(leaf) for leaf in P.leaf_types(t, dense)] if x is None else self.flat(x, t, dense)
                    )
                return found
            case Array() as array:
                return self.flat_rows(value, array, dense)
            case LNamed(name):
                return [F.Const(None, F.BoxOf(name, True)) if isinstance(value, V.Zero) else self.operand(value)]
        return [converted(self.operand(value), P.leaf_type(of))]

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
                if P.first_part(like.element) is None:
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
            return [F.Const(None, t) for t in P.array_types(of, dense)]
        rows = self.rows(value)
        wanted = P.array_types(of, dense)
        if not wanted:
            return [self.size(rows)]
        if P.all_parts(rows.element):
            found: list[F.Operand] = [self.whole(p) for p in P.parts(rows.element)]
            if [x.type for x in found] == wanted:
                return found
        return list(self.converted(rows, of, dense))

    def converted(self, rows: V.Rows, of: Array, dense: bool) -> list[F.Var]:
        """Copy an array so that every leaf is stored, with rows as references unless they are dense."""
        element = of.element
        wanted = P.array_types(of, dense)
        size = self.size(rows)
        if dense and not P.is_dense(rows):
            raise V.NotLowered("rows of different sizes instead of equal ones")
        arrays = [self.b.new(t, (size, *self.inner_sizes(rows, t.rank - 1))) for t in wanted]
        with self.b.loop(size, hint="i") as body:
            self.write(arrays, (body.step,), self.index(rows, body.step), element, dense)
        return arrays

    def inner_sizes(self, rows: V.Rows, count: int) -> tuple[F.Operand, ...]:
        """Give the sizes of the rows of a dense array."""
        found: list[F.Operand] = []
        inner: V.Value = rows.element
        while len(found) < count:
            row = P.first_rows(inner)
            if row is None or row.size is None:
                raise V.NotLowered("rows of unknown sizes")
            found.append(row.size)
            inner = row.element
        return tuple(found)

    def write(self, arrays: list[F.Var], at: tuple[F.Operand, ...], value: V.Value, of: Type, dense: bool) -> None:
        """Store an element's leaves."""
        of = P.stored(of)
        if isinstance(of, Array) and dense:
            rows = self.rows(value)
            with self.b.loop(self.size(rows), hint="j") as body:
                self.write(arrays, (*at, body.step), self.index(rows, body.step), of.element, dense)
            return
        if isinstance(of, Product):
            taken = 0
            for k, t in enumerate(of.items):
                n = len(P.array_types(Array(t), dense))
                self.write(arrays[taken : taken + n], at, part(value, k), t, dense)
                taken += n
            return
        for array, x in zip(arrays, self.flat(value, of, dense), strict=True):
            self.b.add(F.Store(array, at, x))

    def restored(
        self, of: Type, leaves: Iterator[F.Var], dense: bool, size: F.Operand | None = None, depth: int = 0
    ) -> V.Value:
        """Build a value from operands: the inverse of `flat`; at a depth, the pattern of the elements of arrays."""
        match P.stored(of):
            case Product(items):
                return V.Tup(tuple(self.restored(t, leaves, dense, depth=depth) for t in items))
            case Sum(options):
                tag, *parts_ = (self.restored(t, leaves, dense, depth=depth) for t in (INT, *options))
                return V.Member(tag, tuple(parts_))
            case Array(element):
                pattern = self.restored(element, leaves, dense, depth=depth + 1)
                first = P.first_part(pattern)
                if size is None and (dense or not depth):
                    size = next(leaves) if first is None else self.b.size(first.array, depth)
                return V.Rows(size, pattern)
        return V.Part(next(leaves)) if depth else next(leaves)

    def declared(self, of: Type, hint: str, dense: bool) -> tuple[V.Value, list[F.Var]]:
        """Make variables for the leaves of a value, such as a parameter."""
        found = [self.b.fresh(str(hint), t) for t in P.leaf_types(of, dense)]
        value = self.restored(of, iter(found), dense)
        self.b.label(value, hint, of)
        return value, found

    def empty(self, element: Type) -> V.Rows:
        """Make an array without elements."""
        of = Array(element)
        leaves = iter([self.b.new(t, (ZERO_SIZE,) * t.rank) for t in P.array_types(of, True)])
        return self.restored(of, leaves, True, ZERO_SIZE)  # type: ignore[return-value]

    # ------------------------------------------------------------ whole arrays

    def total(self, array: V.Value, is_real: bool, in_pairs: bool = False) -> V.Value:
        """Write the sum of an array of numbers; of reals ``in_pairs``, in numpy's order."""
        of, zero = (REAL, F.Const(0.0, REAL)) if is_real else (WHOLE, F.Const(0, WHOLE))
        if isinstance(array, V.Items) and not (in_pairs and is_real and len(array.items) >= F.SUMS):
            found: F.Operand = zero
            for x in array.items:
                found = self.b.compute("add" if is_real else "iadd", found, self.operand(x))
            return found
        if isinstance(array, V.Zero):
            return V.ZERO
        total = self.b.fresh("total", of)
        if in_pairs and is_real:
            self.b.add(F.Sum(total, self.vector(array)))
            return total
        self.b.add(F.Assign((total,), (zero,)))
        with self.b.loop(self.size(array)) as body:
            self.b.add(F.Add(total, self.operand(self.index(array, body.step))))
        return total

    def vector(self, array: V.Value) -> F.Var:
        """Give an array of numbers as one variable; what is not stored as such is copied."""
        found = self.rows(array)
        part = found.element
        if not isinstance(part, V.Part) or self.b.size(part.array, len(part.indices)) != found.size:
            found = self.stored_build(self.size(found), lambda i: self.index(found, i))
            part = found.element
        assert isinstance(part, V.Part)
        return self.b.load(part.array, part.indices, False, "row") if part.indices else part.array

    def copy(self, array: V.Value) -> V.Rows:
        """Copy an array, so that it can be added to in place."""
        rows = self.rows(array)
        return self.stored_build(self.size(rows), lambda i: self.index(rows, i))

    def concatenated(self, first: V.Value, second: V.Value, of: Array) -> V.Value:
        """Write the concatenation of two arrays."""
        parts_ = [self.rows(x) for x in (first, second)]
        sizes = [self.size(x) for x in parts_]
        if isinstance(first, V.Items) and isinstance(second, V.Items):
            return V.Items((*first.items, *second.items), first.of)
        dense = all(map(P.is_dense, parts_)) and not any(P.first_rows(r.element) for r in parts_)
        types = P.array_types(of, dense)
        if not types:
            return V.Rows(self.b.compute("iadd", *sizes), parts_[0].element)
        size = self.b.compute("iadd", *sizes)
        arrays = [self.b.new(t, (size,)) for t in types]
        for rows, n, start in zip(parts_, sizes, (F.Const(0, WHOLE), sizes[0]), strict=True):
            with self.b.loop(n) as body:
                at = self.b.compute("iadd", start, body.step)
                self.write(arrays, (at,), self.index(rows, body.step), of.element, dense)
        return self.restored(of, iter(arrays), dense, size)
