"""Write the intermediate form as executable Python: the simplest definition of each statement's meaning."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ...primitive import Primitive
from ...recursion import deep
from ..language.tables import entry, table
from . import statements as F
from .operations import FUNCTIONS, REAL, TRUTH, Scalar
from .running import add_all as add_all_at_once
from .running import call_registered, plus, zeros_like

#: Names with a meaning in the text.
RESERVED = frozenset(
    {"np", "plus", "add_all", "zeros_like", "registered", "kept", "forward", "reverse"}
    | set(dir(builtins))
    | set(keyword.kwlist)
    | FUNCTIONS.keys()
)


class Writer:
    """Writes functions as Python."""

    def __init__(self, program: F.Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.depth = 0
        self.called: list[F.Registered] = []

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + text)

    def named(self, x: F.Var) -> str:
        """Write the name of a variable."""
        return name(x.name)

    def operand(self, x: F.Operand) -> str:
        """Write an operand."""
        if isinstance(x, F.Var):
            return self.named(x)
        if isinstance(x.value, float) and not math.isfinite(x.value):
            return f"float('{x.value}')"
        return f"({x.value!r})" if isinstance(x.value, int | float) and x.value < 0 else repr(x.value)

    def tight(self, x: F.Operand) -> str:
        """Write an operand where a name is required."""
        return self.operand(x)

    def computed(self, s: F.Compute) -> str:
        """Write a scalar operation."""
        return s.operation.text.format(*map(self.operand, s.args))

    def registered(self, s: F.Registered) -> str:
        """Write the call of a primitive up to its arguments."""
        self.called.append(s)
        return f"registered[{len(self.called) - 1}]"

    def tuple(self, xs: Sequence[F.Operand]) -> str:
        """Write a tuple."""
        return f"({', '.join(map(self.operand, xs))}{',' if len(xs) == 1 else ''})"

    def place(self, array: F.Operand, indices: Sequence[F.Operand]) -> str:
        """Write an element of an array."""
        return self.operand(array) + "".join(f"[{self.operand(i)}]" for i in indices)

    def measured(self, s: F.Size) -> str:
        """Write the size of a dimension."""
        array = self.operand(s.array)
        return f"{array}.shape[{s.dim}]" if s.dim else f"len({array})"

    # ------------------------------------------------------------ functions

    def function(self, f: F.Function) -> None:
        """Write a function."""
        params = [self.named(p) for p in f.params]
        if f.recalled is not None:
            params.insert(0, "kept")
        self.line(f"def {name(f.name)}({', '.join(params)}):")
        self.depth += 1
        if f.recalled is not None and f.recalled.fields:
            self.line(f"{self.tuple(f.recalled.fields)} = kept")
        self.block(f.body)
        results = [self.operand(x) for x in f.results]
        if f.kept is not None:
            results.append(self.tuple(f.kept.fields))
        self.line(f"return ({', '.join(results)}{',' if len(results) == 1 else ''})")
        self.depth -= 1
        self.line("")

    def block(self, statements: Sequence[F.Statement]) -> None:
        """Write statements."""
        for s in statements:
            if type(s) in LINES:
                self.line(LINES[type(s)](self, s))
            else:
                WRITE[type(s)](self, s)

    def inner(self, statements: Sequence[F.Statement], after: Sequence[str], before: Sequence[str] = ()) -> None:
        """Write the statements of a loop or a branch, with lines before and after them."""
        self.depth += 1
        for text in before:
            self.line(text)
        start = len(self.lines)
        self.block(statements)
        for text in filter(None, after):
            self.line(text)
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    def carried(self, s: F.For | F.While) -> str:
        """Write the assignment of a loop's carried variables."""
        if not s.carried:
            return ""
        targets = ", ".join(self.named(v) for v, _ in s.carried)
        return f"{targets} = {', '.join(self.operand(x) for _, x in s.carried)}"

    def keep(self, kept: F.Kept | None) -> str:
        """Write the statement that keeps a step's frame."""
        return "" if kept is None else f"{self.named(kept.frames)}.append({self.tuple(kept.fields)})"


#: The texts of statements that are one line.
LINES: Mapping[type, Callable[[Writer, Any], str]] = {
    F.Compute: lambda w, s: f"{w.named(s.out)} = {w.computed(s)}",
    **dict.fromkeys((F.Load, F.Row), lambda w, s: f"{w.named(s.out)} = {w.place(s.array, s.indices)}"),
    F.Size: lambda w, s: f"{w.named(s.out)} = {w.measured(s)}",
    F.Sum: lambda w, s: f"{w.named(s.out)} = float(np.sum({w.operand(s.array)}))",
    F.ZerosLike: lambda w, s: f"{w.named(s.out)} = zeros_like({w.operand(s.array)})",
    F.Store: lambda w, s: f"{w.place(s.array, s.indices)} = {w.operand(s.value)}",
    F.Append: lambda w, s: f"{w.operand(s.array)}.append({w.operand(s.value)})",
    F.Pop: lambda w, s: f"{w.operand(s.array)}.pop()",
    F.Assign: lambda w, s: f"{', '.join(map(w.named, s.outs))} = {', '.join(map(w.operand, s.values))}",
    F.AddAll: lambda w, s: f"add_all({w.operand(s.array)}, {w.operand(s.value)})",
    F.Plus: lambda w, s: f"{w.named(s.out)} = plus({w.operand(s.left)}, {w.operand(s.right)})",
    F.Pack: lambda w, s: f"{w.named(s.out)} = ({', '.join([str(s.option), *map(w.operand, s.values)])},)",
    F.Option: lambda w, s: f"{w.named(s.out)} = {w.operand(s.box)}[0]",
}


