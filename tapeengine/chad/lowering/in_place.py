"""Write changes of one element in place if the previous array is not used afterwards (EC section 5).

A program changes an array step by step, and each `Changed` defines another array: names that pass an array to one
another form a chain. A chain becomes one array if no two of its names are live at once, no frame keeps one of them, and
arrays that enter it are copied. Arrays that a loop's variables exchange enter and leave chains in each step, so that a
step copies them once, and not for each element. A change is then a `Store`, an `Append` or a `Pop`. All other changes
copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..intermediate import statements as F
from ..intermediate.analysis import blocks, keeps, outs, reads, recalls, walk
from ..intermediate.operations import WHOLE, Scalar, operation
from .builder import Builder

ZERO, ONE = F.Const(0, WHOLE), F.Const(1, WHOLE)


def in_place(function: F.Function, b: Builder) -> None:
    """Write all changes of arrays in a function: in place if that is equivalent, otherwise on copies."""
    if any(isinstance(s, F.Changed) for s, _ in walk(function.body)):
        writer = Writer(Chains(function), b)
        function.body[:] = writer.block(function.body)
        function.results[:] = [writer.array(x) for x in function.results]


def is_numbers(x: F.Operand) -> bool:
    """Tell whether an operand is a vector of numbers."""
    return (
        isinstance(x, F.Var)
        and isinstance(x.type, F.ArrayOf)
        and x.type.rank == 1
        and isinstance(x.type.element, Scalar)
    )


class Chains:
    """The chains of names that pass an array to one another, and which of these chains can be one array."""

    def __init__(self, function: F.Function) -> None:
        self.function = function
        self.parent: dict[str, str] = {}
        sites = list(walk(function.body))
        edges = [e for s, around in sites for e in handed(s, around)]
        self.made = {e.out.name for e in edges}
        self.loops: dict[str, F.Flow] = {
            v.name: s for s, _ in sites if isinstance(s, F.For | F.While) for v, _ in s.carried
        }
        self.swapped = self.exchanged(edges)
        for e in edges:
            if not self.swaps(e):
                self.join(e)
        self.resized = {self.find(s.out.name) for s, _ in sites if isinstance(s, F.Changed) and s.index is None}
        self.whole = {self.find(s.out.name) for s, _ in sites if isinstance(s, F.Changed)}
        self.entered_twice: set[str] = set()
        for s, _ in sites:
            self.check(s)
        self.check_edges(edges)
        ends = [x.name for x in function.results if isinstance(x, F.Var)]
        self.refuse(f.name for k in (function.kept, function.recalled) if k is not None for f in k.fields)
        self.before(function.body, {name for name in ends if self.of(name)})

    # ------------------------------------------------------------ chains

    def find(self, name: str) -> str:
        """Give the representative of a chain."""
        while name in self.parent:
            name = self.parent[name]
        return name

    def of(self, name: str) -> str | None:
        """Give the representative of a name's chain, unless it is known not to be one array."""
        root = self.find(name)
        return root if root in self.whole and name in self.made else None

    def join(self, e: Edge) -> None:
        """Join the ends of an edge in one chain, unless the array comes from outside."""
        if e.value.name in self.made:
            a, b = self.find(e.out.name), self.find(e.value.name)
            if a != b:
                self.parent[a] = b

    def exchanged(self, edges: list[Edge]) -> frozenset[str]:
        """Give the variables of loops that pass their arrays to one another from step to step."""
        for e in edges:
            self.join(e)
        among: dict[tuple[int, str], set[str]] = {}
        for name, loop in self.loops.items():
            if name in self.made:
                among.setdefault((id(loop), self.find(name)), set()).add(name)
        self.parent.clear()
        found = [names for names in among.values() if len(names) > 1]
        return frozenset(x for names in found for x in self.passing(names, edges))

    def passing(self, names: set[str], edges: list[Edge]) -> set[str]:
        """Add to variables of a loop those of a step that pass arrays to them, as after an ``if``."""
        loop = next(self.loops[name] for name in names)
        within = [e for e in edges if not isinstance(e.by, F.Changed) and (e.by is loop or loop in e.around)]
        joins = {e.out.name for e in within if isinstance(e.by, F.Assign)}.difference(self.loops)
        while more := {e.value.name for e in within if e.out.name in names and e.value.name in joins} - names:
            names = names | more
        return names

    def swaps(self, e: Edge) -> bool:
        """Tell whether an array comes from a variable that exchanges arrays, or goes to one."""
        return e.out.name in self.swapped or e.value.name in self.swapped

    def hand_over(self, pairs: Iterable[tuple[F.Var, F.Operand]], live: set[str]) -> None:
        """Refuse chains that change an array after a statement has given it to a variable that exchanges arrays."""
        given = [x.name for v, x in pairs if v.name in self.swapped and isinstance(x, F.Var) and self.of(x.name)]
        roots = {self.find(name) for name in given}
        self.refuse(name for name in live if self.find(name) in roots)
        self.refuse(name for name in given if sum(self.find(x) == self.find(name) for x in given) > 1)

    def refuse(self, names: Iterator[str]) -> None:
        """Record that chains are not one array."""
        for name in names:
            self.whole.discard(self.find(name))

    def check_edges(self, edges: list[Edge]) -> None:
        """Refuse chains that arrays enter in a loop that passes the array on, or at several places with other sizes."""
        come = set()
        for e in edges:
            root = self.find(e.out.name)
            if e.value.name in self.made and self.find(e.value.name) == root:
                continue
            if root in come:
                self.entered_twice.add(root)
            if (root in come and root in self.resized) or any(
                self.find(v.name) == root for f in e.around if isinstance(f, F.For | F.While) for v, _ in f.carried
            ):
                self.whole.discard(root)
            if isinstance(e.by, F.Flow):
                self.whole.discard(root)
            come.add(root)

    def check(self, s: F.Statement) -> None:
        """Refuse chains whose array a statement uses as a whole."""
        seen = [x.name for x in reads(s) if isinstance(x, F.Var) and x.name in self.made]
        match s:
            case F.Load() | F.Changed() | F.Store() | F.AddAt() | F.Append() | F.Assign() | F.For() | F.While():
                seen = [x for x in seen if x in taken(s)]
            case F.Size() | F.Sum() | F.AddAll():
                return
        self.refuse(iter(seen))
        self.refuse(f.name for f in (*keeps(s), *recalls(s)))

    # ------------------------------------------------------------ liveness

    def before(self, statements: list[F.Statement], after: set[str]) -> set[str]:
        """Give the names of chains that are live before statements; refuse chains with two live names anywhere."""
        for s in reversed(statements):
            after = self.point(self.alive(s, after))
        return after

    def point(self, alive: set[str]) -> set[str]:
        """Refuse chains with several live names."""
        roots: set[str] = set()
        for name in alive:
            root = self.find(name)
            if root in roots:
                self.whole.discard(root)
            roots.add(root)
        return alive

    def alive(self, s: F.Statement, after: set[str]) -> set[str]:
        """Give the names that are live before a statement."""
        match s:
            case F.For() | F.While():
                return self.around(s, after)
            case F.If():
                return self.before(s.then, after) | self.before(s.orelse, after)
            case F.Changed() if s.array.name in after:
                self.refuse(iter((s.array.name,)))
            case F.Assign():
                pairs = list(zip(s.outs, s.values, strict=True))
                self.hand_over(pairs, after - {v.name for v, _ in pairs} | self.passed(pairs))
        gone = {v.name for v in outs(s)} if isinstance(s, F.Changed | F.Assign) else set()
        return (after - gone) | self.names(reads(s))

    def around(self, s: F.For | F.While, after: set[str]) -> set[str]:
        """Give the names that are live before a loop."""
        carried = {v.name for v, _ in s.carried}
        head: set[str] = set()
        for _ in range(2):
            self.hand_over(s.carried, (after | head) - carried | self.passed(s.carried))
            end = (self.point(after | head) - carried) | self.names(tuple(x for _, x in s.carried))
            inside = self.before(s.body, end)
            head = self.before(s.test, after | inside) if isinstance(s, F.While) else inside
        return after | head

    def passed(self, pairs: Iterable[tuple[F.Var, F.Operand]]) -> set[str]:
        """Give the names of arrays that variables get without exchanging them."""
        return self.names(tuple(x for v, x in pairs if v.name not in self.swapped))

    def names(self, xs: tuple[F.Operand, ...]) -> set[str]:
        """Give the names of chains among operands."""
        return {x.name for x in xs if isinstance(x, F.Var) and self.of(x.name)}


