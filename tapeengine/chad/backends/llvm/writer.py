"""Write the text of LLVM functions: fresh names, stack slots, loads and stores, and stops of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ...intermediate.statements import ArrayOf, Type
from .layout import POINTER, in_memory, words

#: The reasons why a run stops; as in `machine.h`.
POLE, REFER, NO_MEMORY, DEEP, LONG = 2, 3, 4, 6, 7
#: Kinds of memory that never overlap: elements of arrays, and contents of frames and records.
ELEMENT, FRAME = "element", "frame"
#: Stands for the arena of an array for whose memory the caller may have an offer.
RESULT = "result"
TAGS = {("double", ELEMENT): 1, ("i64", ELEMENT): 2, ("i1", ELEMENT): 3, (POINTER, ELEMENT): 4}


class Writer:
    """Writes one LLVM function."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.stops: set[int] = set()
        self.handed = ""
        self.sticky: dict[int, str] | None = None
        self.naturals: set[str] = set()
        self.parts: dict[int, str] = {}
        self.refused: set[str] = set()
        self.apart = ""

    # ------------------------------------------------------------ text

    def line(self, text: str) -> None:
        """Append an instruction."""
        self.lines.append("  " + text)

    def fresh(self, hint: str = "t") -> str:
        """Give a new name of a value."""
        self.count += 1
        return f"%{hint}.{self.count}"

    def op(self, text: str, hint: str = "t") -> str:
        """Append an instruction that has a value; return its name."""
        name = self.fresh(hint)
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, hint: str) -> str:
        """Give a new name of a block."""
        self.count += 1
        return f"{hint}.{self.count}"

    def begin(self, label: str) -> None:
        """Begin a block; the one before falls through."""
        self.line(f"br label %{label}")
        self.start(label)

    def start(self, label: str) -> None:
        """Begin a block after a jump."""
        self.lines.append(f"{label}:")
        self.refused = set()

    def jump_if(self, condition: str, then: str, orelse: str, unlikely: bool = False) -> None:
        """End a block with a conditional jump."""
        self.line(f"br i1 {condition}, label %{then}, label %{orelse}{', !prof !8' if unlikely else ''}")

    def packed(self, word: str, values: Sequence[str]) -> str:
        """Give a vector of some values."""
        of, found = f"<{len(values)} x {word}>", "poison"
        for k, value in enumerate(values):
            found = self.op(f"insertelement {of} {found}, {word} {value}, i64 {k}")
        return found

    def spread(self, word: str, value: str, n: int) -> str:
        """Give a vector of n times a value."""
        one = self.op(f"insertelement <{n} x {word}> poison, {word} {value}, i64 0")
        return self.op(f"shufflevector <{n} x {word}> {one}, <{n} x {word}> poison, <{n} x i32> zeroinitializer")

    def unpacked(self, word: str, vector: str, n: int) -> list[str]:
        """Give the elements of a vector."""
        return [self.op(f"extractelement <{n} x {word}> {vector}, i64 {k}") for k in range(n)]

    # ------------------------------------------------------------ memory

    def place(self, word: str, hint: str = "v") -> str:
        """Give a place on the stack for a word."""
        name = self.fresh(hint)
        self.places.append(f"  {name} = alloca {in_memory(word) if word != 'i1' else 'i1'}")
        return name

    def get(self, place: str, word: str) -> str:
        """Read a word from a place on the stack."""
        return self.op(f"load {word}, ptr {place}")

    def set(self, place: str, word: str, value: str) -> None:
        """Write a word to a place on the stack."""
        self.line(f"store {word} {value}, ptr {place}")

    def at(self, pointer: str, offset: str | int) -> str:
        """Give a pointer plus an offset in bytes."""
        return pointer if offset == 0 else self.op(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")

    def tag(self, word: str, kind: str) -> str:
        """Give the metadata that tells LLVM which memory does not overlap."""
        return f", !tbaa !{TAGS.get((word, kind), 5) + 10}{self.apart if kind == ELEMENT else ''}"

    def read(self, word: str, pointer: str, kind: str, is_size: bool = False) -> str:
        """Read a word from memory."""
        tag = self.tag(word, kind)
        if word == "i1":
            return self.op(f"icmp ne i8 {self.op(f'load i8, ptr {pointer}{tag}')}, 0")
        bounds = ", !range !9" if is_size else ""
        return self.op(f"load {word}, ptr {pointer}, align 8{tag}{bounds}")

    def write(self, word: str, value: str, pointer: str, kind: str) -> None:
        """Write a word to memory."""
        if word == "i1":
            value = self.op(f"zext i1 {value} to i8")
        align = "" if word == "i1" else ", align 8"
        self.line(f"store {in_memory(word)} {value}, ptr {pointer}{align}{self.tag(word, kind)}")

    def read_words(self, types: Iterable[str], pointer: str, kind: str) -> list[str]:
        """Read words that lie eight bytes apart."""
        return [self.read(w, self.at(pointer, 8 * k), kind) for k, w in enumerate(types)]

    def read_values(self, types: Iterable[Type], pointer: str, kind: str) -> list[str]:
        """Read the words of values that lie eight bytes apart; an array's words after the first are its sizes."""
        each = [(w, isinstance(t, ArrayOf) and k > 0) for t in types for k, w in enumerate(words(t))]
        return [self.read(w, self.at(pointer, 8 * k), kind, is_size) for k, (w, is_size) in enumerate(each)]

    def write_words(self, types: Iterable[str], values: Iterable[str], pointer: str, kind: str) -> None:
        """Write words eight bytes apart."""
        for k, (word, value) in enumerate(zip(types, values, strict=True)):
            self.write(word, value, self.at(pointer, 8 * k), kind)

    def state(self, offset: int) -> str:
        """Give the address of a part of the run's state, computed once."""
        found = self.parts.get(offset)
        if found is None:
            found = self.parts[offset] = self.fresh("state")
            self.places.append(f"  {found} = getelementptr inbounds i8, ptr %ctx, i64 {offset}")
        return found

    def take(self, arena: str, n: str, each: int = 1) -> str:
        """Allocate memory for elements of some bytes each; the run stops if the number is negative or too large."""
        take = "@te_result(ptr %ctx" if arena == RESULT else f"@take(ptr {arena}"
        pointer = self.op(f"call noalias ptr {take}, i64 {n}, i64 {each})")
        self.stop_if(self.op(f"icmp eq ptr {pointer}, null"), NO_MEMORY, now=True)
        return pointer

    def clear(self, pointer: str, size: str) -> None:
        """Write zeros."""
        self.line(f"call void @llvm.memset.p0.i64(ptr align 8 {pointer}, i8 0, i64 {size}, i1 false)")

    # ------------------------------------------------------------ control

    def stop(self, status: int) -> str:
        """Give the block that ends the run."""
        self.stops.add(status)
        return f"stop{status}"

    def stop_if(self, condition: str, status: int, now: bool = False) -> None:
        """Stop if a condition holds; in an innermost loop only at its end, so that the loop vectorises."""
        if condition == "false":
            return
        if self.sticky is not None and not now:
            if status not in self.sticky:
                self.sticky[status] = self.place("i1", "bad")
            place = self.sticky[status]
            self.set(place, "i1", self.op(f"or i1 {self.get(place, 'i1')}, {condition}"))
            return
        go = self.label("go")
        self.jump_if(condition, self.stop(status), go, unlikely=True)
        self.start(go)

    def refer_if(self, text: str) -> None:
        """Refer the run to Python now if a comparison holds; it is not written again until other code joins."""
        if text not in self.refused:
            known = self.refused | {text}
            self.stop_if(self.op(text), REFER, now=True)
            self.refused = known

    def check_status(self, status: str, go: str = "") -> None:
        """Propagate the stop of a call; otherwise continue at an existing block or on the next line."""
        following = go or self.label("go")
        if not self.handed:
            self.handed = self.place("i32", "status")
        self.line(f"store i32 {status}, ptr {self.handed}")
        self.jump_if(self.op(f"icmp ne i32 {status}, 0"), "handed", following, unlikely=True)
        if not go:
            self.start(following)

    def least(self, a: str, b: str) -> str:
        """Give the smaller of two integers."""
        return self.op(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def not_negative(self, n: str) -> str:
        """Give a number, or zero if it is negative."""
        if n.isdigit() or n in self.naturals:
            return n
        found = self.op(f"call i64 @llvm.smax.i64(i64 {n}, i64 0)")
        self.naturals.add(found)
        return found

    def product(self, factors: Iterable[str | int]) -> str:
        """Give a product of sizes, which is known to fit."""
        number, names = 1, []
        for f in factors:
            if isinstance(f, int) or f.isdigit():
                number *= int(f)
            else:
                names.append(f)
        if not names:
            return str(number)
        found = names[0]
        for name in names[1:]:
            found = self.op(f"mul nsw i64 {found}, {name}")
        return found if number == 1 else self.op(f"mul nsw i64 {found}, {number}")

    @contextmanager
    def postponing(self, end: str) -> Iterator[None]:
        """Write an innermost loop whose stops take effect at its end, a block that begins after it."""
        outer, self.sticky, written = self.sticky, {}, len(self.lines)
        yield
        self.start(end)
        sticky, self.sticky = self.sticky or {}, outer
        self.lines[written:written] = [f"  store i1 false, ptr {p}" for p in sticky.values()]
        for status, p in sticky.items():
            self.stop_if(self.get(p, "i1"), status, now=True)

    def text(self, header: str) -> str:
        """Give the whole function."""
        ends = [line for status in sorted(self.stops) for line in (f"stop{status}:", f"  ret i32 {status}")]
        if self.handed:
            ends += ["handed:", f"  %handed.status = load i32, ptr {self.handed}", "  ret i32 %handed.status"]
        return "\n".join([header + " {", "entry:", *self.places, *self.lines, *ends, "}", ""])
