"""Each statement of the intermediate form as LLVM instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...intermediate import statements as F
from ...intermediate.operations import REAL, TRUTH, WHOLE, Scalar
from ...language.tables import entry, table
from ..callbacks import referring
from ..lifetimes import is_filled
from ..machine import KINDS, NotAssembled
from . import control
from .body import SCRATCH, Body
from .helpers import typed
from .layout import RANK, stride, words
from .operations import INLINE, compute
from .quotients import DIVIDING
from .writer import ELEMENT, FRAME, REFER

#: Operations that are not checked where they are known to fit in 64 bits: in a reverse pass, since the forward pass has
#: done them; where a loop has checked its last step.
FITTING = {"iadd": "add", "isub": "sub", "imul": "mul"}


def as_taken(b: Body, x: str, of: F.Type, wanted: Scalar) -> str:
    """Convert a number to the type that an operation takes."""
    if of == TRUTH and wanted == WHOLE:
        return b.op(f"zext i1 {x} to i64")
    return b.op(f"sitofp i64 {x} to double") if wanted == REAL and of != REAL else x


@entry
def compute_(b: Body, s: F.Compute) -> None:
    if s.operation.name in DIVIDING and s.args in b.quotients:
        b.give(s.out, [b.quotients[s.args][DIVIDING.index(s.operation.name)]])
        return
    args = [as_taken(b, b.one(x), x.type, t) for x, t in zip(s.args, s.operation.takes, strict=True)]
    if s.operation.name in FITTING and (b.is_reverse or id(s) in b.checked):
        b.give(s.out, [b.op(f"{FITTING[s.operation.name]} nsw i64 {args[0]}, {args[1]}")])
    else:
        b.give(s.out, [compute(b, s.operation, args, b.may_raise)])


@entry
def load(b: Body, s: F.Load) -> None:
    place = b.read_at(s)
    with b.accessing(s.array):
        b.give(s.out, b.read_values([s.out.type], place, ELEMENT))


@entry
def row(b: Body, s: F.Row) -> None:
    b.give(s.out, [b.read_at(s), *b.value(s.array)[1 + len(s.indices) :]])


@entry
def check(b: Body, s: F.Check) -> None:
    b.index(s.index, b.one(s.size), checked=True)


@entry
def size(b: Body, s: F.Size) -> None:
    b.give(s.out, [b.value(s.array)[1 + s.dim]])


@entry
def new(b: Body, s: F.New) -> None:
    assert isinstance(s.out.type, F.ArrayOf)
    bytes_each, after = stride(s.out.type.element), b.following
    if not s.sizes:
        b.give(s.out, ["%ctx", "0", "0"])  # any address, because the array is empty
        return
    sizes = [b.not_negative(b.one(n)) for n in s.sizes]
    few = b.lifetimes.on_stack(s)
    if few:
        place = b.fresh("few")
        b.places.append(f"  {place} = alloca [{few * bytes_each} x i8], align 32")
        room = str(few * bytes_each)
    else:
        place, room = b.room(s)
    if not is_filled(s.out, s.sizes, after):
        b.clear(place, room)
    b.give(s.out, [place, *sizes])


@entry
def zeros_like(b: Body, s: F.ZerosLike) -> None:
    assert isinstance(s.out.type, F.ArrayOf)
    sizes = b.value(s.array)[1:]
    place, room = b.array(b.arena(s.out), sizes, stride(s.out.type.element))
    b.clear(place, room)
    b.give(s.out, [place, *sizes])


@entry
def store(b: Body, s: F.Store) -> None:
    place = b.element(s.array, s.indices, checked=False, may_be_negative=False)
    value = b.value(s.value)
    with b.accessing(s.array):
        b.write_words(words(s.value.type), value, place, ELEMENT)


@entry
def append(b: Body, s: F.Append) -> None:
    assert isinstance(s.array.type, F.ArrayOf)
    data_at, size_at, room_at = b.places_of(s.array)
    n, each = b.get(size_at, "i64"), stride(s.array.type.element)
    grow, go = b.label("grow"), b.label("go")
    b.jump_if(b.op(f"icmp sge i64 {n}, {b.get(room_at, 'i64')}"), grow, go, unlikely=True)
    b.start(grow)
    room = b.op(f"add nsw i64 {b.op(f'shl nsw i64 {n}, 1')}, 8")
    made = b.take("%ctx", room, each)
    used = b.op(f"mul nsw i64 {n}, {each}")
    before = b.get(data_at, "ptr")
    b.line(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {made}, ptr align 8 {before}, i64 {used}, i1 false)")
    b.set(data_at, "ptr", made)
    b.set(room_at, "i64", room)
    b.line(f"br label %{go}")
    b.start(go)
    place = b.at(b.get(data_at, "ptr"), b.op(f"mul nsw i64 {n}, {each}"))
    b.write_words(words(s.value.type), b.value(s.value), place, ELEMENT)
    b.set(size_at, "i64", b.op(f"add nuw nsw i64 {n}, 1"))


@entry
def pop(b: Body, s: F.Pop) -> None:
    size_at = b.places_of(s.array)[1]
    less = b.op(f"sub nsw i64 {b.get(size_at, 'i64')}, 1")
    b.stop_if(b.op(f"icmp slt i64 {less}, 0"), REFER)
    b.set(size_at, "i64", less)


@entry
def assign(b: Body, s: F.Assign) -> None:
    found = [b.value(x) for x in s.values]
    for v, value in zip(s.outs, found, strict=True):
        b.give(v, value)


def sum_(b: Body, of: object, a: str, x: str) -> str:
    """Add two numbers or linear boxes."""
    if isinstance(of, F.BoxOf):
        return b.program.plus(b, of, a, x)
    return INLINE["add" if of == REAL else "iadd"](b, (a, x))


@entry
def add(b: Body, s: F.Add) -> None:
    if s.out.name in b.summing:
        b.summing[s.out.name](b.one(s.value))
        return
    b.give(s.out, [sum_(b, s.out.type, b.one(s.out), b.one(s.value))])


@entry
def add_at(b: Body, s: F.AddAt) -> None:
    assert isinstance(s.array.type, F.ArrayOf)
    of = s.array.type.element
    place = b.element(s.array, s.indices, checked=False)
    word = words(of)[0]
    with b.accessing(s.array):
        before = b.read(word, place, ELEMENT)
    after = sum_(b, of, before, b.one(s.value))
    with b.accessing(s.array):
        b.write(word, after, place, ELEMENT)


@entry
def add_all(b: Body, s: F.AddAll) -> None:
    into, (value, *sizes) = b.one(s.array), b.value(s.value)
    b.line(f"call void @te_add_all(ptr %ctx, ptr {into}, ptr {value}, i64 {b.product(sizes)})")


# ------------------------------------------------------------ records of recursive sums
# A record has eight bytes for the number of the option, and eight for each word of a field.


@entry
def pack(b: Body, s: F.Pack) -> None:
    """Make a record."""
    types = [w for x in s.values for w in words(x.type)]
    record = b.take("%ctx", str(8 * (1 + len(types))))
    b.write_words(["i64", *types], [str(s.option), *b.values(s.values)], record, FRAME)
    b.give(s.out, [record])


@entry
def option(b: Body, s: F.Option) -> None:
    """Read the number of an option."""
    b.give(s.out, [b.read("i64", b.one(s.box), FRAME)])


@entry
def plus(b: Body, s: F.Plus) -> None:
    """Add two linear records."""
    assert isinstance(s.out.type, F.BoxOf)
    b.give(s.out, [b.program.plus(b, s.out.type, b.one(s.left), b.one(s.right))])


@entry
def unpack(b: Body, s: F.Unpack) -> None:
    """Read the fields of a record; those of a null linear record are zeros."""
    types = [w for v in s.outs for w in words(v.type)]
    box = b.one(s.box)
    assert isinstance(s.box.type, F.BoxOf)
    if s.box.type.linear:  # read a record of zeros instead
        is_null = b.op(f"icmp eq ptr {box}, null")
        box = b.op(f"select i1 {is_null}, ptr {b.program.zeros(8 * (1 + len(types)))}, ptr {box}")
    b.give_all(s.outs, b.read_values([v.type for v in s.outs], b.at(box, 8), FRAME))


# ------------------------------------------------------------ calls


def params_of(f: F.Function) -> list[str]:
    """Give the types of the words that a function takes."""
    return [*(["ptr"] if f.recalled is not None else []), *(w for p in f.params for w in words(p.type))]


def results_of(f: F.Function) -> list[str]:
    """Give the types of the words that a function gives."""
    return [*(w for x in f.results for w in words(x.type)), *(["ptr"] if f.kept is not None else [])]


@entry
def call(b: Body, s: F.Call) -> None:
    """Call a function of the program."""
    callee = b.program.program.functions[s.function]
    args = typed(params_of(callee), b.values(s.args))
    b.give_all(s.outs, b.program.out(b, f"f.{s.function}", args, results_of(callee)))


@entry
def registered(b: Body, s: F.Registered) -> None:
    """Call a primitive of the registry: its C kernel, or the primitive itself."""
    primitive = b.program.program.primitives[s.name]
    if s.name == primitive.name:
        by_python(b, s)
    else:
        by_kernel(b, s, primitive.kernel)


def by_kernel(b: Body, s: F.Registered, kernel: Any) -> None:
    """Call a primitive's C functions; a rule is a product with a partial derivative."""
    if s.rule == "value":
        b.give(s.outs[0], [by_address(b, kernel.value, s.args)])
        return
    d, *args, _ = s.args
    b.give(s.outs[0], [b.op(f"fmul double {b.one(d)}, {by_address(b, kernel.partials[s.argument], args)}")])


