"""Write statements: blocks, fresh names, sharing of equal values, and moving invariant statements out of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..intermediate import statements as F
from ..intermediate.operations import REAL, TRUTH, WHOLE, Operation, operation
from ..language.traverse import Name, Names, derivative_name
from . import values as V
from .blocks import Block
from .patterns import tangent_type
from .values import NotLowered

#: Operations that give one of two sizes, and stop a run if they differ.
SAME_SIZES = ("iequal", "isame")
NUMBERS: Mapping[F.Type, Callable[[Any], Any]] = {REAL: float, WHOLE: int, TRUTH: bool}


class Builder:
    """Appends statements to the current block.

    * `block`: the block to which statements are appended.
    * `homes`: the block in which each variable is assigned.
    * `made`: the pure statement that assigns each variable.
    * `labels`: the names of the source for variables.
    * `hidden`: while something is written at a place in a block, the block, and the variables that are made after it.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.block = Block()
        self.homes: dict[str, Block] = {}
        self.made: dict[str, F.Statement] = {}
        self.order: dict[str, int] = {}
        self.labels: dict[str, Name] = {}
        self.hidden: tuple[Block | None, int, int] = (None, 0, 0)
        self.flow_blocks: dict[int, Block] = {}
        self.keys: dict[Any, int] = {}

    def fresh(self, hint: str, of: F.Type, home: Block | None = None) -> F.Var:
        """Make a variable whose home is the current block."""
        var = F.Var(self.names(hint.rstrip("0123456789_'") or "v"), of)
        if isinstance(hint, Name):
            self.labels[var.name] = hint
        self.homes[var.name] = home or self.block
        self.order[var.name] = len(self.order)
        return var

    def label(self, value: V.Value, name: str, of: Any = None) -> None:
        """Give the variables of a value a name of the source, if they have none."""
        match value:
            case F.Var(known) | V.Part(F.Var(known)) if isinstance(name, Name):
                self.labels.setdefault(known, name)
            case V.Rows(_, element):
                self.label(element, name, getattr(of, "element", None))
            case V.Tup(items) if isinstance(name, Name):
                pair = (name, derivative_name(name)) if tangent_type(of) else ()
                types = getattr(of, "items", (None,) * len(items))
                for k in value.places if isinstance(value, V.Changed) else range(min(len(items), len(types))):
                    self.label(items[k], pair[k] if pair else name.part(k), types[k])

    def add(self, statement: F.Statement) -> None:
        """Append a statement."""
        self.block.statements.append(statement)

    def place(self) -> F.Join:
        """Mark a place for statements to be inserted later."""
        join = F.Join([], len(self.order))
        self.add(join)
        return join

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Write into another block."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def inner(self) -> Block:
        """Make a block inside the current one."""
        return self.noted(Block(self.block, self.place()))

    def noted(self, block: Block) -> Block:
        """Record the block of a list of statements."""
        self.flow_blocks[id(block.statements)] = block
        return block

    @contextmanager
    def at(self, join: F.Join, home: Block) -> Iterator[None]:
        """Write at a marked place of a block."""
        statements, home.statements = home.statements, join.body
        outer, self.block = self.block, home
        hidden, self.hidden = self.hidden, (home, join.order, len(self.order))
        try:
            yield
        finally:
            home.statements, self.block, self.hidden = statements, outer, hidden

    # ------------------------------------------------------------ pure operations

    def home(self, x: F.Operand) -> Block | None:
        """Give the block of the current function whose scope contains an operand: its home, or the mirror of that."""
        if isinstance(x, F.Const):
            return None
        home = self.homes[x.name]
        for block in self.block.chain():
            if block is home or home in block.mirrors:
                return block
        return self.block

    def around(self) -> set[Block]:
        """Give the blocks whose variables are in scope."""
        return {home for block in self.block.chain() for home in (block, *block.mirrors)}

    def deepest(self, args: Sequence[F.Operand]) -> Block:
        """Give the outermost block of the current function in which all given operands are in scope."""
        homes = [self.home(x) for x in args]
        chain = list(self.block.chain())
        for block in chain:
            if block in homes:
                return block
        return chain[-1]

    def find(self, key: Any) -> F.Var | None:
        """Find a computed value that is in scope, from this pass or the previous one."""
        number, (hiding, first, end) = self.keys.get(key), self.hidden
        if number is None:
            return None
        for block in self.block.chain():
            for known in (block.known, *(m.known for m in block.mirrors)):
                found = known.get(number)
                if found is not None and not (block is hiding and first <= self.order[found.name] < end):
                    return found
        return None

    def note(self, home: Block, key: Any, found: F.Var) -> None:
        """Note that a block computes a value; values have numbers, as their keys may be long."""
        home.known[self.keys.setdefault(key, len(self.keys))] = found

    def emit(self, key: Any, make: Any, hint: str, of: F.Type, args: Sequence[F.Operand], early: bool) -> F.Var:
        """Write a pure statement, or find the existing name of its value."""
        found = self.find(key)
        if found is not None:
            return found
        home = self.deepest(args) if early else self.block
        out = self.fresh(hint, of, home)
        statement = make(out)
        self.note(home, key, out)
        self.made[out.name] = statement
        self.put(statement, home)
        return out

    def put(self, statement: F.Statement, home: Block) -> None:
        """Append a statement to an enclosing block."""
        if home is self.block:
            home.statements.append(statement)
            return
        for block in self.block.chain():
            if block.parent is home:
                assert block.before is not None
                block.before.body.append(statement)
                return

    def compute(self, name: str | Operation, *args: F.Operand, hint: str = "t") -> F.Operand:
        """Write a scalar operation."""
        op = name if isinstance(name, Operation) else operation(name, tuple(x.type for x in args))
        if op.is_total and all(isinstance(x, F.Const) for x in args):
            return F.Const(op.compute(*(x.value for x in args if isinstance(x, F.Const))), op.gives)
        if op.name == "add" and self.is_negative(args[1]):
            return self.compute("sub", args[0], self.made[args[1].name].args[0])  # type: ignore[union-attr]
        short = simplified(op.name, args)
        if short is not None:
            return short
        args = tuple(converted(x, of) for x, of in zip(args, op.takes, strict=True))
        key = (op.name, *args)
        if op.name in SAME_SIZES:
            found = self.compared(args)
            if found is not None:
                return found
        return self.emit(key, lambda out: F.Compute(out, op, args), hint, op.gives, args, op.is_total)

    def compared(self, sizes: tuple[F.Operand, ...]) -> F.Var | None:
        """Find two sizes that have been found to be equal, in any order."""
        keys = ((name, *args) for name in SAME_SIZES for args in (sizes, sizes[::-1]))
        return next((found for key in keys if (found := self.find(key)) is not None), None)

    def is_negative(self, x: F.Operand) -> bool:
        """Tell whether a value was made by a change of sign."""
        made = self.made.get(x.name) if isinstance(x, F.Var) else None
        return isinstance(made, F.Compute) and made.operation.name == "neg"

    def load(self, array: F.Var, indices: tuple[F.Operand, ...], checked: bool = True, hint: str = "x") -> F.Var:
        """Read an element or a row."""
        of = array.type
        assert isinstance(of, F.ArrayOf)
        within = all(self.is_within(i, self.known_size(array, d)) for d, i in enumerate(indices))
        checked = checked and not within
        left, args = of.rank - len(indices), (array, *indices)
        kind, gives = (F.Row, F.ArrayOf(of.element, left)) if left else (F.Load, of.element)
        key, early = (kind, array, indices), within and left > 0
        return self.emit(key, lambda out: kind(out, array, indices, checked), hint, gives, args, early)

    def is_within(self, index: F.Operand, size: F.Operand | None) -> bool:
        """Tell whether an index is that of a loop with exactly this number of steps."""
        if isinstance(index, F.Const) and isinstance(size, F.Const):
            return 0 <= index.value < size.value  # type: ignore[operator]
        return any(b.index == index and b.count == size for b in self.block.chain())

    def known_size(self, array: F.Var, dim: int) -> F.Operand | None:
        """Give the size of a dimension, if an operand in scope has it."""
        made = self.made.get(array.name)
        return made.sizes[dim] if isinstance(made, F.New) and made.sizes else self.find(("size", array, dim))

    def size(self, array: F.Var, dim: int = 0) -> F.Operand:
        """Give the size of a dimension."""
        made = self.made.get(array.name)
        if isinstance(made, F.New) and made.sizes and not isinstance(made.sizes[dim], F.Const):
            return made.sizes[dim]
        key = ("size", array, dim)
        return self.emit(key, lambda out: F.Size(out, array, dim), "n", WHOLE, (array,), True)

    def new(self, of: F.ArrayOf, sizes: tuple[F.Operand, ...], hint: str = "a") -> F.Var:
        """Make an array of zeros, or an empty one to append to."""
        out = self.fresh(hint, of)
        statement = F.New(out, sizes)
        self.made[out.name] = statement
        self.add(statement)
        return out

    def option(self, box: F.Var) -> F.Var:
        """Give the number of the option of a box."""
        return self.emit(("option", box), lambda out: F.Option(out, box), "option", WHOLE, (box,), False)

    # ------------------------------------------------------------ loops and branches

    @contextmanager
    def loop(
        self, count: F.Operand, down: bool = False, hint: str = "i", keeps: bool = False, is_parallel: bool = False
    ) -> Iterator[Block]:
        """Write a counted loop; the body is written inside."""
        body = self.inner()
        index = self.fresh(hint, WHOLE, body)
        body.index, body.count = index, count
        flow = F.For(index, count, body.statements, down, is_parallel=is_parallel)
        body.flow = flow
        if keeps:
            flow.kept = body.kept = self.kept("steps")
        with self.inside(body):
            yield body
        self.add(flow)

    def kept(self, hint: str) -> F.Kept:
        """Make a site that keeps frames."""
        name = self.names(hint)
        frames = F.Var(name, F.Frames(name))
        self.homes[name] = self.block
        return F.Kept(frames)

    def branch(self, condition: F.Operand, keeps: bool = False) -> tuple[Block, Block]:
        """Make the two blocks of a conditional; `If` is appended by `finish`."""
        then, orelse = self.inner(), self.inner()
        flow = F.If(condition, then.statements, orelse.statements)
        then.flow = orelse.flow = flow
        if keeps:
            site = self.kept("taken")
            then.kept, orelse.kept = site, F.Kept(site.frames)
            flow.kept = (then.kept, orelse.kept)
        return then, orelse


