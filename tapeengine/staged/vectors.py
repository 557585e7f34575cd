"""Native code for operations on columns: eight rows at a time, in vectors."""

from __future__ import annotations

import importlib
import struct
from typing import Any

from .columns import ARITY, Lines

#: The rows of a vector.
ROWS = 8
TYPE = f"<{ROWS} x double>"
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
#: The name tells the compiler to emit good code, see `emission`.
HEAD = 'define void @"f.strips"(ptr %arrays, i64 %from, i64 %to) #0 {'
WIDE = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'
ZERO = f"{TYPE} zeroinitializer"


def compiled(lines: Lines, needed: list[int]) -> tuple[int, Any]:
    """The address of a function that does operations on rows, and what keeps it."""
    llvm = importlib.import_module("tapeengine.chad.backends.llvm.compile")
    made = llvm.compiled(Text(lines).module(needed), 0)
    return made.address("f.strips"), made


def splat(value: float) -> str:
    """A constant in each lane."""
    return f"splat (double 0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X})"


class Text:
    """Writes the function."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.text: list[str] = []
        self.count = 0
        self.names: dict[int, str] = {}

    def op(self, text: str) -> str:
        """Write an instruction; return its result."""
        self.count += 1
        self.text.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def module(self, needed: list[int]) -> str:
        """The text of the module."""
        for k in needed:
            self.write(k)
        arrays = [
            line
            for k in range(len(self.lines.arrays))
            for line in (f"  %at{k} = getelementptr ptr, ptr %arrays, i64 {k}", f"  %array{k} = load ptr, ptr %at{k}")
        ]
        head = [HEAD, "begin:", *arrays, "  br label %next", "next:", "  %row = phi i64 [%from, %begin], [%after, %go]"]
        test = ["  %over = icmp sge i64 %row, %to", "  br i1 %over, label %end, label %go", "go:"]
        after = [f"  %after = add i64 %row, {ROWS}", "  br label %next", "end:", "  ret void", "}"]
        declared = [f"declare {TYPE} @llvm.sqrt.v{ROWS}f64({TYPE})", WIDE]
        return "\n".join([*head, *test, *self.text, *after, *declared, ""])

    def write(self, k: int) -> None:
        """Write an operation."""
        name, *rest = self.lines.ops[k]
        if name is None:
            self.names[k] = splat(rest[0])
        elif name in ("read", "mask"):
            self.names[k] = self.read(rest[0], "i8" if name == "mask" else "double")
        elif name in ("put", "into"):
            self.put(self.names[rest[0]], rest[1], name == "into")
        else:
            self.names[k] = self.computed(name, *[self.names[x] for x in rest[: ARITY[name]]])

    def computed(self, name: str, *args: str) -> str:
        """Write an operation on registers."""
        if name in BINARY:
            return self.op(f"{BINARY[name]} {TYPE} {args[0]}, {args[1]}")
        if name == "neg":
            return self.op(f"fneg {TYPE} {args[0]}")
        if name == "sqrt":
            return self.op(f"call {TYPE} @llvm.sqrt.v{ROWS}f64({TYPE} {args[0]})")
        holds = self.op(f"fcmp une {TYPE} {args[0]}, zeroinitializer")
        if name == "chosen":
            return self.op(f"select <{ROWS} x i1> {holds}, {TYPE} {args[1]}, {TYPE} {args[2]}")
        product = self.op(f"fmul {TYPE} {args[0]}, {args[1]}")
        part = self.op(f"select <{ROWS} x i1> {holds}, {TYPE} {product}, {ZERO}")
        return part if name == "weighed" else self.op(f"fadd {TYPE} {args[2]}, {part}")

    def rows(self, column: int, is_double: bool = True) -> list[str]:
        """The addresses of a column's elements; of the first one if they are neighbours."""
        array, offset, stride, index = self.lines.columns[column]
        if index < 0:
            first = self.op(f"mul i64 %row, {stride}")
            start = self.op(f"getelementptr i8, ptr %array{array}, i64 {first}")
            start = self.op(f"getelementptr i8, ptr {start}, i64 {offset}")
            steps = range(1 if stride == 8 and is_double else ROWS)
            return [self.op(f"getelementptr i8, ptr {start}, i64 {k * stride}") for k in steps]
        found = []
        for k in range(ROWS):
            at = self.op(f"getelementptr i64, ptr %array{index}, i64 %row")
            at = self.op(f"getelementptr i64, ptr {at}, i64 {k}")
            row = self.op(f"load i64, ptr {at}")
            bytes_ = self.op(f"mul i64 {row}, {stride}")
            start = self.op(f"getelementptr i8, ptr %array{array}, i64 {bytes_}")
            found.append(self.op(f"getelementptr i8, ptr {start}, i64 {offset}"))
        return found

    def read(self, column: int, kind: str) -> str:
        """Read the numbers of a column."""
        places = self.rows(column, kind == "double")
        if len(places) == 1:
            return self.op(f"load {TYPE}, ptr {places[0]}, align 8")
        found = "poison"
        for k, place in enumerate(places):
            value = self.op(f"load {kind}, ptr {place}, align {8 if kind == 'double' else 1}")
            value = value if kind == "double" else self.op(f"uitofp i8 {value} to double")
            found = self.op(f"insertelement {TYPE} {found}, double {value}, i32 {k}")
        return found

    def put(self, value: str, column: int, adds: bool) -> None:
        """Write the numbers of a column, or add them, in the order of the rows."""
        places = self.rows(column)
        if len(places) == 1:
            self.text.append(f"  store {TYPE} {value}, ptr {places[0]}, align 8")
            return
        for k, place in enumerate(places):
            part = self.op(f"extractelement {TYPE} {value}, i32 {k}")
            if adds:
                before = self.op(f"load double, ptr {place}, align 8")
                part = self.op(f"fadd double {before}, {part}")
            self.text.append(f"  store double {part}, ptr {place}, align 8")
