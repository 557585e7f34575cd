"""Python functions that call primitives of the registry: they read leaves from words, and write those of the result."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...._core.programs.machine import addresses
from ....primitive import Primitive
from ...intermediate.operations import REAL, TRUTH, WHOLE
from ...intermediate.statements import ArrayOf, Operand, Registered
from ..callbacks import DTYPES, referring
from ..machine import NotAssembled
from .layout import RANK

#: How a run goes on, as in `machine.h`.
DONE, REFER, NO_MEMORY = 0, 3, 4
#: A number in a word.
FORMATS = {REAL: "d", WHOLE: "q", TRUTH: "?7x"}


@functools.cache
def take() -> Callable[[int, int], int | None]:
    """Give the function that allocates memory in an arena."""
    return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(addresses()["te_take"])


def callback(table: Mapping[str, Primitive], s: Registered) -> Callable[[int, int], int]:
    """Give the function that calls a primitive, or one of its rules; it returns the status of the run.

    It takes the addresses of an arena for arrays, and of words.
    """
    takes, gives, run = Leaves(s.args), Leaves(s.outs), referring(table, s)

    def called(arena: int, place: int) -> int:
        leaves = takes.read(place)
        found = None if leaves is None else run(leaves)
        return REFER if found is None else gives.write(place, found, arena)

    return called


class Leaves:
    """Leaves as words: numbers, and arrays as their addresses and sizes."""

    def __init__(self, xs: Sequence[Operand]) -> None:
        self.kinds: list[tuple[Any, int]] = []
        formats = "="
        for x in xs:
            element, rank = (x.type.element, x.type.rank) if isinstance(x.type, ArrayOf) else (x.type, 0)
            if element not in FORMATS or rank > RANK:
                raise NotAssembled("a primitive of the registry on rows of any sizes")
            formats += "Q" + "q" * rank if rank else FORMATS[element]
            self.kinds.append((DTYPES[element], rank))
        self.struct = struct.Struct(formats)
        self.buffer = ctypes.c_char * self.struct.size
        self.is_numbers = not any(rank for _, rank in self.kinds)

    def read(self, place: int) -> list[Any] | None:
        """Read leaves, and copy arrays; None if an array stands for zeros."""
        words = list(self.struct.unpack_from(self.buffer.from_address(place)))
        if self.is_numbers:
            return words
        found: list[Any] = []
        at = 0
        for dtype, rank in self.kinds:
            if not rank:
                found.append(words[at])
            elif not words[at]:
                return None
            else:
                shape = words[at + 1 : at + 1 + rank]
                copied = bytearray(ctypes.string_at(words[at], math.prod(shape) * dtype.itemsize))
                found.append(np.ndarray(shape, dtype, copied))
            at += 1 + rank
        return found

    def write(self, place: int, leaves: Sequence[Any], arena: int) -> int:
        """Write leaves, and arrays to an arena; return the status."""
        words: list[Any] = []
        for x, (_, rank) in zip(leaves, self.kinds, strict=True):
            if not rank:
                words.append(x)
                continue
            made = take()(arena, x.nbytes)
            if made is None:
                return NO_MEMORY
            ctypes.memmove(made, x.tobytes(), x.nbytes)
            words += [made, *x.shape]
        self.struct.pack_into(self.buffer.from_address(place), 0, *words)
        return DONE
