"""Native code for operations on columns: eight rows at a time, in vectors."""

from __future__ import annotations

import importlib
from typing import Any

from .._core.programs.replay import LANES
from .columns import Lines
from .native import WIDE, Writer

#: The name tells the compiler to emit good code, see `emission`.
HEAD = """define void @"f.strips"(ptr %arrays, i64 %from, i64 %to) #0 {
begin:
  br label %next
next:
  %row = phi i64 [%from, %begin], [%after, %go]
  %over = icmp sge i64 %row, %to
  br i1 %over, label %end, label %go
go:"""
END = f"""  %after = add i64 %row, {LANES}
  br label %next
end:
  ret void
}}
attributes #0 = {{ {WIDE} }}"""


def compiled(lines: Lines, needed: list[int]) -> tuple[int, Any]:
    """The address of a function that does operations on rows, and what keeps it."""
    llvm = importlib.import_module("tapeengine.chad.backends.llvm.compile")
    made = llvm.compiled(Vectors(lines).module(needed), 0)
    return made.address("f.strips"), made


class Vectors(Writer):
    """Writes the function."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(None, LANES)
        self.straight = lines
        self.names: dict[int, str] = {}

    def module(self, needed: list[int]) -> str:
        """The text of the module."""
        for k in needed:
            name, *rest = self.straight.ops[k]
            if not name:
                self.names[k] = self.number(rest[0])
            elif name == "read":
                self.names[k] = self.read(self.rows(rest[0]))
            elif name in ("put", "into"):
                self.put(self.names[rest[0]], self.rows(rest[1]), name)
            else:
                self.names[k] = self.computed(name, *[self.names[x] for x in rest])
        return "\n".join([HEAD, *self.lines, END, *sorted(self.declared), ""])

    def computed(self, name: str, *args: str) -> str:
        """Write an operation on registers."""
        if name not in ("weighed", "given", "chosen"):
            return self.call(name, *args)
        holds = self.op(f"fcmp une {self.type} {args[0]}, zeroinitializer")
        yes, no = args[1:] if name == "chosen" else (self.both("fmul", *args[:2]), "zeroinitializer")
        part = self.op(f"select {self.truth} {holds}, {self.type} {yes}, {self.type} {no}")
        return self.both("fadd", args[2], part) if name == "given" else part

    def rows(self, column: int) -> list[str]:
        """The addresses of a column's elements; of the first one if they are neighbours."""
        array, offset, stride, rows = self.straight.columns[column]
        start = self.at(self.array(array), "i8", offset)
        if rows < 0:
            start = self.at(start, "i8", self.op(f"mul i64 %row, {stride}"))
            return [self.at(start, "i8", k * stride) for k in range(1 if stride == 8 else LANES)]
        numbers = self.at(self.array(rows), "i64", "%row")
        each = [self.op(f"load i64, ptr {self.at(numbers, 'i64', k)}") for k in range(LANES)]
        return [self.at(start, "i8", self.op(f"mul i64 {row}, {stride}")) for row in each]

    def at(self, start: str, kind: str, offset: int | str) -> str:
        """An address."""
        return self.op(f"getelementptr {kind}, ptr {start}, i64 {offset}")

    def array(self, k: int) -> str:
        """Where an array begins."""
        if k not in self.known:
            self.known[k] = self.op(f"load ptr, ptr {self.at('%arrays', 'ptr', k)}")
        return self.known[k]

    def read(self, places: list[str]) -> str:
        """Read the numbers of a column."""
        if len(places) == 1:
            return self.op(f"load {self.type}, ptr {places[0]}, align 8")
        found = "poison"
        for k, place in enumerate(places):
            value = self.op(f"load double, ptr {place}")
            found = self.op(f"insertelement {self.type} {found}, double {value}, i32 {k}")
        return found

    def put(self, value: str, places: list[str], name: str) -> None:
        """Write the numbers of a column, or add them, in the order of the rows."""
        if len(places) == 1:
            return self.do(f"store {self.type} {value}, ptr {places[0]}, align 8")
        for k, place in enumerate(places):
            part = self.op(f"extractelement {self.type} {value}, i32 {k}")
            if name == "into":
                part = self.op(f"fadd double {self.op(f'load double, ptr {place}')}, {part}")
            self.do(f"store double {part}, ptr {place}")
        return None
