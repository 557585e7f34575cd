"""Lowered programs as native code and on the register machine, on leaves; for tests."""

from dataclasses import replace

import numpy as np

from tapeengine._core.programs.native import Form, Native
from tapeengine.chad.backends.chunks import ordered
from tapeengine.chad.backends.forms import leaf
from tapeengine.chad.backends.llvm.calling import code
from tapeengine.chad.backends.llvm.compile import compiled
from tapeengine.chad.backends.llvm.module import module
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.backends.passes import Pass, Passes, native, reverse_pair
from tapeengine.chad.intermediate.operations import WHOLE
from tapeengine.chad.intermediate.statements import ArrayOf, Const, Function

KINDS = {"real": float, "whole": int, "truth": bool}


def given(leaves, params):
    """Leaves as the core takes them."""
    return [
        np.ascontiguousarray(x, KINDS[p.type.element.name]) if isinstance(p.type, ArrayOf) else x
        for x, p in zip(leaves, params, strict=True)
    ]


def of_leaves(lowered):
    """The passes on leaves: the primals, the values and the cotangents are tuples of numbers and arrays."""
    lowered = replace(lowered, program=ordered(lowered.program))
    pair = reverse_pair(lowered)
    try:
        params, cotangents = (tuple(leaf(p.type) for p in each.function.params) for each in pair)
        results = tuple(leaf(x.type) for x in pair[0].results)
    except NotAssembled:
        return None
    return Passes(lowered.program, pair, params, Form("tuple", items=results), Form("tuple", items=cotangents))


def by_llvm(lowered):
    """Both passes as native code."""
    passes = of_leaves(lowered)
    if passes is None:
        raise NotAssembled("references")
    text, entries = module(lowered.program, passes.pair)
    made = compiled(text)
    return passes.native(*(code(e, made) for e in entries))


def by_machine(lowered):
    """Both passes on the register machine."""
    passes = of_leaves(lowered)
    made = None if passes is None else native(passes)
    if made is None:
        raise NotAssembled("references or calls")
    return made


def value_by_llvm(lowered):
    """The value of a program as native code."""
    function = lowered.program.functions[lowered.main]
    nothing = Function("nothing", function.params, [], [])
    results = [Const(0, WHOLE)] * len(function.params)
    text, entries = module(
        lowered.program, [Pass(function, function.results, [], True), Pass(nothing, results, [], False)]
    )
    made = compiled(text)
    ahead, back = (code(e, made) for e in entries)
    items = tuple(leaf(x.type) for x in function.results)
    params = tuple(leaf(p.type) for p in function.params)
    return Native(ahead, back, params, Form("tuple", items=items), Form("tuple", items=params))
