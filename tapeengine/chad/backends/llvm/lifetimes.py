"""Lifetimes of arrays: which arrays may use memory that a loop releases at the end of each step.

Names of arrays that may share memory form a class (a flow-insensitive analysis, by union-find). A class *escapes* if
one of its members is stored in a frame or a record, passed to a call, or returned. Arrays of other classes use scratch
memory, which each step of the loop around `New` releases. If a loop carries such an array to its next step, it is
copied to a buffer of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...intermediate import statements as F
from ...intermediate.analysis import keeps, named, walk
from ...intermediate.operations import Scalar

#: Arrays of at most this many elements, if the number is known, are on the stack.
FEW = 64


def is_numbers(x: F.Operand) -> bool:
    """Tell whether an operand is an array of numbers."""
    return isinstance(x.type, F.ArrayOf) and isinstance(x.type.element, Scalar)


def made_by(s: F.Statement) -> tuple[F.Var, ...]:
    """Give the arrays that a statement makes."""
    if isinstance(s, F.New | F.ZerosLike):
        return (s.out,)
    return tuple(filter(is_numbers, s.outs)) if isinstance(s, F.Registered) else ()


class Lifetimes:
    """The classes of a function's arrays, and those that escape."""

    def __init__(self, function: F.Function) -> None:
        self.parent: dict[str, str] = {}
        self.lasting: set[str] = set()
        self.grown: set[str] = set()
        self.params = {p.name for p in function.params}
        self.loops: dict[str, tuple[F.Flow, ...]] = {}
        self.carriers: dict[str, list[F.Flow]] = {}
        kept = [] if function.kept is None else function.kept.fields
        self.escape([*function.results, *kept])
        for s, around in walk(function.body):
            self.note(s)
            for v in made_by(s):
                self.loops[v.name] = tuple(f for f in around if isinstance(f, F.For | F.While))
        self.escaping = {self.find(name) for name in self.lasting}

    # ------------------------------------------------------------ classes

    def find(self, name: str) -> str:
        """Give the representative of a class."""
        root = name
        while root in self.parent:
            root = self.parent[root]
        while name != root:
            self.parent[name], name = root, self.parent[name]
        return root

    def join(self, pairs: Iterable[tuple[F.Operand, F.Operand]]) -> None:
        """Record that two names may share memory."""
        for a, b in pairs:
            if isinstance(a, F.Var) and isinstance(b, F.Var) and not isinstance(a.type, Scalar):
                if not (is_numbers(a) and is_numbers(b)):  # it may be referenced
                    self.escape([a, b])
                first, second = self.find(a.name), self.find(b.name)
                if first != second:
                    self.parent[first] = second

    def add(self, name: str, like: str) -> None:
        """Record that a name shares memory with another one."""
        self.parent[name] = self.find(like)
        if like in self.grown:
            self.grown.add(name)

    def escape(self, xs: Iterable[F.Operand]) -> None:
        """Record that arrays outlive the step that makes them."""
        self.lasting.update(x.name for x in xs if isinstance(x, F.Var) and not isinstance(x.type, Scalar))

    def note(self, s: F.Statement) -> None:
        """Record the names that a statement makes share memory."""
        match s:
            case F.Assign(outs, values):
                self.join(zip(outs, values, strict=True))
            case F.Row() | F.Load():
                self.join([(s.out, s.array)])
            case F.Store():
                self.join([(s.value, s.array)])
            case F.Append() | F.Pop():
                self.join([(s.value, s.array)] if isinstance(s, F.Append) else ())
                self.grown.add(s.array.name)
                self.escape([s.array])
            case F.Unpack():
                self.join((v, s.box) for v in s.outs)
                self.escape([s.box])
            case F.Call() | F.Pack():
                self.escape(
                    [*(s.args if isinstance(s, F.Call) else s.values), *([] if isinstance(s, F.Pack) else s.outs)]
                )
            case F.For() | F.While():
                self.join(s.carried)
                for v, _ in s.carried:
                    self.carriers.setdefault(v.name, []).append(s)
        self.escape(keeps(s))

    # ------------------------------------------------------------ questions

    def is_scratch(self, x: F.Var) -> bool:
        """Tell whether an array, except for copies, does not outlive the step that makes it."""
        return is_numbers(x) and self.find(x.name) not in self.escaping

    def on_stack(self, s: F.New) -> int:
        """Give the number of elements of a small array that may be on the stack, otherwise 0."""
        count = 1
        for n in s.sizes:
            if not isinstance(n, F.Const) or not isinstance(n.value, int):
                return 0
            count *= max(n.value, 0)
        return count if s.sizes and count <= FEW and self.is_scratch(s.out) else 0

    def is_before(self, given: str, made: str) -> bool:
        """Tell whether arrays differ because a function or each step of a loop receives one and makes the other."""
        if given in self.params:
            return made in self.loops
        loops = self.carriers.get(given, [])
        return len(loops) == 1 and any(loop is loops[0] for loop in self.loops.get(made, ()))

    def takes_back(self, loop: F.Flow) -> bool:
        """Tell whether a loop releases scratch memory at the end of each step."""
        return any(f and f[-1] is loop for name, f in self.loops.items() if self.find(name) not in self.escaping)

    def copied(self, loop: F.For | F.While) -> list[F.Var]:
        """Give the arrays that a loop must copy to carry them to the next step."""
        made = {self.find(name) for name, f in self.loops.items() if any(flow is loop for flow in f)} - self.escaping
        return [v for v, x in loop.carried if is_numbers(v) and v != x and self.find(v.name) in made]


def is_filled(
    array: F.Var, sizes: Sequence[F.Operand], after: Sequence[F.Statement], at: tuple[F.Operand, ...] = ()
) -> bool:
    """Tell whether the statements after `New` write each element before any is read."""
    for s in after:
        if not mentions(s, array.name):
            continue
        if isinstance(s, F.Store):
            return s.array == array and s.indices == at and len(at) == len(sizes)
        if isinstance(s, F.For) and len(at) < len(sizes) and s.count == sizes[len(at)] and not carries(s, array.name):
            return is_filled(array, sizes, s.body, (*at, s.index))
        return False
    return False


def carries(s: F.For, name: str) -> bool:
    """Tell whether a loop carries an array."""
    return any(isinstance(x, F.Var) and x.name == name for pair in s.carried for x in pair)


def mentions(s: F.Statement, name: str) -> bool:
    """Tell whether a statement or one inside it names a variable."""
    return any(v.name == name for inner, _ in walk([s]) for v in named(inner))
