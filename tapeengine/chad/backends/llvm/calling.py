"""A program's passes as native code, from Python's values and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine._core.machine import Code
from tapeengine._core.native import Form, Native
from tapeengine.chad.backends.llvm.compile import Compiled, compiled
from tapeengine.chad.backends.llvm.module import Entry, Pass, module
from tapeengine.chad.backends.native import for_all_leaves, form, leaf, same
from tapeengine.chad.lowering.passes import Lowered
from tapeengine.chad.terms import Definition

__all__ = ["native"]


def code(entry: Entry, made: Compiled) -> Code:
    """Give a compiled pass to the core."""
    places = (entry.params, entry.results)
    return Code((), (), entry.registers, entry.shared, (), *places, made.address(entry.name), made)


def native(
    lowered: Lowered, definition: Definition, classes: Mapping[str, type], again: Callable[..., Any]
) -> Native | None:
    """Compile a forward and a reverse pass; None for types whose values the core does not take.

    Parameters
    ----------
    lowered : Lowered
        What `lower_reverse` gives.
    definition : Definition
        The program.
    classes : mapping of str to type
        The classes that named products stand for.
    again : callable
        The longer way, for what compiled code refers to Python.
    """
    inward = [f for p in definition.params if (f := form(p.of, classes)) is not None]
    outward = form(definition.result, classes)
    if len(inward) < len(definition.params) or outward is None:
        return None
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    params, results = [leaf(p.type) for p in forward.params], [leaf(x.type) for x in forward.results]
    cotangents = [leaf(x.type) for x in reverse.params]
    if not same([x for f in inward for x in f.leaves()], params) or not same(outward.leaves(), results):
        return None
    if not same(results, cotangents):
        return None
    text, entries = module(lowered.program, passes(lowered))
    made = compiled(text)
    ahead, back = (code(e, made) for e in entries)
    return Native(ahead, back, tuple(inward), outward, outward, again)


def passes(lowered: Lowered) -> list[Pass]:
    """Give what the core calls of a lowered derivative."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    assert forward.kept is not None
    return [
        Pass(forward, forward.results, forward.kept.fields, may_raise=True),
        Pass(reverse, for_all_leaves(forward, reverse), forward.kept.fields, may_raise=False),
    ]
