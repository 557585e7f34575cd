"""Parallel loops as loops over chunks of their steps, whose contributions to shared cotangents are added in order.

A loop that `te.fork_map` writes, and the one that mirrors it in the reverse pass, have steps that depend on one another
only in what they add (EC section 8). Here each becomes a parallel loop over chunks. A chunk adds to numbers and arrays
of its own, which a second loop adds to the shared ones, chunk by chunk. The number of chunks depends only on the number
of steps, and the order of each sum only on the chunks, so all back ends give the same bits, with any number of threads.

Numbers that a long loop of a reverse pass adds are stored, and added in pairs, for all back ends as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..intermediate import statements as F
from ..intermediate.analysis import named, outs, reads, rewritten, walk, with_blocks
from ..intermediate.operations import OPERATIONS_BY_NAME, REAL, WHOLE
from ..language.traverse import Names

#: The most chunks of a loop. What they add to an array takes so many times its memory.
CHUNKS = 16


def chunked(program: F.Program) -> F.Program:
    """Give a program whose parallel loops are loops over chunks; a loop that cannot be one runs on one thread."""
    loops = dict(candidates(program))
    if not loops:
        return program
    names = {v.name for f in program.functions.values() for v in variables(f)}
    writer = Chunks(agreeing(program, loops), names)
    return replace(program, functions={k: replace(f, body=writer.block(f.body)) for k, f in program.functions.items()})


def variables(f: F.Function) -> Iterator[F.Var]:
    """Iterate over the variables of a function."""
    yield from f.params
    for kept in (f.kept, f.recalled):
        yield from [] if kept is None else [kept.frames, *kept.fields]
    for s, _ in walk(f.body):
        yield from outs(s)


# ------------------------------------------------------------ which loops


@dataclass
class Shared:
    """What the steps of a loop add to.

    `numbers`, `arrays`: numbers, and arrays of which steps may add to the same elements.
    """

    numbers: dict[str, F.Var] = field(default_factory=dict)
    arrays: dict[str, F.Var] = field(default_factory=dict)


class NotParallel(Exception):
    """The steps of a loop depend on one another, or call Python."""


#: Loops over chunks by identity, with what their steps add to; None where they run one after the other.
Loops = Mapping[int, Shared | None]


def candidates(program: F.Program) -> Iterator[tuple[int, Shared | None]]:
    """Give the loops that may be loops over chunks."""
    for f in program.functions.values():
        for s, around in walk(f.body):
            if (
                isinstance(s, F.For)
                and s.is_parallel
                and not any(isinstance(x, F.For) and x.is_parallel for x in around)
            ):
                if s.carried or s.count is None:
                    continue
                try:
                    yield id(s), Steps(program, f, s, around).shared
                except NotParallel:
                    yield id(s), None


def agreeing(program: F.Program, loops: Loops) -> Loops:
    """Give the loops in groups that share frames, if all loops of a group qualify and one of them is parallel."""
    found = dict(loops)
    flows = [s for f in program.functions.values() for s, _ in walk(f.body) if isinstance(s, F.For)]
    keepers = {s.kept.frames.name: id(s) for s in flows if s.kept is not None}
    pairs = [(keepers.get(k.frames.name, 0), id(s)) for s in flows for k in s.recalled]
    while alone := {key for pair in pairs if not found.keys() >= set(pair) for key in pair} & found.keys():
        found = {key: shared for key, shared in found.items() if key not in alone}
    wanted = {key for key, shared in found.items() if shared is not None}
    while more := {key for pair in pairs if not wanted.isdisjoint(pair) for key in pair} - wanted:
        wanted |= more
    return {key: shared for key, shared in found.items() if key in wanted}


class Steps:
    """Finds what the steps of a loop share; it raises `NotParallel`."""

    def __init__(self, program: F.Program, function: F.Function, loop: F.For, around: tuple[F.Flow, ...]) -> None:
        self.program, self.function, self.loop, self.around = program, function, loop, around
        self.inner = {v.name for k in loop.recalled for v in k.fields} | {loop.index.name}
        self.indices = {loop.index}
        self.made: dict[str, F.Statement] = {}
        self.rows: dict[str, F.Row | F.Load] = {}
        self.shared = Shared()
        body = [s for s, _ in walk(loop.body)]
        for s in body:
            for v in () if isinstance(s, F.Add) else outs(s):
                self.inner.add(v.name)
                self.made[v.name] = s
            if isinstance(s, F.Assign):
                self.indices |= {v for v, x in zip(s.outs, s.values, strict=True) if x in self.indices}
            if isinstance(s, F.Row | F.Load) and isinstance(s.out.type, F.ArrayOf):
                self.rows[s.out.name] = s
        inside = set(map(id, body))
        changing = {v for s in body if isinstance(s, F.For | F.While) for v, _ in s.carried}
        self.indices -= changing
        others = (s for s, _ in walk(function.body) if id(s) not in inside and s is not loop)
        if not self.inner.isdisjoint({v.name for s in others for v in outs(s)}):
            raise NotParallel  # a variable that is assigned outside as well
        if calls_python(program, loop.body, set()):
            raise NotParallel  # an error there would be one of another thread
        self.written: set[str] = set()
        for s in body:
            self.note(s)
        for s in body:
            self.check(s)

    def origin(self, x: F.Operand) -> tuple[F.Var | None, F.Operand | None]:
        """Give the array outside of the loop that an array lies in, and the first index there; None if it is inside."""
        first: F.Operand | None = None
        while isinstance(x, F.Var) and x.name in self.rows:
            row = self.rows[x.name]
            x, first = row.array, row.indices[0]
        return (None, None) if not isinstance(x, F.Var) or x.name in self.inner else (x, first)

    def note(self, s: F.Statement) -> None:
        """Find what a statement adds to, or writes."""
        match s:
            case F.Add(out, _) if out.name not in self.inner:
                if out.type != REAL:
                    raise NotParallel
                self.shared.numbers[out.name] = out
            case F.Store() | F.AddAt() | F.AddAll() | F.Append() | F.Pop():
                self.access(s)
            case F.Call() if self.function.recalled is not None and any(
                self.origin(x)[0] is not None for x in arrays(s.args)
            ):
                raise NotParallel

    def access(self, s: F.Store | F.AddAt | F.AddAll | F.Append | F.Pop) -> None:
        """Find the array that a statement changes."""
        array, first = self.origin(s.array)
        if array is None:
            if not isinstance(self.root(s.array), F.New | F.ZerosLike):
                raise NotParallel  # it may lie in memory that other steps use
            return
        if first is None and isinstance(s, F.Store | F.AddAt):
            first = s.indices[0]
        self.written.add(array.name)
        if first in self.indices:
            return
        is_real = isinstance(array.type, F.ArrayOf) and array.type.element == REAL
        if isinstance(s, F.Store | F.Append | F.Pop) or not is_real or not self.is_made_here(array):
            raise NotParallel
        self.shared.arrays[array.name] = array

    def root(self, x: F.Operand) -> F.Statement | None:
        """Give the statement that made an array of the loop."""
        while isinstance(x, F.Var) and x.name in self.rows:
            x = self.rows[x.name].array
        return self.made.get(x.name) if isinstance(x, F.Var) else None

    def is_made_here(self, array: F.Var) -> bool:
        """Tell whether an array is made where the loop is, so that copies of it cost no more than a constant factor."""
        made = [around for s, around in walk(self.function.body) if isinstance(s, F.New) and s.out == array and s.sizes]
        return [loops(x) for x in made] == [loops(self.around)]

    def check(self, s: F.Statement) -> None:
        """Refuse statements that read what steps add to, or give it another name."""
        used = {x.name for x in reads(s) if isinstance(x, F.Var)} - ({s.out.name} if isinstance(s, F.Add) else set())
        if not used.isdisjoint(self.shared.numbers):
            raise NotParallel
        for x in reads(s):
            array, first = self.origin(x)
            if array is None or array.name not in self.written or isinstance(s, F.Size):
                continue
            if isinstance(s, F.Row | F.Load) and s.array == x:
                first = s.indices[0] if first is None else first
                is_number = not isinstance(s.out.type, F.ArrayOf)
                if first not in self.indices and (is_number or array.name not in self.shared.arrays):
                    raise NotParallel
                if is_number and array.name in self.shared.arrays:
                    raise NotParallel
            elif not isinstance(s, F.Store | F.AddAt | F.AddAll) or s.array != x:
                raise NotParallel


def calls_python(program: F.Program, statements: list[F.Statement], seen: set[str]) -> bool:
    """Tell whether statements, or functions that they call, call a primitive that has no C function."""
    for s, _ in walk(statements):
        if isinstance(s, F.Registered) and program.primitives[s.name].name == s.name:
            return True
        if isinstance(s, F.Call) and s.function not in seen:
            seen.add(s.function)
            if calls_python(program, program.functions[s.function].body, seen):
                return True
    return False


def arrays(xs: Iterable[F.Operand]) -> Iterator[F.Operand]:
    """Give the arrays among operands."""
    return (x for x in xs if isinstance(x.type, F.ArrayOf))


def loops(around: Sequence[F.Flow]) -> list[int]:
    """Give the identities of the loops among flow statements."""
    return [id(s) for s in around if isinstance(s, F.For | F.While)]


# ------------------------------------------------------------ writing


class Chunks:
    """Writes loops over chunks."""

    def __init__(self, found: Loops, names: set[str]) -> None:
        self.found, self.names = found, Names(names)
        self.parts: dict[str, F.Var] = {}

    def fresh(self, hint: str, of: object = WHOLE) -> F.Var:
        """Give a new variable."""
        return F.Var(self.names(hint), of)  # type: ignore[arg-type]

    def block(self, statements: Sequence[F.Statement]) -> list[F.Statement]:
        """Give statements with their parallel loops in chunks."""
        made: list[F.Statement] = []
        for s in statements:
            if isinstance(s, F.For) and s.is_parallel:
                one = replace(s, is_parallel=False)
                made += self.loop(s, self.found[id(s)]) if id(s) in self.found else [one]
            else:
                made.append(with_blocks(s, self.block))
        return made

    def compute(self, into: list[F.Statement], name: str, *args: F.Operand, hint: str = "t") -> F.Var:
        """Write an integer operation."""
        out = self.fresh(hint)
        into.append(F.Compute(out, OPERATIONS_BY_NAME[name], args))
        return out

    def loop(self, s: F.For, found: Shared | None) -> list[F.Statement]:
        """Write a loop over chunks, and one that adds what they have added."""
        made: list[F.Statement] = []
        shared = found or Shared()
        assert s.count is not None
        most = self.compute(made, "iadd", s.count, F.Const(CHUNKS - 1, WHOLE))
        each = self.compute(made, "ifloordiv", most, F.Const(CHUNKS, WHOLE))
        size = self.compute(made, "imax", each, F.Const(1, WHOLE), hint="size")
        above = self.compute(made, "isub", self.compute(made, "iadd", s.count, size), F.Const(1, WHOLE))
        count = self.compute(made, "ifloordiv", above, size, hint="chunks")
        chunk = self.fresh("chunk")
        sums = self.sums(made, shared, count)
        body: list[F.Statement] = []
        first = self.compute(body, "imul", chunk, size)
        steps = self.compute(body, "imin", size, self.compute(body, "isub", s.count, first), hint="steps")
        own = {name: self.fresh("d", REAL) for name in shared.numbers}
        body += [F.Assign((v,), (F.Const(0.0, REAL),)) for v in own.values()]
        body.append(self.steps(s, first, steps, Own(chunk, own, sums, self.fresh)))
        body += [F.Store(sums[name], (chunk,), v) for name, v in own.items()]
        kept = None if s.kept is None else F.Kept(s.kept.frames, [self.part(s.kept)])
        recalled = [F.Kept(k.frames, [self.part(k)]) for k in s.recalled]
        made.append(F.For(chunk, count, body, s.down, [], kept, recalled, found is not None))
        return [*made, *self.merge(s, shared, sums, count)]

    def sums(self, made: list[F.Statement], shared: Shared, count: F.Var) -> dict[str, F.Var]:
        """Make the arrays of what chunks add: an element or row for each chunk."""
        found = {}
        for name in shared.numbers:
            found[name] = self.fresh("sums", F.ArrayOf(REAL))
            made.append(F.New(found[name], (count,)))
        for name, v in shared.arrays.items():
            assert isinstance(v.type, F.ArrayOf)
            sizes = [self.fresh("n") for _ in range(v.type.rank)]
            made += [F.Size(n, v, k) for k, n in enumerate(sizes)]
            found[name] = self.fresh("sums", F.ArrayOf(REAL, v.type.rank + 1))
            made.append(F.New(found[name], (count, *sizes)))
        return found

    def part(self, kept: F.Kept) -> F.Var:
        """Give the frames of a chunk, which are a field of the frames of all steps."""
        name = kept.frames.name
        if name not in self.parts:
            made = self.fresh(name)
            self.parts[name] = F.Var(made.name, F.Frames(made.name))
        return self.parts[name]

    def steps(self, s: F.For, first: F.Var, steps: F.Var, own: Own) -> F.For:
        """Write the steps of a chunk."""
        j = self.fresh(s.index.name)
        start = F.Compute(s.index, OPERATIONS_BY_NAME["iadd"], (first, j))
        kept = None if s.kept is None else F.Kept(self.part(s.kept), s.kept.fields)
        recalled = [F.Kept(self.part(k), k.fields) for k in s.recalled]
        return F.For(j, steps, [start, *rewritten(self.block(s.body), own.each)], s.down, [], kept, recalled)

    def merge(self, s: F.For, shared: Shared, sums: Mapping[str, F.Var], count: F.Var) -> list[F.Statement]:
        """Add the sums of all chunks to the shared ones, in the order of the chunks."""
        body: list[F.Statement] = []
        chunk = self.fresh("chunk")
        for name, v in shared.numbers.items():
            x = self.fresh("d", REAL)
            body += [F.Load(x, sums[name], (chunk,), False), F.Add(v, x)]
        for name, v in shared.arrays.items():
            row = self.fresh("row", v.type)
            body += [F.Row(row, sums[name], (chunk,), False), F.AddAll(v, row)]
        return [F.For(chunk, count, body, s.down)] if body else []


@dataclass
class Own:
    """Lets the statements of a chunk add to what is its own.

    * `chunk`: the number of the chunk.
    * `sums`: the arrays of what chunks add, by the names of the shared numbers and arrays.
    * `fresh`: makes a variable.
    """

    chunk: F.Var
    numbers: Mapping[str, F.Var]
    sums: Mapping[str, F.Var]
    fresh: Callable[..., F.Var]

    def each(self, s: F.Statement) -> list[F.Statement]:
        """Give the statements for one statement."""
        match s:
            case F.Add(out, _):
                return [replace(s, out=self.numbers.get(out.name, out))]
            case F.Row() | F.AddAt() if self.is_shared(s.array):
                return [replace(s, array=self.sums[s.array.name], indices=(self.chunk, *s.indices))]  # type: ignore[union-attr]
            case F.AddAll() if self.is_shared(s.array):
                row = self.fresh("row", s.array.type)
                return [F.Row(row, self.sums[s.array.name], (self.chunk,), False), replace(s, array=row)]
        return [s]

    def is_shared(self, x: F.Operand) -> bool:
        """Tell whether an array is one that chunks add to."""
        return isinstance(x, F.Var) and x.name in self.sums


# ------------------------------------------------------------ long sums


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
