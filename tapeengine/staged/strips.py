"""Groups operations of a path on arrays with many rows, so that a replay does them on some rows after the other.

The numbers between the operations of a group stay in the cache, and are computed again in the reverse pass, which costs
less than to keep them in memory. What the rest of the path reads is written as before. In every row the operations are
those of the engine, in their order: a group ends where another operation reads what it makes, or may contribute to the
same cotangents.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._core.programs.replay import Path, Strips, array_steps, fuse
from .columns import Lines

#: The fewest rows, the most columns of an array, and the fewest and the most operations of a group.
ROWS, COLUMNS, FEWEST, MOST = 1024, 32, 2, 200
#: Operations whose values are the same bits wherever they are computed.
EXACT = {"add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "sqrt": 1}


class Step(NamedTuple):
    """An operation; see `array_steps`."""

    number: int
    function: Any
    slot: int
    shape: tuple[int, ...]
    operands: list[Any]
    options: dict[str, Any]
    reads: list[int]
    makes: list[int]
    writes: list[int]


class Operand(NamedTuple):
    """The cells of an operand, one for each number in a row of the result, in C order.

    Attributes
    ----------
    slot : int
        -1 for a constant.
    cells : list
        Columns of the slot; or numbers, or ``(array, offset, stride)``.
    is_active, is_whole : bool
        Whether it has a derivative, and whether it is all of its storage.
    sums : bool
        Whether all numbers of an innermost row belong to the same cell.
    """

    slot: int
    cells: list[Any]
    is_active: bool = False
    is_whole: bool = False
    sums: bool = False


@dataclass
class Member:
    """An operation of a group.

    Attributes
    ----------
    kind : str
        An opcode, or one of "sum", "chosen", "joined", "taken".
    inner : int
        The extent of the innermost axis of the result, within a row.
    mask : list
        The cells of a condition.
    table : Table, optional
        What rows are taken from.
    """

    step: Step
    kind: str
    operands: list[Operand]
    inner: int = 1
    mask: list[Any] = field(default_factory=list)
    table: Table | None = None


class Table(NamedTuple):
    """Where the rows of a slot were taken from: a slot, the offset and the bytes of its rows, and their numbers."""

    slot: int
    offset: int
    stride: int
    rows: Any


class Geometry:
    """What can be done on arrays with a number of rows.

    Parameters
    ----------
    rows : int
    sizes : sequence of (int, int)
        Storage and number of elements of each slot.
    written : set of int
        The slots whose values change.

    Attributes
    ----------
    tables : dict
        The slots whose values are taken from a table wherever a group reads them.
    """

    def __init__(self, rows: int, sizes: Sequence[tuple[int, int]], written: set[int]) -> None:
        self.rows, self.sizes, self.written = rows, sizes, written
        self.tables: dict[int, Table] = {}

    def width(self, slot: int) -> int:
        """The number of columns of a slot; 0 if it cannot be done in strips."""
        size = self.sizes[slot][1]
        width = size // self.rows if size % self.rows == 0 and slot not in self.written else 0
        return width if width <= COLUMNS else 0

    def cells(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, list[int]] | None:
        """The bytes from one row to the next, and where the numbers of the first one lie."""
        if not shape:
            return None
        if shape[0] != self.rows and len(shape) == 1 and shape[0] % self.rows == 0:
            shape, strides = (self.rows, shape[0] // self.rows), (strides[0] * (shape[0] // self.rows), strides[0])
        if shape[0] != self.rows or np.prod(shape[1:]) > COLUMNS:
            return None
        steps = [[k * stride for k in range(n)] for n, stride in zip(shape[1:], strides[1:], strict=True)]
        return strides[0], [offset + sum(parts) for parts in itertools.product(*steps)]

    def operand(self, found: Any, shape: tuple[int, ...]) -> Operand | None:
        """An operand of the shape of the result; None if it does not consist of columns."""
        if isinstance(found, np.ndarray):
            return self.constant(found, shape)
        if not isinstance(found, tuple):
            count = self.cells(0, shape, (0,) * len(shape))
            is_number = isinstance(found, (float, int)) and count is not None
            return Operand(-1, [float(found)] * len(count[1])) if is_number and count else None
        slot, is_active, offset, own, strides, is_whole = found
        cells, width = self.cells(offset, own, strides) if own == shape else None, 8 * self.width(slot)
        if cells is None or not width or cells[0] != width or not all(0 <= at < width for at in cells[1]):
            return None
        sums = len(own) > 1 and strides[-1] == 0
        return Operand(slot, [at // 8 for at in cells[1]], is_active, is_whole, sums)

    def constant(self, array: Any, shape: tuple[int, ...]) -> Operand | None:
        """A constant array, or a single number."""
        if array.dtype not in (float, bool) or not array.dtype.isnative:
            return None
        if array.size == 1:
            return self.operand(float(array.ravel()[0]), shape)
        try:
            spread = np.broadcast_to(array, shape)
        except ValueError:
            return None
        cells = self.cells(0, shape, spread.strides)
        return None if cells is None else Operand(-1, [(array, at, cells[0]) for at in cells[1]])

    def member(self, step: Step) -> Member | None:
        """An operation as one of a group; None if it is none."""
        if step.function is None or not self.width(step.slot):
            return None
        if step.function in EXACT:
            return self.elementwise(step)
        name = getattr(step.function, "name", step.function)
        kinds = {"numpy.where": self.chosen, "numpy.stack": self.joined, "numpy.concatenate": self.joined}
        if name in ("sum", "take"):
            return self.sum(step) if name == "sum" else self.taken(step)
        return kinds[name](step) if name in kinds and is_own(step.function) else None

    def elementwise(self, step: Step) -> Member | None:
        """An operation of the opcode table."""
        operands = [self.operand(found, step.shape) for found in step.operands]
        if None in operands or len(operands) != EXACT[step.function]:
            return None
        inner = step.shape[-1] if len(step.shape) > 1 else 1
        return Member(step, step.function, operands, inner)

    def sum(self, step: Step) -> Member | None:
        """A sum of few numbers in each row."""
        (found,) = step.operands
        if found is None or len(found[3]) != 2 or step.options["axis"] != 1 or not 0 < found[3][1] < 8:
            return None
        operand = self.operand(found, found[3])
        return None if operand is None else Member(step, "sum", [operand])

    def chosen(self, step: Step) -> Member | None:
        """A choice by a constant condition."""
        mask, *choices = (self.operand(found, step.shape) for found in step.operands)
        if mask is None or mask.slot >= 0 or None in choices or getattr(step.operands[0], "dtype", None) != bool:
            return None
        return Member(step, "chosen", choices, mask=mask.cells)

    def taken(self, step: Step) -> Member | None:
        """Rows of a table, by their numbers."""
        (found,), index = step.operands, step.options["index"]
        if found is None or not isinstance(index, tuple) or len(index) != 1 or not is_numbers(index[0], self.rows):
            return None
        slot, is_active, offset, shape, strides, _ = found
        width = self.width(step.slot)
        if not is_active or slot in self.written or strides != np.empty(shape).strides or shape[1:] != step.shape[1:]:
            return None
        table = Table(slot, offset, 8 * width, np.ascontiguousarray(index[0] % shape[0], np.int64))
        return Member(step, "taken", [Operand(-1, list(range(width)))], table=table)

    def joined(self, step: Step) -> Member | None:
        """Columns side by side."""
        is_stack = step.function.name == "numpy.stack"
        if step.options.get("axis") not in (1, -1) or step.options.get("dtype") is not None or len(step.shape) != 2:
            return None
        if not all(isinstance(found, tuple) and len(found[3]) == 2 - is_stack for found in step.operands):
            return None
        operands = [self.operand(found, found[3]) for found in step.operands]
        return None if None in operands else Member(step, "joined", operands)


def is_numbers(index: Any, rows: int) -> bool:
    """Whether an index names rows by their numbers."""
    return isinstance(index, np.ndarray) and index.dtype == np.intp and index.shape == (rows,)


def is_own(primitive: Any) -> bool:
    """Whether a primitive is one of numpy's."""
    return str(getattr(primitive.primal, "__module__", "")).startswith("tapeengine_primitives.")


