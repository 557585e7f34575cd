"""Loops and branches, and their frames.

A loop with a known number of steps keeps the number of its steps, and then a column for each word. A loop that ends by
a condition keeps a chain of records, the newest first. A branch or a call keeps one record. An innermost loop has no
exit except its end, so that it vectorises: it runs in strips. Other loops check for interrupts in each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from types import MappingProxyType

from ...intermediate import statements as F
from ...intermediate.analysis import kept as frames_of
from ...intermediate.analysis import renamed, walk
from ...language.tables import entry
from ..machine import NotAssembled
from . import largest
from .abreast import LANES, Abreast, Beside, abreast, side_by_side
from .ahead import BLOCK, Ahead, Group, ahead
from .before import Before
from .blocks import may_read_rows, rows_of
from .body import SCRATCH, Body
from .costs import account
from .forks import Task, fork, may_fork
from .fuse import Summed
from .helpers import CHAIN, COLUMNS, RECORD
from .in_pairs import InPairs
from .interrupts import STRIP, Strip, charge, poll, strip, weight
from .layout import in_memory, size_of, stride, words
from .order import is_orderless
from .quotients import Quotients
from .writer import FRAME

#: Bytes before the first column: the number of steps.
HEADER = 32
#: More steps than there are, which vectors may read of outer loops.
AFTER = 8


def sites(functions: Sequence[F.Function]) -> Mapping[str, str]:
    """Give the layout of each site's frames."""
    found = {f.kept.frames.name: RECORD for f in functions if f.kept is not None}
    for s, _ in (x for f in functions for x in walk(f.body)):
        layout = COLUMNS if isinstance(s, F.For) else CHAIN if isinstance(s, F.While) else RECORD
        found |= {k.frames.name: layout for k in frames_of(s)}
    return MappingProxyType(found)


def field_words(kept: F.Kept) -> list[str]:
    """Give the types of the words of a record."""
    return [w for f in kept.fields for w in words(f.type)]


# ------------------------------------------------------------ records


def keep_record(b: Body, kept: F.Kept, before: str | None = None) -> str:
    """Write a record, linked to the previous one of a chain; return its address."""
    types = field_words(kept)
    if not types and before is None:
        return "null"
    head = [] if before is None else [before]
    record = b.take("%ctx", str(8 * (len(head) + len(types))))
    b.write_words([*["ptr"] * len(head), *types], [*head, *b.values(kept.fields)], record, FRAME)
    return record


def recall_record(b: Body, kept: F.Kept, record: str, skip: int = 0) -> None:
    """Read a record."""
    b.give_all(kept.fields, b.read_values([f.type for f in kept.fields], b.at(record, 8 * skip), FRAME))


# ------------------------------------------------------------ columns


class Columns:
    """The columns of a loop's frames: the words of eight bytes first."""

    def __init__(self, b: Body, kept: F.Kept, base: str, count: str) -> None:
        self.kept = F.Kept(kept.frames, b.program.stored(kept))
        self.types = field_words(self.kept)
        self.absent = [v for v in kept.fields if b.program.is_absent(v)]
        self.starts: dict[int, str] = {}
        self.filled: set[int] = set()
        wide = [k for k, w in enumerate(self.types) if size_of(w) == 8]
        start, before = b.at(base, HEADER) if self.types else base, ""
        for k in (*wide, *(k for k in range(len(self.types)) if k not in wide)):
            if before:
                start = b.op(f"getelementptr inbounds {before}, ptr {start}, i64 {count}")
            self.starts[k] = start
            before = in_memory(self.types[k])

    def at(self, b: Body, k: int, index: str) -> str:
        """Give the address of a word of one step."""
        memory = "i8" if self.types[k] == "i1" else self.types[k]
        return b.op(f"getelementptr inbounds {memory}, ptr {self.starts[k]}, i64 {index}")

    def place(self, b: Body, x: F.Operand, index: str, fills: bool = False) -> str:
        """Give the address of a number of one step, no text if it is not there; what fills it need not be kept."""
        starts = accumulate((len(words(f.type)) for f in self.kept.fields), initial=0)
        found = next((k for f, k in zip(self.kept.fields, starts) if f == x), None)
        self.filled |= {found} if fills and found is not None else set()
        return "" if found is None else self.at(b, found, index)

    def keep(self, b: Body, index: str) -> None:
        """Store the values of a step."""
        for k, (word, value) in enumerate(zip(self.types, b.values(self.kept.fields), strict=True)):
            if k not in self.filled:
                b.write(word, value, self.at(b, k, index), FRAME)

    @property
    def is_filled(self) -> bool:
        """Tell whether a step has nothing to store."""
        return len(self.filled) == len(self.types)

    def recall(self, b: Body, index: str) -> None:
        """Restore the values of a step."""
        sizes = [isinstance(f.type, F.ArrayOf) and k > 0 for f in self.kept.fields for k, _ in enumerate(words(f.type))]
        found = [
            b.read(w, self.at(b, k, index), FRAME, is_size)
            for k, (w, is_size) in enumerate(zip(self.types, sizes, strict=True))
        ]
        b.give_all(self.kept.fields, found)
        for v in self.absent:
            b.give(v, ["null"])

    def of_lane(self, b: Body, names: Mapping[str, F.Var]) -> Columns:
        """Give the same columns for a step with separate variables."""
        found = copy(self)
        found.kept, found.absent = renamed(self.kept, names), renamed(self.absent, names)
        return found


