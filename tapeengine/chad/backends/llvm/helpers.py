"""Code shared by the functions of a program: functions that exist once for each type of reference, and zeros."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import renamed, walk
from ...intermediate.operations import LOOPS, REAL
from .interrupts import poll
from .layout import linear_fields, name_of, stride, words
from .ranges import naturals
from .writer import DEEP, ELEMENT, FRAME, REFER, Writer

#: The layouts of frames: a column for each word of a step, a chain of records, or one record.
COLUMNS, CHAIN, RECORD = "columns", "chain", "record"

#: The offset of the stack's limit in `te_native`; see `machine.h`.
LIMIT = 64


def guard(w: Writer) -> None:
    """Stop if calls are nested too deeply for the stack."""
    here = w.op("call ptr @llvm.frameaddress.p0(i32 0)")
    limit = w.op(f"load ptr, ptr {w.at('%ctx', LIMIT)}, !tbaa !17")
    w.stop_if(w.op(f"icmp ult ptr {here}, {limit}"), DEEP, now=True)


def typed(types: Sequence[str], values: Sequence[str]) -> str:
    """Write operands with their types."""
    return ", ".join(f"{t} {v}" for t, v in zip(types, values, strict=True))


class Helpers:
    """Code shared by the functions of a program."""

    def __init__(
        self,
        program: F.Program,
        sites: Mapping[str, str],
        is_full: bool = True,
        is_long: bool = False,
        variants: Collection[str] = (),
    ) -> None:
        self.is_full, self.is_long, self.variants = is_full, is_long, variants
        self.program = program
        self.sites = dict(sites)
        self.written: dict[str, str] = {}
        self.most_zeros = 0
        self.metadata: list[str] = []
        self.called: list[Any] = []
        loops = [s for f in program.functions.values() for s, _ in walk(f.body) if isinstance(s, F.For)]
        self.uncounted = {k.frames.name for s in loops if s.count is None for k in s.recalled}
        self.kept = {s.kept.frames.name: s.kept for s in loops if s.kept is not None}

    def stored(self, kept: F.Kept) -> list[F.Var]:
        """Give the fields of a loop's frames that are stored."""
        return [v for v in kept.fields if not self.is_absent(v)]

    def is_absent(self, x: F.Var) -> bool:
        """Tell whether a variable is the frames of a loop that stores nothing, not even their number."""
        kept = self.kept.get(x.name)
        return kept is not None and x.name not in self.uncounted and not self.stored(kept)

    def has_loop(self, s: F.Statement) -> bool:
        """Tell whether a statement calls a function that also has a form for many numbers."""
        of_many = isinstance(s, F.Compute) and (s.operation.name in self.variants or s.operation.name in LOOPS)
        return of_many and all(x.type == REAL for x in s.args)  # type: ignore[union-attr]

    def lane(self, frames: str, like: str, names: Mapping[str, F.Var]) -> None:
        """Give the frames of one of several steps the layout of the site."""
        if like in self.sites:
            self.sites[frames] = self.sites[like]
        if like in self.uncounted:
            self.uncounted.add(frames)
        if like in self.kept:
            self.kept[frames] = renamed(self.kept[like], names)

    def natural(self, function: F.Function) -> frozenset[str]:
        """Give the integers that are never negative, including those that a reverse pass gets."""
        kept = function.recalled
        pair = [f for f in self.program.functions.values() if kept is not None and f.kept == kept]
        return naturals([*pair, function])

    def zeros(self, size: int) -> str:
        """Give the address of this many zero bytes."""
        self.most_zeros = max(self.most_zeros, size)
        return "@zeros"

    def out(self, b: Writer, name: str, args: str, words_out: Sequence[str]) -> list[str]:
        """Call a function that writes its results through its last argument."""
        place = b.fresh("out")
        b.places.append(f"  {place} = alloca [{8 * len(words_out)} x i8], align 8")
        b.check_status(b.op(f'call i32 @"{name}"(ptr %ctx, {args}{", " if args else ""}ptr {place})'))
        return b.read_words(words_out, place, FRAME)

    def once(self, kind: str, write: Callable[..., str], *of: F.Type) -> str:
        """Give the name of a function for types, which is written when it is first asked for and may call itself."""
        name = ".".join([kind, *map(name_of, of)])
        if name not in self.written:
            self.written[name] = ""
            self.written[name] = write(name, *of)
        return name

    # ------------------------------------------------------------ sums

    def plus(self, b: Writer, of: F.BoxOf, left: str, right: str) -> str:
        """Add two linear boxes."""
        return self.out(b, self.once("plus", self.plus_text, of), f"ptr {left}, ptr {right}", ["ptr"])[0]

    def plus_text(self, name: str, of: F.BoxOf) -> str:
        """Write the sum of two linear boxes."""
        w = Writer()
        guard(w)
        for given, other in (("%a", "%b"), ("%b", "%a")):
            null, go = w.label("null"), w.label("go")
            w.jump_if(w.op(f"icmp eq ptr {given}, null"), null, go)
            w.start(null)
            w.line(f"store ptr {other}, ptr %out")
            w.line("ret i32 0")
            w.start(go)
        options = self.program.records[of.name]
        labels = [w.label("option") for _ in options]
        number = w.read("i64", "%a", FRAME)
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
        w.line(f"switch i64 {number}, label %{w.stop(REFER)} [{cases}]")
        for k, (label, fields) in enumerate(zip(labels, map(linear_fields, options), strict=True)):
            w.start(label)
            types = [word for t in fields for word in words(t)]
            made = w.take("%ctx", str(8 * (1 + len(types))))
            w.write("i64", str(k), made, FRAME)
            at = 8
            for t in fields:
                n = 8 * len(words(t))
                a, c = (w.read_words(words(t), w.at(p, at), FRAME) for p in ("%a", "%b"))
                w.write_words(words(t), self.sum_of(w, t, a, c), w.at(made, at), FRAME)
                at += n
            w.line(f"store ptr {made}, ptr %out")
            w.line("ret i32 0")
        return w.text(f'define internal i32 @"{name}"(ptr %ctx, ptr %a, ptr %b, ptr %out)')

    def sum_of(self, w: Writer, of: F.Type, a: Sequence[str], c: Sequence[str]) -> Sequence[str]:
        """Add two fields of linear records."""
        if of == REAL:
            return [w.op(f"fadd double {a[0]}, {c[0]}")]
        if isinstance(of, F.BoxOf):
            return [self.plus(w, of, a[0], c[0])]
        assert isinstance(of, F.ArrayOf)
        types, name = words(of), self.once("sum", self.sum_text, of)
        return self.out(w, name, f"{typed(types, a)}, {typed(types, c)}", types)

    def sum_text(self, name: str, of: F.ArrayOf) -> str:
        """Write the sum of two arrays, each of which may be null."""
        w = Writer()
        types = words(of)
        a, c = ([f"%{x}{k}" for k in range(len(types))] for x in "ab")
        for given, other in ((a, c), (c, a)):
            null, go = w.label("null"), w.label("go")
            w.jump_if(w.op(f"icmp eq ptr {given[0]}, null"), null, go)
            w.start(null)
            w.write_words(types, other, "%out", FRAME)
            w.line("ret i32 0")
            w.start(go)
        n, each = w.product(a[1:]), stride(of.element)
        made = w.take("%ctx", n, each)
        if of.element == REAL:
            size = w.product([n, each])
            w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {made}, ptr align 8 {a[0]}, i64 {size}, i1 false)")
            w.line(f"call void @te_add_all(ptr %ctx, ptr {made}, ptr {c[0]}, i64 {n})")
        else:
            self.sum_each(w, of.element, n, (a[0], c[0], made))
        w.write_words(types, [made, *a[1:]], "%out", FRAME)
        w.line("ret i32 0")
        return w.text(f'define internal i32 @"{name}"(ptr %ctx, {typed(types, a)}, {typed(types, c)}, ptr %out)')

    def sum_each(self, w: Writer, of: F.Type, count: str, arrays: Sequence[str]) -> None:
        """Write the sums of the elements of two arrays, which are references, to a third one."""
        place, head, body, over = w.place("i64", "k"), w.label("head"), w.label("body"), w.label("over")
        w.set(place, "i64", "0")
        w.begin(head)
        k = w.get(place, "i64")
        w.jump_if(w.op(f"icmp slt i64 {k}, {count}"), body, over)
        w.start(body)
        a, c, made = (w.at(p, w.product([k, stride(of)])) for p in arrays)
        x, y = (w.read_words(words(of), p, ELEMENT) for p in (a, c))
        w.write_words(words(of), self.sum_of(w, of, x, y), made, ELEMENT)
        w.set(place, "i64", w.op(f"add nuw nsw i64 {k}, 1"))
        poll(w, 1)
        w.line(f"br label %{head}")
        w.start(over)
