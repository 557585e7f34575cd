"""Passes for a block of cotangents or arguments: a loop over the block, whose steps are whole-array operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...intermediate import statements as F
from ...intermediate.analysis import changes, keeps, outs, reads, walk
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
    given = [F.Var(f"{p.name}.block", longer(p.type)) for p in reverse.params]
    inside = [part(p, block) for p, block in zip(reverse.params, given, strict=True)]
    body, made = steps(given[0], [*inside, *reverse.body], primals, results)
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
    block = F.Var(f"{varied.name}.block", longer(varied.type))
    seed = F.Assign(tuple(reverse.params), (F.Const(0.0, REAL), F.Const(1.0, REAL)))
    before, inside = divided([*forward.body, seed, *reverse.body], varied)
    body, made = steps(block, [part(varied, block), *inside], [primal], [reverse.results[real.index(primal)]])
    params = [block if k == along else p for k, p in enumerate(forward.params)]
    return F.Function("columns", params, [*before, *body], list(made))


def divided(statements: Sequence[F.Statement], varied: F.Var) -> tuple[list[F.Statement], list[F.Statement]]:
    """Divide statements into those that do not depend on a variable, and the others."""
    dependent = {varied.name}
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
    block: F.Var, inside: list[F.Statement], primals: Sequence[F.Var], results: Sequence[F.Operand]
) -> tuple[list[F.Statement], list[F.Var]]:
    """Write a loop over a block, and the blocks of its results, which have the sizes of some primals."""
    made = [F.Var(f"{p.name}.result", longer(p.type)) for p in primals]
    body: list[F.Statement] = [F.Size(COUNT, block, 0)]
    inside = list(inside)
    for p, x, out in zip(primals, results, made, strict=True):
        sizes = [F.Var(f"{p.name}.{d}", WHOLE) for d in range(rank_of(p.type) or 0)]
        body += [F.Size(n, p, d) for d, n in enumerate(sizes)]
        body.append(F.New(out, (COUNT, *sizes)))
        inside += copied(x, out, (STEP,), sizes)
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
