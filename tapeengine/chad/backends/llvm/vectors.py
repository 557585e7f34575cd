"""Which elementary functions of vectors have the bits of the core's functions of numbers, in this process."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numpy.typing import NDArray

from .compile import Compiled, binding, compiled
from .elementary import ARITIES, arguments, text

#: Without it `fma` is a slow call, and the C library computes otherwise.
NEEDED = "fma"


@functools.cache
def library() -> Compiled:
    """Compile all functions."""
    return compiled(text())


@functools.cache
def variants() -> tuple[str, ...]:
    """Name the functions that loops may call for many numbers, and make them known to LLVM; none without `NEEDED`."""
    if not binding().get_host_cpu_features().get(NEEDED):
        return ()
    found = tuple(name for name in (*ARITIES, "np.hypot") if not differing(name))
    for name in found:
        binding().add_symbol(f"loop.{name}", library().address(f"loop.{name.removeprefix('np.')}"))
    return found


def differing(name: str) -> int:
    """Count the arguments for which functions of vectors have other bits than that of numbers, or than numpy's."""
    base = name.removeprefix("np.")
    given = arguments(base)
    with np.errstate(all="ignore"):
        its = values(f"one.{name}", given) if name == base else getattr(np, base)(*given)
    ours = values(f"loop.{base}", given)
    return int(((ours.view(np.int64) != its.view(np.int64)) & ~(np.isnan(ours) & np.isnan(its))).sum())


def values(loop: str, given: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Give the values that a loop computes."""
    found = np.empty_like(given[0])
    places = [*given, found]
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(places), ctypes.c_int64)(library().address(loop))
    run(*(x.ctypes.data for x in places), len(found))
    return found
