"""From the imperative form to Python: functions and their statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tapeengine.chad.generate.expressions import Expressions
from tapeengine.chad.generate.liveness import defined, used
from tapeengine.chad.imperative import (
    Add,
    AddAt,
    Assign,
    Branch,
    Call,
    Const,
    Function,
    Loop,
    Operand,
    Ref,
    Set,
    Statement,
    Store,
    Unpack,
)
from tapeengine.primitive import Primitive

__all__ = ["Writer"]

#: Longer expressions are not held back until their only use.
LONGEST = 110


class Writer(Expressions):
    """Writes one function.

    Parameters
    ----------
    labels : mapping of str to str
        Names to write instead of the form's own.
    exact : bool
        Whether scalar operations answer with an infinity or a NaN where Python would raise.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    units : mapping of str to pair of str
        The names of the forward and the reverse pass of each recursive definition.
    """

    def __init__(
        self,
        labels: Mapping[str, str],
        exact: bool,
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
        units: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        super().__init__(labels, exact, primitives)
        self.units = units
        self.counts: dict[str, int] = {}
        self.lines: list[str] = []

    def function(self, f: Function, residuals: Sequence[Ref], takes_residuals: bool) -> str:
        """Write a function: its parameters, its body, its results, and the residuals that it gives or takes."""
        self.count(f.body)
        self.owned = {r.name for r in f.results if isinstance(r, Ref)} if takes_residuals else set()
        for r in [*f.results, *residuals]:
            self.use(r, 2 if r in residuals else 1)
        params = ", ".join(self.name(p.name) for p in f.params)
        if takes_residuals:
            params = f"residuals, {params}" if params else "residuals"
            if len(residuals) == 1 and f.is_inner:
                self.lines.append(f"    {self.name(residuals[0].name)} = residuals")
            elif residuals:
                self.lines.append(f"    {self.names_tuple(residuals)} = residuals")
        self.block(f.body, 1)
        if f.is_inner:
            return self.inner(f, params, residuals, takes_residuals)
        results = ", ".join(self.operand(r) for r in f.results)
        results = f"({results},)" if len(f.results) == 1 else f"({results})"
        given = "" if takes_residuals else f", {self.pack(residuals)}"
        self.lines.append(f"    return {results}{given}")
        return "\n".join([f"def {f.name}({params}):", *self.lines, ""])

    def inner(self, f: Function, params: str, residuals: Sequence[Ref], takes_residuals: bool) -> str:
        """Write a pass of a recursive definition, which gives a plain value where there is only one."""
        given = [self.operand(r) for r in f.results]
        if not takes_residuals:
            given.append(self.name(residuals[0].name) if len(residuals) == 1 else self.pack(residuals))
        if given:
            self.lines.append(f"    return {', '.join(given)}")
        return "\n".join([f"def {self.name(f.name)}({params}):", *(self.lines or ["    pass"]), ""])

    def names_tuple(self, refs: Sequence[Ref]) -> str:
        """Write several names to unpack into."""
        return ", ".join(self.name(r.name) for r in refs) + ("," if len(refs) == 1 else "")

    def pack(self, refs: Sequence[Ref]) -> str:
        """Write a tuple of several names."""
        return f"({self.names_tuple(refs)})"

    # ------------------------------------------------------------ uses

    def use(self, x: Operand | None, by: int = 1) -> None:
        """Count a use of an operand."""
        if isinstance(x, Ref):
            self.counts[x.name] = self.counts.get(x.name, 0) + by

    def count(self, block: Sequence[Statement], weight: int = 1) -> None:
        """Count uses; one inside a loop or a branch counts as many."""
        for s in block:
            match s:
                case Assign():
                    repeated = 2 if s.op in ("gather", "contract", "window", "largest", "most", "least") else 1
                    for x in s.args:
                        self.use(x, weight * (repeated if s.op == "gather" else 1))
                case Set() | Add():
                    self.use(s.value, weight)
                case AddAt() | Store():
                    self.use(s.value, weight)
                    for x in s.args if isinstance(s, AddAt) else (s.index,):
                        self.use(x, 2)
                case Unpack():
                    self.use(s.value, weight)
                case Call():
                    for x in (*s.args, *s.into):
                        self.use(x, weight)
                    if s.backwards:
                        self.use(Ref(s.kept), 2)
                case Loop():
                    self.use(s.count, 1)
                    for c in s.carried:
                        self.use(c.init)
                        self.use(c.last, 2)
                    for _, x in s.collected:
                        self.use(x, 2)
                    for k in s.keeps:
                        self.use(k, 2)
                    self.use(s.condition, 1)
                    self.count_inner(s.body)
                    self.count_inner(s.test)
                case Branch():
                    self.use(s.condition, 1)
                    for j in s.joined:
                        self.use(j.then)
                        self.use(j.orelse)
                    for k in (*s.keeps[0], *s.keeps[1]):
                        self.use(k, 2)
                    self.count_inner(s.then)
                    self.count_inner(s.orelse)

    def count_inner(self, block: Sequence[Statement]) -> None:
        """Count uses in an inner block: once each for what it defines itself, as many for what it does not."""
        inner = defined(block)
        for name in used(block):
            if name not in inner:
                self.counts[name] = self.counts.get(name, 0) + 2
        self.count(block)

    # ------------------------------------------------------------ statements

    def line(self, depth: int, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * depth + text)

    def block(self, block: Sequence[Statement], depth: int) -> None:
        """Write statements."""
        for s in block:
            getattr(self, f"write_{type(s).__name__.lower()}")(s, depth)

    def write_assign(self, s: Assign, depth: int) -> None:
        """Write ``out = op(args)``, or hold it back until its only use."""
        text = self.operation(s)
        if s.op == "none":
            self.inline[s.out.name] = text
            return
        if s.op == "same_size":
            self.line(depth, text[0])
            return
        if self.counts.get(s.out.name, 0) == 1 and s.op not in ("zeros", "nothings") and len(text[0]) < LONGEST:
            self.inline[s.out.name] = text
            return
        self.line(depth, f"{self.name(s.out.name)} = {text[0]}")

    def write_set(self, s: Set, depth: int) -> None:
        """Write ``out = value``."""
        self.line(depth, f"{self.name(s.out.name)} = {self.operand(s.value)}")

    def write_add(self, s: Add, depth: int) -> None:
        """Write ``out += value``."""
        if s.out.kind in ("box", "list"):
            self.add_box(s, depth)
            return
        self.line(depth, f"{self.name(s.out.name)} += {self.aligned(s.value, s.out.axes)[0]}")

    def add_box(self, s: Add, depth: int) -> None:
        """Write an accumulation into the cotangent of a box, or in place into that of a list."""
        out, value = self.name(s.out.name), self.operand(s.value)
        plus = f"{out} = ops.plus({out}, {value})"
        self.line(depth, plus if s.out.kind == "box" else f"ops.accumulate({out}, {value})")

    def write_unpack(self, s: Unpack, depth: int) -> None:
        """Write ``out, ... = value`` for those that are used."""
        names = [self.name(out.name) if self.counts.get(out.name, 0) else "_" for out in s.outs]
        value = self.operand(s.value)
        if s.is_cotangent:
            zeros = ", ".join("0.0" if x.kind == "float" and not x.axes else "None" for x in s.outs)
            value = f"{value} or ({zeros}{',' if len(s.outs) == 1 else ''})"
        elif names.count("_") == len(names) - 1:
            (k,) = (i for i, name in enumerate(names) if name != "_")
            self.line(depth, f"{names[k]} = {self.tight(s.value)}[{k}]")
            return
        self.line(depth, f"{', '.join(names)}{',' if len(names) == 1 else ''} = {value}")

    def write_call(self, s: Call, depth: int) -> None:
        """Write a call of a pass of a recursive definition."""
        args = [self.operand(x) for x in (*s.args, *s.into)]
        outs = [self.name(out.name) if self.counts.get(out.name, 0) else "_" for out in s.outs]
        forward, reverse = self.units[s.name]
        if s.backwards:
            call = f"{reverse}({', '.join([self.name(s.kept), *args])})"
        else:
            call = f"{forward}({', '.join(args)})"
            outs.append(self.name(s.kept) if self.counts.get(s.kept, 0) else "_")
        self.line(depth, f"{', '.join(outs)} = {call}" if outs else call)

    def write_store(self, s: Store, depth: int) -> None:
        """Write ``out[index] = value``."""
        self.line(depth, f"{self.name(s.out.name)}[{self.operand(s.index)}] = {self.operand(s.value)}")

    def write_addat(self, s: AddAt, depth: int) -> None:
        """Write an accumulation into a part of an array."""
        out = self.name(s.out.name)
        axes = s.params[-1]
        assert isinstance(axes, tuple)
        if s.op == "element":
            place = f"{out}[{self.operand(s.args[0])}]"
            self.line(depth, f"{place} = ops.plus({place}, {self.operand(s.value)})")
            return
        value = self.aligned(s.value, axes)[0]
        if s.op == "item":
            self.line(depth, f"{out}[{self.positions(len(s.out.axes), s.params[:-1], s.args)}] += {value}")
        elif s.op in ("window", "prefix"):
            start, size = s.args
            self.line(
                depth, f"ops.window({out}, {self.operand(start)}, {self.operand(size)}, {s.params[0]})[...] += {value}"
            )
        else:
            dims = s.params[0]
            assert isinstance(dims, tuple)
            index = self.index(s.out, out, s.args, dims, axes)
            if s.op == "put":
                self.line(depth, f"{out}[{index}] += {value}")
            else:
                self.line(depth, f"ops.add_at({out}, ({index},), {value})")

    def write_loop(self, s: Loop, depth: int) -> None:
        """Write a loop of either pass."""
        for c in s.carried:
            self.line(depth, f"{self.name(c.var.name)} = {self.operand(c.init)}")
        for out, _ in s.collected:
            self.line(depth, f"{self.name(out.name)} = []")
        if s.kept and not s.backwards:
            self.line(depth, f"{self.name(s.kept)} = []")
        self.head(s, depth)
        self.loop_body(s, depth + 1)
        for c in s.carried:
            self.line(depth, f"{self.name(c.out.name)} = {self.name(c.var.name)}")
        for out, _ in s.collected:
            if out.kind == "list":
                continue
            kind = {"float": "float", "int": "int", "bool": "bool"}[out.kind]
            sizes = "" if len(out.axes) == 1 else f", {len(out.axes)}"
            self.line(depth, f"{self.name(out.name)} = ops.array({self.name(out.name)}, {kind}{sizes})")

    def head(self, s: Loop, depth: int) -> None:
        """Write the first line of a loop."""
        if s.backwards and s.kept:
            unpacked = self.names_tuple(s.keeps) if s.keeps else "_"
            if len(s.keeps) == 1:
                unpacked = self.name(s.keeps[0].name)
            self.line(depth, f"for {unpacked} in reversed({self.name(s.kept)}):")
        elif s.count is not None and s.index is not None:
            steps = f"range({self.operand(s.count)})"
            self.line(depth, f"for {self.name(s.index.name)} in {f'reversed({steps})' if s.backwards else steps}:")
        else:
            self.line(depth, "while True:")
            self.block(s.test, depth + 1)
            self.line(depth + 1, f"if not ({self.operand(s.condition or Const(True))}):")
            self.line(depth + 2, "break")

    def loop_body(self, s: Loop, depth: int) -> None:
        """Write the body of a loop: its statements, what it keeps and collects, what it carries on."""
        before = len(self.lines)
        self.block(s.body, depth)
        if s.kept and not s.backwards:
            kept = self.name(s.keeps[0].name) if len(s.keeps) == 1 else self.pack(s.keeps)
            self.line(depth, f"{self.name(s.kept)}.append({kept})")
        for out, x in s.collected:
            self.line(depth, f"{self.name(out.name)}.append({self.operand(x)})")
        moved = [(self.name(c.var.name), self.operand(c.last)) for c in s.carried]
        moved = [(a, b) for a, b in moved if a != b]
        if moved:
            self.line(depth, f"{', '.join(a for a, _ in moved)} = {', '.join(b for _, b in moved)}")
        if len(self.lines) == before:
            self.line(depth, "pass")

    def write_branch(self, s: Branch, depth: int) -> None:
        """Write a branch of either pass."""
        names = ", ".join(self.name(j.out.name) for j in s.joined)
        for which, (head, block) in enumerate(((f"if {self.operand(s.condition)}:", s.then), ("else:", s.orelse))):
            keeps = s.keeps[which]
            if s.backwards and which == 1 and not block:
                return
            self.line(depth, head)
            before = len(self.lines)
            if s.backwards and keeps:
                self.line(depth + 1, f"{self.names_tuple(keeps)} = {self.name(s.kept)}")
            self.block(block, depth + 1)
            values = [j.then if which == 0 else j.orelse for j in s.joined]
            if values:
                self.line(depth + 1, f"{names} = {', '.join(self.operand(x) for x in values)}")
            if s.kept and not s.backwards:
                self.line(depth + 1, f"{self.name(s.kept)} = {self.pack(keeps)}")
            if len(self.lines) == before:
                self.line(depth + 1, "pass")
