"""Groups operations of a path on arrays with many rows, so that a replay does all of them on a few rows at a time.

The numbers between the operations of a group stay in the cache, and are computed again in the reverse pass, which costs
less than keeping them in memory. Values that the rest of the path reads are written to memory. In every row the
operations are those of the engine, in their order: a group ends where another operation reads its results, or may
contribute to the same cotangents.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from .._core.programs.replay import Path, adopt_strips, array_notes, parts_of
from .bodies import ACCESS
from .columns import Lines
from .operations import ADDED, CALLED, COMPUTED, COPIED, LOOKED, MADE, MOVED, SUMMED, WRITTEN
from .vectors import compiled

#: The fewest rows, the most columns of an array, and the fewest and the most operations of a group.
ROWS, COLUMNS, FEWEST, MOST = 256, 32, 2, 200
#: The numbers of rows that are tried.
MOST_EXTENTS = 4
#: Operations whose values are the same bits wherever they are computed.
EXACT = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "sqrt": "sqrt"}
#: The axes of what is joined along the second axis.
JOINED = {"numpy.stack": 1, "numpy.concatenate": 2}
#: From so many numbers on, numpy adds up in another order.
EIGHT = 8


def is_view(x: Any) -> bool:
    """Whether something in a note shows an array of the recording."""
    return type(x).__name__ == "View"


class Operand(NamedTuple):
    """The columns of a slot, or constants, that are read for the numbers in a row of the result, in C order.

    The last attributes say whether the operand has a derivative, whether it is all of its storage, and whether all
    numbers of an innermost row belong to the same column.
    """

    slot: int
    cells: list[Any]
    is_active: bool = False
    is_whole: bool = False
    sums: bool = False


class Table(NamedTuple):
    """What rows are taken from: a slot, the offset and the bytes of its rows, and their numbers."""

    slot: int
    offset: int
    stride: int
    rows: Any


@dataclass
class Step:
    """An operation, and the slots that it reads and changes; the kind is None if it does not work on columns."""

    number: int
    reads: list[int]
    changes: list[int]
    kind: str = ""
    slot: int = -1
    operands: Sequence[Operand] = ()
    inner: int = 1
    divisor: float = 1.0
    table: Table | None = None


class Notes:
    """Reads the operations of a path, as operations on columns of arrays with a number of rows where they are."""

    def __init__(self, path: Path, rows: int) -> None:
        self.rows = rows
        self.notes, self.slots, outputs, epochs, self.sizes, *rest = array_notes(path)
        self.storages, self.accesses, self.shared = rest
        self.outputs = {self.slots[s << 32 | epochs[s]] for s in outputs if s < len(self.sizes)}
        self.written = {slot for slot, writes, *_ in self.accesses if writes}
        for what, _ in self.notes:
            if what[0] in (WRITTEN, ADDED):
                self.written.add(self.slot(what[1]))

    def slot(self, operand: Any) -> int:
        """The slot of an operand."""
        if not is_view(operand):
            return -1
        storage, *_, epoch, _ = parts_of(operand)
        slot: int = self.slots[storage << 32 | epoch]
        return slot

    def steps(self, path: Path) -> Iterator[Step]:
        """The operations."""
        for _, op, k, _ in path.instructions():
            if op == ACCESS:
                slot, writes, *_ = self.accesses[k]
                yield Step(-1, [slot], [slot] * writes)
            elif op == ACCESS + 1:
                yield self.step(k, self.notes[k][0])

    def step(self, k: int, what: tuple[Any, ...]) -> Step:
        """An operation."""
        kind = what[0]
        items = [o for item in what for o in (item if isinstance(item, list) else [item])]
        operands = [o for o in items if type(o).__name__ == "Operand" or is_view(o)]
        reads = [slot for slot in map(self.slot, operands) if slot >= 0]
        if kind in (MADE, MOVED):
            slots = [self.slots[what[1] << 32 | epoch] for epoch in range(what[2] + 2 if kind == MOVED else 1)]
            return Step(k, slots, slots)
        if kind in (WRITTEN, ADDED, LOOKED) or what[-1] is None:
            return Step(k, reads, reads[:1])
        given, made, divisor, _ = parts_of(what[-1])
        views = [view for view in made if is_view(view)]
        changes = [self.slots[parts_of(view)[0] << 32] for view in views]
        step = Step(k, reads, changes, divisor=divisor)
        if kind in (CALLED, COMPUTED, SUMMED, COPIED) and len(made) == len(views) == 1 and self.width(changes[0]):
            _, _, shape, _, is_whole, is_double, *_ = parts_of(views[0])
            if is_whole and is_double:
                self.describe(step, what, shape, what[2] if kind == CALLED else operands, dict(given))
        return step

    def width(self, slot: int) -> int:
        """The number of columns of a slot; 0 if it cannot be done in strips."""
        size = self.sizes[self.storages[slot]]
        is_even = size % self.rows == 0 and slot not in self.written
        return size // self.rows if is_even and size <= COLUMNS * self.rows else 0

    def describe(self, step: Step, what: tuple[Any, ...], shape: tuple[int, ...], operands: Any, given: Any) -> None:
        """Give a step its kind and operands, if it works on columns."""
        name = getattr(what[1], "name", getattr(what[1], "__name__", ""))
        step.slot = step.changes[0]
        if what[0] == COPIED:
            self.take(step, parts_of(given[0]), step.reads[0], what[2])
        elif what[0] == COMPUTED and name in EXACT:
            step.inner = shape[-1] if len(shape) > 1 else 1
            self.settle(step, EXACT[name], [self.operand(o, given.get(k), shape) for k, o in enumerate(operands)])
        elif what[0] == SUMMED:
            own = parts_of(given[0])[2]
            if len(own) == 2 and shape == own[:1] and own[1] < EIGHT:
                self.settle(step, "sum", [self.operand(operands[0], given[0], own)])
        elif what[0] == CALLED and str(getattr(what[1].primal, "__module__", "")).startswith("tapeengine_primitives."):
            if name == "numpy.where":
                found = [self.operand(o, given.get(k), shape, k > 0) for k, o in enumerate(operands)]
                self.settle(step, "chosen", found)
            elif name in JOINED and len(shape) == 2 and what[3]["axis"] in (1, -1) and what[3].get("dtype") is None:
                self.join(step, operands, given, JOINED[name])

    def settle(self, step: Step, kind: str, operands: list[Operand | None]) -> None:
        """Give a step its kind and operands, if these consist of columns."""
        if None not in operands:
            step.kind, step.operands = kind, operands  # type: ignore[assignment]

    def join(self, step: Step, operands: Any, given: Any, axes: int) -> None:
        """Arrays of so many axes, side by side."""
        if all(is_view(given.get(k)) for k in range(len(operands))):
            shapes = [parts_of(given[k])[2] for k in range(len(operands))]
            if all(len(shape) == axes for shape in shapes):
                found = [
                    self.operand(o, given[k], shape) for (k, o), shape in zip(enumerate(operands), shapes, strict=True)
                ]
                self.settle(step, "joined", found)

    def take(self, step: Step, view: Any, slot: int, index: Any) -> None:
        """Rows of a table, by their numbers."""
        _, offset, shape, strides, _, is_right, *_ = view
        rows = index[0] if isinstance(index, tuple) and len(index) == 1 else None
        if not isinstance(rows, np.ndarray) or rows.dtype != np.intp or rows.shape != (self.rows,):
            return
        if is_right and slot not in self.written and strides == np.empty(shape).strides:
            step.kind = "taken"
            step.table = Table(slot, offset, 8 * self.width(step.slot), np.ascontiguousarray(rows % shape[0], np.int64))

    def operand(self, operand: Any, place: Any, shape: tuple[int, ...], is_equal: bool = False) -> Operand | None:
        """An operand for results of a shape; None if it does not consist of columns."""
        if not is_view(operand):
            id, constant = parts_of(operand)
            return None if id else self.constant(constant, shape)
        _, offset, own, strides, is_whole, is_right, *_ = parts_of(operand if place is None else place)
        if parts_of(operand)[-1] or not is_right or (is_equal and place is not None and own != shape):
            return None
        slot, strides = self.slot(operand), spread(own, strides, shape)
        cells, width = self.cells(offset, shape, strides), 8 * self.width(slot)
        if cells is None or not width or cells[0] != width or not all(0 <= at < width for at in cells[1]):
            return None
        return Operand(
            slot, [at // 8 for at in cells[1]], place is not None, is_whole, len(shape) > 1 and not strides[-1]
        )

    def constant(self, constant: Any, shape: tuple[int, ...]) -> Operand | None:
        """A number, or a copy of an array, which may change before the reverse pass; truths become numbers."""
        array = np.asarray(constant)
        if array.dtype not in (float, bool) and not isinstance(constant, int):
            return None
        if array.size == 1:
            cells = self.cells(0, shape, (0,) * len(shape))
            return None if cells is None else Operand(-1, [float(array.ravel()[0])] * len(cells[1]))
        array = np.array(array.reshape(-1) if shape == (array.size,) else array, float, order="C")
        cells = self.cells(0, shape, spread(array.shape, array.strides, shape))
        return None if cells is None else Operand(-1, [(array, at, cells[0]) for at in cells[1]])

    def cells(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, list[int]] | None:
        """The bytes from one row to the next, and where the numbers of the first one lie."""
        if len(shape) == 1 and shape[0] % self.rows == 0:
            each = shape[0] // self.rows
            shape, strides = (self.rows, each), (each * strides[0], strides[0])
        if not shape or shape[0] != self.rows or np.prod(shape[1:]) > COLUMNS:
            return None
        steps = [[k * stride for k in range(n)] for n, stride in zip(shape[1:], strides[1:], strict=True)]
        return strides[0], [offset + sum(parts) for parts in itertools.product(*steps)]


def spread(own: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array that is broadcast to a shape, or is whole and read along its memory."""
    if len(shape) == 1 and np.prod(own) == shape[0]:
        return strides if len(own) == 1 else (8,)
    return (0,) * (len(shape) - len(own)) + tuple(0 if n == 1 else s for n, s in zip(own, strides, strict=True))


