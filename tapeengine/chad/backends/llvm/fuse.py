"""Remove arrays that are only summed or added to another array.

A loop that fills an array, which is only added to another array, adds to the latter directly. Each element gets one
contribution, so the sums have the same bits: a contribution to an array of zeros is added to zero first, and a sum that
began at zero is never ``-0.0``. A loop that builds an array, which is only summed or added, is fused with the sum, in
the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...intermediate import statements as F
from ...intermediate.analysis import keeps, named, outs, reads, walk, with_blocks
from ...intermediate.operations import REAL
from .lifetimes import Lifetimes


def accumulated(function: F.Function, times: Counter[str]) -> F.Function:
    """Give a function that adds to its sums directly."""
    if not any(isinstance(s, F.AddAll) for s, _ in walk(function.body)):
        return function
    return replace(function, body=at_arrays(function.body, times, Places(function).move))


def at_arrays(
    statements: Sequence[F.Statement], times: Counter[str], change: Callable[[list[F.Statement], F.New], None]
) -> list[F.Statement]:
    """Change statements, from the inside out, where two others use an array of one dimension that they make."""
    found = [with_blocks(s, lambda inner: at_arrays(inner, times, change)) for s in statements]
    for s in list(found):
        if isinstance(s, F.New) and times[s.out.name] == 3 and len(s.sizes) == 1:
            change(found, s)
    return found


class Places:
    """Finds the arrays to which arrays of contributions are added."""

    def __init__(self, function: F.Function) -> None:
        self.lifetimes = Lifetimes(function)
        self.params = {self.lifetimes.find(p.name) for p in function.params}

    def move(self, statements: list[F.Statement], made: F.New) -> None:
        """Let the loop that fills an array add to the array's sum, if no other statement uses either."""
        start = statements.index(made)
        after = statements[start + 1 :]
        last = next((s for s in after if isinstance(s, F.AddAll) and s.value == made.out), None)
        loop = next((s for s in after if isinstance(s, F.For) and filled(s, made.out)), None)
        if last is None or loop is None or statements.index(loop) > statements.index(last):
            return
        row = next((s for s in after if isinstance(s, F.Row) and s.out == last.array), None)
        between = statements[start + 1 : statements.index(last)]
        if row is not None and (row not in between or not self.may_move(row, between)):
            return
        if row is None and last.array.name in {v.name for s in between for v in outs(s)}:
            return
        if not self.is_apart(last.array, made.out, [s for s in between if s is not row]):
            return
        body = [
            replace(s, array=last.array) if isinstance(s, F.AddAt) and s.array == made.out else s for s in loop.body
        ]
        statements[statements.index(loop)] = replace(loop, body=body)
        statements.remove(last)
        if row is not None:
            statements.remove(row)
        statements[start : start + 1] = [] if row is None else [row]

    def may_move(self, row: F.Row, between: Sequence[F.Statement]) -> bool:
        """Tell whether a row may be read before the given statements."""
        given = {v.name for s, _ in walk(list(between)) for v in outs(s)}
        return not any(isinstance(x, F.Var) and x.name in given for x in (row.array, *row.indices))

    def is_apart(self, sums: F.Var, made: F.Var, between: Sequence[F.Statement]) -> bool:
        """Tell whether statements do not access the memory of the given sums."""
        memory = self.lifetimes.find(sums.name)
        if memory in self.params:
            return False
        named = {x for s, _ in walk(list(between)) for x in (*reads(s), *outs(s)) if isinstance(x, F.Var)} - {made}
        return not any(isinstance(x.type, F.ArrayOf) and self.lifetimes.find(x.name) == memory for x in named)


def filled(loop: F.For, array: F.Var) -> bool:
    """Tell whether each step of a loop adds to a different element of an array, and does not otherwise use it."""
    index = {loop.index.name}
    for s in loop.body:
        if isinstance(s, F.Assign):
            index |= {v.name for v, x in zip(s.outs, s.values, strict=True) if isinstance(x, F.Var) and x.name in index}
    adds = [s for s in loop.body if isinstance(s, F.AddAt) and s.array == array]
    return len(adds) == 1 and all(isinstance(i, F.Var) and i.name in index for i in adds[0].indices)


