"""Choose the back end of a program: first the register machine, and after enough work native code.

Both give the same bits, so the choice affects only the time. Compiling takes as long as the machine needs for some
million instructions. After that many the program is compiled, so compiling at most doubles the total time.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from time import thread_time
from typing import Any

from ..._core.programs.native import Native
from ..depth import deep
from ..intermediate.analysis import walk
from ..intermediate.statements import Program
from ..lowering.passes import Lowered
from ..lowering.values import NotLowered
from ..terms import Definition
from ..types import Sum
from .llvm import calling
from .machine import NotAssembled
from .passes import Passes, of_references
from .passes import native as on_machine

#: The values of `te.program(backend=...)`; None chooses by the measured cost.
BACKENDS = (None, "machine", "native", "fastmath")
#: The back ends that are native code from the start.
COMPILED = ("native", "fastmath")
#: The cost of compiling in instructions of the machine: a constant, and the cost of each statement.
COMPILING, EACH = 2_000_000, 100_000
#: The CPU seconds of such an instruction, of importing LLVM, and of lowering a program to see its statements.
INSTRUCTION, IMPORTING, LOWERING = 5e-9, 0.05, 0.01


@functools.cache
def is_installed() -> bool:
    """Tell whether LLVM is installed; it is imported when a program is compiled."""
    return find_spec("llvmlite") is not None


@deep()
def native(
    passes: Passes | None,
    name: str,
    again: Callable[..., Any] | None = None,
    backend: str | None = None,
    is_few: bool = False,
) -> Native | None:
    """Give two passes on the register machine, which native code will replace; None if there is neither."""
    if passes is None:
        return None
    slow = None if backend in COMPILED else on_machine(passes, again, is_few)
    if (slow is None and is_few) or backend == "machine" or not is_installed():
        return slow
    by_llvm = functools.partial(compiled, passes, name, again, backend)
    if slow is None:
        return by_llvm()
    slow.promote_after(cost(passes.program), by_llvm)
    return slow


def size(program: Program) -> int:
    """Give the number of statements of a program."""
    return sum(1 for f in program.functions.values() for _ in walk(f.body))


@deep()
def compiled(passes: Passes, name: str, again: Callable[..., Any] | None, backend: str | None) -> Native | None:
    """Compile a program; None if native code cannot run it, with a warning if LLVM failed or native code was named."""
    try:
        return calling.native(
            passes, again, backend == "fastmath", functools.partial(warn, name, of="improved native code")
        )
    except NotAssembled as reason:
        if backend in COMPILED:
            warn(name, reason)
        return None
    except calling.FAULTS as error:
        warn(name, error)
        return None


def native_text(lowered: Lowered) -> str:
    """Give a program as LLVM text, before LLVM improves it."""
    try:
        return calling.text_of(lowered)
    except NotAssembled as reason:
        return f"; no native code: {reason}"


class References:
    """Native code for arguments with references: rows of any sizes, records of arrays, members of recursive sums.

    The fallback runs such a program until it has taken as long as lowering and compiling do.
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
        self.left = LOWERING
        self.backend = backend
        self.is_ready = backend == "machine" or not is_installed()
        self.passes: Passes | None = None
        self.native: Native | None = None

    def vjp(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the program; return its value and its backpropagator."""
        while not self.is_ready and (self.left <= 0 or self.backend in COMPILED):
            self.advance()
        made = None if self.native is None else self.native.vjp(*primals)
        if made is not None:
            return made
        if self.is_ready:
            found: tuple[Any, Callable[[Any], tuple[Any, ...]]] = self.again(primals)
            return found
        return self.timed(primals)

    def timed(self, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Run the fallback and measure its time."""
        start = thread_time()
        value, back = self.again(primals)
        self.left -= thread_time() - start

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            start = thread_time()
            found: tuple[Any, ...] = back(cotangent)
            self.left -= thread_time() - start
            return found

        return value, backpropagator

    def advance(self) -> None:
        """Lower the program, or compile it if it is lowered."""
        if self.passes is not None:
            self.is_ready, self.native = True, self.compiled()
            return
        self.passes = self.lowered()
        if self.passes is None:
            self.is_ready = True
        else:
            self.left += seconds(self.passes.program)

    def compiled(self) -> Native | None:
        """Compile the program."""
        passes = self.passes or self.lowered()
        return None if passes is None else compiled(passes, self.definition.name, self.again, self.backend)

    def lowered(self) -> Passes | None:
        """Lower the program."""
        of = self.definition
        try:
            lowered = self.lower()
        except NotLowered as reason:
            if self.backend in COMPILED:
                warn(of.name, reason)
            return None
        return of_references(lowered, of, self.classes, self.types)


def seconds(program: Program) -> float:
    """Give the CPU seconds that compiling a program takes, and importing LLVM if nobody has."""
    importing = 0.0 if "llvmlite.binding" in sys.modules else IMPORTING
    return importing + INSTRUCTION * cost(program)


def cost(program: Program) -> int:
    """Give the cost of compiling a program, in instructions of the machine."""
    return COMPILING + EACH * size(program)


def warn(name: str, error: Exception, of: str = "native code") -> None:
    """Warn once why a program runs without native code, or without better code."""
    kind = "" if isinstance(error, NotAssembled | NotLowered) else f"{type(error).__name__}: "
    warnings.warn(f"{name} runs without {of}: {kind}{first_line(error)}", RuntimeWarning, stacklevel=3)


def first_line(error: Exception) -> str:
    """Give the first line of a message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason was given"
