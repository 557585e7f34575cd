"""Choose when and how the paths of a recording are compiled: those of numbers by bodies, those of arrays in strips."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from .._core.programs.replay import LANES, Path
from . import bodies as found
from .bodies import Code
from .native import module

#: What compiling costs, in interpreted instructions: LLVM itself, each instruction of the path, and of the bodies.
START, EACH, IN_BODY = 10_000_000, 200, 30_000
#: The number of bodies' instructions that most paths have at least.
USUAL = 400
#: The most instructions of a path that is compiled: finding its bodies takes some 100 bytes for each.
MOST_IN_PATH = 1 << 22
#: Errors of LLVM, its binding and the writing of its text. A program that they refuse runs without native code.
FAULTS = (RuntimeError, OSError, ImportError, AttributeError, ValueError, LookupError, TypeError, MemoryError)
#: Bodies of at most so many instructions together are improved by all that LLVM has.
SHORT = 600


@functools.cache
def is_installed() -> bool:
    """Whether LLVM is installed."""
    return find_spec("llvmlite") is not None


class Compiler:
    """Compiles paths; called by the core with a path that has been run often, and whether in lanes.

    Parameters
    ----------
    name : str
        The program, for warnings.
    at_once : bool
        Whether paths are compiled at their first replay.
    """

    def __init__(self, name: str, at_once: bool = False) -> None:
        self.name = name
        self.at_once = at_once

    def worth(self, instructions: int) -> int:
        """The number of interpreted instructions that take as long as compiling a path of this length; -1: never."""
        if instructions > MOST_IN_PATH:
            return -1
        return 0 if self.at_once else START + EACH * instructions + IN_BODY * min(instructions, USUAL)

    def __call__(self, path: Path, in_lanes: bool) -> None:
        """Compile a path, if bodies repeat in it; warn if LLVM fails."""
        self.attempt(self.compile, path, in_lanes)

    def attempt(self, make: Callable[..., Any], *args: Any) -> Any:
        """Call what makes native code; warn and return None if LLVM fails."""
        try:
            return make(*args)
        except FAULTS as error:
            text = (str(error).strip().splitlines() or ["no reason was given"])[0]
            what = f"{self.name} runs without native code: {type(error).__name__}: {text}"
            warnings.warn(what, RuntimeWarning, stacklevel=3)
            return None

    def compile(self, path: Path, in_lanes: bool) -> None:
        """Compile a path, if bodies repeat in it, or operations on arrays of many rows follow each other."""
        if path.has_arrays:
            from .strips import fuse  # which few programs need

            fuse(path, self.attempt)
            return
        llvm = importlib.import_module("tapeengine.chad.backends.llvm.compile")
        code = Code.of(path)
        bodies = found.bodies_of(code, found.LONGEST_IN_LANES if in_lanes and path.guards else found.LONGEST)
        if bodies:
            is_full = sum(len(body.op) for body in bodies) <= SHORT
            made = llvm.compiled(module(code, bodies, LANES if in_lanes else 1), 2 * is_full)
            places = made.address("values"), made.address("cotangents")
            path.adopt(found.schedule_of(code, bodies).tobytes(), *places, in_lanes, made)
