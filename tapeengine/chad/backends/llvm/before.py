"""Move code before a loop: computations that are the same in all steps, checks of indices, memory for arrays.

This code runs only if the loop has a step. An index out of range refers the run to Python, which raises errors in
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...intermediate import statements as F
from ...intermediate.analysis import changes, name_of, named, outs, walk
from ...intermediate.operations import Scalar
from .body import Body, key


class Before:
    """Writes the code before a loop."""

    def __init__(self, b: Body, loop: F.For) -> None:
        self.b, self.loop = b, loop
        self.sums: dict[str, F.Compute] = {}
        self.outer = {*b.hoisted}, {**b.quotients}
        inside = [s for s, _ in walk(loop.body)]
        self.inside = {loop.index.name} | {v.name for s in inside for v in outs(s)}
        self.inside |= {v.name for v, _ in loop.carried}
        self.hidden = {name: b.known[name] for name in self.inside if name in b.known}
        self.held = self.hold({v.name: v for s in inside for v in named(s)})
        self.inside |= {f.name for k in loop.recalled for f in k.fields}
        self.inside -= b.hoisted
        changed = {v.name for s in inside for v in changes(s)}
        params = {p.name for p in b.function.params}
        self.changed: dict[str, list[str]] = {}
        for name in changed | (params if changed & params else set()):
            self.changed.setdefault(b.lifetimes.find(name), []).append(name)

    def hold(self, found: Mapping[str, F.Var]) -> set[str]:
        """Read the variables that change before or after the loop, but not in it; return their names."""
        b = self.b
        held = (found.keys() & b.changing & b.placed.keys()) - self.inside - b.lifetimes.grown
        b.known |= {name: b.value(found[name]) for name in sorted(held)}
        b.changing -= held
        return held

    def is_fixed(self, x: F.Operand) -> bool:
        """Tell whether a value is the same in all steps."""
        if isinstance(x, F.Const):
            return True
        return x.name in self.b.known and x.name not in self.b.changing and x.name not in self.inside

    def write(self, count: str) -> None:
        """Write the statements of the steps that can be moved before the loop."""
        for s in self.loop.body if self.b.is_main and not self.b.depth else ():  # a loop that runs once
            if isinstance(s, F.New) and self.may_share(s):
                self.b.rooms[id(s)] = self.b.room(s)
        self.move(self.loop.body)
        for s in self.b.left(self.loop.body):
            if isinstance(s, F.Compute) and self.sum_of(s) is not None:
                self.sums[s.out.name] = s
            elif isinstance(s, F.Load | F.Row) and s.checked and id(s) not in self.b.checked and self.is_fixed(s.array):
                self.check(s, count)

    def move(self, statements: Iterable[F.Statement]) -> None:
        """Write the statements that are the same in the steps that follow, also in copies of the loop."""
        for s in self.b.left(statements):
            if self.may_go(s):
                self.b.block([s])
                self.b.hoisted.add(key(s))
                self.inside.discard(key(s))

    def may_share(self, s: F.New) -> bool:
        """Tell whether an array of each step, which does not outlive it, may lie in the same memory in all steps."""
        scratch = self.b.lifetimes.is_scratch(s.out) and not self.b.lifetimes.on_stack(s)
        return bool(s.sizes) and scratch and all(map(self.is_fixed, s.sizes))

    def may_go(self, s: F.Statement) -> bool:
        """Tell whether a statement may be written before the loop."""
        if key(s) in self.b.changing:
            return False
        match s:
            case F.Compute(_, operation, args):
                return all(map(self.is_fixed, args)) or (operation.name == "ifloordiv" and args in self.b.quotients)
            case F.Load(_, array, indices) | F.Row(_, array, indices):
                if isinstance(array, F.Const) or not all(map(self.is_fixed, (array, *indices))):
                    return False
                return isinstance(s, F.Row) or self.is_unchanged(array)
            case F.Size():
                return self.is_fixed(s.array)
        return False

    def is_unchanged(self, array: F.Var) -> bool:
        """Tell whether no step changes an array of numbers."""
        assert isinstance(array.type, F.ArrayOf)
        lifetimes = self.b.lifetimes
        changed = self.changed.get(lifetimes.find(array.name), ())
        return isinstance(array.type.element, Scalar) and all(lifetimes.is_before(array.name, x) for x in changed)

    def memory(self, x: F.Operand) -> str:
        """Give the class of arrays that may be the same memory."""
        return self.b.lifetimes.find(name_of(x))

    def check(self, s: F.Load | F.Row, count: str) -> None:
        """Check the indices of a statement that are the same in all steps, or are the loop's index."""
        b = self.b
        sizes = b.value(s.array)[1:]
        for k, x in enumerate(s.indices):
            if x == self.loop.index:
                if sizes[k] != count and not b.is_reverse:
                    b.refer_if(f"icmp slt i64 {sizes[k]}, {count}")
            elif isinstance(x, F.Var) and x.name in self.sums:
                self.check_sum(self.sums[x.name], sizes[k], count)
            elif self.is_fixed(x):
                b.prepared[id(s), k] = b.index(x, sizes[k], checked=not b.is_reverse)
            else:
                return
        b.checked.add(id(s))

    def sum_of(self, s: F.Compute) -> F.Operand | None:
        """Give the operand that a statement adds to the loop's index, if it is non-negative and invariant."""
        if s.operation.name != "iadd":
            return None
        first, second = s.args
        other = second if first == self.loop.index else first if second == self.loop.index else None
        return other if other is not None and self.is_fixed(other) and self.b.is_index(other) else None

    def check_sum(self, s: F.Compute, size: str, count: str) -> None:
        """Check an index that is the sum of the loop's and a non-negative number; the last one is the largest."""
        b, start = self.b, self.sum_of(s)
        if not b.is_reverse:
            assert start is not None
            left = b.op(f"sub nsw i64 {size}, {count}")
            b.refer_if(f"icmp slt i64 {left}, {b.one(start)}")
        b.checked.add(id(s))

    def leave(self) -> None:
        """Discard the facts after the loop, and the values of variables that the steps have computed again."""
        b, known = self.b, {id(s) for s in self.loop.body}
        b.known |= self.hidden
        b.changing |= self.held
        b.checked -= known
        b.hoisted, b.quotients = self.outer
        b.prepared = {key: i for key, i in b.prepared.items() if key[0] not in known}
