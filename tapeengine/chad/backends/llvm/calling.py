"""A program's passes as native code on Python values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeengine._core.programs.machine import Code
from tapeengine._core.programs.native import Native
from tapeengine.chad.backends.llvm.compile import Compiled, compiled
from tapeengine.chad.backends.llvm.forms import Forms
from tapeengine.chad.backends.llvm.layout import linear
from tapeengine.chad.backends.llvm.module import Entry, Pass, module
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.backends.native import form_of_result, forms_of, leaf, same, tangent_forms, tangent_of
from tapeengine.chad.intermediate.analysis import walk
from tapeengine.chad.intermediate.operations import WHOLE
from tapeengine.chad.intermediate.statements import Const, Function, Operand, Program
from tapeengine.chad.lowering.passes import Lowered
from tapeengine.chad.terms import Definition
from tapeengine.chad.types import Sum

__all__ = ["FAULTS", "code", "in_turn", "native", "native_references", "native_tangent", "passes", "text_of"]


#: Errors of LLVM, its binding and the writing of its text. A program that they refuse runs without native code.
FAULTS = (RuntimeError, OSError, ImportError, AttributeError, ValueError, LookupError, TypeError)
#: The nanoseconds of work per statement after which a program is recompiled: about the time of compiling.
EACH_STATEMENT = 2_000_000


def code(entry: Entry, made: Compiled) -> Code:
    """Give a compiled pass to the core."""
    places = (entry.params, entry.results)
    return Code((), (), entry.registers, entry.shared, (), *places, made.address(entry.name), made)


def native(
    lowered: Lowered,
    definition: Definition,
    classes: Mapping[str, type],
    again: Callable[..., Any],
    is_loose: bool = False,
) -> Native | None:
    """Compile a forward and a reverse pass; None for types whose values the core does not accept.

    Parameters
    ----------
    lowered : Lowered
        What `lower_reverse` gives.
    definition : Definition
        The program.
    classes : mapping of str to type
        The classes that named products stand for.
    again : callable
        The fallback for runs that compiled code refers to Python.
    is_loose : bool
        Whether sums and products may be reordered.
    """
    forms = forms_of(lowered, definition, classes)
    if forms is None:
        return None

    def made(ahead: Code, back: Code) -> Native:
        return Native(ahead, back, *forms, forms[1], again)

    return in_turn(lowered.program, passes(lowered), made, is_loose)


def in_turn(program: Program, entries: Sequence[Pass], made: Callable[[Code, Code], Native], is_loose: bool) -> Native:
    """Compile a program's two passes quickly, and again with full optimisation after they have run as long.

    The latter is replaced where its loops along arrays are long. If sums may be reordered, these forms would give
    different bits, so there is only the last.
    """

    def by_level(is_full: bool, is_long: bool = False) -> Native:
        text, found = module(program, entries, is_full, is_long)
        code_of = compiled(loosened(text) if is_loose else text, is_full)
        ahead, back = (code(e, code_of) for e in found)
        return made(ahead, back)

    def long() -> Native | None:
        try:
            return by_level(True, is_long=True)
        except FAULTS:  # the fallback runs
            return None

    def full() -> Native | None:
        try:
            found = by_level(True)
        except FAULTS:  # the present code stays in use
            return None
        found.replace_if_long(long)
        return found

    if is_loose:
        return by_level(True, is_long=True)
    first = by_level(False)
    first.promote_after(EACH_STATEMENT * sum(1 for f in program.functions.values() for _ in walk(f.body)), full)
    return first


def loosened(text: str) -> str:
    """Allow LLVM to reorder and contract sums and products."""
    return re.sub(r"= (fadd|fsub|fmul|fdiv) double", r"= \1 reassoc contract nsz arcp double", text)


def text_of(lowered: Lowered) -> str:
    """Give a lowered derivative as LLVM text."""
    return module(lowered.program, passes(lowered))[0]


def native_tangent(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type], is_loose: bool = False
) -> Native | None:
    """Compile a tangent function: ``vjp(*primals, *tangents)`` returns the pair of value and tangent.

    Parameters
    ----------
    lowered : Lowered
        What `lower_value` gives of `tapeengine.chad.tangents.tangents`.
    definition : Definition
    classes : mapping of str to type
    """
    forms = tangent_forms(lowered, definition, classes)
    if forms is None:
        return None
    function = lowered.program.functions[lowered.main]
    nothing = Pass(Function("nothing", [], [], []), [Const(0, WHOLE)] * len(function.params), [], may_raise=False)
    entries = [Pass(function, function.results, [], may_raise=True), nothing]
    return in_turn(lowered.program, entries, lambda ahead, back: tangent_of(ahead, back, forms), is_loose)


def passes(lowered: Lowered) -> list[Pass]:
    """Give the passes of a lowered derivative."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    assert forward.kept is not None
    return [
        Pass(forward, forward.results, forward.kept.fields, may_raise=True),
        Pass(reverse, for_all_leaves(forward, reverse), forward.kept.fields, may_raise=False),
    ]


def for_all_leaves(forward: Function, reverse: Function) -> list[Operand]:
    """Give a result of the reverse pass for each parameter of the forward pass; discrete ones are never read."""
    gave = iter(reverse.results)
    found = [Const(0, WHOLE) if linear(p.type) is None else next(gave) for p in forward.params]
    if any(linear(p.type) not in (None, x.type) for p, x in zip(forward.params, found, strict=True)):
        raise NotAssembled("a cotangent with references to rows, of an array without")
    return found


def native_references(
    lowered: Lowered,
    definition: Definition,
    types: Mapping[str, Sum],
    classes: Mapping[str, type],
    again: Callable[..., Any],
    is_loose: bool = False,
) -> Native | None:
    """Compile both passes for arguments with references: rows of any sizes, records, members of recursive sums.

    Parameters
    ----------
    lowered : Lowered
        What `lower_reverse` gives for rows of any sizes.
    definition : Definition
    types : mapping of str to Sum
        What named types stand for.
    classes : mapping of str to type
    again : callable
    """
    forms = Forms(types, classes)
    inward, outward = tuple(forms(p.of) for p in definition.params), form_of_result(definition, classes)
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    if outward is None or sum(f.width for f in inward) != len(forward.params):
        return None
    results = [leaf(x.type) for x in forward.results]
    if not same(outward.leaves(), results) or not same(results, [leaf(x.type) for x in reverse.params]):
        return None
    gives = outward

    def made(ahead: Code, back: Code) -> Native:
        return Native(ahead, back, inward, gives, gives, again)

    return in_turn(lowered.program, passes(lowered), made, is_loose)
