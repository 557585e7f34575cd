"""A program's passes as native code on Python values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...._core.programs.machine import Code
from ...._core.programs.native import Native
from ...intermediate.analysis import walk
from ...lowering.passes import Lowered
from ..chunks import ordered
from ..machine import NotAssembled
from ..passes import Passes, reverse_pair
from .compile import LONG, Compiled, compiled
from .module import Entry, module
from .vectors import variants

#: Errors of LLVM, its binding and the writing of its text. A program that they refuse runs without native code.
FAULTS = (RuntimeError, OSError, ImportError, AttributeError, ValueError, LookupError, TypeError)
#: The nanoseconds of work per statement after which a program is recompiled: about the time of compiling.
EACH_STATEMENT = 2_000_000
#: Long programs are first emitted well alone, in half of the time; they are improved after so many times as much work.
AGAIN = 8


def code(entry: Entry, made: Compiled) -> Code:
    """Give a compiled pass to the core."""
    places = (entry.params, entry.results)
    return Code((), (), entry.registers, entry.shared, (), *places, made.address(entry.name), (made, entry.called))


def native(
    passes: Passes,
    again: Callable[..., Any] | None = None,
    is_loose: bool = False,
    kept: Callable[[Exception], None] = lambda error: None,
) -> Native:
    """Compile a program's two passes quickly, and again with full optimisation after they have run as long.

    Between the two long programs have code that costs less. The last is replaced where its loops along arrays are
    long. If sums may be reordered, these forms would give different bits, so there is only the last.

    It raises `NotAssembled` where the program needs something that native code lacks.
    """
    program = passes.program
    cost = EACH_STATEMENT * sum(1 for f in program.functions.values() for _ in walk(f.body))

    @functools.cache
    def written(is_full: bool, is_long: bool) -> tuple[str, list[Entry]]:
        return module(program, passes.pair, is_full, is_long, variants() if is_full else ())

    def by_level(level: int, is_long: bool = False) -> Native:
        text, found = written(level > 0, is_long)
        code_of = compiled(loosened(text) if is_loose else text, level)
        ahead, back = (code(e, code_of) for e in found)
        return passes.native(ahead, back, again)

    def improved(is_long: bool = False, may_wait: bool = False) -> Native | None:
        try:
            is_brief = may_wait and written(True, False)[0].count("\n") > LONG
            found = by_level(2 - is_brief, is_long)
        except FAULTS as error:
            kept(error)
            return None
        if not is_long:
            found.replace_if_long(lambda: improved(True))
        if is_brief:
            found.promote_after(AGAIN * cost, improved)
        return found

    if is_loose:
        return by_level(2, is_long=True)
    first = by_level(0)
    first.promote_after(cost, lambda: improved(may_wait=True))
    return first


def loosened(text: str) -> str:
    """Allow LLVM to reorder and contract sums and products."""
    return re.sub(r"= (fadd|fsub|fmul|fdiv) (?=double|<)", r"= \1 reassoc contract nsz arcp ", text)


def native_text(lowered: Lowered) -> str:
    """Give a lowered derivative as LLVM text, before LLVM improves it."""
    lowered = replace(lowered, program=ordered(lowered.program))
    try:
        return module(lowered.program, reverse_pair(lowered))[0]
    except NotAssembled as reason:
        return f"; no native code: {reason}"
