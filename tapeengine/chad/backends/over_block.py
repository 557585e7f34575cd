"""A linear pass for a block of arguments: a loop over the block, after the statements that do not depend on it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from ..intermediate import statements as F
from ..intermediate.analysis import changes, keeps, needed, outs, reads, recalls, walk
from ..intermediate.operations import REAL, WHOLE
from .whole.values import NotWhole

#: The index of a loop over a block, and the number of its steps.
STEP, COUNT = F.Var("k.block", WHOLE), F.Var("n.block", WHOLE)


def over_block(
    function: F.Function, varied: Sequence[F.Var], results: Sequence[F.Operand], count: int = 0
) -> tuple[F.Function, list[int]]:
    """Give a function for a block of some parameters, which gives blocks of some results.

    The other parameters come first, then the blocks, then the sizes of the results whose numbers are listed,
    which do not follow from other sizes. The function has run at these primals, in Python perhaps: what may raise
    an error of Python's, and is not needed for the results, is left out. Its first ``count`` statements do not depend
    on what varies.

    It raises `NotWhole` for parameters or results that are no arrays of real numbers.
    """
    alone = copy.deepcopy(replace(function, results=list(results)))
    first = list(map(id, alone.body[:count]))
    needed(alone, may_raise=False, may_differ=True)
    blocks = [F.Var(f"{p.name}.block", longer(p.type)) for p in varied]
    before, inside = divided([s for s in alone.body if id(s) not in first], varied)
    before = [*(s for s in alone.body if id(s) in first), *before]
    known = [sizes_when_made(x, before, inside) for x in alone.results]
    given = {k: unknown(k, x) for k, (x, found) in enumerate(zip(alone.results, known, strict=True)) if found is None}
    sizes: list[Sequence[F.Operand]] = [given[k] if x is None else x for k, x in enumerate(known)]
    body, made = steps(blocks[0], [*map(part, varied, blocks), *inside], alone.results, sizes)
    params = [*(p for p in alone.params if p not in varied), *blocks, *(n for each in given.values() for n in each)]
    return F.Function("block", params, [*before, *body], made), list(given)


def sizes_when_made(
    x: F.Operand, before: Sequence[F.Statement], inside: Sequence[F.Statement]
) -> Sequence[F.Operand] | None:
    """Give the sizes with which a step of a block makes a result, if they are the same in each; else None."""
    if not rank_of(x.type):
        return ()
    early = {v.name for s in before for v in outs(s)}
    for s in inside:
        if isinstance(s, F.New) and s.out == x and all(isinstance(n, F.Const) or n.name in early for n in s.sizes):
            return s.sizes or None
    return None


def unknown(k: int, x: F.Operand) -> Sequence[F.Var]:
    """Give parameters for the sizes of a result."""
    return [F.Var(f"size.{k}.{d}", WHOLE) for d in range(rank_of(x.type) or 0)]


def steps(
    block: F.Var, inside: Sequence[F.Statement], results: Sequence[F.Operand], sizes: Sequence[Sequence[F.Operand]]
) -> tuple[list[F.Statement], list[F.Operand]]:
    """Write the loop over a block, and the blocks of its results."""
    made = [F.Var(f"result.{k}", longer(x.type)) for k, x in enumerate(results)]
    new = [F.New(out, (COUNT, *each)) for out, each in zip(made, sizes, strict=True)]
    copies = [s for each in zip(results, made, sizes, strict=True) for s in copied(*each)]
    return [F.Size(COUNT, block, 0), *new, F.For(STEP, COUNT, [*inside, *copies])], [*made]


def divided(statements: Sequence[F.Statement], varied: Sequence[F.Var]) -> tuple[list[F.Statement], list[F.Statement]]:
    """Divide statements into those that do not depend on some variables, and the others."""
    dependent = {v.name for v in varied}
    changed = changed_rows(statements)
    touched = [(read | written, written) for read, written in (names(s, changed) for s in statements)]
    while more := {n for every, written in touched if not dependent.isdisjoint(every) for n in written} - dependent:
        dependent |= more
    is_inside = [not dependent.isdisjoint(every) for every, _ in touched]
    before = [s for s, inside in zip(statements, is_inside, strict=True) if not inside]
    return before, [s for s, inside in zip(statements, is_inside, strict=True) if inside]


def changed_rows(statements: Sequence[F.Statement]) -> set[str]:
    """Give the names of arrays and rows that statements change, also through rows of them."""
    every = [s for s, _ in walk(list(statements))]
    found = {v.name for s in every for v in changes(s)}
    rows = [(s.out.name, a.name) for s in every if (a := array_of(s)) is not None]  # type: ignore[union-attr]
    while more := {array for row, array in rows if row in found} - found:
        found |= more
    return found


def array_of(s: F.Statement) -> F.Var | None:
    """Give the array of which a statement makes a view."""
    is_row = isinstance(s, F.Row | F.Load) and isinstance(s.out.type, F.ArrayOf) and isinstance(s.array, F.Var)
    return s.array if is_row else None  # type: ignore[union-attr, return-value]


def names(s: F.Statement, changed: set[str]) -> tuple[set[str], set[str]]:
    """Give the names that a statement reads, and those that it assigns, changes or keeps in frames.

    Of what a frame restores, the forward pass decides the value.
    """
    read: set[str] = set()
    written: set[str] = set()
    for x, _ in walk([s]):
        array, restored = array_of(x), {v.name for v in recalls(x)}
        read |= {v.name for v in reads(x) if isinstance(v, F.Var)}
        written |= {v.name for v in (*outs(x), *changes(x), *keeps(x)) if v.name not in restored}
        if array is not None and array.name in changed:
            written.add(array.name)
    return read, written


def rank_of(of: F.Type) -> int | None:
    """Give the number of dimensions of real numbers; None for another type."""
    if isinstance(of, F.ArrayOf):
        return of.rank if of.element == REAL else None
    return 0 if of == REAL else None


def longer(of: F.Type) -> F.ArrayOf:
    """Give the type of a block of values."""
    rank = rank_of(of)
    if rank is None:
        raise NotWhole("a value that is no array of real numbers")
    return F.ArrayOf(REAL, rank + 1)


def part(p: F.Var, block: F.Var) -> F.Statement:
    """Read one value of a block."""
    return F.Row(p, block, (STEP,), False) if isinstance(p.type, F.ArrayOf) else F.Load(p, block, (STEP,), False)


def copied(x: F.Operand, out: F.Var, sizes: Sequence[F.Operand]) -> list[F.Statement]:
    """Copy a value into a block."""
    if isinstance(x, F.Const) or not isinstance(x.type, F.ArrayOf):
        return [F.Store(out, (STEP,), x)]
    inner = [F.Var(f"{out.name}.{d}", WHOLE) for d in range(len(sizes))]
    cell = F.Var(f"{out.name}.cell", REAL)
    body: list[F.Statement] = [F.Load(cell, x, tuple(inner), False), F.Store(out, (STEP, *inner), cell)]
    for index, size in reversed(list(zip(inner, sizes, strict=True))):
        body = [F.For(index, size, body)]
    return body
