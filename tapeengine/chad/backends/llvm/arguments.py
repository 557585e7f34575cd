"""Array arguments in C order: a function for each type that copies what has other strides, shared by all arguments."""

from __future__ import annotations

from collections.abc import Sequence

from tapeengine.chad.backends.llvm.helpers import Helpers
from tapeengine.chad.backends.llvm.interrupts import Counted
from tapeengine.chad.backends.llvm.layout import in_memory, size_of, words
from tapeengine.chad.backends.llvm.writer import Writer
from tapeengine.chad.intermediate.operations import Scalar
from tapeengine.chad.intermediate.statements import ArrayOf

#: The largest rank of an array argument or result, and the offsets of the parts of a `te_array`; see `machine.h`.
RANK = 8
DATA, SHAPE = 8, 24
STRIDES = SHAPE + 8 * RANK


def array_in(helpers: Helpers, w: Writer, of: ArrayOf, described: str) -> list[str]:
    """Read an array argument."""
    sizes = sizes_of(w, of, described)
    if not isinstance(of.element, Scalar):  # the core has made it
        return [w.op(f"load ptr, ptr {w.at(described, DATA)}"), *sizes]
    word = words(of.element)[0]
    name = f"ordered.{word}.{of.rank}"
    if name not in helpers.written:
        helpers.written[name] = ordered(name, of, word)
    return [*helpers.out(w, name, f"ptr {described}", ["ptr"]), *sizes]


def sizes_of(w: Writer, of: ArrayOf, described: str) -> list[str]:
    """Read the sizes of an array argument."""
    return [w.op(f"load i64, ptr {w.at(described, SHAPE + 8 * k)}, !range !9") for k in range(of.rank)]


def ordered(name: str, of: ArrayOf, word: str) -> str:
    """Write the function that gives the elements of an array in C order: its own, or a copy."""
    w = Writer()
    sizes = sizes_of(w, of, "%of")
    strides = [w.op(f"load i64, ptr {w.at('%of', STRIDES + 8 * k)}") for k in range(of.rank)]
    data = w.op(f"load ptr, ptr {w.at('%of', DATA)}")
    wanted: list[str] = [str(size_of(word))]
    for n in reversed(sizes[1:]):
        wanted.append(w.product([wanted[-1], n]))
    wanted.reverse()
    copy, own = w.label("copy"), w.label("own")
    w.jump_if(is_plain(w, sizes, strides, wanted), own, copy)
    w.start(own)
    w.line(f"store ptr {data}, ptr %out")
    w.line("ret i32 0")
    w.start(copy)
    made = w.take("%ctx", w.product([*sizes, size_of(word)]))
    copied(w, word, data, made, sizes, strides, wanted)
    w.line(f"store ptr {made}, ptr %out")
    w.line("ret i32 0")
    return w.text(f'define internal i32 @"{name}"(ptr %ctx, ptr %of, ptr %out) noinline optsize')


def is_plain(w: Writer, sizes: Sequence[str], strides: Sequence[str], wanted: Sequence[str]) -> str:
    """Tell whether an array is in C order; strides of single elements do not matter."""
    plain = "true"
    for n, given, want in zip(sizes, strides, wanted, strict=True):
        right = w.op(f"or i1 {w.op(f'icmp eq i64 {given}, {want}')}, {w.op(f'icmp sle i64 {n}, 1')}")
        plain = w.op(f"and i1 {plain}, {right}")
    return plain


def copied(
    w: Writer, word: str, data: str, made: str, sizes: Sequence[str], strides: Sequence[str], wanted: Sequence[str]
) -> None:
    """Copy an array of any strides to C order."""
    if not sizes:
        memory = in_memory(word)
        w.line(f"store {memory} {w.op(f'load {memory}, ptr {data}, align 1')}, ptr {made}")
        return
    loop = Counted(w, sizes[0])
    source, target = (w.at(p, w.op(f"mul nsw i64 {loop.index}, {s[0]}")) for p, s in ((data, strides), (made, wanted)))
    copied(w, word, source, target, sizes[1:], strides[1:], wanted[1:])
    loop.end()
