"""Which back end runs a program: the register machine at once, native code after some work, by measured cost.

Both give the same bits, so that the choice changes nothing but the time. Compiling costs about as much as the machine
needs for some million instructions; after so many the program is compiled, which at most doubles what it has cost.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from time import thread_time
from typing import Any

from tapeengine._core.programs.native import Native
from tapeengine.chad.backends import native as machine
from tapeengine.chad.backends.llvm import calling
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.intermediate.analysis import walk
from tapeengine.chad.lowering.passes import Lowered
from tapeengine.chad.lowering.values import NotLowered
from tapeengine.chad.terms import Definition
from tapeengine.chad.types import Sum

__all__ = ["BACKENDS", "References", "is_installed", "native", "native_tangent", "native_text"]

#: What `te.program(backend=...)` takes; None leaves the choice to the measured cost.
BACKENDS = (None, "machine", "native", "fastmath")
#: Those that are native code at once.
COMPILED = ("native", "fastmath")
#: What compiling costs, in instructions of the machine: so much, and for each statement.
COMPILING, EACH = 2_000_000, 100_000
#: The seconds of its thread that the longer way may take before a program is compiled.
WORTH = 0.15


@functools.cache
def is_installed() -> bool:
    """Tell whether there is LLVM; it is imported when a program is compiled."""
    return find_spec("llvmlite") is not None


def native(
    lowered: Lowered,
    definition: Definition,
    classes: Mapping[str, type],
    again: Callable[..., Any],
    backend: str | None = None,
    is_few: bool = False,
) -> Native | None:
    """Give both passes on the register machine, which native code replaces; None where there is neither.

    Parameters
    ----------
    lowered : Lowered
        What `lower_reverse` gives.
    definition : Definition
        The program.
    classes : mapping of str to type
        The classes that named products stand for.
    again : callable
        The longer way, for what is referred to Python.
    backend : {"machine", "native", "fastmath"}, optional
        What alone is to run.
    is_few : bool
        Whether arguments have few numbers; what the machine does not run then is not compiled either.
    """

    is_loose = backend == "fastmath"
    slow = None if backend in COMPILED else machine.native(lowered, definition, classes, again, is_few)
    if slow is None and is_few:
        return None
    return tiered(
        slow,
        lambda: compiled(definition, lambda: calling.native(lowered, definition, classes, again, is_loose)),
        lowered,
        backend,
    )


def native_tangent(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type], backend: str | None = None
) -> Native | None:
    """Give a tangent function on the register machine, which native code replaces; None where there is neither."""
    is_loose = backend == "fastmath"
    slow = None if backend in COMPILED else machine.native_tangent(lowered, definition, classes)
    return tiered(
        slow,
        lambda: compiled(definition, lambda: calling.native_tangent(lowered, definition, classes, is_loose)),
        lowered,
        backend,
    )


def tiered(
    slow: Native | None, by_llvm: Callable[[], Native | None], lowered: Lowered, backend: str | None
) -> Native | None:
    """Give what runs first, with what replaces it."""
    if backend == "machine" or not is_installed():
        return slow
    if slow is None:
        return by_llvm()
    slow.promote_after(COMPILING + EACH * size(lowered), by_llvm)
    return slow


def size(lowered: Lowered) -> int:
    """Give the number of statements of a program."""
    return sum(1 for f in lowered.program.functions.values() for _ in walk(f.body))


def compiled(definition: Definition, run: Callable[[], Native | None]) -> Native | None:
    """Compile a program; None where native code cannot run it, with a warning where that is LLVM's fault."""
    try:
        return run()
    except NotAssembled:
        return None
    except calling.FAULTS as error:
        warn(definition.name, error)
        return None


def native_text(lowered: Lowered) -> str:
    """Give a program as LLVM text, before LLVM improves it."""
    try:
        return calling.text_of(lowered)
    except NotAssembled as reason:
        return f"; no native code: {reason}"


class References:
    """Native code for arguments with references: rows of any sizes, records of arrays, members of recursive sums.

    The longer way runs such a program until it has taken as long as compiling does.

    Parameters
    ----------
    lower : callable
        Gives the derivative in the intermediate form for rows of any sizes.
    definition : Definition
    types : mapping of str to Sum
        What named types stand for.
    classes : mapping of str to type
    again : callable
        The longer way.
    backend : {"machine", "native", "fastmath"}, optional
    """

    def __init__(
        self,
        lower: Callable[[], Lowered],
        definition: Definition,
        types: Mapping[str, Sum],
        classes: Mapping[str, type],
        again: Callable[..., Any],
        backend: str | None,
    ) -> None:
        self.lower, self.definition, self.types, self.classes, self.again = lower, definition, types, classes, again
        self.spent = WORTH if backend in COMPILED else 0.0
        self.is_loose = backend == "fastmath"
        self.is_ready = backend == "machine" or not is_installed()
        self.native: Native | None = None

    def vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the program; give its value and its backpropagator."""
        if self.spent >= WORTH and not self.is_ready:
            self.is_ready = True
            self.native = self.compiled()
        made = None if self.native is None else self.native.vjp(*primals)
        if made is not None:
            return made
        if self.is_ready:
            found: tuple[Any, Callable[[Any], tuple[Any, ...]]] = self.again(primals)
            return found
        return self.timed(primals)

    def timed(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the longer way and note how long it takes."""
        start = thread_time()
        value, back = self.again(primals)
        self.spent += thread_time() - start

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            start = thread_time()
            found: tuple[Any, ...] = back(cotangent)
            self.spent += thread_time() - start
            return found

        return value, backpropagator

    def compiled(self) -> Native | None:
        """Compile the program."""
        of = self.definition
        try:
            lowered = self.lower()
        except NotLowered:
            return None
        given = (lowered, of, self.types, self.classes, self.again, self.is_loose)
        return compiled(of, lambda: calling.native_references(*given))


def warn(name: str, error: Exception) -> None:
    """Say once why a program runs without native code."""
    warnings.warn(
        f"{name} runs without native code: {type(error).__name__}: {first_line(error)}", RuntimeWarning, stacklevel=3
    )


def first_line(error: Exception) -> str:
    """Give the beginning of a message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason was given"