# -- groups ------------------------------------------------------------------------------------------------------------
class Group:
    """Operations that are done together.

    Attributes
    ----------
    members : list of Member
    made, read : set of int
        The slots that they make, and the other ones that they read.
    tables : set of int
        The storages of which they take rows.
    outer, stored : set of int
        The slots that they make whose cotangents, and whose values the rest of the path needs.
    """

    def __init__(self, geometry: Geometry, compiler: Any = None) -> None:
        self.geometry, self.compiler = geometry, compiler
        self.members: list[Member] = []
        self.made: set[int] = set()
        self.read: set[int] = set()
        self.tables: set[int] = set()
        self.outer: set[int] = set()
        self.stored: set[int] = set()

    def add(self, member: Member) -> None:
        """Take an operation."""
        self.members.append(member)
        if member.table is not None:
            self.tables.add(self.storage(member.table.slot))
        self.made.add(member.step.slot)
        self.read.update(o.slot for o in member.operands if o.slot >= 0 and o.slot not in self.made)

    def storage(self, slot: int) -> int:
        """The storage of a slot."""
        return self.geometry.sizes[slot][0]

    def touched(self) -> set[int]:
        """The storages of all slots."""
        return {self.storage(slot) for slot in self.made | self.read} | self.tables

    def meets(self, step: Step) -> bool:
        """Whether an operation that is not of the group must come after it."""
        touched = self.touched()
        return any(self.storage(slot) in touched for slot in (*step.reads, *step.makes, *step.writes))

    def takes(self, member: Member) -> bool:
        """Whether an operation may be one of the group: a table is read once, and in no other way."""
        if len(self.members) == MOST or any(o.slot >= 0 and self.storage(o.slot) in self.tables for o in member.operands):
            return False
        return member.table is None or self.storage(member.table.slot) not in self.touched()

    @functools.cached_property
    def storages(self) -> list[int]:
        """The storages whose cotangents outlive a strip."""
        active = {o.slot for member in self.members for o in member.operands if o.is_active}
        return sorted({self.storage(slot) for slot in (self.read & active) | self.outer} | self.tables)

    def forward(self) -> Strips:
        """Values."""
        lines = Values(self)
        for member in self.members:
            lines.compute(member)
        for slot in sorted(self.stored):
            for k in range(self.geometry.width(slot)):
                lines.write(lines.values[slot, k], lines.own(slot, k))
        return lines.strips(self.geometry.rows)

    def reverse(self, present: tuple[bool, ...]) -> Strips:
        """Cotangents, where some of the storages have some before."""
        lines = Cotangents(self, {s for s, is_there in zip(self.storages, present, strict=True) if is_there})
        return lines.all()


