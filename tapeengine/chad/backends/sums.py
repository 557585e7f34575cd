"""The order of the sums of reverse passes, which all back ends share: that of chunks, and that of `F.Sum`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..intermediate import statements as F
from ..intermediate.analysis import named
from ..intermediate.operations import REAL
from .chunks import chunked


def ordered(program: F.Program) -> F.Program:
    """Give a program whose parallel loops are loops over chunks, and whose long sums of cotangents are in pairs."""
    program = chunked(program)
    return replace(program, functions={k: paired(f) for k, f in program.functions.items()})


def paired(f: F.Function) -> F.Function:
    """Let each loop of a reverse pass with none around it add numbers in pairs, if nothing else uses their sum."""
    if f.recalled is None:
        return f
    return replace(f, body=[t for s in f.body for t in (in_pairs(s) if isinstance(s, F.For) else [s])])


def in_pairs(s: F.For) -> list[F.Statement]:
    """Store the numbers that independent steps of a loop add, and sum them after it."""
    if s.carried or s.is_parallel or not isinstance(s.count, F.Var):
        return [s]
    if any(isinstance(t, F.Flow | F.Call | F.Registered) for t in s.body):
        return [s]
    times = Counter(name for t in s.body for name in {v.name for v in named(t)})
    before, body, after = list[F.Statement](), list(s.body), list[F.Statement]()
    for k, t in enumerate(body):
        if isinstance(t, F.Add) and t.out.type == REAL and times[t.out.name] == 1:
            name = f"{t.out.name}.{s.index.name}"
            each, total = F.Var(f"{name}.each", F.ArrayOf(REAL)), F.Var(f"{name}.total", REAL)
            body[k] = F.Store(each, (s.index,), t.value)
            before.append(F.New(each, (s.count,)))
            after += [F.Sum(total, each), F.Add(t.out, total)]
    return [*before, replace(s, body=body), *after]
