"""Which elementary functions of vectors have the bits of the core's functions of numbers, in this process."""

from __future__ import annotations

import ctypes
import functools

from tapeengine.chad.backends.llvm.compile import Compiled, binding, compiled
from tapeengine.chad.backends.llvm.elementary import ARITIES, arguments, checker_of, name_of, text

__all__ = ["variants"]

#: Without it `fma` is a slow call, and the C library computes otherwise.
NEEDED = "fma"


@functools.cache
def library() -> Compiled:
    """Compile all functions."""
    return compiled(text())


@functools.cache
def variants() -> tuple[str, ...]:
    """Name the functions that loops may call for vectors, and make them known to LLVM; none without `NEEDED`."""
    if not binding().get_host_cpu_features().get(NEEDED):
        return ()
    found = tuple(name for name in ARITIES if not differing(name))
    for name in found:
        binding().add_symbol(name_of(name), library().address(name_of(name)))
    return found


def differing(name: str) -> int:
    """Count the vectors of arguments for which a function has other bits than that of numbers."""
    given = arguments(ARITIES[name])
    places = [ctypes.c_void_p] * len(given)
    compare = ctypes.CFUNCTYPE(ctypes.c_int64, *places, ctypes.c_int64)(library().address(checker_of(name)))
    return int(compare(*(x.ctypes.data for x in given), len(given[0])))