# -- groups ------------------------------------------------------------------------------------------------------------
class Group:
    """Operations that are done together.

    Attributes
    ----------
    steps : list of Step
    made, read : set of int
        The slots that they make, and the other ones that they read.
    tables : set of int
        The storages of which they take rows.
    outer, stored : set of int
        The slots that they make whose cotangents, and whose values the rest of the path needs.
    taken : dict
        The slots, here and in other groups, whose values are taken from a table wherever a group reads them.
    """

    def __init__(self, notes: Notes) -> None:
        self.notes, self.steps = notes, list[Step]()
        self.made, self.read, self.tables = set[int](), set[int](), set[int]()
        self.outer, self.stored, self.taken = set[int](), set[int](), dict[int, Table]()

    def add(self, step: Step) -> None:
        """Take an operation."""
        self.steps.append(step)
        self.made.add(step.slot)
        self.read.update(o.slot for o in step.operands if o.slot >= 0 and o.slot not in self.made)
        if step.table is not None:
            self.tables.add(step.table.slot)

    def of(self, slots: Iterable[int]) -> set[int]:
        """The storages of slots."""
        return {self.notes.storages[slot] for slot in slots}

    def touched(self) -> set[int]:
        """All slots."""
        return self.made | self.read | self.tables

    def meets(self, step: Step) -> bool:
        """Whether an operation that is not of the group must come after it."""
        return not self.of(self.touched()).isdisjoint(self.of([*step.reads, *step.changes]))

    def takes(self, step: Step) -> bool:
        """Whether an operation may be one of the group: a table is read once, and in no other way."""
        read = self.of(self.tables).isdisjoint(self.of(o.slot for o in step.operands if o.slot >= 0))
        is_new = step.table is None or self.of([step.table.slot]).isdisjoint(self.of(self.touched()))
        return bool(step.kind) and read and is_new and len(self.steps) < MOST

    def storages(self) -> list[int]:
        """The storages whose cotangents outlive a strip."""
        active = {o.slot for step in self.steps for o in step.operands if o.is_active}
        return sorted(self.of((self.read & active) | self.outer | self.tables))

    def forward(self) -> tuple[Any, ...]:
        """Values."""
        lines = Values(self)
        for slot in sorted(self.stored):
            for k in range(self.notes.width(slot)):
                lines.put(lines.values[slot, k], *lines.own(slot, k))
        return compiled(lines, self.notes.rows)

    def reverse(self, present: tuple[bool, ...]) -> tuple[Any, ...]:
        """Cotangents, where some of the storages have some before."""
        return Cotangents(self, dict(zip(self.storages(), present, strict=True))).all()


