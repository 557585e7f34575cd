"""Fuse loops that build an array, which is only summed or added to another one, with the sum, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tapeengine.chad.backends.llvm.accumulate import accumulated, at_arrays
from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.analysis import named, walk
from tapeengine.chad.intermediate.operations import REAL


def fused(function: F.Function) -> F.Function:
    """Give a function without arrays that are only summed.

    Parameters
    ----------
    function : Function

    Examples
    --------
    >>> from tapeengine.chad.intermediate.operations import WHOLE
    >>> i, j, n = F.Var("i", WHOLE), F.Var("j", WHOLE), F.Const(3, WHOLE)
    >>> a, x, total = F.Var("a", F.ArrayOf(REAL)), F.Var("x", REAL), F.Var("total", REAL)
    >>> build = F.For(i, n, [F.Store(a, (i,), F.Const(1.0, REAL))])
    >>> add = F.For(j, n, [F.Load(x, a, (j,), checked=False), F.Add(total, x)])
    >>> body = [F.New(a, (n,)), build, F.Assign((total,), (F.Const(0.0, REAL),)), add]
    >>> [type(s).__name__ for s in fused(F.Function("f", [], body, [total])).body]
    ['Assign', 'For']
    """
    times = occurrences(function)
    return accumulated(replace(function, body=at_arrays(function.body, times, join)), times)


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
    return isinstance(x, F.Const) and x.value == 0.0
