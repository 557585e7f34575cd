"""Calls of functions of the program, and of primitives of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeengine.chad.backends.llvm.body import SCRATCH, Body
from tapeengine.chad.backends.llvm.callbacks import callback
from tapeengine.chad.backends.llvm.helpers import typed
from tapeengine.chad.backends.llvm.layout import words
from tapeengine.chad.backends.llvm.writer import FRAME
from tapeengine.chad.intermediate.operations import Scalar
from tapeengine.chad.intermediate.statements import Call, Function, Operand, Registered
from tapeengine.chad.tables import entry


def params_of(f: Function) -> list[str]:
    """Give the types of the words that a function takes."""
    return [*(["ptr"] if f.recalled is not None else []), *(w for p in f.params for w in words(p.type))]


def results_of(f: Function) -> list[str]:
    """Give the types of the words that a function gives."""
    return [*(w for x in f.results for w in words(x.type)), *(["ptr"] if f.kept is not None else [])]


@entry
def call(b: Body, s: Call) -> None:
    """Call a function of the program."""
    callee = b.program.functions[s.function]
    args = typed(params_of(callee), b.values(s.args))
    given = results_of(callee)
    place = b.fresh("out")
    b.places.append(f"  {place} = alloca [{8 * len(given)} x i8], align 8")
    b.check_status(b.op(f'call i32 @"f.{s.function}"(ptr %ctx, {args}{", " if args else ""}ptr {place})'))
    found = b.read_words(given, place, FRAME)
    for v in s.outs:
        n = len(words(v.type))
        b.give(v, found[:n])
        del found[:n]


@entry
def registered(b: Body, s: Registered) -> None:
    """Call a primitive of the registry: its C kernel, or the primitive itself."""
    primitive = b.program.program.primitives[s.name]
    if s.name == primitive.name:
        by_python(b, s)
    else:
        by_kernel(b, s, primitive.kernel)


def by_kernel(b: Body, s: Registered, kernel: Any) -> None:
    """Call a primitive's C functions; a rule is a product with a partial derivative."""
    if s.rule == "value":
        b.give(s.outs[0], [by_address(b, kernel.value, s.args)])
        return
    d, *args, _ = s.args
    b.give(s.outs[0], [b.op(f"fmul double {b.one(d)}, {by_address(b, kernel.partials[s.argument], args)}")])


def by_address(b: Body, address: int, args: Sequence[Operand]) -> str:
    """Call a C function of numbers."""
    given = typed(["double"] * len(args), b.values(args))
    return b.op(f"call double inttoptr (i64 {address} to ptr)({given}) #0")


def by_python(b: Body, s: Registered) -> None:
    """Call a primitive, or one of its rules, with the GIL."""
    given, found = ([w for x in xs for w in words(x.type)] for xs in (s.args, s.outs))
    called = callback({s.name: b.program.program.primitives[s.name]}, s)
    b.program.called.append(called)
    leaves = b.fresh("leaves")
    b.places.append(f"  {leaves} = alloca [{8 * max(len(given), len(found))} x i8], align 8")
    b.write_words(given, b.values(s.args), leaves, FRAME)
    is_brief = all(isinstance(v.type, Scalar) or b.lifetimes.is_scratch(v) for v in s.outs)
    arena = b.state(SCRATCH) if is_brief else "%ctx"
    function = f"ptr inttoptr (i64 {id(called)} to ptr)"
    b.check_status(b.op(f"call i32 @te_call(ptr %ctx, {function}, ptr {arena}, ptr {leaves})"))
    values = b.read_values([v.type for v in s.outs], leaves, FRAME)
    for v in s.outs:
        n = len(words(v.type))
        b.give(v, values[:n])
        del values[:n]
