"""Tell LLVM which arrays of a function never overlap, so that loops need no checks of that, and stores can wait.

Memory that a function takes for an array is disjoint from that of all arrays of other classes; see `lifetimes`. Arrays
that come from outside may overlap one another: nothing is said of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...intermediate.analysis import outs, walk
from ...intermediate.operations import Scalar
from ...intermediate.statements import Assign, For, Function, Load, New, Operand, Row, Var, While, ZerosLike
from .lifetimes import Lifetimes, is_numbers

#: The number of the first piece of metadata; smaller ones are those of all modules.
FIRST = 100


def made_classes(function: Function, lifetimes: Lifetimes) -> list[str]:
    """Name the classes of arrays of numbers whose memory the function takes."""
    made: dict[str, None] = {}
    given = {*function.params, *([] if function.recalled is None else function.recalled.fields)}
    for s, _ in walk(function.body):
        carried = {v.name for v, _ in s.carried} if isinstance(s, For | While) else set()
        for v in outs(s):
            if isinstance(s, New | ZerosLike) and is_numbers(v) and v.name not in lifetimes.grown:
                made[lifetimes.find(v.name)] = None
            elif not isinstance(s, Assign | Load | Row) and v.name not in carried:
                given.add(v)
    outside = {lifetimes.find(v.name) for v in given if not isinstance(v.type, Scalar)} | set(lifetimes.grown)
    return [name for name in made if name not in outside]


class Aliases:
    """Gives the metadata of accesses to elements."""

    def __init__(self, function: Function, lifetimes: Lifetimes, lines: list[str]) -> None:
        self.lifetimes, self.lines = lifetimes, lines
        names = made_classes(function, lifetimes)
        self.all = ""
        self.scopes: dict[str, str] = {}
        self.each: dict[str, str] = {}
        self.rows: dict[str, str] = {}
        if names:
            self.describe(names)

    def line(self, text: str) -> str:
        """Append a piece of metadata; return its name."""
        name = f"!{FIRST + len(self.lines)}"
        self.lines.append(f"{name} = {text.replace('self', name)}")
        return name

    def describe(self, names: list[str]) -> None:
        """Write the scope of each class, and the accesses that do not overlap it."""
        scopes = self.new(len(names))
        self.scopes = dict(zip(names, scopes, strict=True))
        self.all = f", !noalias {self.several(scopes)}"
        self.each = {name: self.within([scope], scopes) for name, scope in self.scopes.items()}

    def new(self, n: int) -> list[str]:
        """Append scopes."""
        domain = self.line("distinct !{self}")
        return [self.line(f"distinct !{{self, {domain}}}") for _ in range(n)]

    def within(self, own: Sequence[str], scopes: Sequence[str]) -> str:
        """Give the metadata of accesses that lie in some scopes, and not in the others."""
        others = [scope for scope in scopes if scope not in own]
        return f", !alias.scope {self.several(own)}" + (f", !noalias {self.several(others)}" if others else "")

    def separate(self, rows: Sequence[Iterable[Var]]) -> list[str]:
        """Record that the rows in one sequence, of arrays that the function has made, do not overlap those in others.

        The instructions that are returned say where: in the steps that run together from there on.
        """
        lanes = self.new(len(rows))
        scopes = [*self.scopes.values(), *lanes]
        for lane, each in zip(lanes, rows, strict=True):
            for v in each:
                self.rows[v.name] = self.within([self.scopes[self.lifetimes.find(v.name)], lane], scopes)
        return [f"call void @llvm.experimental.noalias.scope.decl(metadata {self.several([x])})" for x in lanes]

    def several(self, names: Sequence[str]) -> str:
        """Append a list of pieces of metadata."""
        return self.line(f"!{{{', '.join(names)}}}")

    def of(self, array: Operand) -> str:
        """Give the metadata of accesses to the elements of an array."""
        if not isinstance(array, Var):
            return self.all
        return self.rows.get(array.name) or self.each.get(self.lifetimes.find(array.name), self.all)
