"""Tell LLVM which arrays of a function never overlap, so that loops need no checks of that, and stores can wait.

Memory that a function takes for an array is disjoint from that of all arrays of other classes; see `lifetimes`. Arrays
that come from outside may overlap one another: nothing is said of these.
"""

from __future__ import annotations

from ...intermediate.analysis import outs, walk
from ...intermediate.operations import Scalar
from ...intermediate.statements import Assign, For, Function, Load, New, Operand, Row, Var, While, ZerosLike
from ..lifetimes import Lifetimes, is_numbers

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
        self.each: dict[str, str] = {}
        if names:
            self.describe(names)

    def line(self, text: str) -> str:
        """Append a piece of metadata; return its name."""
        name = f"!{FIRST + len(self.lines)}"
        self.lines.append(f"{name} = {text.replace('self', name)}")
        return name

    def describe(self, names: list[str]) -> None:
        """Write the scope of each class, and the accesses that do not overlap it."""
        domain = self.line("distinct !{self}")
        scopes = [self.line(f"distinct !{{self, {domain}}}") for _ in names]
        self.all = f", !noalias {self.several(scopes)}"
        for name, scope in zip(names, scopes, strict=True):
            others = [other for other in scopes if other != scope]
            self.each[name] = f", !alias.scope {self.several([scope])}"
            self.each[name] += f", !noalias {self.several(others)}" if others else ""

    def several(self, names: list[str]) -> str:
        """Append a list of pieces of metadata."""
        return self.line(f"!{{{', '.join(names)}}}")

    def of(self, array: Operand) -> str:
        """Give the metadata of accesses to the elements of an array."""
        found = self.each.get(self.lifetimes.find(array.name)) if isinstance(array, Var) else None
        return self.all if found is None else found
