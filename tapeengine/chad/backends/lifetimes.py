"""Lifetimes of arrays: which arrays may use memory that a loop releases or uses again at the end of each step.

Names of arrays that may share memory form a class (a flow-insensitive analysis, by union-find). A class *escapes* if
one of its members is stored in a frame or a record, passed to a call, or returned. Arrays of other classes use scratch
memory, which each step of the loop around `New` releases. If a loop carries such an array to its next step, it is
copied to a buffer of the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..intermediate import statements as F
from ..intermediate.analysis import changes, keeps, named, walk
from ..intermediate.operations import Scalar

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
        changed: list[tuple[str, F.For | F.While]] = []
        for s, around in walk(function.body):
            self.note(s)
            loops = tuple(f for f in around if isinstance(f, F.For | F.While))
            self.loops |= dict.fromkeys((v.name for v in made_by(s)), loops)
            changed += [(v.name, f) for v in changes(s) for f in loops]
        self.outliving = {self.find(name) for name in self.lasting}
        self.outliving |= {self.find(name) for name, f in changed if self.is_carried_on(name, f)}
        kept = [] if function.kept is None else function.kept.fields
        self.escape([*function.results, *kept])
        self.escaping = {self.find(name) for name in (*self.lasting, *self.grown)}

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

    def is_carried_on(self, name: str, loop: F.For | F.While) -> bool:
        """Tell whether the steps of a loop may change an array that they do not make under a name that they carry."""
        memory, made = self.find(name), self.loops.get(name, ())
        carried = any(v != x and self.find(v.name) == memory for v, x in loop.carried)
        return carried and not any(f is loop for f in made)

    def is_scratch(self, x: F.Var) -> bool:
        """Tell whether an array, except for copies, does not outlive the step that makes it."""
        return is_numbers(x) and self.find(x.name) not in self.escaping

    def is_renewed(self, x: F.Var) -> bool:
        """Tell whether the statement that makes an array in a loop may reuse it and its memory in the next step.

        What leaves a loop is carried, so it has been copied; see `copied` with `outliving`.
        """
        return is_numbers(x) and self.find(x.name) not in self.outliving

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

    def copied(self, loop: F.For | F.While, lasting: Collection[str] | None = None) -> list[F.Var]:
        """Give the arrays that a loop must copy to carry them to the next step; classes that last are not copied."""
        made = {self.find(name) for name, f in self.loops.items() if any(flow is loop for flow in f)}
        made -= set(self.escaping if lasting is None else lasting)
        return [v for v, x in loop.carried if is_numbers(v) and v != x and self.find(v.name) in made]


def lasting_rows(function: F.Function, lifetimes: Lifetimes) -> set[str]:
    """Give the names of arrays whose description a frame keeps, or that grow, so that each step needs another one."""
    grown = {lifetimes.find(name) for name in lifetimes.grown}
    found = set(lifetimes.grown)
    same: list[tuple[F.Var, F.Operand]] = []
    for s, _ in walk(function.body):
        found |= {v.name for v in keeps(s)}
        if isinstance(s, F.Assign):
            same += zip(s.outs, s.values, strict=True)
        if isinstance(s, F.For | F.While):
            found |= {v.name for v, _ in s.carried if lifetimes.find(v.name) in grown}
            same += s.carried
    while more := {x.name for v, x in same if v.name in found and isinstance(x, F.Var)} - found:
        found |= more
    return found


def is_filled(
    array: F.Var, sizes: Sequence[F.Operand], after: Sequence[F.Statement], at: tuple[F.Operand, ...] = ()
) -> bool:
    """Tell whether the statements after `New` write each element before any is read."""
    for k, s in enumerate(after):
        if not mentions(s, array.name):
            continue
        if isinstance(s, F.Row) and s.array == array and s.indices == at:
            return is_filled(s.out, sizes[len(at) :], after[k + 1 :])
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
