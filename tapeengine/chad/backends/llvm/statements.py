"""Each statement of the intermediate form as LLVM instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tapeengine.chad.backends.llvm import boxes, control
from tapeengine.chad.backends.llvm.calls import call, registered
from tapeengine.chad.backends.llvm.helpers import Helpers
from tapeengine.chad.backends.llvm.layout import SCALARS, stride, words
from tapeengine.chad.backends.llvm.lifetimes import is_filled
from tapeengine.chad.backends.llvm.operations import compute
from tapeengine.chad.backends.llvm.values import Values
from tapeengine.chad.backends.llvm.writer import ELEMENT, NO_MEMORY, REFER
from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.intermediate.statements import (
    Add,
    AddAll,
    AddAt,
    Append,
    ArrayOf,
    Assign,
    BoxOf,
    Call,
    Check,
    Compute,
    Const,
    For,
    Function,
    If,
    IsNull,
    Load,
    New,
    Operand,
    Option,
    Pack,
    Plus,
    Registered,
    Row,
    Scalar,
    Size,
    Statement,
    Store,
    Unpack,
    Var,
    While,
    ZerosLike,
)

__all__ = ["Body"]

#: More elements than any array has.
TOO_MANY = 1 << 44


class Body(Values):
    """Writes the body of one function.

    Parameters
    ----------
    program : Helpers
        What the functions of a program share.
    function : Function
    may_raise : bool
        Whether the run stops where Python would raise; partial derivatives are never errors.
    """

    def __init__(self, program: Helpers, function: Function, may_raise: bool) -> None:
        super().__init__(function)
        self.program = program
        self.may_raise = may_raise
        self.checked: set[int] = set()

    def block(self, statements: Sequence[Statement]) -> None:
        """Write statements."""
        for k, s in enumerate(statements):
            if isinstance(s, New):
                new(self, s, statements[k + 1 :])
            else:
                RULES[type(s)](self, s)

    # ------------------------------------------------------------ places in arrays

    def index(self, x: Operand, size: str, checked: bool) -> str:
        """Give an index that counts from the beginning."""
        i = self.one(x)
        if isinstance(x, Var) and x.name in self.indices and not checked:
            return i
        if isinstance(x, Const) and not i.startswith("-"):
            if checked:
                self.stop_if(self.op(f"icmp ule i64 {size}, {i}"), REFER, now=True)
            return i
        from_end = self.op(f"icmp slt i64 {i}, 0")
        i = self.op(f"select i1 {from_end}, i64 {self.op(f'add i64 {i}, {size}')}, i64 {i}")
        if checked:
            self.stop_if(self.op(f"icmp uge i64 {i}, {size}"), REFER, now=True)
        return i

    def element(self, array: Operand, indices: Sequence[Operand], checked: bool, may_be_negative: bool = True) -> str:
        """Give the place of an element, or of the first one of a row."""
        assert isinstance(array.type, ArrayOf)
        data, *sizes = self.value(array)
        place = "0"
        for k, x in enumerate(indices):
            i = self.index(x, sizes[k], checked) if checked or may_be_negative else self.one(x)
            before = place if place == "0" else self.op(f"mul nsw i64 {place}, {sizes[k]}")
            place = i if before == "0" else self.op(f"add nsw i64 {before}, {i}")
        rest = sizes[len(indices) :]
        of = array.type.element
        if isinstance(of, Scalar):
            memory = "i8" if SCALARS[of] == "i1" else SCALARS[of]
            offset = self.product([place, *rest]) if rest else place
            return self.op(f"getelementptr inbounds {memory}, ptr {data}, i64 {offset}")
        return self.at(data, self.product([place, *rest, stride(of)]))

    def check_size(self, n: str) -> None:
        """Stop where an array would have more elements than there is memory."""
        if not n.isdigit():
            self.stop_if(self.op(f"icmp ugt i64 {n}, {TOO_MANY}"), NO_MEMORY, now=True)
            self.line(f"call void @llvm.assume(i1 {self.op(f'icmp ule i64 {n}, {TOO_MANY}')})")

    def total(self, sizes: Sequence[str], size: int) -> str:
        """Give the bytes of an array; stops where these are too many."""
        for n in sizes:
            self.check_size(n)
        found = sizes[0]
        for n in sizes[1:]:
            both = self.op(f"call {{i64, i1}} @llvm.smul.with.overflow.i64(i64 {found}, i64 {n})")
            self.stop_if(self.op(f"extractvalue {{i64, i1}} {both}, 1"), NO_MEMORY, now=True)
            found = self.op(f"extractvalue {{i64, i1}} {both}, 0")
            self.check_size(found)
        return self.product([found, size])


def compute_(b: Body, s: Compute) -> None:
    args = [b.one(x) for x in s.args]
    args = [
        b.op(f"sitofp i64 {a} to double") if t == REAL and x.type != REAL else a
        for a, x, t in zip(args, s.args, s.operation.takes, strict=True)
    ]
    b.give(s.out, [compute(b, s.operation, args, b.may_raise)])


def load(b: Body, s: Load) -> None:
    checked = s.checked and id(s) not in b.checked
    place = b.element(s.array, s.indices, checked, may_be_negative=s.checked and checked)
    b.give(s.out, b.read_words(words(s.out.type), place, ELEMENT))


def row(b: Body, s: Row) -> None:
    checked = s.checked and id(s) not in b.checked
    place = b.element(s.array, s.indices, checked, may_be_negative=s.checked and checked)
    b.give(s.out, [place, *b.value(s.array)[1 + len(s.indices) :]])


def check(b: Body, s: Check) -> None:
    b.index(s.index, b.one(s.size), checked=True)


def size(b: Body, s: Size) -> None:
    b.give(s.out, [b.value(s.array)[1 + s.dim]])


def new(b: Body, s: New, after: Sequence[Statement]) -> None:
    assert isinstance(s.out.type, ArrayOf)
    bytes_each = stride(s.out.type.element)
    if not s.sizes:
        b.give(s.out, ["%ctx", "0", "0"])  # any place: there is nothing in it
        return
    sizes = [b.not_negative(b.one(n)) for n in s.sizes]
    few = b.lifetimes.on_stack(s)
    if few:
        place = b.fresh("few")
        b.places.append(f"  {place} = alloca [{few * bytes_each} x i8], align 32")
        room = str(few * bytes_each)
    else:
        room = b.total(sizes, bytes_each)
        place = b.take(b.at("%ctx", control.SCRATCH) if b.lifetimes.is_scratch(s.out) else "%ctx", room)
    if not is_filled(s.out, s.sizes, after):
        b.clear(place, room)
    b.give(s.out, [place, *sizes])


def zeros_like(b: Body, s: ZerosLike) -> None:
    assert isinstance(s.out.type, ArrayOf) and isinstance(s.array.type, ArrayOf)
    if isinstance(s.out.type.element, ArrayOf):
        b.give(s.out, b.program.zeros_like(b, s.out.type, s.array.type, b.value(s.array)))
        return
    sizes = b.value(s.array)[1:]
    room = b.total(sizes, stride(s.out.type.element))
    place = b.take(b.at("%ctx", control.SCRATCH) if b.lifetimes.is_scratch(s.out) else "%ctx", room)
    b.clear(place, room)
    b.give(s.out, [place, *sizes])


def store(b: Body, s: Store) -> None:
    place = b.element(s.array, s.indices, checked=False, may_be_negative=False)
    b.write_words(words(s.value.type), b.value(s.value), place, ELEMENT)


def append(b: Body, s: Append) -> None:
    assert isinstance(s.array.type, ArrayOf)
    data_at, size_at, room_at = b.places_of(s.array)
    n, each = b.get(size_at, "i64"), stride(s.array.type.element)
    grow, go = b.label("grow"), b.label("go")
    b.jump_if(b.op(f"icmp sge i64 {n}, {b.get(room_at, 'i64')}"), grow, go, unlikely=True)
    b.start(grow)
    room = b.op(f"add nsw i64 {b.op(f'shl nsw i64 {n}, 1')}, 8")
    made = b.take("%ctx", b.op(f"mul nsw i64 {room}, {each}"))
    used = b.op(f"mul nsw i64 {n}, {each}")
    b.line(
        f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {made}, ptr align 8 {b.get(data_at, 'ptr')}, i64 {used}, i1 false)"
    )
    b.set(data_at, "ptr", made)
    b.set(room_at, "i64", room)
    b.line(f"br label %{go}")
    b.start(go)
    place = b.at(b.get(data_at, "ptr"), b.op(f"mul nsw i64 {n}, {each}"))
    b.write_words(words(s.value.type), b.value(s.value), place, ELEMENT)
    b.set(size_at, "i64", b.op(f"add nuw nsw i64 {n}, 1"))


def assign(b: Body, s: Assign) -> None:
    found = [b.value(x) for x in s.values]
    for v, x, value in zip(s.outs, s.values, found, strict=True):
        if isinstance(x, Var) and x.name in b.indices and v.name not in b.changing:
            b.indices.add(v.name)
        b.give(v, value)


def sum_(b: Body, of: object, a: str, x: str) -> str:
    """Add two numbers or linear boxes."""
    if isinstance(of, BoxOf):
        return b.program.plus(b, of, a, x)
    if of == REAL:
        return b.op(f"fadd double {a}, {x}")
    both = b.op(f"call {{i64, i1}} @llvm.sadd.with.overflow.i64(i64 {a}, i64 {x})")
    b.stop_if(b.op(f"extractvalue {{i64, i1}} {both}, 1"), REFER)
    return b.op(f"extractvalue {{i64, i1}} {both}, 0")


def add(b: Body, s: Add) -> None:
    b.give(s.out, [sum_(b, s.out.type, b.one(s.out), b.one(s.value))])


def add_at(b: Body, s: AddAt) -> None:
    assert isinstance(s.array.type, ArrayOf)
    of = s.array.type.element
    place = b.element(s.array, s.indices, checked=False)
    word = words(of)[0]
    b.write(word, sum_(b, of, b.read(word, place, ELEMENT), b.one(s.value)), place, ELEMENT)


def add_all(b: Body, s: AddAll) -> None:
    if not isinstance(s.value, Const):
        assert isinstance(s.array.type, ArrayOf)
        b.program.add_all(b, s.array.type, b.value(s.array), b.value(s.value))


def is_null(b: Body, s: IsNull) -> None:
    b.give(s.out, [b.op(f"icmp eq ptr {b.one(s.value)}, null")])


def refused(b: Body, s: Statement) -> None:
    raise NotAssembled(f"the statement {type(s).__name__}")


RULES: Mapping[type[object], Callable[[Body, Any], None]] = MappingProxyType(
    {
        Compute: compute_,
        Load: load,
        Row: row,
        Check: check,
        Size: size,
        ZerosLike: zeros_like,
        Store: store,
        Append: append,
        Assign: assign,
        Add: add,
        AddAt: add_at,
        AddAll: add_all,
        Plus: boxes.plus,
        Pack: boxes.pack,
        Option: boxes.option,
        Unpack: boxes.unpack,
        IsNull: is_null,
        For: control.for_,
        While: control.while_,
        If: control.if_,
        Call: call,
        Registered: registered,
    }
)
