"""Write the intermediate form as code for the register machine of the core.

Each variable has a register, and loops and branches are jumps. The frames of a site are a chain of records, and the
variable of the frames holds the position of the newest one; see ``machine.h``. The machine has no records of recursive
sums and no functions of programs, and makes arrays inside loops only where it is told to; other programs use another
back end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..._core.programs.machine import Code, opcodes
from ...errors import UnsupportedError
from ...primitive import Primitive
from ..intermediate import statements as F
from ..intermediate.analysis import keeps, reads, walk
from ..intermediate.operations import LOOPS, REAL, TRUTH, WHOLE
from ..language.tables import entry, table
from .callbacks import referring
from .lifetimes import Lifetimes, lasting_rows
from .references import in_loops
from .skipped import skipping

OPCODES: Mapping[str, int] = MappingProxyType(opcodes())
#: The numbers of kinds of elements; see ``te_array`` in ``machine.h``.
KINDS: Mapping[F.Type, int] = {REAL: 0, WHOLE: 1, TRUTH: 2}
MOST_DIMENSIONS = 4  # fewer than ``TE_RANK`` in ``machine.h``
ARRAY = 3  # the kind of an argument of a Python function that is an array; of a result, plus the kind of its numbers
#: Statements that use a row as a part of its array: its elements are read and written where they lie.
INDEXING = (F.Load, F.Row, F.Size, F.Sum, F.ZerosLike, F.Store, F.AddAt, F.AddAll)


class NotAssembled(UnsupportedError):
    """A function needs something that the back end lacks."""


class Assembler:
    """Writes one function as code."""

    def __init__(
        self, function: F.Function, may_raise: bool, makes_arrays: bool, primitives: Mapping[str, Primitive]
    ) -> None:
        self.may_raise, self.makes_arrays, self.primitives = may_raise, makes_arrays, primitives
        self.called: list[Callable[[list[Any]], list[Any] | None]] = []
        self.values = passed_on(function)
        self.lifetimes = Lifetimes(function)
        self.lasting = lasting_rows(function, self.lifetimes)
        self.renewed: list[int] = []
        self.steps: list[list[int]] = []
        self.side: list[int] = []
        self.registers: dict[str, int] = {}
        self.constants: dict[bytes, tuple[int, float | int]] = {}
        self.count = 0
        self.depth = 0
        self.rows: dict[str, tuple[F.Operand, tuple[F.Operand, ...]]] = {}

    # ------------------------------------------------------------ registers and instructions

    def fresh(self) -> int:
        """Give a new register."""
        self.count += 1
        return self.count - 1

    def at(self, x: F.Operand) -> int:
        """Give the register of an operand."""
        if isinstance(x, F.Const):
            if not isinstance(x.value, int | float):
                raise NotAssembled("a null")
            return self.constant(float(x.value) if x.type == REAL else int(x.value))
        of = x.type
        if isinstance(of, F.ArrayOf):
            kind_of(of)
        if x.name not in self.registers:
            self.registers[x.name] = self.fresh()
        return self.registers[x.name]

    def place(self, array: F.Operand, indices: Sequence[F.Operand]) -> tuple[F.Operand, tuple[F.Operand, ...]]:
        """Give the array that contains a row, and all indices."""
        if isinstance(array, F.Var) and array.name in self.rows:
            whole, before = self.rows[array.name]
            return whole, (*before, *indices)
        return array, tuple(indices)

    def constant(self, value: float | int) -> int:
        """Give the register that holds a number."""
        try:
            key = struct.pack("d" if isinstance(value, float) else "q", value) + type(value).__name__.encode()
        except struct.error:
            raise NotAssembled(f"the literal {value} has more than 64 bits") from None
        if key not in self.constants:
            self.constants[key] = self.fresh(), value
        return self.constants[key][0]

    def listed(self, registers: Iterable[int]) -> int:
        """Give the position of a list of registers."""
        start = len(self.side)
        self.side.extend(registers)
        return start

    def step(self, name: str, d: int = 0, a: int = 0, b: int = 0, c: int = 0) -> int:
        """Append an instruction; return its position."""
        self.steps.append([OPCODES[name], d, a, b, c])
        return len(self.steps) - 1

    def land(self, jump: int, field: str = "b") -> None:
        """Set the target of a jump to the next instruction."""
        self.steps[jump]["odabc".index(field)] = len(self.steps) - jump

    def back(self, name: str, to: int, d: int = 0, a: int = 0) -> None:
        """Append a jump back."""
        here = len(self.steps)
        self.step(name, d, a, to - here, here - to + 1)

    def block(self, statements: Sequence[F.Statement]) -> None:
        """Write statements."""
        for s in statements:
            write = WRITE.get(type(s))
            if write is None:
                raise NotAssembled(f"the statement {type(s).__name__}")
            write(self, s)

    def moves(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Write simultaneous moves, in an order in which every source is read before it is overwritten."""
        waiting = {d: s for d, s in pairs if d != s}
        ordered: list[tuple[int, int]] = []
        while waiting:
            free = next((d for d in waiting if d not in waiting.values()), None)
            if free is None:  # a cycle: one value needs a temporary register
                d = next(iter(waiting))
                aside = self.fresh()
                ordered.append((aside, d))
                waiting = {to: aside if of == d else of for to, of in waiting.items()}
                continue
            ordered.append((free, waiting.pop(free)))
        if len(ordered) == 1:
            self.step("MOVE", *ordered[0])
        elif ordered:
            self.step("MOVES", 0, self.listed(r for pair in ordered for r in pair), len(ordered))

    def describes(self) -> None:
        """Refuse a loop that makes arrays, or describes parts of arrays, where the machine should not run it."""
        if self.depth and not self.makes_arrays:
            raise NotAssembled("an array that a loop makes")

    def renews(self, may: bool) -> int:
        """Give the register of the array that an instruction reuses in the next step; -1 if its arrays may live on."""
        if not may or not self.depth:
            return -1
        self.renewed.append(self.fresh())
        return self.renewed[-1]

    def made(self, x: F.Var) -> int:
        """Give the register in which an instruction that makes an array finds the one of the previous step."""
        return self.renews(self.lifetimes.is_renewed(x))

    def carry(self, v: F.Var, x: F.Operand, copied: Sequence[F.Var]) -> tuple[int, int]:
        """Give the registers of a move to the next step, of a copy if this step's statements overwrite the array there.

        The copy before it may still be read.
        """
        to = self.at(x)
        if v != x and isinstance(v.type, F.ArrayOf) and (v in copied or v.name not in self.lasting):
            to = self.fresh()
            name = "COPY" if v in copied else "DESCRIBE"
            self.step(name, to, self.at(x), self.renews(True), self.renews(True))
        return self.at(v), to

    # ------------------------------------------------------------ frames

    def begin(self, kept: F.Kept | None) -> None:
        """Begin a chain of frames."""
        if kept is not None:
            self.step("MOVE", self.at(kept.frames), self.constant(0))

    def keep(self, kept: F.Kept | None) -> None:
        """Append a frame."""
        if kept is not None:
            self.step("KEEP", self.at(kept.frames), self.listed(map(self.at, kept.fields)), len(kept.fields))

    def take(self, name: str, place: int, kept: F.Kept) -> int:
        """Recall a frame."""
        return self.step(name, place, self.listed(map(self.at, kept.fields)), len(kept.fields))