@dataclass(frozen=True, eq=False)
class Edge:
    """``out`` is ``value``, or a change of it."""

    out: F.Var
    value: F.Var
    by: F.Statement
    around: tuple[F.Flow, ...]


def handed(s: F.Statement, around: tuple[F.Flow, ...]) -> Iterator[Edge]:
    """Iterate over the edges of a statement."""
    pairs: list[tuple[F.Var, F.Operand]] = []
    match s:
        case F.Changed():
            pairs = [(s.out, s.array)]
        case F.Assign():
            pairs = list(zip(s.outs, s.values, strict=True))
        case F.For() | F.While():
            pairs = s.carried
    for out, x in pairs:
        if is_numbers(out) and isinstance(x, F.Var):
            yield Edge(out, x, s, around)


def taken(s: F.Statement) -> set[str]:
    """Give the names that a statement reads in another way than changing, indexing or passing on an array."""
    if isinstance(s, F.Load | F.Changed | F.Store | F.AddAt | F.Append):
        return {x.name for x in reads(s)[1:] if isinstance(x, F.Var)}
    return set()


class Writer:
    """Writes changes, in place or on copies."""

    def __init__(self, chains: Chains, b: Builder) -> None:
        self.chains, self.b = chains, b
        self.arrays: dict[str, F.Var] = {}

    def block(self, statements: list[F.Statement]) -> list[F.Statement]:
        """Write statements."""
        return [x for s in statements for x in self.statement(s)]

    def root(self, x: Any) -> str | None:
        """Give the representative of a name's chain if the chain is one array."""
        return self.chains.of(x.name) if isinstance(x, F.Var) and is_numbers(x) else None

    def array(self, x: Any) -> Any:
        """Give the array of a name's chain; any other operand is unchanged."""
        root = self.root(x)
        if root is None:
            return x
        if root not in self.arrays:
            self.arrays[root] = self.b.fresh(x.name, x.type)
        return self.arrays[root]

    def statement(self, s: F.Statement) -> list[F.Statement]:
        """Write one statement."""
        match s:
            case F.Changed():
                return self.changed(s)
            case F.Assign():
                return self.assigned(s)
            case F.For() | F.While() | F.If():
                for body in blocks(s):
                    body[:] = self.block(body)
                if not isinstance(s, F.If):
                    s.carried = [(v, self.array(x)) for v, x in s.carried if self.root(v) is None]
            case F.Load() | F.Store() | F.AddAt() | F.Append() | F.Size() | F.Sum():
                s.array = self.array(s.array)
            case F.AddAll():
                s.array, s.value = self.array(s.array), self.array(s.value)
        return [s]

    def changed(self, s: F.Changed) -> list[F.Statement]:
        """Write a change."""
        root = self.root(s.out)
        if root is None:
            return self.on_copy(s)
        array = self.array(s.out)
        begin = [] if self.root(s.array) == root else self.entered(s.array, array, root)
        if s.index is not None and s.value is not None:
            return [*begin, *self.stored(array, s)]
        return [*begin, F.Pop(array) if s.value is None else F.Append(array, s.value)]

    def assigned(self, s: F.Assign) -> list[F.Statement]:
        """Write an assignment: omit a chain's assignment to itself, and copy arrays that enter or leave a chain."""
        found: list[F.Statement] = []
        pairs = []
        for out, x in zip(s.outs, s.values, strict=True):
            root, of = self.root(out), self.root(x)
            if root is not None:
                found += [] if of == root else self.entered(x, self.array(out), root)
            else:
                pairs.append((out, self.array(x)))
        rest = [F.Assign(tuple(v for v, _ in pairs), tuple(x for _, x in pairs))] if pairs else []
        return [*found, *rest]

    # ------------------------------------------------------------ in place

    def entered(self, x: Any, array: F.Var, root: str) -> list[F.Statement]:
        """Copy an array that enters a chain."""
        given, n = self.array(x), self.b.fresh("n", WHOLE)
        if root not in self.chains.entered_twice:
            return [F.Size(n, given, 0), *self.copied(given, array, n, root in self.chains.resized)]
        copy = self.b.fresh(array.name, array.type)
        return [F.Size(n, given, 0), *self.copied(given, copy, n), F.Assign((array,), (copy,))]

    def copied(self, x: F.Var, out: F.Var, size: F.Operand, grows: bool = False) -> list[F.Statement]:
        """Copy the first elements of an array."""
        k, v = self.b.fresh("k", WHOLE), self.b.fresh("x", x.type.element)  # type: ignore[union-attr]
        add: F.Statement = F.Append(out, v) if grows else F.Store(out, (k,), v)
        return [F.New(out, () if grows else (size,)), F.For(k, size, [F.Load(v, x, (k,), False), add])]

    def stored(self, array: F.Var, s: F.Changed) -> list[F.Statement]:
        """Write an element, if there is one at an index."""
        assert s.index is not None
        assert s.value is not None
        store = F.Store(array, (s.index,), s.value)
        if s.is_there:
            return [store]
        if isinstance(s.index, F.Const) and s.index.value < 0:  # type: ignore[operator]
            return []
        n = self.b.fresh("n", WHOLE)
        below, above = self.compute("lt", s.index, n), self.compute("le", ZERO, s.index)
        inner: list[F.Statement] = [F.Size(n, array, 0), below, F.If(below.out, [store], [])]
        return inner if isinstance(s.index, F.Const) else [above, F.If(above.out, inner, [])]

    def compute(self, name: str, *args: F.Operand) -> F.Compute:
        """Write an operation on integers."""
        op = operation(name, tuple(x.type for x in args))
        return F.Compute(self.b.fresh("t", op.gives), op, args)

    # ------------------------------------------------------------ on copies

    def on_copy(self, s: F.Changed) -> list[F.Statement]:
        """Write a change as a copy."""
        n = self.b.fresh("n", WHOLE)
        if s.index is not None and s.value is not None:
            return [F.Size(n, s.array, 0), *self.copied(s.array, s.out, n), *self.stored(s.out, s)]
        if s.value is None:
            less = self.compute("isub", n, ONE)
            return [F.Size(n, s.array, 0), less, *self.copied(s.array, s.out, less.out)]
        more = self.compute("iadd", n, ONE)
        new, loop = self.copied(s.array, s.out, n)
        assert isinstance(new, F.New)
        new.sizes = (more.out,)
        return [F.Size(n, s.array, 0), more, new, loop, F.Store(s.out, (n,), s.value)]
