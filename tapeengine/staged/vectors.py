"""Native code for operations on columns: eight rows at a time, in vectors."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._core.programs.replay import LANES
from .columns import WIDTH, WRITES, Lines
from .native import WIDE, Writer

#: A function that does operations on rows, and then the rest of them; the name tells the compiler to emit good code.
TEXT = """define void @"f.{name}"(ptr %arrays, i64 %from, i64 %to) #0 {{
begin:
{arrays}
  br label %next
next:
  %row = phi i64 [%from, %begin], [%after, %go]
  %after = add i64 %row, {lanes}
  %over = icmp sgt i64 %after, %to
  br i1 %over, label %end, label %go
go:
{lines}
  br label %next
end:
  {rest}
  ret void
}}
{declared}
"""
ALL, REST = "strips", "rest"


def compiled(lines: Lines, rows: int, *storages: list[int]) -> tuple[Any, ...]:
    """Operations on a number of rows, as ``strips.pxi`` runs them; `storages` are those whose cotangents change."""
    llvm = importlib.import_module("tapeengine.chad.backends.llvm.compile")
    texts = Vectors(lines, LANES, ALL).text(), Vectors(lines, 1, REST).text()
    made = llvm.compiled("".join([*texts, f"attributes #0 = {{ {WIDE} }}\n"]), 0)
    places = np.empty(len(lines.arrays) + 1, np.intp)
    return lines.arrays, places, rows, *(storages or ([], [], [])), made.address(f"f.{ALL}"), made


class Vectors(Writer):
    """Writes the function, for so many rows at a time."""

    def __init__(self, lines: Lines, lanes: int, name: str) -> None:
        super().__init__(None, lanes)
        self.straight, self.name = lines, name
        self.names: dict[int, str] = {}

    def text(self) -> str:
        """The text of the function."""
        for k in self.straight.needed():
            name, *rest = self.straight.ops[k]
            if not name:
                self.names[k] = self.number(rest[0])
            elif name == "read":
                self.names[k] = self.read(self.rows(rest[0]))
            elif name in WRITES:
                self.put(self.names[rest[0]], self.rows(rest[1]), name)
            else:
                self.names[k] = self.computed(name, *[self.names[x] for x in rest])
        arrays = (f"  %at{k} = getelementptr ptr, ptr %arrays, i64 {k}\n  %array{k} = load ptr, ptr %at{k}"
                  for k in range(len(self.straight.arrays)))  # fmt: skip
        places = {"name": self.name, "lanes": self.lanes, "arrays": "\n".join(arrays), "lines": "\n".join(self.lines)}
        call = f'call void @"f.{REST}"(ptr %arrays, i64 %row, i64 %to)' if self.name == ALL else ""
        return TEXT.format(**places, rest=call, declared="\n".join(self.declared))

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
        start = self.at(f"%array{array}", "i8", offset)
        if rows < 0:
            start = self.at(start, "i8", self.op(f"mul i64 %row, {stride}"))
            return [self.at(start, "i8", k * stride) for k in range(1 if stride == WIDTH else self.lanes)]
        numbers = self.at(f"%array{rows}", "i64", "%row")
        each = [self.op(f"load i64, ptr {self.at(numbers, 'i64', k)}") for k in range(self.lanes)]
        return [self.at(start, "i8", self.op(f"mul i64 {row}, {stride}")) for row in each]

    def at(self, start: str, kind: str, offset: int | str) -> str:
        """An address."""
        return self.op(f"getelementptr {kind}, ptr {start}, i64 {offset}")

    def read(self, places: list[str]) -> str:
        """Read the numbers of a column."""
        if len(places) == 1:
            return self.op(f"load {self.type}, ptr {places[0]}, align {WIDTH}")
        found = "poison"
        for k, place in enumerate(places):
            value = self.op(f"load double, ptr {place}")
            found = self.op(f"insertelement {self.type} {found}, double {value}, i32 {k}")
        return found

    def put(self, value: str, places: list[str], name: str) -> None:
        """Write the numbers of a column, or add them, in the order of the rows."""
        kind, parts = self.type, [value]
        if len(places) > 1:
            kind, parts = "double", [self.op(f"extractelement {kind} {value}, i32 {k}") for k in range(self.lanes)]
        for part, place in zip(parts, places, strict=True):
            if name == "into":
                part = self.op(f"fadd double {self.op(f'load double, ptr {place}')}, {part}")
            self.do(f"store {kind} {part}, ptr {place}, align {WIDTH}")