def fused(function: F.Function) -> F.Function:
    """Give a function without arrays that are only summed."""
    function = replace(function, body=added(function.body))
    times = occurrences(function)
    return accumulated(replace(function, body=at_arrays(function.body, times, join)), times)


def added(statements: Sequence[F.Statement]) -> list[F.Statement]:
    """Add to variables of which a loop carries sums, if its steps use them for nothing else."""
    found = [with_blocks(s, added) for s in statements]
    for s in found:
        if isinstance(s, F.For):
            times = Counter(v.name for t, _ in walk(s.body) for v in named(t))
            times.update(x.name for x in (*keeps(s), *(x for _, x in s.carried)) if isinstance(x, F.Var))
            s.carried = [pair for pair in s.carried if not as_sum(s.body, *pair, times)]
    return found


def as_sum(body: list[F.Statement], v: F.Var, x: F.Operand, times: Counter[str]) -> bool:
    """Let a step add to a variable instead of computing its next value."""
    for k, s in enumerate(body):
        if isinstance(s, F.Compute) and s.out == x and s.operation.name == "add" and v in s.args:
            body[k] = F.Add(v, s.args[s.args[0] == v])
            if times[v.name] == 1 and times[s.out.name] == 2:
                return True
            body[k] = s
    return False


def occurrences(function: F.Function) -> Counter[str]:
    """Count the occurrences of each variable."""
    times = Counter(v.name for s, _ in walk(function.body) for v in named(s))
    times.update(x.name for x in function.results if isinstance(x, F.Var))
    for kept in (function.kept, function.recalled):
        times.update(() if kept is None else [f.name for f in kept.fields])
    return times


def join(statements: list[F.Statement], made: F.New) -> None:
    """Fuse the loop that fills an array with the one that sums it, if the latter does nothing else."""
    array, count = made.out, made.sizes[0]
    build = next((s for s in statements if isinstance(s, F.For) and filled_by(s, array, count) is not None), None)
    total = next((s for s in statements if isinstance(s, F.For) and summed(s, array, count) is not None), None)
    if build is None or total is None:
        return
    start, end = statements.index(build), statements.index(total)
    into = summed(total, array, count)
    begins = [s for s in statements[start + 1 : end] if isinstance(s, F.Assign) and s.outs == (into,)]
    if into is None or len(begins) != 1 or not is_zero(begins[0].values[0]) or not starts_there(statements, into, end):
        return
    body = [F.Add(into, s.value) if isinstance(s, F.Store) and s.array == array else s for s in build.body]
    statements[start] = replace(build, body=body)
    statements.remove(total)
    statements.remove(begins[0])
    statements.insert(start, begins[0])
    statements.remove(made)


def starts_there(statements: Sequence[F.Statement], into: F.Var, end: int) -> bool:
    """Tell whether the variable of a sum occurs only in one assignment before its loop."""
    return sum(v == into for s, _ in walk(list(statements[:end])) for v in named(s)) == 1


def filled_by(s: F.For, array: F.Var, count: F.Operand) -> F.Store | None:
    """Give the statement by which each step of a loop writes its element."""
    stores = [x for x in s.body if isinstance(x, F.Store) and x.array == array and x.indices == (s.index,)]
    return stores[0] if s.count == count and not s.down and len(stores) == 1 else None


def summed(s: F.For, array: F.Var, count: F.Operand) -> F.Var | None:
    """Give the variable to which a loop adds all elements, if it does nothing else."""
    if s.count != count or s.down or s.carried or s.kept is not None or s.recalled or len(s.body) != 2:
        return None
    load, add = s.body
    if not isinstance(load, F.Load) or not isinstance(add, F.Add) or load.array != array or load.indices != (s.index,):
        return None
    return add.out if add.value == load.out and add.out.type == REAL else None


def is_zero(x: F.Operand) -> bool:
    """Tell whether a value is the literal 0.0."""
    return x == F.Const(0.0, REAL)
