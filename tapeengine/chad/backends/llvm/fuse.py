"""Remove arrays that are only summed; give functions of vectors loops of their own.

A loop that builds an array, which is only summed, is fused with the sum, in the same order.

LLVM makes vectors only of innermost loops. If a step first sums in inner loops and then calls functions of vectors, the
loop is split in two; arrays take what the second one reads of each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import as_loop, changes, keeps, name_of, named, outs, reads, renamed, walk, with_blocks
from ...intermediate.operations import LOOPS, OPERATIONS_BY_NAME, REAL, Scalar
from ..lifetimes import Lifetimes, carries, mentions
from .by_rows import by_rows, in_rows, own_arrays
from .order import is_orderless, names_of


def at_arrays(
    statements: Sequence[F.Statement], times: Counter[str], change: Callable[[list[F.Statement], F.New], None]
) -> list[F.Statement]:
    """Change statements, from the inside out, where two others use an array of one dimension that they make."""
    found = [with_blocks(s, lambda inner: at_arrays(inner, times, change)) for s in statements]
    for s in list(found):
        if isinstance(s, F.New) and times[s.out.name] == 3 and len(s.sizes) == 1:
            change(found, s)
    return found


def fused(function: F.Function) -> F.Function:
    """Give a function without arrays that are only summed."""
    function = replace(function, body=added(function.body))
    times = occurrences(function)
    function = by_rows(replace(function, body=alone(at_arrays(function.body, times, partial(join, function)))))
    return replace(function, body=begun(function.body))


def begun(statements: Sequence[F.Statement]) -> list[F.Statement]:
    """Let the first contribution to each element of an array be stored, so that no zeros are written and read before.

    It is added to the number zero, which has the same bits.
    """
    found = [with_blocks(s, begun) for s in statements]
    for k, s in enumerate(found):
        if isinstance(s, F.New) and s.sizes and s.out.type == F.ArrayOf(REAL, len(s.sizes)):
            stored_first(found, k + 1, s.out, s.sizes)
    return found


def stored_first(statements: list[F.Statement], k: int, array: F.Var, sizes: Sequence[F.Operand]) -> bool:
    """Let the statement after k others that uses an array first store its elements; tell whether it does."""
    at = next((n for n in range(k, len(statements)) if mentions(statements[n], array.name)), k - 1)
    before = statements[at]
    if isinstance(before, F.For):
        statements[at] = storing(before, array, sizes)
    return statements[at] is not before


def storing(s: F.For, array: F.Var, sizes: Sequence[F.Operand]) -> F.For:
    """Give the loop that fills an array, whose first contribution to an element is stored."""
    if s.count != sizes[0] or s.is_parallel or carries(s, array.name):
        return s
    index, body = names_of(s.index, s.body) | {array.name}, list(s.body)
    uses = [t for t in body if mentions(t, array.name)]
    if len(sizes) > 1:
        match uses:
            case [F.Row(row, _, (F.Var(name),)) as use] if name in index:
                k = body.index(use)
                body[k] = replace(use, indices=(s.index,))
                return replace(s, body=body) if stored_first(body, k + 1, row, sizes[1:]) else s
        return s
    if not uses or not all(
        isinstance(t, F.AddAt) and index.issuperset(map(name_of, (t.array, *t.indices))) for t in uses
    ):
        return s
    first, k = F.Var(f"{array.name}.first", REAL), body.index(uses[0])
    added = F.Compute(first, OPERATIONS_BY_NAME["add"], (F.Const(0.0, REAL), uses[0].value))  # type: ignore[union-attr, arg-type]
    body[k : k + 1] = [added, F.Store(array, (s.index,), first)]
    return replace(s, body=body)


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


@dataclass(slots=True)
class Summed(F.For):
    """A loop that adds numbers to a variable in the order of `Sum`."""

    total: F.Var = field(default=F.Var("", REAL))


def join(function: F.Function, statements: list[F.Statement], made: F.New) -> None:
    """Fuse the loop that fills an array with the one that sums it, if the latter does nothing else."""
    array, count = made.out, made.sizes[0]
    build = next(
        (s for s in statements if isinstance(s, F.For) and filled_by(upwards(s), array, count) is not None), None
    )
    whole = next((s for s in statements if isinstance(s, F.Sum) and s.array == array), None)
    if build is not None and whole is not None:
        in_pairs(function, statements, made, build, whole)
        return
    into = next((s for s in statements if isinstance(s, F.AddAll) and s.value == array), None)
    if build is not None and into is not None:
        adding(function, statements, made, build, into)
        return
    total = next((s for s in statements if isinstance(s, F.For) and summed(s, array, count) is not None), None)
    if build is None or build.down or total is None:
        return
    start, end = statements.index(build), statements.index(total)
    number = summed(total, array, count)
    begins = [s for s in statements[start + 1 : end] if isinstance(s, F.Assign) and s.outs == (number,)]
    if number is None or len(begins) != 1 or begins[0].values != (F.Const(0.0, REAL),):
        return
    if sum(v == number for s, _ in walk(statements[:end]) for v in named(s)) > 1:  # and not only in that assignment
        return
    body = [F.Add(number, s.value) if isinstance(s, F.Store) and s.array == array else s for s in build.body]
    statements[start] = replace(build, body=body)
    statements.remove(total)
    statements.remove(begins[0])
    statements.insert(start, begins[0])
    statements.remove(made)


def adding(function: F.Function, statements: list[F.Statement], made: F.New, build: F.For, total: F.AddAll) -> None:
    """Let the loop that fills an array add to the one to which it is added, if nothing else uses that meanwhile."""
    start, end = statements.index(build), statements.index(total)
    uses = [s for s in statements[start:end] if mentions(s, total.array.name)]
    if build.is_parallel or uses[1:] or not all(is_row_of(s, total.array, build) for s in uses):
        return
    lifetimes = Lifetimes(function)
    into = lifetimes.find(total.array.name)
    if any(lifetimes.find(v.name) == into for s, _ in walk(build.body) for v in named(s)):  # by another name
        return
    names = {v.name for s in uses for v in named(s)}
    first = [s for s in statements[start:end] if isinstance(s, F.New | F.Row) and s.out.name in names]
    others = [s for s in statements[start + 1 : end] if s not in first]
    late = {v.name for s, _ in walk([build, *others]) for v in outs(s)}
    store = filled_by(upwards(build), made.out, made.sizes[0])
    if store is None or any(v.name in late for s in first for v in named(s)):
        return
    body = [F.AddAt(total.array, store.indices, store.value) if s is store else s for s in build.body]
    statements[start : end + 1] = [*first, replace(build, body=body), *others]
    statements.remove(made)


def is_row_of(s: F.Statement, row: F.Var, loop: F.For) -> bool:
    """Tell whether a statement gives a row of an array that a loop does not use."""
    return isinstance(s, F.Row) and s.out == row and isinstance(s.array, F.Var) and not mentions(loop, s.array.name)


def in_pairs(function: F.Function, statements: list[F.Statement], made: F.New, build: F.For, total: F.Sum) -> None:
    """Fuse a loop that fills an array with its sum in pairs, unless its steps sum along rows, best several abreast."""
    if isinstance(build, Summed) or build.is_parallel or build.carried or (build.down and not is_orderless(build)):
        return
    has_sums = any(isinstance(s, F.For | F.While) for s, _ in walk(build.body))
    if has_sums and in_rows(upwards(build), own_arrays(function)) == [upwards(build)]:
        return
    body = [F.Add(total.out, s.value) if isinstance(s, F.Store) and s.array == made.out else s for s in build.body]
    statements[statements.index(build)] = summing(upwards(build), body, total.out)
    statements[statements.index(made)] = F.Assign((total.out,), (F.Const(0.0, REAL),))
    statements.remove(total)


def alone(statements: Sequence[F.Statement]) -> list[F.Statement]:
    """Write sums of arrays as loops."""
    found: list[F.Statement] = []
    for s in statements:
        if isinstance(s, F.Sum):
            size, begin, loop = as_loop(s)
            found += [size, begin, summing(loop, loop.body, s.out)]
        else:
            found.append(with_blocks(s, alone))
    return found


def summing(s: F.For, body: list[F.Statement], total: F.Var) -> Summed:
    """Give a loop that adds in pairs."""
    return Summed(s.index, s.count, body, s.down, [], s.kept, s.recalled, total=total)


def upwards(s: F.For) -> F.For:
    """Give a loop from its first step to the last one."""
    return replace(s, down=False) if s.down else s


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


# ------------------------------------------------------------ two loops

#: Both parts of the frames of loops that are split.
Parts = dict[str, list[F.Kept]]
#: Statements that LLVM can make vectors of.
PLAIN = F.Compute | F.Load | F.Store | F.Add | F.AddAt | F.Row


def divided(x: Any, parts: Parts) -> Any:
    """Give functions, or parts of them, that recall both parts of frames."""
    if isinstance(x, list):
        return [z for y in x for z in several(y, parts)]
    if isinstance(x, F.Kept) or (hasattr(x, "__dataclass_params__") and not x.__dataclass_params__.frozen):
        return replace(x, **{f.name: divided(getattr(x, f.name), parts) for f in fields(x)})
    return tuple(divided(y, parts) for y in x) if isinstance(x, tuple) else x


def several(x: Any, parts: Parts) -> list[Any]:
    """Give both parts of frames; anything else alone."""
    if isinstance(x, F.Kept):
        return [divided(k, parts) for k in parts.get(x.frames.name, [x])]
    return [k.frames for k in parts[x.name]] if isinstance(x, F.Var) and x.name in parts else [divided(x, parts)]


def split(function: F.Function, variants: Collection[str], parts: Parts) -> F.Function:
    """Give a function whose loops are split, and note the parts of their frames."""
    lifetimes = Lifetimes(function)

    def block(statements: list[F.Statement]) -> list[F.Statement]:
        inner = (with_blocks(s, block) for s in statements)
        return [t for s in inner for t in (in_two(s, variants, lifetimes, parts) if isinstance(s, F.For) else [s])]

    return replace(function, body=block(function.body))


def in_two(s: F.For, variants: Collection[str], lifetimes: Lifetimes, parts: Parts) -> list[F.Statement]:
    """Give a loop in two parts, if their steps are independent of each other."""
    cut = 0 if isinstance(s, Summed) else max((k + 1 for k, t in enumerate(s.body) if isinstance(t, F.For)), default=0)
    first, last = [t for t, _ in walk(s.body[:cut])], s.body[cut:]
    made = {v.name: v for t in first for v in outs(t)}
    used = [*(x for t in last for x in reads(t)), *(x for _, x in s.carried)]
    crossing = [v for v in made.values() if v in used]
    plain = all(isinstance(t, PLAIN) for t in last) and all(isinstance(v.type, Scalar) for v in crossing)
    called = any(isinstance(t, F.Compute) and t.operation.name in (*variants, *LOOPS) for t in last)
    if not (cut and called and plain and s.count) or s.recalled or s.is_parallel or meet(s, first, last, lifetimes):
        return [s]
    names = {v.name: F.Var(f"{v.name}.last", v.type) for v in (s.index, *crossing)}
    arrays = {v: F.Var(f"{v.name}.each", F.ArrayOf(v.type)) for v in crossing}
    kept: list[Any] = [None, None]
    if s.kept is not None:
        other = F.Var(f"{s.kept.frames.name}.last", s.kept.frames.type)
        kept = [F.Kept(s.kept.frames, []), F.Kept(other, [])]
        for f in s.kept.fields:
            kept[f.name not in made and f != s.index].fields.append(f)
        parts[s.kept.frames.name] = kept
    loads = [F.Load(names[v.name], a, (names[s.index.name],), False) for v, a in arrays.items()]
    stores = [F.Store(a, (s.index,), v) for v, a in arrays.items()]
    return [
        *(F.New(a, (s.count,)) for a in arrays.values()),
        replace(s, body=[*s.body[:cut], *stores], carried=[], kept=kept[0]),
        replace(renamed(replace(s, body=[*loads, *last], kept=None), names), kept=kept[1]),
    ]


def meet(s: F.For, first: list[F.Statement], last: list[F.Statement], lifetimes: Lifetimes) -> bool:
    """Tell whether the end of a step and the beginning of the next one name the same variable or memory."""
    given = {v.name for v, _ in s.carried} | {v.name for t in last for v in outs(t)}
    return not given.isdisjoint(v.name for t in first for v in named(t)) or any(
        lifetimes.find(a.name) == lifetimes.find(b.name) and not lifetimes.is_before(b.name, a.name)
        for one, other in ((first, last), (last, first))
        for a in {v for t in one for v in changes(t)}
        for b in {v for t in other for v in named(t) if isinstance(v.type, F.ArrayOf)}
    )