@entry
def compute(a: Assembler, s: F.Compute) -> None:
    name, *check = s.operation.machine
    if not a.may_raise and s.operation.gives == REAL and all(t == REAL for t in s.operation.takes):
        name, check = s.operation.name, []
    registers = [a.at(x) for x in s.args]
    if name in LOOPS:
        name, registers = "LOOP", [registers[0], registers[-1], [*LOOPS].index(name)]
    a.step(name, a.at(s.out), *registers)
    if check:
        a.step(check[0], a.at(s.out), *registers)


@entry
def load(a: Assembler, s: F.Load) -> None:
    if isinstance(s.out.type, F.ArrayOf):
        a.describes()
        (index,) = s.indices
        own = a.renews(s.out.name not in a.lasting)
        a.step("REFERENCE", a.at(s.out), a.at(s.array), a.listed((a.at(index), own)), kind_of(s.out.type))
        return
    whole, indices = a.place(s.array, s.indices)
    element(a, "LOAD", "LOAD", (a.at(s.out), a.at(whole)), [a.at(i) for i in indices])


def element(a: Assembler, few: str, many: str, given: tuple[int, int], places: list[int]) -> None:
    """Read an element, or add to it, by an instruction for few or for many indices."""
    if len(places) <= 2:
        a.step(f"{few}{len(places)}", *given, *places)
    else:
        a.step(many, *given, a.listed(places))


@entry
def row(a: Assembler, s: F.Row) -> None:
    """A row that is only indexed has no register: its elements are those of the whole array."""
    whole, before = a.place(s.array, ())
    if s.out.name in a.values:
        a.describes()
        places = [a.at(i) for i in (*before, *s.indices)]
        own = a.renews(s.out.name not in a.lasting)
        a.step("VIEW", a.at(s.out), a.at(whole), a.listed((*places, own)), len(places))
        return
    if s.checked:
        for dim, i in enumerate(s.indices):
            n = a.fresh()
            a.step("SIZE", n, a.at(whole), len(before) + dim)
            is_there(a, a.at(i), n)
    a.rows[s.out.name] = a.place(s.array, s.indices)


@entry
def check(a: Assembler, s: F.Check) -> None:
    is_there(a, a.at(s.index), a.at(s.size))


