"""A reverse pass for many cotangents at once: a loop over a block of them, whose steps are whole-array operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tapeengine.chad.backends.whole.values import NotWhole
from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.intermediate.statements import (
    ArrayOf,
    Const,
    For,
    Function,
    Kept,
    Load,
    New,
    Operand,
    Row,
    Size,
    Statement,
    Store,
    Type,
    Var,
)

__all__ = ["for_many"]


def for_many(forward: Function, reverse: Function, wanted: Sequence[int]) -> tuple[Function, Function]:
    """Give both passes; the parameters and results of the reverse pass have an additional first axis.

    Parameters
    ----------
    forward : Function
    reverse : Function
        Its parameters and results are numbers and arrays of numbers.
    wanted : sequence of int
        The positions of the parameters of the forward pass whose cotangents are wanted.

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
    step, count = Var("k.block", WHOLE), Var("n.block", WHOLE)
    given = [Var(f"{p.name}.block", longer(p.type)) for p in reverse.params]
    made = [Var(f"{p.name}.result", longer(p.type)) for p in primals]
    sizes = [[Var(f"{p.name}.{d}", WHOLE) for d in range(rank_of(p.type) or 0)] for p in primals]
    body: list[Statement] = [Size(count, given[0], 0)]
    for p, out, along in zip(primals, made, sizes, strict=True):
        body += [Size(n, p, d) for d, n in enumerate(along)]
        body.append(New(out, (count, *along)))
    inside = [part(p, block, step) for p, block in zip(reverse.params, given, strict=True)]
    inside += reverse.body
    for x, out, along in zip(results, made, sizes, strict=True):
        inside += copied(x, out, (step,), along)
    kept = Kept(forward.kept.frames, [*forward.kept.fields, *(p for p in primals if p not in forward.kept.fields)])
    many = replace(reverse, params=given, body=[*body, For(step, count, inside)], results=list(made), recalled=kept)
    return replace(forward, kept=kept), many


def rank_of(of: Type) -> int | None:
    """Give the number of dimensions of real numbers; None for another type."""
    if isinstance(of, ArrayOf):
        return of.rank if of.element == REAL else None
    return 0 if of == REAL else None


def longer(of: Type) -> ArrayOf:
    """Give the type of a block of values."""
    rank = rank_of(of)
    if rank is None:
        raise NotWhole("a cotangent that is no array of numbers")
    return ArrayOf(REAL, rank + 1)


def part(p: Var, block: Var, step: Var) -> Statement:
    """Read one value of a block."""
    return Row(p, block, (step,), False) if isinstance(p.type, ArrayOf) else Load(p, block, (step,), False)


def copied(x: Operand, out: Var, indices: tuple[Var, ...], sizes: Sequence[Var]) -> list[Statement]:
    """Copy a value into a block."""
    if isinstance(x, Const) or not isinstance(x.type, ArrayOf):
        return [Store(out, indices, x)]
    inner = [Var(f"{out.name}.{d}", WHOLE) for d in range(len(sizes))]
    cell = Var(f"{out.name}.cell", REAL)
    body: list[Statement] = [Load(cell, x, tuple(inner), False), Store(out, (*indices, *inner), cell)]
    for index, size in reversed(list(zip(inner, sizes, strict=True))):
        body = [For(index, size, body)]
    return body
