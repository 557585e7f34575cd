"""Fuse loops that build an array, which is only summed or added to another one, with the sum, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tapeengine.chad.backends.llvm.accumulate import accumulated, at_arrays
from tapeengine.chad.intermediate.analysis import named, walk
from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.intermediate.statements import (
    Add,
    Assign,
    Const,
    For,
    Function,
    Load,
    New,
    Operand,
    Statement,
    Store,
    Var,
)


def fused(function: Function) -> Function:
    """Give a function without arrays that are only summed.

    Parameters
    ----------
    function : Function

    Examples
    --------
    >>> from tapeengine.chad.intermediate.operations import WHOLE
    >>> from tapeengine.chad.intermediate.statements import ArrayOf
    >>> i, j, n = Var("i", WHOLE), Var("j", WHOLE), Const(3, WHOLE)
    >>> a, x, total = Var("a", ArrayOf(REAL)), Var("x", REAL), Var("total", REAL)
    >>> build = For(i, n, [Store(a, (i,), Const(1.0, REAL))])
    >>> add = For(j, n, [Load(x, a, (j,), checked=False), Add(total, x)])
    >>> body = [New(a, (n,)), build, Assign((total,), (Const(0.0, REAL),)), add]
    >>> [type(s).__name__ for s in fused(Function("f", [], body, [total])).body]
    ['Assign', 'For']
    """
    times = occurrences(function)
    return accumulated(replace(function, body=at_arrays(function.body, times, join)), times)


def occurrences(function: Function) -> Counter[str]:
    """Count the occurrences of each variable."""
    times = Counter(v.name for s, _ in walk(function.body) for v in named(s))
    times.update(x.name for x in function.results if isinstance(x, Var))
    for kept in (function.kept, function.recalled):
        times.update(() if kept is None else [f.name for f in kept.fields])
    return times


def join(statements: list[Statement], made: New) -> None:
    """Fuse the loop that fills an array with the one that sums it, if the latter does nothing else."""
    array, count = made.out, made.sizes[0]
    build = next((s for s in statements if isinstance(s, For) and filled_by(s, array, count) is not None), None)
    total = next((s for s in statements if isinstance(s, For) and summed(s, array, count) is not None), None)
    if build is None or total is None:
        return
    start, end = statements.index(build), statements.index(total)
    into = summed(total, array, count)
    begins = [s for s in statements[start + 1 : end] if isinstance(s, Assign) and s.outs == (into,)]
    if into is None or len(begins) != 1 or not is_zero(begins[0].values[0]) or not starts_there(statements, into, end):
        return
    body = [Add(into, s.value) if isinstance(s, Store) and s.array == array else s for s in build.body]
    statements[start] = replace(build, body=body)
    statements.remove(total)
    statements.remove(begins[0])
    statements.insert(start, begins[0])
    statements.remove(made)


def starts_there(statements: Sequence[Statement], into: Var, end: int) -> bool:
    """Tell whether the variable of a sum occurs only in one assignment before its loop."""
    return sum(v == into for s, _ in walk(list(statements[:end])) for v in named(s)) == 1


def filled_by(s: For, array: Var, count: Operand) -> Store | None:
    """Give the statement by which each step of a loop writes its element."""
    stores = [x for x in s.body if isinstance(x, Store) and x.array == array and x.indices == (s.index,)]
    return stores[0] if s.count == count and not s.down and len(stores) == 1 else None


def summed(s: For, array: Var, count: Operand) -> Var | None:
    """Give the variable to which a loop adds all elements, if it does nothing else."""
    if s.count != count or s.down or s.carried or s.kept is not None or s.recalled or len(s.body) != 2:
        return None
    load, add = s.body
    if not isinstance(load, Load) or not isinstance(add, Add) or load.array != array or load.indices != (s.index,):
        return None
    return add.out if add.value == load.out and add.out.type == REAL else None


def is_zero(x: Operand) -> bool:
    """Tell whether a value is the literal 0.0."""
    return isinstance(x, Const) and x.value == 0.0