class Values(Lines):
    """The values of a group."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group, self.width = group, group.notes.width
        self.values: dict[tuple[int, int], int] = {}
        for step in group.steps:
            for k, value in enumerate(list(self.results(step))):
                self.values[step.slot, k] = value

    def own(self, slot: int, k: int) -> tuple[Any, ...]:
        """A column of a slot."""
        return (slot,), 8 * k, 8 * self.width(slot)

    def value(self, slot: int, k: int) -> int:
        """The values of a column."""
        if (slot, k) not in self.values:
            table = self.group.taken.get(slot)
            column = self.own(slot, k) if table is None else of_table(table, (table.slot,), k)
            self.values[slot, k] = self.read(*column)
        return self.values[slot, k]

    def cells(self, operand: Operand) -> list[int]:
        """The values of an operand's cells."""
        if operand.slot >= 0:
            return [self.value(operand.slot, k) for k in operand.cells]
        return [self.number(cell) if isinstance(cell, float) else self.read(*cell) for cell in operand.cells]

    def results(self, step: Step) -> Iterator[int]:
        """The columns of a result."""
        each = [self.cells(operand) for operand in step.operands]
        if step.table is not None:
            for k in range(self.width(step.slot)):
                yield self.read(*of_table(step.table, (step.table.slot,), k))
        elif step.kind == "joined":
            yield from itertools.chain(*each)
        elif step.kind == "sum":  # as numpy adds up
            total = reduce(partial(self.op, "add"), each[0])
            yield self.quotient(self.op("add", total, self.number(0.0)), step.divisor)
        else:
            yield from (self.op(step.kind, *cells) for cells in zip(*each, strict=True))

    def quotient(self, value: int, divisor: float) -> int:
        """A value over a number."""
        return value if divisor == 1.0 else self.op("div", value, self.number(divisor))


