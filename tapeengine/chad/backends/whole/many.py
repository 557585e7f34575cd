"""Passes for a block of cotangents or arguments: a loop over the block, whose steps are whole-array operations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from ...intermediate import statements as F
from ...intermediate.analysis import changes, keeps, needed, outs, reads, walk
from ...intermediate.operations import REAL, WHOLE
from .values import NotWhole


def for_many(forward: F.Function, reverse: F.Function, wanted: Sequence[int]) -> tuple[F.Function, F.Function]:
    """Give both passes; the parameters and results of the reverse pass have an additional first axis.

    Raises
    ------
    NotWhole
        If the value has no real numbers.
    """
    real = [p for p in forward.params if rank_of(p.type) is not None]
    if not reverse.params or len(real) != len(reverse.results) or forward.kept is None:
        raise NotWhole("a value or an argument that is no array of numbers")
    primals = [forward.params[k] for k in wanted]
    results = [reverse.results[real.index(p)] for p in primals]
    given = list(map(block_of, reverse.params))
    inside = [part(p, block) for p, block in zip(reverse.params, given, strict=True)]
    measures, sizes = measured(primals)
    body, made = steps(given[0], [*inside, *reverse.body], results, sizes)
    body = [*measures, *body]
    kept = F.Kept(forward.kept.frames, [*forward.kept.fields, *(p for p in primals if p not in forward.kept.fields)])
    return replace(forward, kept=kept), replace(reverse, params=given, body=body, results=list(made), recalled=kept)


def for_columns(forward: F.Function, reverse: F.Function, along: int, wanted: int) -> F.Function:
    """Give both passes as one function for a block of arguments of one parameter.

    Raises
    ------
    NotWhole
        For other results.
    """
    if [p.type for p in reverse.params] != [REAL, REAL]:
        raise NotWhole("a value that is not a number")
    varied, primal = forward.params[along], forward.params[wanted]
    real = [p for p in forward.params if rank_of(p.type) is not None]
    if len(real) != len(reverse.results):
        raise NotWhole("an argument that is no array of numbers")
    block = block_of(varied)
    seed = F.Assign(tuple(reverse.params), (F.Const(0.0, REAL), F.Const(1.0, REAL)))
    before, inside = divided([*forward.body, seed, *reverse.body], [varied])
    measures, sizes = measured([primal])
    body, made = steps(block, [part(varied, block), *inside], [reverse.results[real.index(primal)]], sizes)
    params = [block if k == along else p for k, p in enumerate(forward.params)]
    return F.Function("columns", params, [*before, *measures, *body], list(made))


def for_tangents(function: F.Function, count: int, results: Sequence[F.Operand]) -> F.Function:
    """Give a tangent function for a block of its last ``count`` parameters, the tangents.

    It returns blocks of some results, whose sizes are further parameters. The function has run at these primals, so
    what may raise an error and is not needed for these results is left out.

    Raises
    ------
    NotWhole
        For results that are no arrays of numbers.
    """
    alone = copy.deepcopy(replace(function, results=list(results)))
    needed(alone, may_raise=False)
    varied = alone.params[-count:]
    blocks = list(map(block_of, varied))
    sizes = [[F.Var(f"size.{k}.{d}", WHOLE) for d in range(rank_of(x.type) or 0)] for k, x in enumerate(results)]
    before, inside = divided(alone.body, varied)
    body, made = steps(blocks[0], [*map(part, varied, blocks), *inside], alone.results, sizes)
    params = [*alone.params[:-count], *blocks, *(n for each in sizes for n in each)]
    return F.Function("columns", params, [*before, *body], list(made))


def block_of(p: F.Var) -> F.Var:
    """Give the variable of a block of values."""
    return F.Var(f"{p.name}.block", longer(p.type))


def measured(primals: Sequence[F.Var]) -> tuple[list[F.Statement], list[list[F.Var]]]:
    """Read the sizes of primals."""
    sizes = [[F.Var(f"{p.name}.{d}", WHOLE) for d in range(rank_of(p.type) or 0)] for p in primals]
    return [F.Size(n, p, d) for p, each in zip(primals, sizes, strict=True) for d, n in enumerate(each)], sizes


def divided(statements: Sequence[F.Statement], varied: Sequence[F.Var]) -> tuple[list[F.Statement], list[F.Statement]]:
    """Divide statements into those that do not depend on some variables, and the others."""
    dependent = {v.name for v in varied}
    touched = [names(s) for s in statements]
    count = 0
    while count < len(dependent):
        count = len(dependent)
        for read, written in touched:
            if not dependent.isdisjoint(read | written):
                dependent |= written
    is_inside = [not dependent.isdisjoint(read | written) for read, written in touched]
    before = [s for s, inside in zip(statements, is_inside, strict=True) if not inside]
    return before, [s for s, inside in zip(statements, is_inside, strict=True) if inside]


def names(s: F.Statement) -> tuple[set[str], set[str]]:
    """Give the names that a statement reads, and those that it assigns, changes or keeps in frames."""
    read: set[str] = set()
    written: set[str] = set()
    for x, _ in walk([s]):
        read |= {v.name for v in reads(x) if isinstance(v, F.Var)}
        written |= {v.name for v in (*outs(x), *changes(x))}
        written |= {f.name for f in keeps(x)}
    return read, written


#: The index of a loop over a block, and the number of its steps.
STEP, COUNT = F.Var("k.block", WHOLE), F.Var("n.block", WHOLE)


def steps(
    block: F.Var, inside: list[F.Statement], results: Sequence[F.Operand], sizes: Sequence[list[F.Var]]
) -> tuple[list[F.Statement], list[F.Var]]:
    """Write a loop over a block, and the blocks of its results, which have the given sizes."""
    made = [F.Var(f"{k}.result", longer(x.type)) for k, x in enumerate(results)]
    body: list[F.Statement] = [F.Size(COUNT, block, 0)]
    inside = list(inside)
    for x, out, each in zip(results, made, sizes, strict=True):
        body.append(F.New(out, (COUNT, *each)))
        inside += copied(x, out, (STEP,), each)
    return [*body, F.For(STEP, COUNT, inside)], made


def rank_of(of: F.Type) -> int | None:
    """Give the number of dimensions of real numbers; None for another type."""
    if isinstance(of, F.ArrayOf):
        return of.rank if of.element == REAL else None
    return 0 if of == REAL else None


def longer(of: F.Type) -> F.ArrayOf:
    """Give the type of a block of values."""
    rank = rank_of(of)
    if rank is None:
        raise NotWhole("a cotangent that is no array of numbers")
    return F.ArrayOf(REAL, rank + 1)


def part(p: F.Var, block: F.Var) -> F.Statement:
    """Read one value of a block."""
    return F.Row(p, block, (STEP,), False) if isinstance(p.type, F.ArrayOf) else F.Load(p, block, (STEP,), False)


def copied(x: F.Operand, out: F.Var, indices: tuple[F.Var, ...], sizes: Sequence[F.Var]) -> list[F.Statement]:
    """Copy a value into a block."""
    if isinstance(x, F.Const) or not isinstance(x.type, F.ArrayOf):
        return [F.Store(out, indices, x)]
    inner = [F.Var(f"{out.name}.{d}", WHOLE) for d in range(len(sizes))]
    cell = F.Var(f"{out.name}.cell", REAL)
    body: list[F.Statement] = [F.Load(cell, x, tuple(inner), False), F.Store(out, (*indices, *inner), cell)]
    for index, size in reversed(list(zip(inner, sizes, strict=True))):
        body = [F.For(index, size, body)]
    return body