class Values(Lines):
    """The values of a group."""

    def __init__(self, group: Group) -> None:
        super().__init__(group.compiler)
        self.group, self.geometry = group, group.geometry
        self.values: dict[tuple[int, int], int] = {}

    def own(self, slot: int, k: int) -> int:
        """A column of a slot."""
        return self.column((slot,), 8 * k, 8 * self.geometry.width(slot))

    def value(self, slot: int, k: int) -> int:
        """The values of a column."""
        if (slot, k) not in self.values:
            table = self.geometry.tables.get(slot)
            column = self.own(slot, k) if table is None else self.of_table(table, (table.slot,), k)
            self.values[slot, k] = self.read(column)
        return self.values[slot, k]

    def of_table(self, table: Table, array: Any, k: int) -> int:
        """A column of the rows that are taken of a table."""
        return self.column(array, table.offset + 8 * k, table.stride, table.rows)

    def cell(self, operand: Operand, k: int) -> int:
        """The values of a cell."""
        return self.value(operand.slot, operand.cells[k]) if operand.slot >= 0 else self.constant(operand.cells[k])

    def constant(self, cell: Any) -> int:
        """A number, or a column of a constant array."""
        if isinstance(cell, float):
            return self.number(cell)
        return self.read(self.column(*cell), "mask" if cell[0].dtype == bool else "read")

    def compute(self, member: Member) -> None:
        """The values that an operation makes."""
        for k, value in enumerate(self.results(member)):
            self.values[member.step.slot, k] = value

    def results(self, member: Member) -> Iterator[int]:
        """The columns of a result."""
        operands, width = member.operands, self.geometry.width(member.step.slot)
        if member.table is not None:
            yield from (self.read(self.of_table(member.table, (member.table.slot,), k)) for k in range(width))
        elif member.kind == "joined":
            yield from (self.cell(operand, k) for operand in operands for k in range(len(operand.cells)))
        elif member.kind == "sum":
            yield self.sum(member)
        else:
            for k in range(width):
                first = [self.constant(member.mask[k])] if member.mask else []
                yield self.op(member.kind, *first, *[self.cell(operand, k) for operand in operands])

    def sum(self, member: Member) -> int:
        """A sum as numpy adds up, divided by a number."""
        (operand,) = member.operands
        parts = [self.cell(operand, k) for k in range(len(operand.cells))]
        total = self.op("add", functools.reduce(lambda a, b: self.op("add", a, b), parts), self.number(0.0))
        divisor = member.step.options["divisor"]
        return total if divisor == 1.0 else self.op("div", total, self.number(divisor))