def of_table(table: Table, array: Any, k: int) -> tuple[Any, ...]:
    """A column of the rows that are taken of a table."""
    return array, table.offset + 8 * k, table.stride, table.rows


class Cotangents(Values):
    """The reverse pass of a group, with the values that it needs; `present` says which storages have cotangents."""

    def __init__(self, group: Group, present: dict[int, bool]) -> None:
        super().__init__(group)
        self.present = present
        self.widths = {group.notes.storages[slot]: self.width(slot) for slot in group.made | group.read}
        self.cotangents: dict[int, list[int]] = {}
        self.changed: dict[int, set[int]] = {}
        self.zero = self.number(0.0)
        for slot in group.stored:
            for k in range(self.width(slot)):
                self.values[slot, k] = self.read(*self.own(slot, k))

    def all(self) -> tuple[Any, ...]:
        """Write everything."""
        ended, zeroed, tables = [], [], []
        for step in reversed(self.group.steps):
            (storage,) = self.group.of([step.slot])
            ct = self.of(storage)
            if ct is not None:
                if step.table is not None:
                    tables.append((step.table, ct))
                self.contribute(step, ct)
                ended += [storage] * self.present.pop(storage, False)
                self.cotangents.pop(storage)
                self.changed.pop(storage, None)
        begun = [storage for storage in self.changed if not self.present[storage]]
        for storage, changed in self.changed.items():
            for k in changed if self.present[storage] else range(self.widths[storage]):
                self.put(self.cotangents[storage][k], storage, 8 * k, 8 * self.widths[storage])
        for table, ct in tables:
            (storage,) = self.group.of([table.slot])
            zeroed += [] if self.present[storage] else [storage]
            for k, c in enumerate(ct):
                self.put(c, *of_table(table, storage, k), name="into")
        return compiled(self, self.group.notes.rows, begun + zeroed, zeroed, ended)

    def of(self, storage: int) -> list[int] | None:
        """The cotangents of a storage; None where there are none."""
        if storage not in self.cotangents and self.present.get(storage):
            width = self.widths[storage]
            self.cotangents[storage] = [self.read(storage, 8 * k, 8 * width) for k in range(width)]
        return self.cotangents.get(storage)

    def contribute(self, step: Step, ct: list[int]) -> None:
        """Add the contributions of an operation to the cotangents of its operands."""
        start = 0
        for which, operand in enumerate(step.operands):
            part = ct[start : start + len(operand.cells)]
            start += len(part)
            if not operand.is_active:
                continue
            if step.kind == "joined":
                self.give(operand, part)
            elif step.kind == "chosen":
                self.give(operand, self.chosen(step, which, ct))
            elif step.kind == "sum":
                self.spread(operand, self.quotient(ct[0], step.divisor))
            elif operand.sums and step.kind in ("add", "sub") and not self.assigns(operand):
                self.add_up(step, which, operand, ct)
            else:
                self.give(operand, [partial(self.weighed, step, which, k, c) for k, c in enumerate(ct)])

    def chosen(self, step: Step, which: int, ct: list[int]) -> list[int]:
        """The cotangents where an operand was chosen."""
        masks = self.cells(step.operands[0])
        pairs = [(c, self.zero) if which == 1 else (self.zero, c) for c in ct]
        return [self.op("chosen", mask, *pair) for mask, pair in zip(masks, pairs, strict=True)]

    def spread(self, operand: Operand, c: int) -> None:
        """Add the cotangent of a sum to those of its parts."""
        found = self.begin(operand)
        for k in operand.cells:
            found[k] = self.op("add", found[k], c)

    def assigns(self, operand: Operand) -> bool:
        """Whether contributions take the place of cotangents: they are the first ones to a whole storage."""
        return operand.is_whole and self.of(self.group.notes.storages[operand.slot]) is None

    def begin(self, operand: Operand) -> list[int]:
        """The cotangents of an operand's storage, zeros where there are none."""
        storage = self.group.notes.storages[operand.slot]
        found = self.of(storage)
        if found is None:
            found = self.cotangents[storage] = [self.zero] * self.widths[storage]
        self.changed.setdefault(storage, set()).update(operand.cells)
        return found

    def give(self, operand: Operand, parts: Sequence[int | Callable[[int | None], int]]) -> None:
        """Add contributions."""
        assigns = self.assigns(operand)
        ct = self.begin(operand)
        for k, part in zip(operand.cells, parts, strict=True):
            before = None if assigns else ct[k]
            if callable(part):
                ct[k] = part(before)
            else:
                ct[k] = part if before is None else self.op("add", before, part)

    def add_up(self, step: Step, which: int, operand: Operand, ct: list[int]) -> None:
        """Add sums of the cotangents of innermost rows, all of which belong to one column."""
        found = self.begin(operand)
        for start in range(0, len(ct), step.inner):
            total = reduce(partial(self.op, "add"), ct[start : start + step.inner], self.zero)
            k = operand.cells[start]
            found[k] = self.op(step.kind if which else "add", found[k], total)

    def weighed(self, step: Step, which: int, k: int, c: int, before: int | None) -> int:
        """A contribution: zero where the cotangent is, whatever the partial is."""
        slope = self.slope(step, which, k)
        if slope is not None:
            return self.op("weighed", c, slope) if before is None else self.op("given", c, slope, before)
        is_minus = step.kind == ("sub" if which else "neg")
        part = self.op("sub", self.zero, c) if is_minus else self.op("add", c, self.zero)
        return part if before is None else self.op("add", before, part)

    def slope(self, step: Step, which: int, k: int) -> int | None:
        """The partial derivative; None for 1 and -1."""
        cells, value = [self.cells(operand)[k] for operand in step.operands], self.values[step.slot, k]
        if step.kind == "mul":
            return cells[1 - which]
        if step.kind == "sqrt":
            return self.op("div", self.number(0.5), value)
        if step.kind != "div":
            return None
        return self.op("neg", self.op("div", value, cells[1])) if which else self.op("div", self.number(1.0), cells[1])