def by_address(b: Body, address: int, args: Sequence[F.Operand]) -> str:
    """Call a C function of numbers."""
    given = typed(["double"] * len(args), b.values(args))
    return b.op(f"call double inttoptr (i64 {address} to ptr)({given}) #0")


def by_python(b: Body, s: F.Registered) -> None:
    """Call a primitive, or one of its rules, with the GIL."""
    given, found = ([w for x in xs for w in words(x.type)] for xs in (s.args, s.outs))
    site = referring({s.name: b.program.program.primitives[s.name]}, s), kinds_of(s.args), kinds_of(s.outs)
    b.program.called.append(site)
    leaves = b.fresh("leaves")
    b.places.append(f"  {leaves} = alloca [{8 * max(len(given), len(found))} x i8], align 8")
    b.write_words(given, b.values(s.args), leaves, FRAME)
    is_brief = all(isinstance(v.type, Scalar) or b.lifetimes.is_scratch(v) for v in s.outs)
    arena = b.state(SCRATCH) if is_brief else "%ctx"
    called = f"ptr inttoptr (i64 {id(site)} to ptr)"
    b.check_status(b.op(f"call i32 @te_call(ptr %ctx, {called}, ptr {arena}, ptr {leaves})"))
    b.give_all(s.outs, b.read_values([v.type for v in s.outs], leaves, FRAME))


def kinds_of(xs: Sequence[F.Operand]) -> bytes:
    """Give the kind of each leaf, see ``te_array`` in ``machine.h``, plus four times its rank."""
    found = [(x.type.element, x.type.rank) if isinstance(x.type, F.ArrayOf) else (x.type, 0) for x in xs]
    if any(of not in KINDS or rank > RANK for of, rank in found):
        raise NotAssembled("a primitive of the registry on rows of any sizes")
    return bytes(KINDS[of] + 4 * rank for of, rank in found)


RULES = table(globals(), vars(control))
