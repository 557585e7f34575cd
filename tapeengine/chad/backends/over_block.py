"""A linear pass for a block of its arguments: a loop over the block, outside of which is what does not depend on it."""

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
) -> F.Function:
    """Give a function for a block of some parameters, which gives blocks of some results.

    The other parameters come first, then the blocks, then the sizes of the results. The function has run at these
    primals: what may raise an error, and is not needed for these results, is left out. Its first ``count`` statements do
    not depend on the parameters that vary.

    Raises
    ------
    NotWhole
        For parameters or results that are no arrays of real numbers.
    """
    alone = copy.deepcopy(replace(function, results=list(results)))
    first = list(map(id, alone.body[:count]))
    needed(alone, may_raise=False)
    blocks = [F.Var(f"{p.name}.block", longer(p.type)) for p in varied]
    sizes = [[F.Var(f"size.{k}.{d}", WHOLE) for d in range(rank_of(x.type) or 0)] for k, x in enumerate(results)]
    before, inside = divided([s for s in alone.body if id(s) not in first], varied)
    before = [*(s for s in alone.body if id(s) in first), *before]
    body, made = steps(blocks[0], [*map(part, varied, blocks), *inside], alone.results, sizes)
    others = [p for p in alone.params if p not in varied]
    return F.Function("block", [*others, *blocks, *(n for each in sizes for n in each)], [*before, *body], made)


def steps(
    block: F.Var, inside: Sequence[F.Statement], results: Sequence[F.Operand], sizes: Sequence[list[F.Var]]
) -> tuple[list[F.Statement], list[F.Operand]]:
    """Write the loop over a block, and the blocks of its results."""
    made = [F.Var(f"{k}.result", longer(x.type)) for k, x in enumerate(results)]
    new = [F.New(out, (COUNT, *each)) for out, each in zip(made, sizes, strict=True)]
    copies = [s for each in zip(results, made, sizes, strict=True) for s in copied(*each)]
    return [F.Size(COUNT, block, 0), *new, F.For(STEP, COUNT, [*inside, *copies])], [*made]


def divided(statements: Sequence[F.Statement], varied: Sequence[F.Var]) -> tuple[list[F.Statement], list[F.Statement]]:
    """Divide statements into those that do not depend on some variables, and the others."""
    dependent = {v.name for v in varied}
    changed = changed_rows(statements)
    touched = [names(s, changed) for s in statements]
    count = 0
    while count < len(dependent):
        count = len(dependent)
        for read, written in touched:
            if not dependent.isdisjoint(read | written):
                dependent |= written
    is_inside = [not dependent.isdisjoint(read | written) for read, written in touched]
    before = [s for s, inside in zip(statements, is_inside, strict=True) if not inside]
    return before, [s for s, inside in zip(statements, is_inside, strict=True) if inside]


def changed_rows(statements: Sequence[F.Statement]) -> set[str]:
    """Give the names of arrays and rows that statements change, also through rows of them."""
    every = [s for s, _ in walk(list(statements))]
    found = {v.name for s in every for v in changes(s)}
    count = 0
    while count < len(found):
        count = len(found)
        found |= {a.name for s in every if (a := array_of(s)) is not None and s.out.name in found}  # type: ignore[union-attr]
    return found


def array_of(s: F.Statement) -> F.Var | None:
    """Give the array of which a statement gives a part that shares memory."""
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


def copied(x: F.Operand, out: F.Var, sizes: Sequence[F.Var]) -> list[F.Statement]:
    """Copy a value into a block."""
    if isinstance(x, F.Const) or not isinstance(x.type, F.ArrayOf):
        return [F.Store(out, (STEP,), x)]
    inner = [F.Var(f"{out.name}.{d}", WHOLE) for d in range(len(sizes))]
    cell = F.Var(f"{out.name}.cell", REAL)
    body: list[F.Statement] = [F.Load(cell, x, tuple(inner), False), F.Store(out, (STEP, *inner), cell)]
    for index, size in reversed(list(zip(inner, sizes, strict=True))):
        body = [F.For(index, size, body)]
    return body
