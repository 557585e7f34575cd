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
from ...intermediate.running import on_arrays
from ...intermediate.statements import ArrayOf, Operand, Registered
from ..machine import NotAssembled
from ..poles import at_poles
from .arguments import RANK

#: How a run goes on, as in `machine.h`.
DONE, REFER, NO_MEMORY = 0, 3, 4
#: A number in a word, and numpy's type for elements of an array.
FORMATS = {REAL: ("d", np.dtype(float)), WHOLE: ("q", np.dtype(np.int64)), TRUTH: ("?7x", np.dtype(bool))}


@functools.cache
def take() -> Callable[[int, int], int | None]:
    """Give the function that allocates memory in an arena."""
    return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(addresses()["te_take"])


def callback(table: Mapping[str, Primitive], s: Registered) -> Callable[[int, int], int]:
    """Give the function that calls a primitive, or one of its rules; it returns the status of the run.

    It takes the addresses of an arena for arrays, and of words. Where numpy warns, and where an array of the result
    does not have the elements that the program expects, the run is referred to Python.
    """
    takes, gives, run = Leaves(s.args), Leaves(s.outs), at_poles("raise", on_arrays(table, s))

    def called(arena: int, place: int) -> int:
        leaves = takes.read(place)
        try:
            return REFER if leaves is None else gives.write(place, run(leaves), arena)
        except FloatingPointError:
            return REFER

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
            letter, dtype = FORMATS[element]
            formats += "Q" + "q" * rank if rank else letter
            self.kinds.append((dtype, rank))
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
        for x, (dtype, rank) in zip(leaves, self.kinds, strict=True):
            if not rank:
                words.append(x)
                continue
            if x.ndim != rank or not (x.dtype == dtype or np.can_cast(x.dtype, dtype, "safe")):
                return REFER
            made = take()(arena, x.size * dtype.itemsize)
            if made is None:
                return NO_MEMORY
            ctypes.memmove(made, x.astype(dtype, copy=False).tobytes(), x.size * dtype.itemsize)
            words += [made, *x.shape]
        self.struct.pack_into(self.buffer.from_address(place), 0, *words)
        return DONE
