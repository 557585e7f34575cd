"""The variables of one function: stack slots and SSA values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...intermediate.analysis import outs, walk
from ...intermediate.statements import Const, For, Function, Operand, Var, While
from ..lifetimes import Lifetimes
from .layout import constant, words
from .writer import Writer

#: The words of a growing array: its elements, its size, and its capacity.
GROWN = ("ptr", "i64", "i64")


class Values(Writer):
    """A function's variables.

    A variable that is assigned once is an SSA value. Others have slots on the stack, which LLVM promotes to values.
    """

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.lifetimes = Lifetimes(function)
        self.known: dict[str, list[str]] = {}
        self.placed: dict[str, list[str]] = {}
        self.natural: frozenset[str] = frozenset()
        self.changing = set(self.lifetimes.grown)
        times: Counter[str] = Counter(p.name for p in function.params)
        for s, _ in walk(function.body):
            times.update(v.name for v in outs(s))
            if isinstance(s, For | While):
                self.changing |= {v.name for v, _ in s.carried}
        self.changing |= {name for name, n in times.items() if n > 1}

    def is_index(self, x: Operand) -> bool:
        """Tell whether an integer is known to be non-negative."""
        if isinstance(x, Const):
            return isinstance(x.value, int) and x.value >= 0
        return x.name in self.known and self.known[x.name][0] in self.naturals

    def is_grown(self, x: Operand) -> bool:
        """Tell whether an array grows."""
        return isinstance(x, Var) and x.name in self.lifetimes.grown

    def word_types(self, v: Var) -> Sequence[str]:
        """Give the types of the words of a variable's place."""
        return GROWN if self.is_grown(v) else words(v.type)

    def places_of(self, v: Var) -> list[str]:
        """Give the places of a variable."""
        if v.name not in self.placed:
            self.placed[v.name] = [self.place(w) for w in self.word_types(v)]
        return self.placed[v.name]

    def value(self, x: Operand) -> list[str]:
        """Give the words of an operand."""
        if isinstance(x, Const):
            return constant(x)
        if x.name in self.changing:
            found = [self.get(p, w) for p, w in zip(self.places_of(x), self.word_types(x), strict=True)]
            return found[: len(words(x.type))]
        return self.known[x.name]

    def one(self, x: Operand) -> str:
        """Give the word of an operand that has one."""
        return self.value(x)[0]

    def give(self, v: Var, values: Sequence[str]) -> None:
        """Assign a variable."""
        if v.name not in self.changing:
            self.known[v.name] = list(values)
            if v.name in self.natural:
                self.naturals.add(values[0])
            return
        if self.is_grown(v) and len(values) < len(GROWN):
            values = [*values, values[1]]
        for place, word, value in zip(self.places_of(v), self.word_types(v), values, strict=True):
            self.set(place, word, value)

    def give_all(self, outs: Iterable[Var], found: Sequence[str]) -> None:
        """Assign variables from one list of words, in order."""
        rest = iter(found)
        for v in outs:
            self.give(v, [next(rest) for _ in words(v.type)])

    def values(self, xs: Iterable[Operand]) -> list[str]:
        """Give the words of several operands."""
        return [w for x in xs for w in self.value(x)]
