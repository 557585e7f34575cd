"""Straight lines of operations on columns of arrays, for `Strips`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.programs.replay import LANES, Strips

#: The operations, in the order of those in ``strips.h``.
NAMES = ("read", "mask", "put", "into", "add", "sub", "mul", "div", "neg", "sqrt", "weighed", "given", "chosen")
#: The operations that write: nothing else needs to be done.
WRITES = frozenset(("put", "into"))
#: What the operations read: the number of registers, of which columns are none.
ARITY = dict(zip(NAMES, (0, 0, 1, 1, 2, 2, 2, 2, 1, 1, 2, 3, 3), strict=True))


class Lines:
    """Operations under construction; the same operation on the same numbers is done once.

    Parameters
    ----------
    compiler : callable, optional
        Gives the address of native code for the needed operations, and what keeps it; or None.

    Attributes
    ----------
    ops : list of tuple
        ``(name, operand, operand, operand)``: numbers of operations, or of a column; or ``(None, number)`` for a constant.
    columns : list of tuple
        ``(array, offset, stride, array of rows or -1)``.
    arrays : list
        See `Strips`.
    """

    def __init__(self, compiler: Callable[[Lines, list[int]], Any] | None = None) -> None:
        self.compiler = compiler
        self.ops: list[tuple[Any, ...]] = []
        self.columns: list[tuple[int, int, int, int]] = []
        self.arrays: list[Any] = []
        self.known: dict[Any, int] = {}

    def number(self, value: float) -> int:
        """A constant."""
        return self._once((None, value), struct.pack("<d", value))

    def op(self, name: str, *operands: int) -> int:
        """An operation."""
        return self._once((name, *operands), (name, *operands))

    def _once(self, op: tuple[Any, ...], key: Any) -> int:
        if key not in self.known:
            self.known[key] = len(self.ops)
            self.ops.append(op)
        return self.known[key]

    def array(self, array: Any) -> int:
        """The number of an array."""
        key = array if isinstance(array, (int, tuple)) else ("array", id(array))
        if ("at", key) not in self.known:
            self.known["at", key] = len(self.arrays)
            self.arrays.append(array)
        return self.known["at", key]

    def column(self, array: Any, offset: int, stride: int, rows: Any = None) -> int:
        """The number of a column; `rows` names the row of the array for each row."""
        place = self.array(array), offset, stride, -1 if rows is None else self.array(rows)
        if place not in self.known:
            self.known[place] = len(self.columns)
            self.columns.append(place)
        return self.known[place]

    def read(self, column: int, name: str = "read") -> int:
        """The numbers of a column, or of a column of truths."""
        return self._once((name, column), (name, column))

    def write(self, value: int, column: int, name: str = "put") -> None:
        """Write a column, or add to it."""
        self.ops.append((name, value, column))

    def needed(self) -> list[int]:
        """The operations that lead to what is written."""
        needed = bytearray(len(self.ops))
        for k in range(len(self.ops) - 1, -1, -1):
            name, *operands = self.ops[k]
            if name in WRITES:
                needed[k] = 1
            if needed[k] and name is not None:
                for operand in operands[: ARITY[name]]:
                    needed[operand] = 1
        return [k for k, is_needed in enumerate(needed) if is_needed]

    def strips(self, rows: int, begun: Iterable[tuple[int, bool]] = (), ended: Iterable[int] = ()) -> Strips:
        """The operations with registers, each of which is used again when no operation reads it any longer."""
        needed = self.needed()
        constants = [k for k in needed if self.ops[k][0] is None]
        last = {operand: k for k in needed for operand in self.operands(k)}
        places = {k: place for place, k in enumerate(constants)}
        spare, most, table = [], len(constants), []
        for k in needed:
            name, *rest = self.ops[k]
            if name is None:
                continue
            arity = ARITY[name]
            used = [places[x] for x in rest[:arity]]
            to = 0
            if name not in WRITES:
                to = spare.pop() if spare else most
                most = max(most, to + 1)
                places[k] = to
            spare += [places[x] for x in set(rest[:arity]) if last[x] == k and self.ops[x][0] is not None]
            if name in ("read", "mask"):
                used = [0, rest[0]]
            elif name in WRITES:
                used.append(rest[1])
            table.append((NAMES.index(name), to, *used, *[0] * (3 - len(used))))
        ops, columns = (np.array(x, np.int64).tobytes() for x in (table, self.columns))
        numbers = [self.ops[k][1] for k in constants]
        made = Strips(rows, ops, columns, self.arrays, numbers, most, list(begun), list(ended))
        code = self.compiler(self, needed) if self.compiler is not None else None
        if code is not None:
            made.adopt(code[0], rows - rows % LANES, code[1])
        return made

    def operands(self, k: int) -> tuple[int, ...]:
        """The operations that an operation reads."""
        name, *rest = self.ops[k]
        return tuple(rest[: ARITY[name]]) if name is not None else ()