# -- a path ------------------------------------------------------------------------------------------------------------
def groups_of(steps: Sequence[Step], notes: Notes) -> list[Group]:
    """The groups of operations in their order."""
    found = [Group(notes)]
    for step in steps:
        if not found[-1].takes(step) and (step.kind or found[-1].meets(step)):
            found.append(Group(notes))
        if found[-1].takes(step):
            found[-1].add(step)
    return [group for group in found if len(group.steps) >= FEWEST]


def fuse(path: Path, attempt: Callable[..., Any]) -> None:
    """Do operations of a path in strips from now on; `attempt` calls what makes the native code of a reverse pass."""
    steps, groups = best_groups(path)
    if not groups:
        return
    notes, numbers, inner, touched = groups[0].notes, dict[int, Any](), set[int](), set[int]()
    read = read_by(steps, {step.number for group in groups for step in group.steps}) | notes.outputs
    taken = {step.slot: step.table for group in groups for step in group.steps if step.table is not None}
    for group in groups:
        own = {step.number for step in group.steps}
        group.taken, group.outer = taken, group.made & (read_by(steps, own) | notes.outputs)
        group.stored = group.outer & (read | (group.made - taken.keys()))
        numbers.update(dict.fromkeys(own))
        inner |= group.made - group.stored
        touched |= group.touched()
    for group in groups:
        numbers[group.steps[-1].number] = (group.forward(), group.storages(), {}, partial(attempt, group.reverse))
    shared = {k: slot for k, slot in notes.shared.items() if touched.isdisjoint((k, slot))}
    adopt_strips((path, numbers, inner, shared))


def best_groups(path: Path) -> tuple[list[Step], list[Group]]:
    """The operations, and their groups for the number of rows with which most operations are in one."""
    best: tuple[list[Step], list[Group]] = [], []
    for rows in extents(path):
        notes = Notes(path, rows)
        steps = list(notes.steps(path))
        found = steps, groups_of(steps, notes)
        best = max(best, found, key=lambda pair: sum(len(group.steps) for group in pair[1]))
    return best


def read_by(steps: Sequence[Step], others: set[int]) -> set[int]:
    """The slots that are read by operations that are not among others."""
    return {slot for step in steps if step.number not in others for slot in step.reads}


def extents(path: Path) -> list[int]:
    """The numbers of rows that some arrays have."""
    found: Counter[int] = Counter()
    for what, _ in array_notes(path)[0]:
        if what[0] in (CALLED, COMPUTED, SUMMED, COPIED):
            views = [view for view in parts_of(what[-1])[1] if is_view(view)]
            found.update(parts_of(view)[2][0] for view in views if parts_of(view)[2])
    return [rows for rows, _ in found.most_common(MOST_EXTENTS) if rows >= ROWS]
