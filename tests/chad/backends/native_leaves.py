"""Lowered programs as native code and on the register machine, on leaves; for tests."""

import numpy as np

from tapeengine._core.programs.native import Form, Native
from tapeengine.chad.backends.llvm.calling import code, passes
from tapeengine.chad.backends.llvm.compile import compiled
from tapeengine.chad.backends.llvm.module import Pass, module
from tapeengine.chad.backends.machine import NotAssembled, assemble
from tapeengine.chad.backends.native import for_all_leaves, leaf
from tapeengine.chad.intermediate.statements import WHOLE, ArrayOf, Const, Function

KINDS = {"real": float, "whole": int, "truth": bool}


def given(leaves, params):
    """Leaves as the core takes them."""
    return [
        np.ascontiguousarray(x, KINDS[p.type.element.name]) if isinstance(p.type, ArrayOf) else x
        for x, p in zip(leaves, params, strict=True)
    ]


def forms(lowered):
    """The forms of parameters, results and cotangents; refuses references."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    params = tuple(leaf(p.type) for p in forward.params)
    results = Form("tuple", items=tuple(leaf(x.type) for x in forward.results))
    cotangents = Form("tuple", items=tuple(leaf(p.type) for p in reverse.params))
    return params, results, cotangents


def by_llvm(lowered):
    """Both passes as native code."""
    text, entries = module(lowered.program, passes(lowered))
    made = compiled(text)
    return Native(*(code(e, made) for e in entries), *forms(lowered))


def by_machine(lowered):
    """Both passes on the register machine."""
    forward, reverse = lowered.program.functions["forward"], lowered.program.functions["reverse"]
    if len(lowered.program.functions) > 2:
        raise NotAssembled("calls")
    fields = forward.kept.fields
    ahead = assemble(forward, forward.results, fields, may_raise=True)
    back = assemble(reverse, for_all_leaves(forward, reverse), fields, may_raise=False)
    return Native(ahead, back, *forms(lowered))


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
