"""Choose the back end of a program: first the register machine, and after enough work native code.

Both give the same bits, so the choice affects only the time. Compiling takes as long as the machine needs for some
million instructions. After that many the program is compiled, so compiling at most doubles the total time.
"""

from __future__ import annotations

import functools
import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from ..._core.programs.native import Form, Native, fits
from ...errors import CotangentError, pass_on
from ...recursion import deep
from ..intermediate.analysis import walk
from ..intermediate.statements import Program
from ..language.depth import with_room
from ..lowering.values import NotLowered
from ..ordinary import check_trees
from .by_text import ByText
from .llvm import calling
from .machine import NotAssembled
from .passes import Passes
from .passes import native as on_machine

#: The values of `te.program(backend=...)`; None chooses by the measured cost.
BACKENDS = (None, "machine", "native", "fastmath")
#: The back ends that are native code from the start.
COMPILED = ("native", "fastmath")
#: For arrays of at most this many numbers native code computes products of a matrix and a vector faster than BLAS.
FEW_COMPILED = 2048
#: The cost of compiling in instructions of the machine: a constant, and the cost of each statement.
COMPILING, EACH = 2_000_000, 100_000
#: The seconds of such an instruction, of importing LLVM, and of lowering a program to see its statements.
INSTRUCTION, IMPORTING, LOWERING = 5e-9, 0.05, 0.01
Steps = Sequence[Callable[[], "float | Native | ByText | None"]]
NO_STEPS: Steps = (lambda: None,)


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
    makes_arrays: bool = True,
) -> Native | None:
    """Give two passes on the register machine, which native code will replace; None if there is neither.

    `makes_arrays`: whether the machine runs loops that make arrays. Of a program that is written with numpy's
    operations it runs them only for few numbers: for many, dual numbers are faster.
    """
    if passes is None:
        return None
    makes_arrays = is_few or backend == "machine" or makes_arrays
    slow = None if backend in COMPILED else on_machine(passes, again, makes_arrays)
    if (slow is None and is_few) or backend == "machine" or not is_installed():
        return slow
    by_llvm = functools.partial(compiled, passes, name, again, backend)
    if slow is None:
        return by_llvm()
    slow.promote_after(cost(passes.program), by_llvm)
    return slow


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


def no_backpropagator(*args: Any) -> Any:
    """Stand for the backpropagator of a function that has none; a run that is referred to Python gives nothing."""


@dataclass(eq=False)
class Others:
    """Runs arguments that the passes on numbers and arrays do not take, such as rows of any sizes and recursive data.

    They run on the machine, if it takes them; otherwise on dual numbers, and, where native code takes them, on that
    once they have taken as long as it costs.

    * `steps`: each gives the seconds after which the next one is called, or native code or None, which ends them.
    * `run`: the program as Python for dual numbers.
    * `forms`: the forms of the arguments as a tuple, and of the value, which dual numbers take and give as they are.
    * `converted`: calls a backpropagator with a cotangent that has to be converted, given the value.
    """

    steps: Steps
    run: Callable[..., Any] | None = None
    forms: tuple[Form, ...] = ()
    converted: Callable[[Any, Any, Any], Any] = no_backpropagator
    left: float = 0.0
    native: Native | ByText | None = None

    def ready(self) -> Native | ByText | None:
        """Give native code, if there is some already."""
        while self.left <= 0.0:
            step, *rest = self.steps
            found = step()
            if isinstance(found, float):
                self.left, self.steps = found, rest
            else:
                self.left, self.native = math.inf, found
        return self.native

    def vjp(self, engine: Any, primals: tuple[Any, ...], on_duals: bool) -> tuple[Any, Callable[[Any], Any]] | None:
        """Run the program, on dual numbers if so asked; None where something has to be converted."""
        native = self.ready()
        if native is not None:
            return native.vjp(*primals)
        start = perf_counter()
        found = self.on_duals(engine.vjp, primals, *primals) if on_duals else None
        if found is not None:
            self.count(start)
        return None if found is None else (found[0], or_else(self.converted, *found))

    def on_duals(self, derivative: Callable[..., Any], primals: tuple[Any, ...], *args: Any) -> tuple[Any, Any] | None:
        """Take a derivative on dual numbers; None where something has to be converted, or for an error."""
        if self.run is None or not fits(self.forms[0], primals, check_trees):
            return None
        try:
            value, found = derivative(self.run, *args)
        except Exception as error:  # which the program may raise otherwise
            pass_on(error)
            return None
        if isinstance(value, np.generic):
            value = value.item()
        if fits(self.forms[1], value, check_trees):
            return value, found
        self.run = None
        return None

    def count(self, start: float) -> None:
        """Count the time of a forward pass, and as much for the reverse pass."""
        self.left -= 2.0 * (perf_counter() - start)


def or_else(converted: Callable[[Any, Any, Any], Any], value: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give a backpropagator that converts only cotangents that are not of the kinds of the value."""

    def backpropagator(cotangent: Any) -> Any:
        try:
            return back(cotangent)
        except CotangentError:
            return with_room(converted, value, back, cotangent)

    return backpropagator


def compiling(
    lower: Callable[[], Passes | None],
    name: str,
    again: Callable[..., Any],
    backend: str | None,
    is_assembled: bool = False,
) -> Steps:
    """Give the steps to native code for values with references; each waits for as long as the next one takes.

    `is_assembled`: whether the machine may run them before.
    """

    @functools.cache
    def passes() -> Passes | None:
        try:
            return lower()
        except NotLowered as reason:
            if backend in COMPILED:
                warn(name, reason)
            return None

    def assembled() -> Native | float | None:
        found = native(passes(), name, again, backend, is_few=True)
        return 0.0 if found is None and backend is None and is_installed() else found

    def wait() -> float | None:
        made = passes()
        return None if made is None else seconds(made.program)

    def finish() -> Native | None:
        made = passes()
        return None if made is None else compiled(made, name, again, backend)

    if backend in COMPILED:
        return (finish,) if is_installed() else NO_STEPS
    first = (assembled,) if is_assembled else ()
    if backend == "machine" or not is_installed():
        return first or NO_STEPS
    return (*(first or (lambda: LOWERING,)), wait, finish)


def seconds(program: Program) -> float:
    """Give the seconds that compiling a program takes, and importing LLVM if nobody has."""
    importing = 0.0 if "llvmlite.binding" in sys.modules else IMPORTING
    return importing + INSTRUCTION * cost(program)


def cost(program: Program) -> int:
    """Give the cost of compiling a program, in instructions of the machine."""
    return COMPILING + EACH * sum(1 for f in program.functions.values() for _ in walk(f.body))


def warn(name: str, error: Exception, of: str = "native code") -> None:
    """Warn once why a program runs without native code, or without better code."""
    kind = "" if isinstance(error, NotAssembled | NotLowered) else f"{type(error).__name__}: "
    reason = next(iter(str(error).strip().splitlines()), "no reason was given")
    warnings.warn(f"{name} runs without {of}: {kind}{reason}", RuntimeWarning, stacklevel=3)


def may_assemble(types: Mapping[str, Any], by_numpy: bool, backend: str | None) -> bool:
    """Tell whether the machine may run values with references: rows of any sizes, but no recursive data.

    Where no native code follows, dual numbers are faster for a program that is written with numpy's operations.
    """
    return not types and (backend == "machine" or is_installed() or not by_numpy)