def open_columns(b: Body, kept: F.Kept, count: str) -> Columns:
    """Allocate the frames of all steps."""
    if b.program.is_absent(kept.frames):
        b.give(kept.frames, ["null"])
        return Columns(b, kept, "null", count)
    size = sum(size_of(w) for v in b.program.stored(kept) for w in words(v.type))
    before = -(-HEADER // max(size, 1)) + (0 if b.depth else AFTER)
    base = b.take("%ctx", b.op(f"add i64 {count}, {before}") if size else str(before), max(size, 1))
    b.write("i64", count, base, FRAME)
    b.give(kept.frames, [base])
    return Columns(b, kept, base, count)


# ------------------------------------------------------------ loops


def is_innermost(body: Sequence[F.Statement]) -> bool:
    """Tell whether a loop's steps take a bounded time."""
    return not any(isinstance(s, F.For | F.While | F.Call | F.Registered | F.Plus) for s, _ in walk(list(body)))


class Scratch:
    """Releases scratch memory at the end of a step."""

    def __init__(self, b: Body, loop: F.For | F.While) -> None:
        self.copied = b.lifetimes.copied(loop)
        self.is_used = b.lifetimes.takes_back(loop)
        self.buffers = {v.name: Buffers(b) for v in self.copied}

    def begin(self, b: Body) -> None:
        """Store the position in the scratch memory."""
        if self.is_used:
            self.top = b.op(f"load ptr, ptr {b.state(SCRATCH)}, !tbaa !17")
            self.block = b.op(f"load ptr, ptr {b.state(SCRATCH + 16)}, !tbaa !17")

    def end(self, b: Body) -> None:
        """Release the memory that the step has used."""
        if self.is_used:
            b.line(f"store ptr {self.top}, ptr {b.state(SCRATCH)}, !tbaa !17")
            b.line(f"store ptr {self.block}, ptr {b.state(SCRATCH + 16)}, !tbaa !17")
            end = b.op(f"load ptr, ptr {b.at(self.block, 16)}, !tbaa !17")
            b.line(f"store ptr {end}, ptr {b.state(SCRATCH + 8)}, !tbaa !17")


class Buffers:
    """Two alternating buffers for an array that a loop carries, since the previous contents may still be read."""

    def __init__(self, b: Body) -> None:
        self.places = [b.place("ptr"), b.place("ptr")]
        self.rooms = [b.place("i64"), b.place("i64")]
        for place, room in zip(self.places, self.rooms, strict=True):
            b.places += [f"  store ptr null, ptr {place}", f"  store i64 -1, ptr {room}"]

    def copy(self, b: Body, v: F.Var, value: Sequence[str]) -> list[str]:
        """Copy an array to the current buffer; return the copy."""
        data, *sizes = value
        element = v.type.element  # type: ignore[union-attr]
        size = b.product([*sizes, stride(element)])
        grow, go = b.label("grow"), b.label("go")
        b.jump_if(b.op(f"icmp sgt i64 {size}, {b.get(self.rooms[0], 'i64')}"), grow, go, unlikely=True)
        b.start(grow)
        twice = b.op(f"shl i64 {size}, 1")
        b.set(self.places[0], "ptr", b.take("%ctx", twice))
        b.set(self.rooms[0], "i64", twice)
        b.line(f"br label %{go}")
        b.start(go)
        made = b.get(self.places[0], "ptr")
        b.line(f"call void @llvm.memmove.p0.p0.i64(ptr align 8 {made}, ptr align 8 {data}, i64 {size}, i1 false)")
        for pair, word in ((self.places, "ptr"), (self.rooms, "i64")):
            first, second = b.get(pair[0], word), b.get(pair[1], word)
            b.set(pair[0], word, second)
            b.set(pair[1], word, first)
        return [made, *sizes]


def end_of_step(b: Body, s: F.For | F.While, scratch: Scratch) -> None:
    """Assign the carried variables for the next step."""
    found = [(v, b.value(x)) for v, x in s.carried]
    for v, value in found:
        buffers = scratch.buffers.get(v.name)
        b.give(v, value if buffers is None else buffers.copy(b, v, value))
    scratch.end(b)


class Recalled:
    """The frames that a loop recalls."""

    def __init__(self, b: Body, s: F.For) -> None:
        self.chains: list[tuple[F.Kept, str]] = []
        self.columns: list[tuple[F.Kept, str, str]] = []
        for k in s.recalled:
            frames = b.one(k.frames)
            if b.program.sites.get(k.frames.name) == COLUMNS:
                count = b.read("i64", frames, FRAME, is_size=True) if s.count is None else ""
                self.columns.append((k, frames, count))
            else:
                place = b.place("ptr")
                b.set(place, "ptr", frames)
                self.chains.append((k, place))
        if self.chains and not s.down:
            raise NotAssembled("a chain of frames from the first to the last")
        self.count = self.columns[0][2] if self.columns else None

    def steps(self, b: Body, s: F.For) -> str:
        """Give the number of steps of the loop: its own, or that of its frames."""
        return str(self.count) if s.count is None else b.not_negative(b.one(s.count))

    def open(self, b: Body, count: str) -> list[Columns]:
        """Give the columns of the frames that are stored in columns."""
        return [Columns(b, k, base, count) for k, base, _ in self.columns]

    def peel(self, b: Body) -> None:
        """Read the newest record of each chain."""
        for k, place in self.chains:
            record = b.get(place, "ptr")
            b.set(place, "ptr", b.read("ptr", record, FRAME))
            recall_record(b, k, record, skip=1)


@entry
def for_(b: Body, s: F.For | Summed) -> None:
    """A loop whose number of steps is known before it begins, or is the number of its frames."""
    recalled = Recalled(b, s)
    if s.kept is not None and s.down:
        raise NotAssembled("a loop that goes down and keeps frames")
    if s.count is None and recalled.count is None:
        by_chain(b, s, recalled)
        return
    count = recalled.steps(b, s)
    kept = [] if s.kept is None else [open_columns(b, s.kept, count)]
    if may_fork(b, s) and not recalled.chains:
        fork(b, s, count, partial(one_task, s=s))
    else:
        steps_of(b, s, count, kept, recalled)


def one_task(b: Task, s: F.For) -> None:
    """Write the step ``%chunk`` of a parallel loop."""
    recalled = Recalled(b, s)
    count = recalled.steps(b, s)
    scratch = Scratch(b, s)
    scratch.begin(b)
    b.naturals.add("%chunk")
    b.give(s.index, ["%chunk"])
    for c in recalled.open(b, count):
        c.recall(b, "%chunk")
    b.block(s.body)
    if s.kept is not None:
        Columns(b, s.kept, b.one(s.kept.frames), count).keep(b, "%chunk")
    scratch.end(b)


def steps_of(b: Body, s: F.For, count: str, kept: Sequence[Columns], recalled: Recalled) -> None:
    """Write a counted loop with its frames."""
    columns = recalled.open(b, count)
    up = not s.down or (not recalled.chains and is_orderless(s, b.placed.keys()))
    scratch, innermost = Scratch(b, s), is_innermost(s.body)
    is_short = count.isdigit() and int(count) <= STRIP
    place = b.place("i64", "i")
    entered, head, end, done = (b.label(x) for x in ("enter", "step", "end", "done"))
    b.set(place, "i64", "0")
    b.jump_if(b.op(f"icmp sgt i64 {count}, 0"), entered, done)
    b.start(entered)
    before_loop = Before(b, s)
    before_loop.write(count)
    quotients = Quotients(b, before_loop, count, up)
    outer, each = b.accounted, looks_of(b, s, before_loop, count)
    last = "" if up else b.op(f"sub nsw i64 {count}, 1")
    given = Steps(count, last, place, kept, columns, scratch, quotients, each)
    may_join = not recalled.chains and not (count.isdigit() and int(count) < LANES)
    coming = ahead(b, s, before_loop) if may_join else None
    sums = InPairs(b, place, count, s) if isinstance(s, Summed) else None
    part = None if sums is None else sums.begin(b)
    if coming is not None:
        part = part or strip(b, place, count, BLOCK)
        given.first = in_block(b, s, given, coming, part)
        given.coming = coming
    elif innermost and each and not is_short and part is None:
        part = strip(b, place, count)
    top, over = count if part is None else part.top, b.label("over")
    if sums is not None:
        buffers = {} if coming is None else coming.buffers
        sums.read(b, buffers)
        if not columns and all(c.is_filled for c in kept) and sums.is_plain(b, before_loop, buffers):
            sums.at_once(b, buffers, over)
    row = quotients.strip(b, place, top) if quotients.places else None
    limit = top if row is None else row.top
    if may_join and b.program.is_full and not innermost and not isinstance(s, Beside | Summed):
        plan = abreast(s, b.known.keys() | b.placed.keys(), before_loop, b.program)
        if plan is not None:
            wide(b, s, given, plan, limit, over)
    numbers = largest.reading(s)
    if numbers is not None:
        largest.write(b, s, numbers, *(("0", count) if part is None else (part.low, part.steps)))
        b.set(place, "i64", top)
    elif innermost:
        with b.postponing(end):
            following = one_step(b, s, given, recalled, head)
            b.jump_if(b.op(f"icmp slt i64 {following}, {limit}"), head, end)
    else:
        following = one_step(b, s, given, recalled, head)
        poll(b, each)
        b.jump_if(b.op(f"icmp slt i64 {following}, {limit}"), head, end)
        b.start(end)
    b.begin(over)
    if row is not None:
        turned = b.label("turned")
        row.next(b, top, turned)
        b.start(turned)
    if innermost and each:
        charge(b, b.product([count if part is None else part.steps, each]))
    if sums is not None:
        sums.end(b)
    if part is None:
        b.line(f"br label %{done}")
    elif innermost and each:
        part.end(b, count, done)
    else:
        part.next(b, count, done)
    b.start(done)
    before_loop.leave()
    b.accounted = outer


def looks_of(b: Body, s: F.For, around: Before, count: str) -> str:
    """Give the time of a step of a loop that looks for interrupts; code for short runs may stop instead."""
    is_short = b.program.is_full and not b.program.is_long
    return account(b, s, around, count) if is_short else str(weight(s.body))


def one_step(b: Body, s: F.For, steps: Steps, recalled: Recalled, head: str) -> str:
    """Write a step of a counted loop; return the number of completed ones."""
    b.depth += 1
    down = b.place("i64") if steps.last else ""
    if down:
        b.set(down, "i64", steps.index(b, b.get(steps.place, "i64")))
    b.begin(head)
    step = b.get(steps.place, "i64")
    index = b.get(down, "i64") if down else step
    steps.scratch.begin(b)
    b.give(s.index, [index])
    reads, is_fixed = (t for t, _ in walk(s.body) if isinstance(t, F.Load | F.Row)), steps.quotients.around.is_fixed
    checked = (t.checked and id(t) not in b.checked and not all(map(is_fixed, t.indices)) for t in reads)
    if is_innermost(s.body) and any(checked):  # LLVM would lose this
        b.line(f"call void @llvm.assume(i1 {b.op(f'icmp ult i64 {index}, {steps.count}')})")
    steps.begin(b, {}, step, index)
    for c in steps.columns:
        c.recall(b, index)
    recalled.peel(b)
    b.block(s.body)
    for k in steps.kept:
        k.keep(b, step)
    end_of_step(b, s, steps.scratch)
    following = b.op(f"add nuw nsw i64 {step}, 1")
    b.set(steps.place, "i64", following)
    if down:
        b.set(down, "i64", b.op(f"sub nsw i64 {index}, 1"))
    b.depth -= 1
    return following


def in_block(b: Body, s: F.For, steps: Steps, coming: Ahead, block: Strip) -> str:
    """Compute the functions of a block of steps; return the least index."""
    first = b.op(f"sub nsw i64 {steps.count}, {block.top}") if steps.last else block.low
    for t in () if b.depth else coming.functions:  # rows of frames are many, and have no place for what vectors read
        places = [at for c in steps.kept if coming.is_exact(b, t) and (at := c.place(b, t.out, first, fills=True))]
        if places:
            coming.buffers[t.out.name] = places[0]
    b.depth += 1
    for group in coming.groups:
        ahead_by(b, s, steps, coming, group, block.steps, first)
    b.depth -= 1
    return first


def ahead_by(b: Body, s: F.For, steps: Steps, coming: Ahead, group: Group, count: str, first: str) -> None:
    """Compute some functions of a block of steps, in the order of memory."""
    if group.in_memory:
        b.give(coming.own[s.index.name], [first])
        kept = {x: at for c in steps.columns for x in group.functions[0].args if (at := c.place(b, x, first))}
        coming.call(b, coming.placed(b, group, kept), count)
        return
    place, head, end = b.place("i64", "k"), b.label("head"), b.label("end")
    b.set(place, "i64", "0")
    with b.postponing(end):
        b.begin(head)
        k = b.get(place, "i64")
        index = b.op(f"add nuw nsw i64 {first}, {k}")
        b.give(coming.own[s.index.name], [index])
        for c in steps.columns:
            c.of_lane(b, coming.own).recall(b, index)
        coming.write(b, group, k)
        following = b.op(f"add nuw nsw i64 {k}, 1")
        b.set(place, "i64", following)
        b.jump_if(b.op(f"icmp slt i64 {following}, {count}"), head, end)
    coming.call(b, group, count)


@dataclass
class Steps:
    """The steps of a counted loop: number, last one if they go down, counter, frames, quotients of the index, time.

    Functions are computed ahead for the index `first` and those after it.
    """

    count: str
    last: str
    place: str
    kept: Sequence[Columns]
    columns: Sequence[Columns]
    scratch: Scratch
    quotients: Quotients
    each: str
    coming: Ahead | None = None
    first: str = ""

    def begin(self, b: Body, own: Mapping[str, F.Var], step: str, index: str) -> None:
        """Give a step, whose variables may have names of their own, what has been computed before it."""
        if self.coming is not None:
            self.coming.give(b, b.op(f"sub nsw i64 {index}, {self.first}"), own)
        self.quotients.begin(b, own, step)

    def index(self, b: Body, step: str) -> str:
        """Give the index of a step."""
        return b.op(f"sub nsw i64 {self.last}, {step}") if self.last else step


def wide(b: Body, s: F.For, steps: Steps, plan: Abreast, top: str, over: str) -> None:
    """Write a loop of several steps at once; the loop after it runs the remaining steps."""
    head, body, after, rest = (b.label(x) for x in ("wide", "steps", "after", "rest"))
    most = top
    for n in plan.few:
        most = b.op(f"select i1 {b.op(f'icmp slt i64 {b.one(n)}, {F.SUMS}')}, i64 {most}, i64 0")
    b.begin(head)
    step = b.get(steps.place, "i64")
    following = b.op(f"add nuw nsw i64 {step}, {LANES}")
    b.jump_if(b.op(f"icmp sle i64 {following}, {most}"), body, after)
    b.start(body)
    b.depth += 1
    steps.scratch.begin(b)
    at = [b.op(f"add nuw nsw i64 {step}, {k}") for k in range(LANES)]
    b.last |= dict.fromkeys(at, at[-1])
    lanes(b, s, steps, plan, at)
    steps.scratch.end(b)
    b.set(steps.place, "i64", following)
    b.depth -= 1
    poll(b, steps.each or weight(s.body), LANES)  # without an exit, LLVM asks once whether any rows of steps overlap
    b.line(f"br label %{head}")
    b.start(after)
    b.jump_if(b.op(f"icmp slt i64 {step}, {top}"), rest, over)
    b.start(rest)


def lanes(b: Body, s: F.For, steps: Steps, plan: Abreast, at: Sequence[str]) -> None:
    """Write several steps: their sums concurrently, and then the rest of each step in turn."""
    names = [begin_lane(b, s, steps, plan, k, step) for k, step in enumerate(at)]
    for t in plan.first:
        copies = [x for own in names for x in b.copies([t], partial(renamed, names=own))]
        if isinstance(t, F.For):
            sums(b, side_by_side([x for x in copies if isinstance(x, F.For)]))
        else:
            b.block(copies)
    for own, step in zip(names, at, strict=True):
        b.block(b.copies(plan.rest, partial(renamed, names=own)))
        for c in steps.kept:
            c.of_lane(b, own).keep(b, step)
        for v, value in [(v, b.value(renamed(x, own))) for v, x in s.carried]:
            b.give(v, value)


@entry
def sums(b: Body, s: Beside) -> None:
    """Write the inner loops of several steps as one."""
    loops = s.lanes
    assert s.count is not None
    count = b.not_negative(b.one(s.count))
    kept = [open_columns(b, x.kept, count) for x in loops if x.kept is not None]
    recalled = Recalled(b, s)
    if b.depth and not any(c.types for c in kept) and may_read_rows(loops):
        along_rows(b, s, loops, count, recalled)
    else:
        steps_of(b, s, count, kept, recalled)


def along_rows(b: Body, s: F.For, loops: Sequence[F.For], count: str, recalled: Recalled) -> None:
    """Write the joined inner loop of several steps, which reads rows by vectors while it can."""
    some, done = b.label("some"), b.label("done")
    b.jump_if(b.op(f"icmp sgt i64 {count}, 0"), some, done)
    b.start(some)
    before_loop = Before(b, s)
    before_loop.write(count)
    outer, each = b.accounted, looks_of(b, s, before_loop, count)
    rows = rows_of(b, loops)
    if rows is None:
        steps_of(b, s, count, [], recalled)
    else:
        rows.write(b, s, count, each)
    before_loop.leave()
    b.accounted = outer
    b.begin(done)


def begin_lane(b: Body, s: F.For, steps: Steps, plan: Abreast, k: int, step: str) -> Mapping[str, F.Var]:
    """Set up one of several steps: its variables, its index, and the values that it recalls."""
    own = b.lane(plan.own, k)
    index = steps.index(b, step)
    b.give(own[s.index.name], [index])
    steps.begin(b, own, step, index)
    for c in steps.columns:
        c.of_lane(b, own).recall(b, index)
    return own


def by_chain(b: Body, s: F.For, recalled: Recalled) -> None:
    """Write a loop with one step for each record of its chains."""
    scratch = Scratch(b, s)
    head, body, done = b.label("head"), b.label("body"), b.label("done")
    outer, b.sticky, b.accounted = (b.sticky, b.accounted), None, set()
    b.begin(head)
    first = b.get(recalled.chains[0][1], "ptr")
    b.jump_if(b.op(f"icmp eq ptr {first}, null"), done, body)
    b.start(body)
    scratch.begin(b)
    recalled.peel(b)
    b.depth += 1
    b.block(s.body)
    b.depth -= 1
    end_of_step(b, s, scratch)
    poll(b, weight(s.body))
    b.line(f"br label %{head}")
    b.start(done)
    b.sticky, b.accounted = outer


@entry
def while_(b: Body, s: F.While) -> None:
    """A loop that ends by a condition."""
    scratch = Scratch(b, s)
    if s.kept is not None:
        b.changing.add(s.kept.frames.name)
        b.give(s.kept.frames, ["null"])
    head, body, done = b.label("head"), b.label("body"), b.label("done")
    outer, b.accounted = b.accounted, set()
    b.begin(head)
    scratch.begin(b)
    b.block(s.test)
    b.jump_if(b.one(s.condition), body, done)
    b.start(body)
    b.depth += 1
    b.block(s.body)
    b.depth -= 1
    b.accounted = outer
    if s.kept is not None:
        b.give(s.kept.frames, [keep_record(b, s.kept, b.one(s.kept.frames))])
    end_of_step(b, s, scratch)
    poll(b, weight(s.body))
    b.line(f"br label %{head}")
    b.start(done)


# ------------------------------------------------------------ branches


@entry
def if_(b: Body, s: F.If) -> None:
    """A branch."""
    if s.kept is not None:
        b.changing.add(s.kept[0].frames.name)
    then, orelse, done = b.label("then"), b.label("else"), b.label("done")
    b.jump_if(b.one(s.condition), then, orelse)
    for which, label in ((0, then), (1, orelse)):
        b.start(label)
        before = set(b.checked)
        for pair in s.recalled:
            if pair[which].fields:
                recall_record(b, pair[which], b.one(pair[which].frames))
        b.block((s.then, s.orelse)[which])
        if s.kept is not None:
            b.give(s.kept[which].frames, [keep_record(b, s.kept[which])])
        b.checked = before
        b.line(f"br label %{done}")
    b.start(done)