def converted(x: F.Operand, of: F.Type) -> F.Operand:
    """Read a literal as a number of another kind."""
    if isinstance(x, F.Const) and x.value is not None and x.type != of:
        return F.Const(NUMBERS[of](x.value), of)
    if x.type != of and not (x.type == TRUTH and of == WHOLE):
        raise NotLowered(f"{x} where a {of} is wanted")
    return x


def simplified(name: str, args: Sequence[F.Operand]) -> F.Operand | None:
    """Give the value of an operation that is one of its operands."""
    if len(args) != 2:
        return None
    a, b = args
    if name in ("iadd", "isub") and isinstance(b, F.Const) and b.value == 0:
        return a
    if name == "iadd" and isinstance(a, F.Const) and a.value == 0:
        return b
    if name == "isub" and a == b:
        return F.Const(0, WHOLE)
    if name in ("imul", "mul") and isinstance(b, F.Const) and b.value == 1:
        return a
    if name in ("imul", "mul") and isinstance(a, F.Const) and a.value == 1:
        return b
    if name in ("imin", "imax", "isame", "iequal") and a == b:
        return a
    return None


def zero_of(of: F.Type) -> F.Const:
    """Give the zero of a scalar type."""
    if of == TRUTH:
        return F.Const(False, TRUTH)
    if of == WHOLE:
        return F.Const(0, WHOLE)
    return F.Const(0.0, of)
