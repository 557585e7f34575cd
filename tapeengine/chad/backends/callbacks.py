"""Python functions that call primitives of the registry: they read leaves from words, and write those of the result."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._core.programs.machine import addresses
from ...primitive import Primitive
from ..intermediate.operations import REAL, TRUTH, WHOLE
from ..intermediate.running import on_arrays
from ..intermediate.statements import ArrayOf, Operand, Registered
from .machine import RANK, NotAssembled
from .poles import at_poles

#: How a run goes on, as in `machine.h`.
DONE, REFER, NO_MEMORY = 0, 3, 4
#: A number in a word, and numpy's type for elements of an array.
FORMATS = {REAL: ("d", np.dtype(float)), WHOLE: ("q", np.dtype(np.int64)), TRUTH: ("?7x", np.dtype(bool))}


@functools.cache
def function(name: str, *types: Any) -> Callable[..., int | None]:
    """Give a function of the machine that gives an address."""
    return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, *types)(addresses()[name])


def callback(
    table: Mapping[str, Primitive], s: Registered, of: type[Leaves] | None = None
) -> Callable[[int, int], int]:
    """Give the function that calls a primitive, or one of its rules; it returns the status of the run.

    It takes the addresses of an arena for arrays, and of leaves. Where numpy warns, and where an array of the result
    does not have the elements that the program expects, the run is referred to Python.
    """
    takes, gives, run = (of or Leaves)(s.args), (of or Leaves)(s.outs), at_poles("raise", on_arrays(table, s))

    def called(arena: int, place: int) -> int:
        leaves = takes.read(place)
        try:
            return REFER if leaves is None else gives.write(place, run(leaves), arena)
        except FloatingPointError:
            return REFER

    return called


class Leaves:
    """Leaves as words: numbers, and arrays as their addresses and sizes."""

    sizes = "q"  # of a dimension

    def __init__(self, xs: Sequence[Operand]) -> None:
        self.kinds: list[tuple[Any, int]] = []
        formats = "="
        for x in xs:
            element, rank = (x.type.element, x.type.rank) if isinstance(x.type, ArrayOf) else (x.type, 0)
            if element not in FORMATS or rank > RANK:
                raise NotAssembled("a primitive of the registry on rows of any sizes")
            letter, dtype = FORMATS[element]
            formats += "Q" + self.sizes * rank if rank else letter
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
                found.append(self.array(words[at:], rank, dtype))
            at += 1 + len(self.sizes * rank)
        return found

    def array(self, words: Sequence[int], rank: int, dtype: Any) -> Any:
        """Copy an array."""
        copied = bytearray(ctypes.string_at(words[0], math.prod(words[1 : 1 + rank]) * dtype.itemsize))
        return np.ndarray(words[1 : 1 + rank], dtype, copied)

    def write(self, place: int, leaves: Sequence[Any], arena: int) -> int:
        """Write leaves, and arrays to an arena; return the status."""
        words: list[Any] = []
        for x, (dtype, rank) in zip(leaves, self.kinds, strict=True):
            if not rank:
                words.append(x)
                continue
            if x.ndim != rank or not (x.dtype == dtype or np.can_cast(x.dtype, dtype, "safe")):
                return REFER
            made, *rest = self.made(arena, x.shape, dtype)
            if made is None:
                return NO_MEMORY
            ctypes.memmove(made, x.astype(dtype, copy=False).tobytes(), x.size * dtype.itemsize)
            words += rest
        self.struct.pack_into(self.buffer.from_address(place), 0, *words)
        return DONE

    def made(self, arena: int, shape: tuple[int, ...], dtype: Any) -> list[Any]:
        """Give the memory of an array, and its words."""
        made = function("te_take", ctypes.c_int64)(arena, math.prod(shape) * dtype.itemsize)
        return [made, made, *shape]


class Registers(Leaves):
    """Leaves in registers of the machine, which has arrays at the addresses of their descriptions."""

    sizes = ""

    def array(self, words: Sequence[int], rank: int, dtype: Any) -> Any:
        """Copy an array."""
        _, data, _, *sizes = struct.unpack(f"{3 + 2 * RANK}q", ctypes.string_at(words[0], 8 * (3 + 2 * RANK)))
        known = {"shape": tuple(sizes[:rank]), "strides": tuple(sizes[RANK : RANK + rank]), "typestr": dtype.str}
        return np.array(SimpleNamespace(__array_interface__={"data": (data, True), "version": 3, **known}), order="C")

    def made(self, arena: int, shape: tuple[int, ...], dtype: Any) -> list[Any]:
        """Give the memory of an array, and its words."""
        make = function("te_made", ctypes.c_int, ctypes.c_int, ctypes.c_char_p)
        kind = [of for _, of in FORMATS.values()].index(dtype)
        made = make(arena, len(shape), kind, struct.pack(f"{len(shape)}q", *shape))
        return [made and ctypes.c_int64.from_address(made + 8).value, made]
