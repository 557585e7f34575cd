"""A whole program as one LLVM module: its functions, and an entry for each pass that the core calls.

An entry is ``int entry(te_word *registers, te_native *state)``. The first registers are those that the forward pass
hands to the reverse pass; then come the leaves of the parameters, then those of the results; arrays are ``te_array`` s.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...._core.programs.machine import addresses
from ...intermediate.operations import LOOPS, OPERATIONS_BY_NAME, TRUTH, Scalar
from ...intermediate.statements import ArrayOf, BoxOf, Function, Operand, Program, Type
from ..machine import KINDS, NotAssembled
from ..passes import Pass
from ..references import in_loops
from ..skipped import skipping
from .body import Body
from .control import keep_record, recall_record, sites
from .fuse import Parts, divided, fused, split
from .helpers import Helpers, guard, typed
from .in_pairs import PAIRS
from .interrupts import poll, weight
from .largest import EXTREMES
from .layout import RANK, words
from .recompute import Omitting, recomputed
from .statements import RULES, params_of, results_of
from .writer import FRAME, Writer

#: The kind number of references, and the offsets of the parts of a `te_array`; see `machine.h`.
REFERENCE, DATA, SHAPE = 3, 8, 24

#: Attributes of the opcode table's functions: their values depend only on their arguments, so loops may hoist them.
PURE = "memory(none) nounwind willreturn speculatable"
#: Attributes of functions of arrays.
STRIP = "memory(argmem: readwrite) nounwind willreturn"
READING = STRIP.replace("readwrite", "read")


@dataclass(frozen=True)
class Entry:
    """The registers of the leaves of an entry.

    * `shared`, `registers`: the numbers of shared registers and of all registers.
    * `called`: the Python functions that the program calls.
    """

    name: str
    shared: int
    registers: int
    params: tuple[int, ...]
    results: tuple[int, ...]
    called: Sequence[Any] = ()


def module(
    program: Program,
    passes: Sequence[Pass],
    is_full: bool = True,
    is_long: bool = False,
    variants: Collection[str] = (),
) -> tuple[str, list[Entry]]:
    """Write a program; it raises `NotAssembled` if the program needs something that this back end lacks."""
    functions, parts = [skipping(fused(in_loops(f))) for f in program.functions.values()], Parts()
    if is_full:
        functions = [split(f, variants, parts) for f in functions]
    program = replace(program, functions={f.name: divided(f, parts) for f in functions})
    passes = [
        replace(p, function=program.functions.get(p.function.name, p.function), shared=divided(p.shared, parts))
        for p in passes
    ]
    forward = next((p.function for p in passes if p.function.kept is not None), None)
    again, arrays, held = ({}, [], {}) if forward is None else recomputed(forward, len(program.functions) <= 2)
    if again:
        program = replace(program, functions={n: Omitting(again, held)(f) for n, f in program.functions.items()})
        passes = [replace(p, function=program.functions[p.function.name]) for p in passes]
    passes = [replace(p, shared=[*p.shared, *arrays]) if p.shared or forward is not None else p for p in passes]
    helpers = Helpers(program, sites(list(program.functions.values())), is_full, is_long, variants)
    mains = {p.function.name for p in passes}
    texts = [inner(helpers, f) for f in program.functions.values() if f.name not in mains]
    made = [main(helpers, p) for p in passes]
    texts += [*(text for text, _ in made), *helpers.written.values()]
    if helpers.most_zeros:
        texts.append(f"@zeros = internal constant [{helpers.most_zeros} x i8] zeroinitializer, align 8\n")
    return "\n".join([declarations("\n".join(texts)), *texts, METADATA, *helpers.metadata]), [e for _, e in made]


def inner(helpers: Helpers, f: Function) -> str:
    """Write a function that other functions call."""
    b = Body(helpers, f, may_raise=f.recalled is None, rules=RULES)
    guard(b)
    poll(b, weight(f.body))
    types = params_of(f)
    names = [f"%p{k}" for k in range(len(types))]
    if f.recalled is not None:
        recall_record(b, f.recalled, names[0])
    b.give_all(f.params, names[f.recalled is not None :])
    b.block(f.body)
    gave = b.values(f.results)
    if f.kept is not None:
        gave.append(keep_record(b, f.kept))
    b.write_words(results_of(f), gave, "%out", FRAME)
    b.line("ret i32 0")
    args = typed(types, names)
    return b.text(f'define internal i32 @"f.{f.name}"(ptr %ctx, {args}{", " if args else ""}ptr %out)')


# ------------------------------------------------------------ entries


def main(helpers: Helpers, p: Pass) -> tuple[str, Entry]:
    """Write a pass and its entry."""
    shared = [w for v in p.shared for w in words(v.type)]
    b = Body(helpers, p.function, p.may_raise, RULES)
    b.is_main = True
    types = [w for v in p.function.params for w in words(v.type)]
    names = [f"%p{k}" for k in range(len(types))]
    taken = bool(p.function.recalled)
    if taken:
        b.give_all(p.shared, b.read_values([v.type for v in p.shared], "%r", FRAME))
    b.give_all(p.function.params, names)
    b.block(p.function.body)
    if not taken:
        b.write_words(shared, b.values(p.shared), "%r", FRAME)
    first = len(shared) + len(p.function.params)
    for k, x in enumerate(p.results):
        hand_out(b, x, b.at("%r", 8 * (first + k)))
    b.line("ret i32 0")
    name = f"main.{p.function.name}"
    attributes = [f"{t} {'noalias ' if t == 'ptr' else ''}{n}" for t, n in zip(types, names, strict=True)]
    text = b.text(
        f'define internal i32 @"{name}"({", ".join(["ptr noalias %r, ptr noalias %ctx", *attributes])}) noinline'
    )
    entry = Entry(
        f"entry.{p.function.name}",
        len(shared),
        first + len(p.results),
        tuple(range(len(shared), first)),
        tuple(range(first, first + len(p.results))),
        helpers.called,
    )
    return text + "\n" + entrance(b, entry, name, types), entry


def hand_out(b: Body, x: Operand, register: str) -> None:
    """Write a result into its register."""
    value = b.value(x)
    if isinstance(x.type, Scalar | BoxOf):
        is_truth = x.type == TRUTH
        one = f"i64 {b.op(f'zext i1 {value[0]} to i64')}" if is_truth else f"{words(x.type)[0]} {value[0]}"
        b.line(f"store {one}, ptr {register}")
        return
    of = leaf_array(x.type)
    sizes = b.fresh("sizes")
    b.places.append(f"  {sizes} = alloca [{of.rank} x i64]")
    for k, n in enumerate(value[1:]):
        b.line(f"store i64 {n}, ptr {b.at(sizes, 8 * k)}")
    kind = f"i32 {of.rank}, i32 {KINDS.get(of.element, REFERENCE)}"
    b.check_status(b.op(f"call i32 @te_give(ptr %ctx, ptr {register}, ptr {value[0]}, ptr {sizes}, {kind})"))


def array_in(w: Writer, of: ArrayOf, described: str) -> list[str]:
    """Read an array argument, in C order: the core copies what has other strides."""
    sizes = [w.op(f"load i64, ptr {w.at(described, SHAPE + 8 * k)}, !range !9") for k in range(of.rank)]
    if not isinstance(of.element, Scalar):  # the core has made it
        return [w.op(f"load ptr, ptr {w.at(described, DATA)}"), *sizes]
    place = w.place("ptr", "data")
    w.check_status(w.op(f"call i32 @te_in_order(ptr %ctx, ptr {described}, ptr {place})"))
    return [w.read("ptr", place, FRAME), *sizes]


def leaf_array(of: Type) -> ArrayOf:
    """Give the type of an array argument or result."""
    if not isinstance(of, ArrayOf) or of.rank > RANK:
        raise NotAssembled("a value that is neither a number nor an array nor a box")
    return of


def entrance(b: Body, entry: Entry, name: str, types: Sequence[str]) -> str:
    """Write the entry, which reads the parameters from their registers and calls a pass."""
    w, params = Writer(), b.function.params
    given: list[str] = []
    for at, p in zip(entry.params, params, strict=True):
        register = w.at("%r", 8 * at)
        if p.type == TRUTH:
            given.append(w.op(f"icmp ne i64 {w.op(f'load i64, ptr {register}')}, 0"))
        elif isinstance(p.type, Scalar | BoxOf):
            given.append(w.op(f"load {words(p.type)[0]}, ptr {register}"))
        else:
            given += array_in(w, leaf_array(p.type), w.op(f"load ptr, ptr {register}"))
    args = typed(["ptr", "ptr", *types], ["%r", "%ctx", *given])
    w.line(f'%status = call i32 @"{name}"({args})')
    w.line("ret i32 %status")
    return w.text(f'define i32 @"{entry.name}"(ptr %r, ptr %ctx)')


# ------------------------------------------------------------ the same in all modules

TAKE = """
define internal noalias ptr @take(ptr %arena, i64 %n, i64 %each) noinline nounwind {
  %many = icmp ugt i64 %n, 17592186044416
  br i1 %many, label %none, label %some, !prof !8
none:
  ret ptr null
some:
  %bytes = mul nsw i64 %n, %each
  %more = add i64 %bytes, 32
  %size = and i64 %more, -32
  %top = load ptr, ptr %arena, !tbaa !17
  %at = getelementptr i8, ptr %arena, i64 8
  %end = load ptr, ptr %at, !tbaa !17
  %a = ptrtoint ptr %top to i64
  %b = ptrtoint ptr %end to i64
  %room = sub i64 %b, %a
  %fits = icmp ule i64 %size, %room
  br i1 %fits, label %here, label %there, !prof !7
here:
  %next = getelementptr i8, ptr %top, i64 %size
  store ptr %next, ptr %arena, !tbaa !17
  ret ptr %top
there:
  %made = call ptr @te_more(ptr %arena, i64 %size)
  ret ptr %made
}
"""

METADATA = """
attributes #0 = { nounwind willreturn memory(inaccessiblemem: readwrite) }
!7 = !{!"branch_weights", i32 1000, i32 1}
!8 = !{!"branch_weights", i32 1, i32 1000}
!9 = !{i64 0, i64 17592186044417}
!10 = !{!"memory"}
!1 = !{!"real", !10}
!2 = !{!"whole", !10}
!3 = !{!"truth", !10}
!4 = !{!"reference", !10}
!5 = !{!"frame", !10}
!6 = !{!"state", !10}
!11 = !{!1, !1, i64 0}
!12 = !{!2, !2, i64 0}
!13 = !{!3, !3, i64 0}
!14 = !{!4, !4, i64 0}
!15 = !{!5, !5, i64 0}
!17 = !{!6, !6, i64 0}
"""

INTRINSICS: Mapping[str, str] = {
    "llvm.smin.i64": "i64 (i64, i64)",
    "llvm.smax.i64": "i64 (i64, i64)",
    "llvm.abs.i64": "i64 (i64, i1)",
    **{f"llvm.{n}.with.overflow.i64": "{i64, i1} (i64, i64)" for n in ("sadd", "ssub", "smul")},
    **{f"llvm.{n}.f64": "double (double)" for n in ("fabs", "rint", "sqrt", "trunc", "floor", "ceil")},
    **{f"llvm.fabs.v{n}f64": f"<{n} x double> (<{n} x double>)" for n in (4, 8)},
    **{f"llvm.vector.reduce.{n}.v8f64": "double (<8 x double>)" for n in ("fmax", "fmin")},
    "llvm.copysign.f64": "double (double, double)",
    "llvm.memset.p0.i64": "void (ptr, i8, i64, i1)",
    "llvm.memcpy.p0.p0.i64": "void (ptr, ptr, i64, i1)",
    "llvm.memmove.p0.p0.i64": "void (ptr, ptr, i64, i1)",
    "llvm.frameaddress.p0": "ptr (i32)",
    "llvm.assume": "void (i1)",
    "te_more": "ptr (ptr, i64)",
    "te_elements": f"i64 (i64, i64) {PURE}",
    "te_give": "i32 (ptr, ptr, ptr, ptr, i32, i32)",
    "te_add_all": "void (ptr, ptr, ptr, i64)",
    "te_poll": "i32 (ptr)",
    "te_fork": "i32 (ptr, ptr, ptr, i64)",
    "te_call": "i32 (ptr, ptr, ptr, ptr)",
    "te_in_order": "i32 (ptr, ptr, ptr)",
    "te_power": "i32 (i64, i64, ptr)",
    "te_result": "noalias ptr (ptr, i64, i64)",
    "te_part": f"i64 (ptr, double) {STRIP}",
    "te_pairwise": f"double (ptr, i64) {READING}",
    "te_poles": f"i32 (i64, ptr, ptr, ptr) {READING}",
    "te_apply": f"void (i64, i64, ptr, ptr, ptr) {STRIP}",
}


#: Values lie in a buffer for a multiple of eight numbers; what lies after them may only cause the exact test.
POLES = """
define internal i32 @poles(i64 %n, ptr %a, ptr %b, ptr %x) noinline {
entry:
  br label %step
step:
  %k = phi i64 [0, %entry], [%next, %step]
  %before = phi <8 x i64> [zeroinitializer, %entry], [%all, %step]
  %at = getelementptr i64, ptr %x, i64 %k
  %word = load <8 x i64>, ptr %at, align 8
  %exponent = and <8 x i64> %word, <EACH>
  %overflow = add <8 x i64> %exponent, <PLUS>
  %all = or <8 x i64> %before, %overflow
  %next = add nuw nsw i64 %k, 8
  %go = icmp slt i64 %next, %n
  br i1 %go, label %step, label %last
last:
  %signs = icmp slt <8 x i64> %all, zeroinitializer
  %some = bitcast <8 x i1> %signs to i8
  %none = icmp eq i8 %some, 0
  br i1 %none, label %good, label %there, !prof !7
there:
  %found = call i32 @te_poles(i64 %n, ptr %a, ptr %b, ptr %x)
  ret i32 %found
good:
  ret i32 0
}
""".replace("EACH", ", ".join([f"i64 {0x7FF << 52}"] * 8)).replace("PLUS", ", ".join([f"i64 {1 << 52}"] * 8))

ONE = """
define internal double @te.{0}(double %a, double %b) noinline {2} {{
  %x = alloca [3 x double]
  %y = getelementptr double, ptr %x, i64 1
  %z = getelementptr double, ptr %x, i64 2
  store double %a, ptr %x
  store double %b, ptr %y
  call void @te_apply(i64 {1}, i64 1, ptr %x, ptr %y, ptr %z)
  %found = load double, ptr %z
  ret double %found
}}
"""

#: Functions that modules contain if they call them.
SHARED: Mapping[str, str] = {
    "pairs": PAIRS,
    "poles": POLES,
    **EXTREMES,
    **{f"te.{name}": ONE.format(name, k, PURE) for k, name in enumerate(LOOPS)},
}


def declarations(text: str) -> str:
    """Declare the functions that a module calls."""
    called = {"te_more", *re.findall(r"@([\w.]+)\(", text)}
    called |= {c for name in SHARED if name in called for c in re.findall(r"@([\w.]+)\(", SHARED[name])}
    found = []
    for name, of in INTRINSICS.items():
        if name in called:
            result, params = of.rsplit(" (", 1) if not of.startswith("{") else of.split(" (")
            found.append(f"declare {result} @{name}({params}")
    for o in OPERATIONS_BY_NAME.values():
        if f"te.{o.name}" in called and o.name not in LOOPS:
            found.append(f"declare double @te.{o.name}({', '.join(['double'] * len(o.takes))}) {PURE}")
        if f"loop.{o.name}" in called:
            found.append(f"declare void @loop.{o.name}({'ptr, ' * len(o.takes)}ptr, i64) {STRIP}")
    return "\n".join([*found, TAKE, *(text for name, text in SHARED.items() if name in called)])


def symbols() -> Mapping[str, int]:
    """Give the addresses of the functions that modules call."""
    return {name if name.startswith("te_") else f"te.{name}": at for name, at in addresses().items()}
