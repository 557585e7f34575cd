"""Records of recursive sums: eight bytes for the number of the option, and eight for each word of a field."""

from __future__ import annotations

from tapeengine.chad.backends.llvm.body import Body
from tapeengine.chad.backends.llvm.layout import words
from tapeengine.chad.backends.llvm.writer import FRAME
from tapeengine.chad.intermediate.statements import BoxOf, Option, Pack, Plus, Unpack
from tapeengine.chad.tables import entry


@entry
def pack(b: Body, s: Pack) -> None:
    """Make a record."""
    types = [w for x in s.values for w in words(x.type)]
    record = b.take("%ctx", str(8 * (1 + len(types))))
    b.write_words(["i64", *types], [str(s.option), *b.values(s.values)], record, FRAME)
    b.give(s.out, [record])


@entry
def option(b: Body, s: Option) -> None:
    """Read the number of an option."""
    b.give(s.out, [b.read("i64", b.one(s.box), FRAME)])


@entry
def plus(b: Body, s: Plus) -> None:
    """Add two linear records."""
    assert isinstance(s.out.type, BoxOf)
    b.give(s.out, [b.program.plus(b, s.out.type, b.one(s.left), b.one(s.right))])


@entry
def unpack(b: Body, s: Unpack) -> None:
    """Read the fields of a record; those of a null linear record are zeros."""
    types = [w for v in s.outs for w in words(v.type)]
    box = b.one(s.box)
    assert isinstance(s.box.type, BoxOf)
    if s.box.type.linear:  # read a record of zeros instead
        is_null = b.op(f"icmp eq ptr {box}, null")
        box = b.op(f"select i1 {is_null}, ptr {b.program.zeros(8 * (1 + len(types)))}, ptr {box}")
    found = b.read_values([v.type for v in s.outs], b.at(box, 8), FRAME)
    for v in s.outs:
        n = len(words(v.type))
        b.give(v, found[:n])
        del found[:n]
