"""The tape: one record for each scalar operation, numbered by ids (DN 10.2 and 10.3)."""

import itertools
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from .ops import OPERATIONS, partial

#: An operand is the id of a record of the same tape, or a constant.
Operand = int | float


class Record(NamedTuple):
    """The defunctionalised backpropagator of one operation (`Contrib` of DN 10.2), and its value.

    Attributes
    ----------
    op : str
        The opcode; ``"input"`` for an input of the trace and for a link to an outer one.
    operands : tuple
        For each operand its id on this tape (an int), or its value if it is a constant (a float).
    contributions : tuple of (int, float)
        Parent and partial, for each operand on the tape.
    value : float
        The value of the operation.
    """

    op: str
    operands: tuple[Operand, ...]
    contributions: tuple[tuple[int, float], ...]
    value: float


class Tape:
    """The records of one trace; ids are 1, 2, ..., and the inputs come first."""

    # The later of two traces is the inner one. Traces share only this order.
    serials: ClassVar[Iterator[int]] = itertools.count(1)

    def __init__(self) -> None:
        self.serial = next(self.serials)
        self.is_open = True
        self.inputs = 0
        self.links: dict[tuple[Tape, int], int] = {}
        self.outer_duals: list[tuple[int, Tape, int]] = []
        self._records: list[Record] = [Record("input", (), (), 0.0)]

    def __getitem__(self, i: int) -> Record:
        return self._records[i]

    @property
    def end(self) -> int:
        """The next id."""
        return len(self._records)

    def __len__(self) -> int:
        """The number of records, without those of the inputs."""
        return self.end - 1 - self.inputs

    @property
    def nbytes(self) -> int:
        """The bytes of the records, without those of Python's numbers."""
        return sum(record.__sizeof__() for record in self._records)

    def records(self) -> Iterator[tuple[int, str, tuple[int, ...], tuple[float, ...]]]:
        """Iterate over (id, opcode name, ids of the parents, partials), from the oldest record on."""
        for i in range(self.inputs + 1, self.end):
            record = self[i]
            parents, partials = zip(*record.contributions, strict=True) if record.contributions else ((), ())
            yield i, record.op, parents, partials

    def add_input(self, value: float) -> int:
        """Assign the next id to a scalar of the primals."""
        self.inputs += 1
        return self._append(Record("input", (), (), value))

    def add(self, op: str, operands: tuple[Operand, ...], value: float) -> int:
        """Record one operation and return its id."""
        values = tuple(self[x].value if isinstance(x, int) else x for x in operands)
        partials = tuple(partial(op, which, values, value) for which in range(len(operands)))
        left_out = [s and p == 0.0 for s, p in zip(OPERATIONS[op].selects, partials, strict=True)]
        operands = tuple(v if out else x for x, v, out in zip(operands, values, left_out, strict=True))
        contributions = tuple((x, p) for x, p in zip(operands, partials, strict=True) if isinstance(x, int))
        return self._append(Record(op if contributions else "input", operands, contributions, value))

    def link(self, outer: "Tape", i: int, value: float) -> int:
        """The input of this tape that stands for the dual with id i of an outer trace."""
        if (outer, i) not in self.links:
            self.links[outer, i] = self._append(Record("input", (), (), value))
            self.outer_duals.append((self.links[outer, i], outer, i))
        return self.links[outer, i]

    def operand(self, tape: "Tape", i: int, value: float) -> int:
        """The id on this tape of a dual of this trace or of an outer one."""
        return i if tape is self else self.link(tape, i, value)

    def _append(self, record: Record) -> int:
        self._records.append(record)
        return self.end - 1
