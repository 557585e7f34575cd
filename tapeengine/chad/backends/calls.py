"""Calls of primitives of the registry by the register machine: they read registers, and write the results to others."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._core.programs.machine import addresses
from ...primitive import Primitive
from ..intermediate.operations import REAL, TRUTH, WHOLE
from ..intermediate.running import on_arrays
from ..intermediate.statements import ArrayOf, Registered, Type
from .poles import at_poles

#: How a run goes on, as in `machine.h`.
DONE, REFER, NO_MEMORY = 0, 3, 4
#: The greatest number of dimensions of arrays, ``TE_RANK`` in `machine.h`.
RANK = 8
#: The next array, the elements, their capacity, the sizes and the strides of a ``te_array``.
ARRAY = struct.Struct(f"{3 + 2 * RANK}q")
#: The numbers of kinds of elements, and how registers and arrays hold them.
KINDS: Mapping[Type, tuple[int, Any, np.dtype[Any]]] = {
    REAL: (0, ctypes.c_double, np.dtype(float)),
    WHOLE: (1, ctypes.c_int64, np.dtype(np.int64)),
    TRUTH: (2, ctypes.c_int64, np.dtype(bool)),
}


@functools.cache
def make() -> Callable[..., int | None]:
    """Give the function that makes an array in the memory of a run."""
    types = ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p
    return ctypes.PYFUNCTYPE(ctypes.c_void_p, *types)(addresses()["te_made"])


def call(
    table: Mapping[str, Primitive], s: Registered, args: Sequence[int], outs: Sequence[int]
) -> Callable[[int, int], int]:
    """Give the function that calls a primitive, or one of its rules, for the machine; it returns the status of the run.

    It refers the run to Python as native code does.
    """
    run = at_poles("raise", on_arrays(table, s))

    def called(registers: int, memory: int) -> int:
        given = [read(registers + 8 * at, x.type) for x, at in zip(s.args, args, strict=True)]
        try:
            found = run(given)
        except FloatingPointError:
            return REFER
        each = zip(s.outs, outs, found, strict=True)
        return next((n for v, at, x in each if (n := write(registers + 8 * at, v.type, x, memory))), DONE)

    return called


def read(place: int, of: Type) -> Any:
    """Read a leaf from a register, and copy an array."""
    element, rank = (of.element, of.rank) if isinstance(of, ArrayOf) else (of, 0)
    _, word, dtype = KINDS[element]
    if not rank:
        return dtype.type(word.from_address(place).value).item()
    at = ctypes.c_int64.from_address(place).value
    _, data, _, *sizes = ARRAY.unpack(ctypes.string_at(at, ARRAY.size))
    known = {"shape": tuple(sizes[:rank]), "strides": tuple(sizes[RANK : RANK + rank]), "typestr": dtype.str}
    given = SimpleNamespace(__array_interface__={"data": (data, True), "version": 3, **known})
    return np.array(given, order="C")


def write(place: int, of: Type, x: Any, memory: int) -> int:
    """Write a leaf to a register; return the status."""
    element, rank = (of.element, of.rank) if isinstance(of, ArrayOf) else (of, 0)
    kind, word, dtype = KINDS[element]
    if rank:
        if not is_array_of(x, dtype, rank):
            return REFER
        made = make()(memory, rank, kind, struct.pack(f"{rank}q", *x.shape))
        if made is None:
            return NO_MEMORY
        ctypes.memmove(ctypes.c_int64.from_address(made + 8).value, x.astype(dtype, copy=False).tobytes(), x.nbytes)
        x, word = made, ctypes.c_int64
    word.from_address(place).value = x
    return DONE


def is_array_of(x: Any, dtype: np.dtype[Any], rank: int) -> bool:
    """Tell whether an array that a primitive gave has the elements and the rank that the program expects."""
    return x.ndim == rank and (x.dtype == dtype or np.can_cast(x.dtype, dtype, "safe"))
