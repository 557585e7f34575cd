"""Find the bodies of a recording: sequences of instructions that repeat, with operands at the same distances.

Two instructions are alike if they have the same opcode and their operands lie at the same distance, or are the same
constants; an operand whose distance is rare counts as one that is looked up. The pair of neighbours that occurs most
often becomes one symbol, again and again (Larsson and Moffat: Offline dictionary-based compression, 1999), so bodies of
loops are found together with several of their turns, and in programs that branch the frequent sequences of branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._core.programs.replay import Path
from .._core.tape import generate_ops
from .._core.tape.table import OPS

#: Bytes other than operations of the table; see ``guards.h``.
CONSTANT, FIRST_GUARD, TRUNC, EXACT, FINITE, ACCESS = 0xC0, 0xC1, 0xC7, 0xCB, 0xCC, 0xCF
#: The opcode and the form of each byte that is an operation.
FORMS = tuple(generate_ops.forms(OPS))
#: Operations that raise no exception in Python when their value is infinite or NaN.
TOTAL = frozenset("add sub mul neg abs sign rint copysign maximum minimum choose relu step".split())
#: The most instructions of one body, and of all bodies of a path: LLVM takes about 0.2 ms for each. In lanes bodies are
#: shorter, because a block repeats a body whenever one of its lanes leaves the path there.
LONGEST, LONGEST_IN_LANES, MOST = 256, 48, 600
#: A pair is joined if it repeats so often, and covers at least one instruction in so many.
FEWEST, COVERED = 4, 200
#: The largest distance of an operand that makes a difference between symbols, and how often one must occur.
NEAR, RARE = 1024, 2000
#: Whether the second operand of each byte is a register, and whether it is the number of a constant.
IS_BINARY = np.array(
    [(k < len(FORMS) and OPS[FORMS[k][0]].arity == 2) or FIRST_GUARD <= k < TRUNC for k in range(256)], bool
)
HAS_NUMBER = np.array([TRUNC <= k <= EXACT for k in range(256)], bool)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Code:
    """The instructions of a path; operands are registers, the first of which is `first`."""

    op: Array
    operands: tuple[Array, Array]
    constants: Array
    first: int
    outputs: Sequence[int]

    @classmethod
    def of(cls, path: Path) -> Code:
        """Read a path."""
        op, operands, constants = path.data()
        both = np.frombuffer(operands, np.uint32).reshape(-1, 2).astype(np.int64)
        columns = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
        outputs = [at for at in path.outputs_at() if at >= path.first]
        return cls(np.frombuffer(op, np.uint8), columns, np.frombuffer(constants), path.first, outputs)

    @property
    def registers(self) -> Array:
        """The register of each instruction."""
        return np.arange(self.first, self.first + len(self.op))

    def constant(self, register: int) -> float | None:
        """The value of a register that is a constant."""
        at = register - self.first
        return float(self.constants[self.operands[0][at]]) if at >= 0 and self.op[at] == CONSTANT else None


class Operand(NamedTuple):
    """Where an operand of a body's instruction is.

    Attributes
    ----------
    kind : str
        ``"rel"`` if it lies `at` registers after the beginning of the body, ``"abs"`` if it is register or constant
        number `at`, ``"far"`` if each repetition has another one.
    at : int
    """

    kind: str
    at: int

    @property
    def is_inside(self) -> bool:
        """Whether the body computes it."""
        return self.kind == "rel" and self.at >= 0


@dataclass
class Body:
    """Instructions that are repeated.

    Attributes
    ----------
    starts : array
        The first register of each repetition.
    op : sequence of int
    operands : list of (Operand, Operand)
        The operands of each instruction.
    live : set of int
        The instructions whose values are used elsewhere.
    """

    starts: Array
    op: Sequence[int]
    operands: list[tuple[Operand, Operand]]
    live: set[int] = field(default_factory=set)


def bodies_of(code: Code, longest: int = LONGEST) -> list[Body]:
    """The bodies of a path, of at most `longest` instructions each; what no body covers is interpreted."""
    n, may_join = len(code.op), code.op < ACCESS
    found = chosen(repetitions(symbols(code), may_join, longest), n) if n > longest else []
    if n <= MOST and may_join.all() and 2 * sum(len(at) * length for at, length in found) < n:
        found = [(np.array([at]), min(longest, n - at)) for at in range(0, n, longest)]
    bodies = [body for at, length in found if (body := body_at(code, at + code.first, length)) is not None]
    note_live(code, bodies)
    return bodies


def symbols(code: Code) -> Array:
    """A number for each instruction, the same for those that are alike."""
    op = code.op.astype(np.int64)
    columns = [distances(code, column) for column in code.operands]
    columns[0] = np.where(op == CONSTANT, code.operands[0] + 1, columns[0])
    columns[1] = np.where(HAS_NUMBER[op], code.operands[1] + 1, np.where(IS_BINARY[op], columns[1], 0))
    least = max(FEWEST, len(op) // RARE)
    for k in (1, 0):
        same, counts = kinds(op, *columns)
        columns[k] = np.where(counts[same] < least, 0, columns[k])
    return kinds(op, *columns)[0]


def kinds(op: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """A number for each different instruction, and how often each occurs."""
    _, same, counts = np.unique((op << 56) ^ (first << 28) ^ second, return_inverse=True, return_counts=True)
    return same, counts


def distances(code: Code, operands: Array) -> Array:
    """The distance of an operand before its instruction; for a constant a number of its own; 0 if it is looked up."""
    inside = operands >= code.first
    is_constant = inside.copy()
    is_constant[inside] = code.op[operands[inside] - code.first] == CONSTANT
    distance = code.registers - operands
    near = np.where(inside & (distance <= NEAR), distance, 0)
    found: Array = np.where(is_constant, NEAR + 1 + operands, near) & ((1 << 28) - 1)
    return found


@dataclass
class Grammar:
    """A sequence of symbols, each of which stands for one instruction or, by a rule, for two symbols."""

    sequence: Array
    places: Array
    lengths: list[int]
    rules: dict[int, tuple[int, int]]

    def expand(self, which: set[int]) -> None:
        """Replace symbols by what they stand for."""
        is_one = np.isin(self.sequence, list(which))
        pairs = np.array([self.rules[int(k)] for k in self.sequence[is_one]]).reshape(-1, 2)
        at = np.repeat(np.arange(len(is_one)), 1 + is_one)
        second = np.concatenate([[False], at[1:] == at[:-1]])
        self.sequence, self.places = self.sequence[at], self.places[at]
        self.places[second] += np.array(self.lengths)[pairs[:, 0]]
        self.sequence[second] = pairs[:, 1]
        self.sequence[np.flatnonzero(second) - 1] = pairs[:, 0]


def repetitions(sequence: Array, may_join: Array, longest: int) -> Grammar:
    """Join the most frequent pair of neighbours, as long as one is frequent."""
    least = len(sequence) / COVERED
    grammar = Grammar(sequence, np.arange(len(sequence)), [1] * (int(sequence.max()) + 1), {})
    while True:
        pair, count, at = most_frequent(grammar, may_join, longest)
        length = sum(grammar.lengths[k] for k in pair)
        if count < FEWEST or count * length < least:
            return grammar
        may_join = joined(grammar, pair, at, may_join)
        grammar.rules[len(grammar.lengths)] = pair
        grammar.lengths.append(length)


def most_frequent(grammar: Grammar, may_join: Array, longest: int) -> tuple[tuple[int, int], int, Array]:
    """The most frequent pair of neighbours that may be joined, its count, and where it is."""
    s, lengths = grammar.sequence, np.array(grammar.lengths)
    size = len(lengths)
    at = np.flatnonzero(may_join[:-1] & may_join[1:] & (lengths[s[:-1]] + lengths[s[1:]] <= longest))
    if not len(at):
        return (0, 0), 0, at
    keys = s[at] * size + s[at + 1]
    values, counts = np.unique(keys, return_counts=True) if size * size > 4 * len(keys) else (None, np.bincount(keys))
    best = int(counts.argmax())
    key = best if values is None else int(values[best])
    return divmod(key, size), int(counts[best]), at[keys == key]


def joined(grammar: Grammar, pair: tuple[int, int], at: Array, may_join: Array) -> Array:
    """Replace pairs by the next symbol; in a row of equal symbols every other pair. Return what may be joined."""
    if pair[0] == pair[1]:
        begins = np.flatnonzero(np.concatenate([[True], np.diff(at) != 1]))
        at = at[(np.arange(len(at)) - np.repeat(begins, np.diff(np.append(begins, len(at))))) % 2 == 0]
    grammar.sequence[at] = len(grammar.lengths)
    keep = np.ones(len(grammar.sequence), bool)
    keep[at + 1] = False
    grammar.sequence, grammar.places = grammar.sequence[keep], grammar.places[keep]
    found: Array = may_join[keep]
    return found


def chosen(grammar: Grammar, n: int) -> list[tuple[Array, int]]:
    """Where the symbols begin that cover most instructions, and their lengths; others are expanded first."""
    lengths = np.array(grammar.lengths)
    while True:
        values, counts = np.unique(grammar.sequence, return_counts=True)
        kept: list[int] = []
        left = MOST
        for k in np.argsort(-counts * lengths[values], kind="stable"):
            length = int(lengths[values[k]])
            if 2 <= length <= left and counts[k] * length * COVERED >= n:
                kept.append(int(values[k]))
                left -= length
        others = {int(k) for k in values} & grammar.rules.keys() - set(kept)
        if not others:
            return [(grammar.places[grammar.sequence == k], int(lengths[k])) for k in kept]
        grammar.expand(others)


def body_at(code: Code, starts: Array, length: int) -> Body | None:
    """The body at these places, without repetitions that would need other code; None if nothing is left."""
    while len(starts):
        rows = (starts - code.first)[:, None] + np.arange(length)
        op = code.op[rows[0]].tolist()
        operands, fits = [], np.ones(len(starts), bool)
        for j, kind in enumerate(op):
            both = []
            for k, column in enumerate(code.operands):
                x = column[rows[:, j]]
                both.append(operand(x, starts, is_register(kind, k)))
                if is_register(kind, k) and both[k].kind != "rel":
                    fits &= x < starts
            operands.append((both[0], both[1]))
        if fits.all():
            return Body(starts, op, operands)
        starts = starts[fits]
    return None


def is_register(op: int, k: int) -> bool:
    """Whether the operand of number `k` is a register."""
    return op != CONSTANT if k == 0 else bool(IS_BINARY[op])


def operand(x: Array, starts: Array, is_register: bool) -> Operand:
    """Where the operands `x` of one instruction are, in the repetitions that begin at `starts`."""
    distance = x - starts
    if is_register and (distance == distance[0]).all() and (len(x) > 1 or distance[0] >= 0):
        return Operand("rel", int(distance[0]))
    return Operand("abs", int(x[0])) if (x == x[0]).all() else Operand("far", 0)


def owners(code: Code, bodies: Sequence[Body]) -> tuple[Array, Array]:
    """For each instruction the number of its body, or -1, and where the repetition begins."""
    owner, begin = np.full(len(code.op), -1), np.zeros(len(code.op), np.int64)
    for k, body in enumerate(bodies):
        rows = (body.starts - code.first)[:, None] + np.arange(len(body.op))
        owner[rows], begin[rows] = k, body.starts[:, None]
    return owner, begin


def note_live(code: Code, bodies: Sequence[Body]) -> None:
    """Note which values of bodies are used outside of the repetition that computes them, or are outputs."""
    owner, begin = owners(code, bodies)
    reads = code.op != CONSTANT, IS_BINARY[code.op]
    used = [np.array(code.outputs, np.int64)]
    for does_read, column in zip(reads, code.operands, strict=True):
        readers = np.flatnonzero(does_read & (column >= code.first))
        read = column[readers] - code.first
        elsewhere = (owner[readers] != owner[read]) | (begin[readers] != begin[read])
        used.append(column[readers[elsewhere]])
    at = np.unique(np.concatenate(used)) - code.first
    for k, body in enumerate(bodies):
        mine = at[owner[at] == k]
        body.live = set(np.unique(mine + code.first - begin[mine]).tolist())


def schedule_of(code: Code, bodies: Sequence[Body]) -> Array:
    """The entries of `te_bodies` in ``replay.h``."""
    begins = np.concatenate([body.starts for body in bodies])
    numbers = np.repeat(np.arange(1, len(bodies) + 1), [len(body.starts) for body in bodies])
    ends = begins + np.repeat([len(body.op) for body in bodies], [len(body.starts) for body in bodies])
    last = code.first + len(code.op)
    between = np.setdiff1d(np.append(ends, code.first), np.append(begins, last))
    rows = [*zip(begins, numbers, strict=True), *((at, 0) for at in between), (last, 0)]
    found: Array = np.array(sorted(rows), np.uint32)
    return found
