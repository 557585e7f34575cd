"""Which elementary functions of vectors have the bits of the core's functions of numbers, in this process."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

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
    found = [name for name in ARITIES if not differing(name)]
    if "hypot" in found and is_of_numpy("hypot"):  # which calls that of the C library
        found.append("np.hypot")
    for name in found:
        binding().add_symbol(f"loop.{name}", library().address(f"loop.{name.removeprefix('np.')}"))
    return tuple(found)


def is_of_numpy(name: str) -> bool:
    """Tell whether numpy's function has the bits of ours."""
    given = arguments(name)
    with np.errstate(all="ignore"):
        return bool(same(getattr(np, name)(*given), values(f"loop.{name}", given)).all())


def differing(name: str) -> int:
    """Count the arguments for which functions of vectors have other bits than that of numbers."""
    given = arguments(name)
    return int((~same(*(values(f"{kind}.{name}", given) for kind in ("one", "loop")))).sum())


def same(x: NDArray[np.float64], y: NDArray[np.float64]) -> Any:
    """Tell which numbers have the same bits, or are both NaN."""
    return (x.view(np.int64) == y.view(np.int64)) | (np.isnan(x) & np.isnan(y))


def values(loop: str, given: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Give the values that a loop computes."""
    found = np.empty_like(given[0])
    places = [*given, found]
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(places), ctypes.c_int64)(library().address(loop))
    run(*(x.ctypes.data for x in places), len(found))
    return found
