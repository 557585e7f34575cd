"""Straight lines of operations on columns of arrays."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

#: The operations that write, and the number of operations that others read, which come before a column.
WRITES = ("put", "into")
ARITY = {"read": 0, "put": 1, "into": 1}
#: The bytes of a number.
WIDTH = 8


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
        return rest[: ARITY.get(name)] if name else ()

    def needed(self) -> list[int]:
        """The operations that lead to what is written."""
        found = {k for k, op in enumerate(self.ops) if op[0] in WRITES}
        for k in range(len(self.ops) - 1, -1, -1):
            if k in found:
                found.update(self.reads(k))
        return sorted(found)