class Cotangents(Values):
    """The reverse pass of a group, with the values that it needs.

    Parameters
    ----------
    group : Group
    present : set of int
        The storages that have cotangents before.
    """

    def __init__(self, group: Group, present: set[int]) -> None:
        super().__init__(group)
        self.present = present
        self.widths = {self.group.storage(slot): self.geometry.width(slot) for slot in group.made | group.read}
        self.cotangents: dict[int, list[int]] = {}
        self.scattered: list[tuple[Table, list[int]]] = []
        self.changed: dict[int, set[int]] = {}

    def all(self) -> Strips:
        """Write everything."""
        group = self.group
        for member in group.members:
            self.compute(member)
        for slot in group.stored:
            for k in range(self.geometry.width(slot)):
                self.values[slot, k] = self.read(self.own(slot, k))
        ended = []
        for member in reversed(group.members):
            storage = group.storage(member.step.slot)
            ct = self.of(storage)
            if ct is not None:
                self.contribute(member, ct)
                ended += [storage] if storage in self.present else []
                self.cotangents.pop(storage)
                self.changed.pop(storage, None)
                self.present = self.present - {storage}
        begun = [(storage, False) for storage in self.changed if storage not in self.present]
        for table, ct in self.scattered:
            storage = group.storage(table.slot)
            begun += [(storage, True)] if storage not in self.present else []
            for k, c in enumerate(ct):
                self.write(c, self.of_table(table, storage, k), "into")
        for storage, changed in self.changed.items():
            for k in changed if storage in self.present else range(self.widths[storage]):
                self.write(self.cotangents[storage][k], self.at(storage, k))
        return self.strips(self.geometry.rows, begun, ended)

    def at(self, storage: int, k: int) -> int:
        """A column of cotangents."""
        return self.column(storage, 8 * k, 8 * self.widths[storage])

    def of(self, storage: int) -> list[int] | None:
        """The cotangents of a storage; None where there are none."""
        if storage not in self.cotangents and storage in self.present:
            self.cotangents[storage] = [self.read(self.at(storage, k)) for k in range(self.widths[storage])]
        return self.cotangents.get(storage)

    def contribute(self, member: Member, ct: list[int]) -> None:
        """Add the contributions of an operation to the cotangents of its operands."""
        if member.table is not None:
            self.scattered.append((member.table, ct))
        start = 0
        for which, operand in enumerate(member.operands):
            count = len(operand.cells)
            if not operand.is_active:
                pass
            elif member.kind == "joined":
                self.give(operand, ct[start : start + count])
            elif member.kind == "chosen":
                self.give(operand, [self.taken(member, which, k, c) for k, c in enumerate(ct)])
            elif member.kind == "sum":
                self.spread(member, operand, ct[0])
            elif operand.sums and member.kind in ("add", "sub") and not self.assigns(operand):
                self.add_up(member, which, operand, ct)
            else:
                self.give(operand, [functools.partial(self.weighed, member, which, k, c) for k, c in enumerate(ct)])
            start += count

    def assigns(self, operand: Operand) -> bool:
        """Whether contributions take the place of cotangents: they are the first ones to a whole storage."""
        return operand.is_whole and self.of(self.group.storage(operand.slot)) is None

    def begin(self, operand: Operand) -> list[int]:
        """The cotangents of an operand's storage, zeros where there are none."""
        storage = self.group.storage(operand.slot)
        found = self.of(storage)
        if found is None:
            found = self.cotangents[storage] = [self.number(0.0)] * self.widths[storage]
        self.changed.setdefault(storage, set()).update(operand.cells)
        return found

    def give(self, operand: Operand, parts: Sequence[int | Callable[[int | None], int]]) -> None:
        """Add contributions."""
        is_first = self.assigns(operand)
        ct = self.begin(operand)
        for k, part in zip(operand.cells, parts, strict=True):
            before = None if is_first else ct[k]
            if callable(part):
                ct[k] = part(before)
            else:
                ct[k] = part if before is None else self.op("add", before, part)

    def taken(self, member: Member, which: int, k: int, c: int) -> int:
        """The cotangent of a choice."""
        zero, mask = self.number(0.0), self.constant(member.mask[k])
        return self.op("chosen", mask, zero, c) if which else self.op("chosen", mask, c, zero)

    def spread(self, member: Member, operand: Operand, c: int) -> None:
        """Add the cotangent of a sum to that of each of its parts."""
        divisor = member.step.options["divisor"]
        c = c if divisor == 1.0 else self.op("div", c, self.number(divisor))
        ct = self.begin(operand)
        for k in operand.cells:
            ct[k] = self.op("add", ct[k], c)

    def add_up(self, member: Member, which: int, operand: Operand, ct: list[int]) -> None:
        """Add sums of the cotangents of innermost rows, all of which belong to one cell."""
        found, name = self.begin(operand), "sub" if which and member.kind == "sub" else "add"
        for start in range(0, len(ct), member.inner):
            parts = ct[start : start + member.inner]
            total = functools.reduce(lambda a, b: self.op("add", a, b), parts, self.number(0.0))
            k = operand.cells[start]
            found[k] = self.op(name, found[k], total)

    def weighed(self, member: Member, which: int, k: int, c: int, before: int | None) -> int:
        """A contribution: zero where the cotangent is, whatever the partial is."""
        partial = self.partial(member, which, k)
        if partial is not None:
            return self.op("weighed", c, partial) if before is None else self.op("given", c, partial, before)
        is_minus = member.kind == "neg" or which and member.kind == "sub"
        part = self.op("sub", self.number(0.0), c) if is_minus else self.op("add", c, self.number(0.0))
        return part if before is None else self.op("add", before, part)

    def partial(self, member: Member, which: int, k: int) -> int | None:
        """The partial derivative; None for 1 and -1."""
        cells = [self.cell(operand, k) for operand in member.operands]
        if member.kind == "mul":
            return cells[1 - which]
        value = self.values[member.step.slot, k]
        if member.kind == "sqrt":
            return self.op("div", self.number(0.5), value)
        if member.kind == "div":
            inverse = self.op("div", value, cells[1]) if which else self.op("div", self.number(1.0), cells[1])
            return self.op("neg", inverse) if which else inverse
        return None