@entry
def check(w: Writer, s: F.Check) -> None:
    i, n = w.tight(s.index), w.tight(s.size)
    w.line(f"if not -{n} <= {i} < {n}: raise IndexError('index out of range')")


@entry
def new(w: Writer, s: F.New) -> None:
    assert isinstance(s.out.type, F.ArrayOf)
    element = s.out.type.element
    if not s.sizes:
        w.line(f"{w.named(s.out)} = []")
    elif isinstance(element, F.ArrayOf | F.BoxOf):
        w.line(f"{w.named(s.out)} = [None] * {w.tight(s.sizes[0])}")
    elif len(s.sizes) == 1:
        zero = "0.0" if element == REAL else "False" if element == TRUTH else "0"
        w.line(f"{w.named(s.out)} = [{zero}] * {w.tight(s.sizes[0])}")
    else:
        assert isinstance(element, Scalar)
        w.line(f"{w.named(s.out)} = np.zeros({w.tuple(s.sizes)}, {element.python})")


@entry
def add(w: Writer, s: F.Add | F.AddAt) -> None:
    place, value = w.named(s.out) if isinstance(s, F.Add) else w.place(s.array, s.indices), w.operand(s.value)
    w.line(f"{place} = plus({place}, {value})" if isinstance(s.value.type, F.BoxOf) else f"{place} += {value}")


@entry
def unpack(w: Writer, s: F.Unpack) -> None:
    if not s.outs:
        return
    targets = ", ".join(["_", *(w.named(v) for v in s.outs)])
    assert isinstance(s.box.type, F.BoxOf)
    if s.box.type.linear:
        zeros = ", ".join(["0", *("0.0" if v.type == REAL else "None" for v in s.outs)])
        w.line(f"{targets} = {w.operand(s.box)} or ({zeros})")
    else:
        w.line(f"{targets} = {w.operand(s.box)}")


@entry
def for_(w: Writer, s: F.For) -> None:
    if s.kept is not None:
        w.line(f"{w.named(s.kept.frames)} = []")
    rest = s.recalled
    if s.count is not None:
        n = w.operand(s.count)
        w.line(f"for {w.named(s.index)} in {f'reversed(range({n}))' if s.down else f'range({n})'}:")
    elif len(rest) > 1:
        w.line(f"for {w.named(s.index)} in reversed(range(len({w.named(rest[0].frames)}))):")
    else:
        w.line(f"for {w.tuple(rest[0].fields)} in reversed({w.named(rest[0].frames)}):")
        rest = []
    recalled = [f"{w.tuple(k.fields)} = {w.named(k.frames)}[{w.named(s.index)}]" for k in rest if k.fields]
    w.inner(s.body, [w.keep(s.kept), w.carried(s)], recalled)


@entry
def while_(w: Writer, s: F.While) -> None:
    if s.kept is not None:
        w.line(f"{w.named(s.kept.frames)} = []")
    w.line("while True:")
    w.inner([*s.test], [f"if not {w.tight(s.condition)}: break"])
    w.inner(s.body, [w.keep(s.kept), w.carried(s)])


@entry
def if_(w: Writer, s: F.If) -> None:
    for k, (head, block) in enumerate(((f"if {w.operand(s.condition)}:", s.then), ("else:", s.orelse))):
        w.line(head)
        frames = [pair[k] for pair in s.recalled if pair[k].fields]
        recalled = [f"{w.tuple(each.fields)} = {w.named(each.frames)}" for each in frames]
        kept = [] if s.kept is None else [f"{w.named(s.kept[k].frames)} = {w.tuple(s.kept[k].fields)}"]
        w.inner(block, kept, recalled)


@entry
def call(w: Writer, s: F.Call) -> None:
    targets = ", ".join(w.named(v) for v in s.outs)
    call_ = f"{name(s.function)}({', '.join(map(w.operand, s.args))})"
    w.line(f"{targets}{',' if len(s.outs) == 1 else ''} = {call_}" if s.outs else call_)


@entry
def registered(w: Writer, s: F.Registered) -> None:
    targets = ", ".join(w.named(v) for v in s.outs)
    w.line(f"{targets}{',' * (len(s.outs) == 1)} = {w.registered(s)}({', '.join(map(w.operand, s.args))})")


WRITE = table(globals())


def name(given: str) -> str:
    """Give a valid Python name."""
    if given.isidentifier() and not keyword.iskeyword(given):
        return given
    return "v_" + re.sub(r"\W", "_", given)


def text(program: F.Program) -> str:
    """Write a program as Python."""
    return "\n".join(written(Writer(program)).lines)


def written(writer: Writer) -> Writer:
    """Write all functions of a program."""
    for function in writer.program.functions.values():
        writer.function(function)
    return writer


@deep()
def compiled(
    program: F.Program,
    primitives: Mapping[str, Primitive] = MappingProxyType({}),
    call: Callable[..., list[Any]] = call_registered,
    by: Callable[[F.Program], Writer] = Writer,
    **names: Any,
) -> Mapping[str, Callable[..., Any]]:
    """Give the functions of a program, as `by` writes them, where names mean what is given.

    Registered primitives are called by ``call(primitives, statement, leaves)``.
    """
    writer = written(by(program))
    namespace: dict[str, Any] = {**FUNCTIONS, "np": np, "plus": plus, "add_all": add_all_at_once, **names}
    namespace["zeros_like"] = zeros_like
    namespace["registered"] = [lambda *leaves, s=s: call(primitives, s, leaves) for s in writer.called]
    exec(compile("\n".join(writer.lines), "<program>", "exec"), namespace)
    return {f.name: namespace[name(f.name)] for f in program.functions.values()}
