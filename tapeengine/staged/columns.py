"""Straight lines of operations on columns of arrays, which `strips.h` runs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.programs.replay import LANES, STRIP

#: The operations, in the order of ``strips.h``, with the number of operations that each reads.
NAMES = ("read", "put", "into", "add", "sub", "mul", "div", "neg", "sqrt", "weighed", "given", "chosen")
ARITY = dict(zip(NAMES, (0, 1, 1, 2, 2, 2, 2, 1, 1, 2, 3, 3), strict=True))
WRITES = ("put", "into")


class Lines:
    """Operations under construction; the same operation on the same numbers is done once.

    Attributes
    ----------
    ops : list of tuple
        ``(name, operation, ...)``, ``("read", column)``, ``("put", operation, column)``, or ``("", number)``.
    columns : list of tuple
        ``(array, offset, stride, array of the numbers of rows or -1)``.
    arrays : list
        ``(slot,)`` for values, a storage for its cotangents, or an array of constants.
    """

    def __init__(self) -> None:
        self.ops: list[tuple[Any, ...]] = []
        self.columns: list[tuple[int, ...]] = []
        self.arrays: list[Any] = []
        self.known: dict[Any, int] = {}

    def once(self, things: list[Any], thing: Any, key: Any) -> int:
        """The place of something in a list."""
        key = id(things), key
        if key not in self.known:
            self.known[key] = len(things)
            things.append(thing)
        return self.known[key]

    def op(self, *op: Any) -> int:
        """An operation."""
        return self.once(self.ops, op, op)

    def number(self, value: float) -> int:
        """A constant."""
        return self.once(self.ops, ("", value), struct.pack("<d", value))

    def column(self, array: Any, offset: int, stride: int, rows: Any = None) -> int:
        """A column; `rows` has the numbers of the rows that it consists of."""
        places = [-1 if x is None else self.once(self.arrays, x, id(x) if isinstance(x, np.ndarray) else (x,))
                  for x in (array, rows)]  # fmt: skip
        place = places[0], offset, stride, places[1]
        return self.once(self.columns, place, place)

    def read(self, *column: Any) -> int:
        """The numbers of a column."""
        return self.op("read", self.column(*column))

    def put(self, value: int, *column: Any, name: str = "put") -> None:
        """Write a column, or add to it."""
        self.ops.append((name, value, self.column(*column)))

    def reads(self, k: int) -> Sequence[int]:
        """The operations that an operation reads."""
        name, *rest = self.ops[k]
        return rest[: ARITY[name]] if name else ()

    def needed(self) -> list[int]:
        """The operations that lead to what is written."""
        found = {k for k, op in enumerate(self.ops) if op[0] in WRITES}
        for k in range(len(self.ops) - 1, -1, -1):
            if k in found:
                found.update(self.reads(k))
        return sorted(found)

    def strips(self, rows: int, compiler: Callable[..., Any] | None, *storages: list[int]) -> tuple[Any, ...]:
        """The operations with registers, each of which is used again when no operation reads it any longer."""
        needed = self.needed()
        constants = [k for k in needed if not self.ops[k][0]]
        last = {x: k for k in needed for x in self.reads(k)}
        places = {k: place for place, k in enumerate(constants)}
        spare: list[int] = []
        count, table = len(constants), []
        for k in needed:
            name, *rest = self.ops[k]
            if not name:
                continue
            reads = self.reads(k)
            if name not in WRITES:
                count += not spare
                places[k] = spare.pop() if spare else count - 1
            used = [*[places[x] for x in reads], *[0] * (name == "read"), *rest[len(reads) :], 0, 0, 0][:3]
            table.append((NAMES.index(name), places.get(k, 0), *used))
            spare += [places[x] for x in set(reads) if last[x] == k and self.ops[x][0]]
        registers = np.empty((count + 1, STRIP))
        for place, k in enumerate(constants):
            registers[place] = self.ops[k][1]
        code = compiler(self, needed) if compiler is not None else None
        numbers = (np.array(x, np.int64) for x in (table, self.columns, [0] * len(self.arrays)))
        ops, columns, addresses = numbers
        native = (rows - rows % LANES, *code) if code else (0, 0, None)
        return ops, columns, registers, addresses, self.arrays, *storages, rows, *native