def is_there(a: Assembler, i: int, n: int) -> None:
    """Refer to Python unless an index is in range for ``n`` elements, possibly counting from the end."""
    low, high = a.fresh(), a.fresh()
    a.step("INEG", low, n)
    a.step("ILE", low, low, i)
    a.step("ILT", high, i, n)
    a.step("SAME", low, low, high)  # at least one of the two holds


@entry
def size(a: Assembler, s: F.Size) -> None:
    whole, indices = a.place(s.array, ())
    a.step("SIZE", a.at(s.out), a.at(whole), s.dim + len(indices))


@entry
def sum_(a: Assembler, s: F.Sum) -> None:
    whole, indices = a.place(s.array, (F.Const(0, WHOLE),))
    a.step("SUM", a.at(s.out), a.at(whole), a.listed(map(a.at, indices)))


@entry
def new(a: Assembler, s: F.New) -> None:
    a.describes()
    assert isinstance(s.out.type, F.ArrayOf)
    out, kind = a.at(s.out), kind_of(s.out.type)
    if s.sizes:
        a.step("ZEROS", out, a.listed([*map(a.at, s.sizes), a.made(s.out)]), len(s.sizes), kind)
    else:
        a.step("NEW", out, a.made(s.out), 0, kind)


@entry
def zeros_like(a: Assembler, s: F.ZerosLike) -> None:
    assert isinstance(s.out.type, F.ArrayOf)
    a.describes()
    sizes = [*sizes_of(a, s.array, s.out.type.rank), a.made(s.out)]
    a.step("ZEROS", a.at(s.out), a.listed(sizes), s.out.type.rank, kind_of(s.out.type))


def sizes_of(a: Assembler, array: F.Operand, rank: int) -> list[int]:
    """Read the sizes of all dimensions."""
    whole, before = a.place(array, ())
    sizes = [a.fresh() for _ in range(rank)]
    for k, register in enumerate(sizes):
        a.step("SIZE", register, a.at(whole), k + len(before))
    return sizes


@entry
def store(a: Assembler, s: F.Store) -> None:
    if isinstance(s.value.type, F.ArrayOf):
        (index,) = s.indices
        a.step("PUT", a.at(s.array), a.at(s.value), a.at(index))
        return
    whole, indices = a.place(s.array, s.indices)
    a.step("STORE", a.at(whole), a.at(s.value), a.listed(map(a.at, indices)))


@entry
def append(a: Assembler, s: F.Append) -> None:
    a.step("PUSH" if isinstance(s.value.type, F.ArrayOf) else "APPEND", a.at(s.array), a.at(s.value))


@entry
def pop(a: Assembler, s: F.Pop) -> None:
    a.step("POP", a.at(s.array))


@entry
def assign(a: Assembler, s: F.Assign) -> None:
    a.moves((a.at(v), a.at(x)) for v, x in zip(s.outs, s.values, strict=True))


@entry
def add(a: Assembler, s: F.Add) -> None:
    out = a.at(s.out)
    a.step("add" if s.out.type == REAL else "IADD", out, out, a.at(s.value))


@entry
def add_at(a: Assembler, s: F.AddAt) -> None:
    assert isinstance(s.array.type, F.ArrayOf)
    if s.array.type.element != REAL:
        raise NotAssembled("a sum of integers in an array")
    whole, indices = a.place(s.array, s.indices)
    element(a, "ADD", "ADDAT", (a.at(whole), a.at(s.value)), [a.at(i) for i in indices])


@entry
def add_all(a: Assembler, s: F.AddAll) -> None:
    assert isinstance(s.array.type, F.ArrayOf)
    if s.array.type.element != REAL:
        raise NotAssembled("a sum of arrays of other elements than real numbers")
    (into, before), (whole, given) = a.place(s.array, ()), a.place(s.value, ())
    sizes, value = sizes_of(a, s.value, s.array.type.rank), a.fresh()
    at = [a.fresh() for _ in sizes]
    heads = [a.step("FROM", *bounds) for bounds in zip(at, sizes, strict=True)]
    element(a, "LOAD", "LOAD", (value, a.at(whole)), [*map(a.at, given), *at])
    element(a, "ADD", "ADDAT", (a.at(into), value), [*map(a.at, before), *at])
    for index, size_, head in reversed(list(zip(at, sizes, heads, strict=True))):
        a.back("NEXT", head + 1, index, size_)
        a.land(head)


