"""From the imperative form to instructions: a register for each variable, jumps for loops and branches.

Each method here stands beside one of `tapeengine.chad.generate.text.Writer`, and means the same. A list of what the
steps of a loop keep is a register with the position of the newest record; see ``machine.h``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from tapeengine._core.machine import Code, opcodes
from tapeengine.chad.imperative import (
    Add,
    AddAt,
    Assign,
    Branch,
    Const,
    Function,
    Loop,
    Operand,
    Ref,
    Set,
    Statement,
    Store,
)
from tapeengine.chad.primitives import REAL
from tapeengine.errors import UnsupportedError

__all__ = ["NotAssembled", "assemble"]

OPCODES: Mapping[str, int] = MappingProxyType(opcodes())
#: What `math` checks after an operation, where a value that is not finite is an error in Python.
CHECKS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"), "CHECK"),
        **dict.fromkeys(("tanh", "asinh", "acosh", "atanh", "expm1", "log1p", "log2", "log10"), "CHECK"),
        **dict.fromkeys(("lgamma", "gamma"), "CHECK"),
        **dict.fromkeys(("fmod", "remainder"), "CHECK_FMOD"),
        "pow": "CHECK_POW",
    }
)
#: Integer and boolean operations, and those between kinds, with the kind of their arguments.
MIXED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{n: (n.upper(), "int") for n in ("iadd", "isub", "imul", "ineg", "ifloordiv", "imod", "ipow", "iabs")},
        **{n: (n.upper(), "int") for n in ("imax", "imin", "not", "and", "real")},
        **{n: (n.upper(), "float") for n in ("trunc", "floor", "ceil", "round", "isnan", "isfinite")},
        "same_size": ("SAME", "int"),
    }
)
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
KINDS: Mapping[str, int] = MappingProxyType({"float": 0, "int": 1, "bool": 2})


class NotAssembled(UnsupportedError):
    """A function does something that the register machine cannot do."""


class Assembler:
    """Writes one function as code.

    Parameters
    ----------
    exact : bool
        Whether scalar operations answer with an infinity or a NaN where Python would raise.

    Attributes
    ----------
    steps : list of list of int
        The instructions: number, d, a, b, c.
    registers : dict of str to int
    """

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.steps: list[list[int]] = []
        self.side: list[int] = []
        self.registers: dict[str, int] = {}
        self.constants: dict[bytes, tuple[int, float | int]] = {}
        self.count = 0
        self.depth = 0

    # ------------------------------------------------------------ registers and instructions

    def fresh(self) -> int:
        """Give a new register."""
        self.count += 1
        return self.count - 1

    def at(self, x: Operand, kind: str = "") -> int:
        """Give the register of an operand; a literal is read as a kind if one is given."""
        if x.kind not in KINDS:
            raise NotAssembled(f"a value of kind {x.kind}")
        if isinstance(x, Const):
            value = float(x.value) if kind == "float" or x.kind == "float" else int(x.value)
            if kind in ("int", "bool") and isinstance(value, float):
                raise NotAssembled(f"the literal {value} among integers")
            return self.constant(value)
        if kind and not x.axes and (kind == "float") != (x.kind == "float"):
            raise NotAssembled(f"{x.name} is no {kind}")
        if x.name not in self.registers:
            self.registers[x.name] = self.fresh()
        return self.registers[x.name]

    def constant(self, value: float | int) -> int:
        """Give the register that holds a number."""
        try:
            key = struct.pack("d" if isinstance(value, float) else "q", value) + type(value).__name__.encode()
        except struct.error:
            raise NotAssembled(f"the literal {value} has more than 64 bits") from None
        if key not in self.constants:
            self.constants[key] = self.fresh(), value
        return self.constants[key][0]

    def listed(self, registers: Iterable[int]) -> int:
        """Give the position of a list of registers."""
        start = len(self.side)
        self.side.extend(registers)
        return start

    def step(self, name: str, d: int = 0, a: int = 0, b: int = 0, c: int = 0) -> int:
        """Append an instruction; give its position."""
        self.steps.append([OPCODES[name], d, a, b, c])
        return len(self.steps) - 1

    def land(self, jump: int, field: str = "b") -> None:
        """Let a jump lead to the next instruction."""
        self.steps[jump]["odabc".index(field)] = len(self.steps) - jump

    def back(self, name: str, to: int, d: int = 0, a: int = 0) -> None:
        """Append a jump back."""
        here = len(self.steps)
        self.step(name, d, a, to - here, here - to + 1)

    # ------------------------------------------------------------ statements

    def block(self, block: Sequence[Statement]) -> None:
        """Write a block."""
        for s in block:
            write = getattr(self, f"write_{type(s).__name__.lower()}", None)
            if write is None:
                raise NotAssembled(f"the statement {type(s).__name__}")
            write(s)

    def write_assign(self, s: Assign) -> None:
        """``out = op(args)``."""
        array = getattr(self, f"array_{s.op}", None)
        if array is not None:
            array(s)
        elif s.out.axes or any(x.axes for x in s.args):
            raise NotAssembled(f"{s.op} of whole arrays")
        else:
            self.scalar(s)

    def scalar(self, s: Assign) -> None:
        """Write an operation on numbers."""
        if s.op == "where":
            test, a, b = s.args
            self.step("SELECT", self.at(s.out), self.at(test, "bool"), self.at(a, s.out.kind), self.at(b, s.out.kind))
        elif s.op in COMPARISONS:
            kind = "float" if any(x.kind == "float" for x in s.args) else "int"
            self.plain(s, s.op.upper() if kind == "float" else "I" + s.op.upper(), kind)
        elif s.op in MIXED:
            self.plain(s, *MIXED[s.op])
        elif s.op == "scale":
            self.plain(s, "prod0", "float")
        elif s.op in REAL:
            self.real(s)
        else:
            raise NotAssembled(f"the operation {s.op}")

    def plain(self, s: Assign, name: str, kind: str) -> None:
        """Write an instruction whose arguments are all of one kind."""
        self.step(name, self.at(s.out), *(self.at(x, kind) for x in s.args))

    def real(self, s: Assign) -> None:
        """Write an operation of the opcode table, and what Python checks there."""
        if self.exact:
            self.plain(s, s.op, "float")
        elif s.op in ("div", "mod"):
            self.plain(s, "DIVIDE" if s.op == "div" else "MODULO", "float")
        else:
            self.plain(s, s.op, "float")
            if s.op in CHECKS:
                self.plain(s, CHECKS[s.op], "float")

    def write_set(self, s: Set) -> None:
        """``out = value``."""
        self.move(s.out, s.value)

    def move(self, out: Ref, value: Operand) -> None:
        """Give a variable a value of its form."""
        if len(out.axes) != len(value.axes):
            raise NotAssembled(f"{out.name} of another form")
        self.step("MOVE", self.at(out), self.at(value, "" if out.axes else out.kind))

    def write_add(self, s: Add) -> None:
        """``out += value``."""
        if s.out.axes or s.value.axes or s.out.kind != "float":
            raise NotAssembled("a sum of whole arrays")
        out = self.at(s.out)
        self.step("add", out, out, self.at(s.value, "float"))

    def moves(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Write several moves at once, destinations first, in an order in which none is overwritten early."""
        waiting = {d: s for d, s in pairs if d != s}
        ordered: list[tuple[int, int]] = []
        while waiting:
            free = next((d for d in waiting if d not in waiting.values()), None)
            if free is None:  # a cycle: one value has to stand aside
                d = next(iter(waiting))
                aside = self.fresh()
                ordered.append((aside, d))
                waiting = {to: aside if of == d else of for to, of in waiting.items()}
                continue
            ordered.append((free, waiting.pop(free)))
        if len(ordered) == 1:
            self.step("MOVE", *ordered[0])
        elif ordered:
            self.step("MOVES", 0, self.listed(r for pair in ordered for r in pair), len(ordered))

    # ------------------------------------------------------------ loops

    def write_loop(self, s: Loop) -> None:
        """A loop of either pass."""
        for c in s.carried:
            self.move(c.var, c.init)
        for out, _ in s.collected:
            self.new_row(out)
        if s.kept and not s.backwards:
            self.step("MOVE", self.at(Ref(s.kept)), self.constant(0))
        self.depth += 1
        if s.backwards and s.kept:
            self.through_kept(s)
        elif s.count is not None and s.index is not None:
            self.counted(s)
        else:
            self.conditional(s)
        self.depth -= 1
        for c in s.carried:
            self.move(c.out, c.var)

    def new_row(self, out: Ref) -> None:
        """Begin an array that a loop appends to."""
        if len(out.axes) != 1:
            raise NotAssembled("a loop that collects arrays")
        self.step("NEW", self.owned(out), 0, 0, KINDS[out.kind])

    def counted(self, s: Loop) -> None:
        """``for index in range(count)``, or back to 0."""
        assert s.index is not None
        assert s.count is not None
        first, again = ("DOWN", "PREVIOUS") if s.backwards else ("FROM", "NEXT")
        index, count = self.at(s.index), self.at(s.count, "int")
        head = self.step(first, index, count)
        self.loop_body(s)
        self.back(again, head + 1, index, count)
        self.land(head)

    def conditional(self, s: Loop) -> None:
        """``while condition``."""
        top = len(self.steps)
        self.block(s.test)
        head = self.step("UNLESS", 0, self.at(s.condition or Const(True), "bool"))
        self.loop_body(s)
        self.back("REPEAT", top)
        self.land(head)

    def through_kept(self, s: Loop) -> None:
        """``for what was kept in reversed(kept)``; where steps keep nothing, they were counted."""
        place = self.fresh()
        if not s.keeps:
            count = self.at(Ref(s.kept))
            head = self.step("DOWN", place, count)
            self.loop_body(s)
            self.back("PREVIOUS", head + 1, place, count)
            self.land(head)
            return
        self.step("MOVE", place, self.at(Ref(s.kept)))
        top = self.step("PEEL", place, self.listed(self.at(k) for k in s.keeps), len(s.keeps))
        self.loop_body(s)
        self.back("REPEAT", top)
        self.land(top, "c")

    def loop_body(self, s: Loop) -> None:
        """Write a body: its statements, what it keeps and collects, what it carries on."""
        self.block(s.body)
        if s.kept and not s.backwards and s.keeps:
            self.keep(s.kept, s.keeps)
        elif s.kept and not s.backwards:
            self.step("IADD", self.at(Ref(s.kept)), self.at(Ref(s.kept)), self.constant(1))
        for out, x in s.collected:
            self.step("APPEND", self.at(out), self.at(x, out.kind))
        for c in s.carried:
            if len(c.var.axes) != len(c.last.axes):
                raise NotAssembled(f"{c.var.name} of another form")
        self.moves([(self.at(c.var), self.at(c.last, c.var.kind)) for c in s.carried])

    def keep(self, kept: str, keeps: Sequence[Ref]) -> None:
        """Append a record to what is kept."""
        self.step("KEEP", self.at(Ref(kept)), self.listed(self.at(k) for k in keeps), len(keeps))

    # ------------------------------------------------------------ branches

    def write_branch(self, s: Branch) -> None:
        """A branch of either pass."""
        if s.kept and not s.backwards:
            self.step("MOVE", self.at(Ref(s.kept)), self.constant(0))
        head = self.step("UNLESS", 0, self.at(s.condition, "bool"))
        self.branch_block(s, 0)
        if s.orelse or s.joined or s.keeps[1]:
            over = self.step("JUMP")
            self.land(head)
            self.branch_block(s, 1)
            self.land(over)
        else:
            self.land(head)

    def branch_block(self, s: Branch, which: int) -> None:
        """One side of a branch."""
        block, keeps = (s.orelse, s.keeps[1]) if which else (s.then, s.keeps[0])
        if s.backwards and keeps:
            self.step("TAKE", self.at(Ref(s.kept)), self.listed(self.at(k) for k in keeps), len(keeps))
        self.block(block)
        for j in s.joined:
            self.move(j.out, j.orelse if which else j.then)
        if s.kept and not s.backwards:
            self.keep(s.kept, keeps)

    # ------------------------------------------------------------ arrays

    def owned(self, out: Ref) -> int:
        """Give the register of a new array. Each lives as long as the run, so that none is made in a loop."""
        if self.depth:
            raise NotAssembled("an array that a loop makes")
        return self.at(out)

    def array_size(self, s: Assign) -> None:
        """The size of a dimension."""
        (dim,) = s.params
        assert isinstance(dim, int)
        self.step("SIZE", self.at(s.out), self.at(s.args[0]), dim)

    def array_item(self, s: Assign) -> None:
        """One element."""
        base, *indices = s.args
        places = self.places(len(base.axes), s.params, indices)
        array = self.at(base)
        if len(places) <= 2:
            self.step(f"LOAD{len(places)}", self.at(s.out), array, *places)
        else:
            self.step("LOAD", self.at(s.out), array, self.listed(places))

    def places(self, rank: int, dims: Sequence[object], indices: Sequence[Operand]) -> list[int]:
        """Give the registers of all indices, by dimension."""
        at = dict(zip(dims, indices, strict=True))
        if set(at) != set(range(rank)) or any(i.axes for i in indices):
            raise NotAssembled("a part of an array")
        return [self.at(at[d], "int") for d in range(rank)]

    def array_zeros(self, s: Assign) -> None:
        """Zeros to accumulate into."""
        sizes = self.listed(self.at(n, "int") for n in s.args)
        self.step("ZEROS", self.owned(s.out), sizes, len(s.args), KINDS[s.out.kind])

    def array_broadcast(self, s: Assign) -> None:
        """An array of one value."""
        x, *sizes = s.args
        if x.axes or len(sizes) != len(s.out.axes):
            raise NotAssembled("a broadcast of an array")
        self.array_zeros(Assign(s.out, "zeros", tuple(sizes)))
        self.step("FILL", self.at(s.out), self.at(x, s.out.kind))

    def array_stack(self, s: Assign) -> None:
        """Numbers side by side."""
        if len(s.out.axes) != 1 or any(x.axes for x in s.args):
            raise NotAssembled("arrays side by side")
        self.new_row(s.out)
        for x in s.args:
            self.step("APPEND", self.at(s.out), self.at(x, s.out.kind))

    def write_store(self, s: Store) -> None:
        """``out[index] = value``."""
        places = self.places(len(s.out.axes), (0,), [s.index])
        self.step("STORE", self.at(s.out), self.at(s.value, s.out.kind), self.listed(places))

    def write_addat(self, s: AddAt) -> None:
        """``out[indices] += value``."""
        if s.op != "item" or s.value.axes or s.out.kind != "float":
            raise NotAssembled("a sum into a part of an array")
        places = self.places(len(s.out.axes), s.params[:-1], s.args)
        out, value = self.at(s.out), self.at(s.value, "float")
        if len(places) <= 2:
            self.step(f"ADD{len(places)}" if places else "ADDAT", out, value, *places)
        else:
            self.step("ADDAT", out, value, self.listed(places))


def assemble(function: Function, exact: bool, given: Sequence[Ref] = (), kept: Sequence[Ref] = ()) -> Code:
    """Write a function as code for the register machine.

    Parameters
    ----------
    function : Function
    exact : bool
        Whether scalar operations answer with an infinity or a NaN where Python would raise.
    given, kept : sequence of Ref
        What the function takes over from the pass before it, and what it hands over to the next: the first registers.

    Raises
    ------
    NotAssembled
        Where the function does something that the machine cannot do.

    Examples
    --------
    >>> x, y = Ref("x"), Ref("y")
    >>> len(assemble(Function("square", [x], [Assign(y, "mul", (x, x))], [y]), exact=False))
    2
    """
    a = Assembler(exact)
    shared = given or kept
    for ref in shared:
        a.registers[ref.name] = a.fresh()
    params = [a.at(p) for p in function.params]
    a.block(function.body)
    results = [a.at(r, r.kind) for r in function.results]
    a.step("DONE")
    flat = [field for step in a.steps for field in step]
    return Code(flat, a.side, a.count, len(shared), list(a.constants.values()), params, results)