# -- a path ------------------------------------------------------------------------------------------------------------
def groups_of(steps: Sequence[Step], geometry: Geometry) -> list[Group]:
    """The groups of a path in their order."""
    found, group = [], Group(geometry)
    for step in steps:
        member = geometry.member(step)
        if member is not None and group.takes(member):
            group.add(member)
        elif member is not None or group.meets(step):
            found.append(group)
            group = Group(geometry)
            if member is not None:
                group.add(member)
    return [group for group in (*found, group) if len(group.members) >= FEWEST]


def fused(path: Path, compiler: Any = None) -> list[Strips]:
    """Do operations of a path in strips from now on; return what is done forwards."""
    found, outputs, sizes = array_steps(path)
    steps = [Step(*step) for step in found]
    written = {slot for step in steps for slot in step.writes}
    counts = Counter(step.shape[0] for step in steps if step.function is not None and step.shape)
    best: list[Group] = []
    for rows in counts:
        if rows >= ROWS:
            groups = groups_of(steps, Geometry(rows, sizes, written))
            if sum(len(group.members) for group in groups) > sum(len(group.members) for group in best):
                best = groups
    grouped = {member.step.number for group in best for member in group.members}
    for group in best:
        group.compiler = compiler
        group.outer = group.made & outer_of(group, steps, outputs)
        taken = {member.step.slot: member.table for member in group.members if member.table is not None}
        read = {slot for step in steps if step.number not in grouped for slot in step.reads}.union(outputs)
        group.stored = {slot for slot in group.outer if slot in read or slot not in taken}
        group.geometry.tables |= taken
    numbers: dict[int, Any] = {}
    for group in best:
        numbers |= dict.fromkeys([member.step.number for member in group.members])
        slots = group.made | group.read | {member.table.slot for member in group.members if member.table is not None}
        numbers[group.members[-1].step.number] = (group.forward(), group.storages, {}, group.reverse, slots)
    if best:
        fuse(path, numbers, {slot for group in best for slot in group.made - group.stored})
    return [group[0] for group in numbers.values() if group]


def outer_of(group: Group, steps: Sequence[Step], outputs: Sequence[int]) -> set[int]:
    """The slots that anything else than a group reads."""
    own = {member.step.number for member in group.members}
    return {slot for step in steps if step.number not in own for slot in step.reads}.union(outputs)