@entry
def for_(a: Assembler, s: F.For) -> None:
    """A counted loop; one without an index is driven by its frames."""
    a.begin(s.kept)
    places = []
    for k in s.recalled:
        if not s.down:
            raise NotAssembled("frames from the first to the last")
        places.append(a.fresh())
        a.step("MOVE", places[-1], a.at(k.frames))
    a.depth += 1
    head, steps = len(a.steps), () if s.count is None else (a.at(s.index), a.at(s.count))
    if steps:
        a.step("DOWN" if s.down else "FROM", *steps)
    takes = [a.take("PEEL", place, k) for place, k in zip(places, s.recalled, strict=True)]
    a.block(s.body)
    end(a, s)
    if steps:
        a.back("PREVIOUS" if s.down else "NEXT", head + 1, *steps)
        a.land(head)
    else:
        a.back("REPEAT", head)
    for take in takes:
        a.land(take, "c")
    a.depth -= 1


def end(a: Assembler, s: F.For | F.While) -> None:
    """The end of a step."""
    a.keep(s.kept)
    copied = a.lifetimes.copied(s, a.lifetimes.outliving)
    a.moves([a.carry(v, x, copied) for v, x in s.carried])


@entry
def while_(a: Assembler, s: F.While) -> None:
    a.begin(s.kept)
    a.depth += 1
    top = len(a.steps)
    a.block(s.test)
    head = a.step("UNLESS", 0, a.at(s.condition))
    a.block(s.body)
    end(a, s)
    a.back("REPEAT", top)
    a.land(head)
    a.depth -= 1


@entry
def if_(a: Assembler, s: F.If) -> None:
    a.begin(None if s.kept is None else s.kept[0])
    head = a.step("UNLESS", 0, a.at(s.condition))
    side(a, s, 0)
    if s.orelse or s.kept is not None or any(pair[1].fields for pair in s.recalled):
        over = a.step("JUMP")
        a.land(head)
        side(a, s, 1)
        a.land(over)
    else:
        a.land(head)


def side(a: Assembler, s: F.If, which: int) -> None:
    """One branch."""
    for pair in s.recalled:
        if pair[which].fields:
            a.take("TAKE", a.at(pair[which].frames), pair[which])
    a.block((s.then, s.orelse)[which])
    if s.kept is not None:
        a.keep(s.kept[which])


@entry
def registered(a: Assembler, s: F.Registered) -> None:
    """A call of a primitive in Python."""
    if any(isinstance(v.type, F.ArrayOf) for v in s.outs):
        a.describes()
    given = [field for x in s.args for field in (min(kind_of(x.type, whole=True), ARRAY), a.at(x))]
    found = [field for v in s.outs for field in (kind_of(v.type, whole=True), a.at(v), a.made(v))]
    a.called.append(referring(a.primitives, s))
    a.step("CALL", len(a.called) - 1, a.listed([*given, *found]), len(s.args), len(s.outs))


WRITE = table(globals())


def kind_of(of: F.Type, whole: bool = False) -> int:
    """Give the kind of a number or of an array's elements, see ``te_array``; of an array as a ``whole``, plus 3."""
    if of in KINDS:
        return KINDS[of]
    if not isinstance(of, F.ArrayOf) or of.rank > MOST_DIMENSIONS:
        raise NotAssembled("a record of a recursive sum, or an array of many dimensions")
    if of.element in KINDS:
        return KINDS[of.element] + (ARRAY if whole else 0)
    if whole or not isinstance(of.element, F.ArrayOf):
        raise NotAssembled("an array of references")
    kind_of(of.element)
    return 2 + of.element.rank


def passed_on(function: F.Function) -> set[str]:
    """Give the names of the arrays that are not only indexed: they are kept, handed on or stored."""
    found = [*function.results, *(() if function.kept is None else function.kept.fields)]
    for s, _ in walk(function.body):
        indexed = [s.array] if isinstance(s, INDEXING) else []
        indexed += [s.value] if isinstance(s, F.AddAll) else []
        found += [x for x in reads(s) if not any(x is y for y in indexed)]
        found += keeps(s)
    return {x.name for x in found if isinstance(x, F.Var)}


def assemble(
    function: F.Function,
    results: Sequence[F.Operand],
    shared: Sequence[F.Var],
    may_raise: bool,
    makes_arrays: bool = True,
    primitives: Mapping[str, Primitive] = MappingProxyType({}),
) -> Code:
    """Write a function as code for the register machine.

    It raises `NotAssembled` if the function needs something that the machine lacks.
    """
    function = skipping(in_loops(function))
    a = Assembler(function, may_raise, makes_arrays, primitives)
    a.values |= {x.name for x in (*results, *shared) if isinstance(x, F.Var)}
    for v in shared:
        a.registers[v.name] = a.fresh()
    params = [a.at(p) for p in function.params]
    a.block(function.body)
    gave = [a.at(x) for x in results]
    a.step("DONE")
    flat = [field for step in a.steps for field in step]
    constants = [*a.constants.values(), *((register, 0) for register in a.renewed)]
    return Code(flat, a.side, a.count, len(shared), constants, params, gave, 0, tuple(a.called))
