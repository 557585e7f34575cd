"""Compile the bodies of a recording through LLVM: the same bits as the interpreter, by straight lines of code.

A module has two functions, `te_code` in ``replay.h``. `values` runs a body and adds up what must be finite; if the sum
is not, or a guard does not hold, the interpreter repeats the body and finds out where. `cotangents` keeps those of a
body's own values in registers. It does not look for zeros: zero times a finite partial adds zero, and zero times an
infinite one makes the cotangents that leave the body NaN; then the interpreter does that body. No sum of cotangents is
-0.0, because each starts at 0.0, so adding a zero of either sign changes nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce
from typing import Any

from .._core.tape.table import OPS, interpret, parse
from .bodies import CONSTANT, EXACT, FINITE, FIRST_GUARD, FORMS, TOTAL, TRUNC, Body, Code, Operand

INSTRUCTIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTRINSICS = {"abs": "fabs", "sqrt": "sqrt", "rint": "rint", "copysign": "copysign"}
ROUNDING = ("trunc", "floor", "ceil", "rint")
COMPARISONS = ("olt", "uge", "ole", "ugt", "oeq", "une")
CLASSES = ("olt", "oeq", "uno")
PARAMETERS = (
    "ptr {alias}%v, ptr %ct, ptr noalias readonly %operands, ptr noalias readonly %constants, "
    "ptr noalias readonly %schedule, i64 %from, i64 %stop, i32 %stopped"
)
#: The attributes of functions of the opcode table, and of those that use the widest vectors.
PURE = "memory(none) nounwind willreturn"
WIDE = 'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"'


def module(code: Code, bodies: Sequence[Body], lanes: int = 1) -> str:
    """The LLVM text of both functions, on one run or on rows of lanes."""
    writers = [Values(code, lanes), Cotangents(code, lanes)]
    texts = [writer.function(bodies) for writer in writers]
    declarations = sorted({line for writer in writers for line in writer.declared})
    return "\n".join([*declarations, *texts, f"attributes #0 = {{ {WIDE} }}", ""])


class Writer:
    """Writes a function that runs bodies by the schedule.

    Parameters
    ----------
    code : Code
    lanes : int
        The number of elements in a row of registers.
    """

    name = ""
    alias = ""

    def __init__(self, code: Any, lanes: int) -> None:
        self.code = code
        self.lanes = lanes
        self.type, self.truth, self.bits = (t if lanes == 1 else f"<{lanes} x {t}>" for t in ("double", "i1", "i64"))
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0
        self.known: dict[Any, str] = {}

    def function(self, bodies: Sequence[Body]) -> str:
        """The text of the function."""
        for k, body in enumerate(bodies):
            self.known = {}
            self.lines.append(f"body{k}:")
            self.body(k, body)
            self.lines += [f"done{k}:", "  br label %next"]
        return "\n".join([*self.head(len(bodies)), *self.lines, "}", ""])

    def head(self, count: int) -> list[str]:
        """The loop over the entries of the schedule."""
        back = self.name == "cotangents"
        again = "".join(f", [%to{k}, %done{k}]" for k in range(count))
        bodies = " ".join(f"i32 {k + 1}, label %body{k}" for k in range(count))
        return [
            f"define i64 @{self.name}({PARAMETERS.format(alias=self.alias)}) #0 {{",
            "begin:",
            *([f"  %few = trunc i32 %stopped to i{self.lanes}", f"  %out = bitcast i{self.lanes} %few to {self.truth}"]
              if self.lanes > 1 else []),
            "  br label %next",
            "next:",
            f"  %at = phi i64 [%from, %begin]{again}",
            "  %over = icmp eq i64 %at, %stop",
            "  br i1 %over, label %end, label %go",
            "go:",
            f"  %here = add i64 %at, {-1 if back else 0}",
            "  %entry = getelementptr i64, ptr %schedule, i64 %here",
            "  %start.few = load i32, ptr %entry, align 4",
            "  %start = zext i32 %start.few to i64",
            "  %second = getelementptr i32, ptr %entry, i64 1",
            "  %kind = load i32, ptr %second, align 4",
            f"  switch i32 %kind, label %end [{bodies}]",
            "end:",
            "  ret i64 %at",
        ]  # fmt: skip

    def body(self, k: int, body: Body) -> None:
        """Write a body, which ends with a jump to ``done``."""
        raise NotImplementedError

    # -- instructions --------------------------------------------------------------------------------------------------
    def do(self, text: str) -> None:
        """Write an instruction without a result."""
        self.lines.append("  " + text)

    def op(self, text: str) -> str:
        """Write an instruction; return its result."""
        self.count += 1
        self.do(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def both(self, instruction: str, a: str, b: str) -> str:
        """Write an instruction of two numbers."""
        return self.op(f"{instruction} {self.type} {a}, {b}")

    def number(self, value: float) -> str:
        """A constant."""
        text = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return text if self.lanes == 1 else f"splat (double {text})"

    def intrinsic(self, name: str, *args: str) -> str:
        """Call a function that LLVM knows, whose value is exact."""
        name = f"@llvm.{name}.{'' if self.lanes == 1 else f'v{self.lanes}'}f64"
        self.declared.add(f"declare {self.type} {name}({', '.join([self.type] * len(args))})")
        return self.op(f"call {self.type} {name}({', '.join(f'{self.type} {a}' for a in args)})")

    def call(self, name: str, *args: str) -> str:
        """Compute an operation of the opcode table."""
        if name in INSTRUCTIONS:
            return self.both(INSTRUCTIONS[name], *args)
        if name == "neg":
            return self.op(f"fneg {self.type} {args[0]}")
        if name in INTRINSICS:
            return self.intrinsic(INTRINSICS[name], *args)
        self.declared.add(f"declare double @te.{name}({', '.join(['double'] * len(args))}) {PURE}")
        if self.lanes == 1:
            return self.op(f"call double @te.{name}({', '.join(f'double {a}' for a in args)})")
        return self.lane_by_lane(name, args)

    def lane_by_lane(self, name: str, args: Sequence[str]) -> str:
        """Call a function of scalars for each lane."""
        row = "poison"
        for lane in range(self.lanes):
            each = [self.op(f"extractelement {self.type} {a}, i64 {lane}") for a in args]
            found = self.op(f"call double @te.{name}({', '.join(f'double {a}' for a in each)})")
            row = self.op(f"insertelement {self.type} {row}, double {found}, i64 {lane}")
        return row

    def total(self, each: Sequence[str]) -> str:
        """Add numbers in the order in which most can be added at once."""
        each = list(each)
        while len(each) > 1:
            pairs = [self.both("fadd", a, b) for a, b in zip(each[::2], each[1::2], strict=False)]
            each = pairs + (each[-1:] if len(each) % 2 else [])
        return each[0]

    def all(self, truths: Sequence[str]) -> str:
        """Whether everything holds."""
        return reduce(lambda one, other: self.op(f"and {self.truth} {one}, {other}"), truths)

    def everywhere(self, truth: str) -> str:
        """Whether something holds in all lanes."""
        if self.lanes == 1:
            return truth
        return self.op(f"icmp eq i{self.lanes} {self.op(f'bitcast {self.truth} {truth} to i{self.lanes}')}, -1")

    # -- operands ------------------------------------------------------------------------------------------------------
    def begin(self, arrays: Sequence[str]) -> None:
        """Compute where the registers and the operands of a repetition begin."""
        for name in arrays:
            self.known[name] = self.op(f"getelementptr {self.type}, ptr %{name}, i64 %start")
        self.known["operands"] = self.op("getelementptr i64, ptr %operands, i64 %start")

    def place(self, array: str, of: Operand, j: int, which: int) -> str:
        """The address of an operand of instruction `j` in an array of rows."""
        if of.kind == "far":
            return self.op(f"getelementptr {self.type}, ptr %{array}, i64 {self.looked_up(j, which)}")
        base = self.known[array] if of.kind == "rel" else f"%{array}"
        return self.op(f"getelementptr {self.type}, ptr {base}, i64 {of.at}")

    def looked_up(self, j: int, which: int) -> str:
        """The number of an operand that differs from repetition to repetition."""
        at = self.op(f"getelementptr i32, ptr {self.known['operands']}, i64 {2 * j + which}")
        return self.op(f"zext i32 {self.op(f'load i32, ptr {at}, align 4')} to i64")

    def load(self, place: str) -> str:
        """The row at an address."""
        return self.op(f"load {self.type}, ptr {place}, align 8")

    def store(self, row: str, place: str) -> None:
        """Store a row."""
        self.do(f"store {self.type} {row}, ptr {place}, align 8")

    def operand(self, body: Body, j: int, which: int) -> str:
        """The value of an operand, loaded once."""
        of = body.operands[j][which]
        constant = self.code.constant(of.at) if of.kind == "abs" else None
        if constant is not None:
            return self.number(constant)
        key = (of, j, which) if of.kind == "far" else of
        if key not in self.known:
            self.known[key] = self.load(self.place("v", of, j, which))
        return self.known[key]

    def constant(self, body: Body, j: int, which: int) -> str:
        """The value of the constant whose number is an operand."""
        of = body.operands[j][which]
        if of.kind == "abs":
            return self.number(float(self.code.constants[of.at]))
        at = self.op(f"getelementptr double, ptr %constants, i64 {self.looked_up(j, which)}")
        value = self.op(f"load double, ptr {at}, align 8")
        if self.lanes == 1:
            return value
        one = self.op(f"insertelement {self.type} poison, double {value}, i64 0")
        return self.op(f"shufflevector {self.type} {one}, {self.type} poison, <{self.lanes} x i32> zeroinitializer")


class Values(Writer):
    """Writes the function that computes values."""

    name = "values"

    def body(self, k: int, body: Body) -> None:
        """Write a body: its values, then one jump that depends on all checks."""
        self.begin(["v"])
        finite, holds = [], []
        for j, op in enumerate(body.op):
            if op >= FIRST_GUARD:
                holds.append(self.guard(op, body, j))
                continue
            name = "" if op == CONSTANT else OPS[FORMS[op][0]].name
            value = self.value(name, body, j) if name else self.constant(body, j, 0)
            self.known[Operand("rel", j)] = value
            self.store(value, self.place("v", Operand("rel", j), j, 0))
            finite += [value] if name and name not in TOTAL else []
        if finite:
            holds.append(self.is_finite(self.total(finite)))
        self.finish(k, holds)

    def finish(self, k: int, holds: Sequence[str]) -> None:
        """Go on with the next entry if everything holds."""
        self.do(f"%to{k} = add i64 %at, 1")
        if not holds:
            self.do(f"br label %done{k}")
            return
        all_hold = self.all(holds)
        if self.lanes > 1:
            all_hold = self.op(f"or {self.truth} {all_hold}, %out")
        self.do(f"br i1 {self.everywhere(all_hold)}, label %done{k}, label %end")

    def value(self, name: str, body: Body, j: int) -> str:
        """The value of an operation."""
        arity = OPS[FORMS[body.op[j]][0]].arity
        return self.call(name, *(self.operand(body, j, which) for which in range(arity)))

    def is_finite(self, x: str) -> str:
        """Whether a number is neither infinite nor NaN."""
        return self.op(f"fcmp olt {self.type} {self.intrinsic('fabs', x)}, {self.number(float('inf'))}")

    def guard(self, op: int, body: Body, j: int) -> str:
        """Whether a guard holds."""
        a = self.operand(body, j, 0)
        if op < TRUNC:
            return self.op(f"fcmp {COMPARISONS[op - FIRST_GUARD]} {self.type} {a}, {self.operand(body, j, 1)}")
        if op >= FINITE:
            size = self.intrinsic("fabs", a)
            return self.op(f"fcmp {CLASSES[op - FINITE]} {self.type} {size}, {self.number(float('inf'))}")
        wanted = self.constant(body, j, 1)
        if op == EXACT:
            a, wanted = (self.op(f"bitcast {self.type} {x} to {self.bits}") for x in (a, wanted))
            return self.op(f"icmp eq {self.bits} {a}, {wanted}")
        return self.op(f"fcmp oeq {self.type} {self.intrinsic(ROUNDING[op - TRUNC], a)}, {wanted}")


class Cotangents(Writer):
    """Writes the function that propagates cotangents."""

    name = "cotangents"
    alias = "noalias readonly "

    def body(self, k: int, body: Body) -> None:
        """Write a body: nothing if no cotangent arrives; contributions to others at the end, in their order."""
        self.begin(["v", "ct"])
        self.do(f"%to{k} = add i64 %at, -1")
        live = {j: self.place("ct", Operand("rel", j), j, 0) for j in sorted(body.live)}
        self.cotangents = {j: self.load(place) for j, place in live.items()}
        if not live:
            self.do(f"br label %done{k}")
            return
        self.do(f"br i1 {self.nothing()}, label %done{k}, label %work{k}")
        self.lines.append(f"work{k}:")
        given = self.contributions(body)
        if given:
            total = self.total([part for *_, part in given])
            ordered = self.everywhere(self.op(f"fcmp ord {self.type} {total}, {total}"))
            self.do(f"br i1 {ordered}, label %give{k}, label %end")
            self.lines.append(f"give{k}:")
        for place in live.values():
            self.store(self.number(0.0), place)
        for j, which, part in given:
            place = self.place("ct", body.operands[j][which], j, which)
            self.store(self.both("fadd", self.load(place), part), place)
        self.do(f"br label %done{k}")

    def nothing(self) -> str:
        """Whether all cotangents that arrive are zero."""
        zero = [self.op(f"fcmp oeq {self.type} {c}, {self.number(0.0)}") for c in self.cotangents.values()]
        return self.everywhere(self.all(zero))

    def contributions(self, body: Body) -> list[tuple[int, int, str]]:
        """Go through a body backward; return what it contributes to others: instruction, operand, contribution."""
        given = []
        for j in range(len(body.op) - 1, -1, -1):
            if body.op[j] >= CONSTANT or j not in self.cotangents:
                continue
            code, form = FORMS[body.op[j]]
            for which in (0, 1)[: OPS[code].arity]:
                if form == ("TE_LEFT", "TE_RIGHT")[which]:
                    continue
                part = self.share(body, j, which)
                to = body.operands[j][which]
                if not to.is_inside:
                    given.append((j, which, part))
                elif to.at in self.cotangents:
                    self.cotangents[to.at] = self.both("fadd", self.cotangents[to.at], part)
                else:
                    self.cotangents[to.at] = part
        return given

    def share(self, body: Body, j: int, which: int) -> str:
        """The contribution of an instruction to an operand."""
        row = OPS[FORMS[body.op[j]][0]]
        c = self.cotangents[j]
        text = (row.da, row.db)[which]
        if text in ("1", "1.0", "-1", "-1.0"):
            return c if text[0] == "1" else self.call("neg", c)

        def read(letter: str) -> str:
            return self.own(j) if letter == "v" else self.read(body, j, "ab".index(letter))

        slope = interpret(parse(text), read, self.number, self.call)
        share = self.both("fmul", c, slope)
        if not row.selects[which]:
            return share
        selected = self.op(f"fcmp une {self.type} {slope}, {self.number(0.0)}")
        return self.op(f"select {self.truth} {selected}, {self.type} {share}, {self.type} {self.number(0.0)}")

    def read(self, body: Body, j: int, which: int) -> str:
        """The value of an operand."""
        of = body.operands[j][which]
        return self.own(of.at) if of.is_inside else self.operand(body, j, which)

    def own(self, j: int) -> str:
        """A value that the body has computed."""
        of = Operand("rel", j)
        if of not in self.known:
            self.known[of] = self.load(self.place("v", of, j, 0))
        return self.known[of]
