"""Write the body of one function: its variables, which are stack slots and SSA values, and addresses in its arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...intermediate import statements as F
from ...intermediate.operations import Scalar
from ..lifetimes import Lifetimes
from .aliases import Aliases
from .helpers import Helpers
from .layout import SCALARS, constant, stride, words
from .ranges import assigned
from .writer import RESULT, Writer

#: The offset of the scratch arena in `te_native`; see `machine.h`.
SCRATCH = 24
#: The words of a growing array: its elements, its size, and its capacity.
GROWN = ("ptr", "i64", "i64")


Rules = Mapping[type[object], Callable[["Body", Any], None]]


def key(s: F.Statement) -> str:
    """Identify a statement, and its copies that assign the same variable."""
    return s.out.name if hasattr(s, "out") else str(id(s))


class Body(Writer):
    """Writes the body of one function.

    A variable that is assigned once is an SSA value. Others have slots on the stack, which LLVM promotes to values.
    """

    def __init__(self, program: Helpers, function: F.Function, may_raise: bool, rules: Rules) -> None:
        super().__init__()
        self.function = function
        self.lifetimes = Lifetimes(function)
        self.known: dict[str, list[str]] = {}
        self.placed: dict[str, list[str]] = {}
        self.natural = program.natural(function)
        self.changing = self.lifetimes.grown | {name for name, n in assigned(function).items() if n > 1}
        self.program = program
        self.may_raise = may_raise
        self.rules = rules
        self.checked: set[int] = set()
        self.depth = 0
        self.is_main = False
        self.is_reverse = function.recalled is not None
        self.hoisted: set[str] = set()
        self.prepared: dict[tuple[int, int], str] = {}
        self.quotients: dict[Sequence[F.Operand], tuple[str, str]] = {}
        self.following: Sequence[F.Statement] = ()
        self.copied: list[F.Statement] = []
        self.rooms: dict[int, tuple[str, str]] = {}
        self.accounted: set[F.Operand | None] = set()
        self.last: dict[str, str] = {}
        self.summing: dict[str, Callable[[str], None]] = {}
        self.aliases = Aliases(function, self.lifetimes, program.metadata)

    def block(self, statements: Sequence[F.Statement]) -> None:
        """Write statements."""
        for k, s in enumerate(statements):
            if key(s) not in self.hoisted:
                self.following = statements[k + 1 :]
                self.rules[type(s)](self, s)

    def left(self, statements: Iterable[F.Statement]) -> Iterator[F.Statement]:
        """Iterate over the statements that have not been executed before their loop, as such or as copies."""
        return (s for s in statements if key(s) not in self.hoisted)

    def copies(
        self, statements: Sequence[F.Statement], copy: Callable[[F.Statement], F.Statement]
    ) -> list[F.Statement]:
        """Give copies of statements, without those already executed; checks remain valid for the copies."""
        found = []
        for s in self.left(statements):
            found.append(copy(s))
            if id(s) in self.checked:
                self.checked.add(id(found[-1]))
            for k in range(len(s.indices)) if isinstance(s, F.Load | F.Row) else ():
                if (id(s), k) in self.prepared:
                    self.prepared[id(found[-1]), k] = self.prepared[id(s), k]
        self.copied += found  # keeps their identities from being reused
        return found

    def lane(self, own: Mapping[str, F.Var], k: int) -> Mapping[str, F.Var]:
        """Give separate names to the variables of one of several steps."""
        names = {name: F.Var(f"{name}.{k}", v.type) for name, v in own.items()}
        for name, v in names.items():
            if name in self.changing:
                self.changing.add(v.name)
            if name in self.natural:
                self.natural |= {v.name}
            if isinstance(v.type, F.Frames):
                self.program.lane(v.name, name, names)
            self.lifetimes.add(v.name, name)
        return names

    @contextmanager
    def accessing(self, array: F.Operand) -> Iterator[None]:
        """Write accesses to the elements of an array."""
        self.apart = self.aliases.of(array)
        yield
        self.apart = ""

    # ------------------------------------------------------------ variables

    def is_index(self, x: F.Operand) -> bool:
        """Tell whether an integer is known to be non-negative."""
        if isinstance(x, F.Const):
            return isinstance(x.value, int) and x.value >= 0
        return x.name in self.known and self.known[x.name][0] in self.naturals

    def is_grown(self, x: F.Operand) -> bool:
        """Tell whether an array grows."""
        return isinstance(x, F.Var) and x.name in self.lifetimes.grown

    def word_types(self, v: F.Var) -> Sequence[str]:
        """Give the types of the words of a variable's place."""
        return GROWN if self.is_grown(v) else words(v.type)

    def places_of(self, v: F.Var) -> list[str]:
        """Give the places of a variable."""
        if v.name not in self.placed:
            self.placed[v.name] = [self.place(w) for w in self.word_types(v)]
        return self.placed[v.name]

    def value(self, x: F.Operand) -> list[str]:
        """Give the words of an operand."""
        if isinstance(x, F.Const):
            return constant(x)
        if x.name in self.changing:
            found = [self.get(p, w) for p, w in zip(self.places_of(x), self.word_types(x), strict=True)]
            return found[: len(words(x.type))]
        return self.known[x.name]

    def one(self, x: F.Operand) -> str:
        """Give the word of an operand that has one."""
        return self.value(x)[0]

    def give(self, v: F.Var, values: Sequence[str]) -> None:
        """Assign a variable."""
        if v.name not in self.changing:
            self.known[v.name] = list(values)
            if v.name in self.natural:
                self.naturals.add(values[0])
            return
        if self.is_grown(v) and len(values) < len(GROWN):
            values = [*values, values[1]]
        for place, word, value in zip(self.places_of(v), self.word_types(v), values, strict=True):
            self.set(place, word, value)

    def give_all(self, outs: Iterable[F.Var], found: Sequence[str]) -> None:
        """Assign variables from one list of words, in order."""
        rest = iter(found)
        for v in outs:
            self.give(v, [next(rest) for _ in words(v.type)])

    def values(self, xs: Iterable[F.Operand]) -> list[str]:
        """Give the words of several operands."""
        return [w for x in xs for w in self.value(x)]

    # ------------------------------------------------------------ places in arrays

    def index(self, x: F.Operand, size: str, checked: bool) -> str:
        """Give an index that counts from the beginning."""
        i = self.one(x)
        if isinstance(x, F.Const) and not i.startswith("-"):
            if checked:
                self.refer_if(f"icmp ule i64 {size}, {i}")
            return i
        if not self.is_index(x):
            from_end = self.op(f"icmp slt i64 {i}, 0")
            i = self.op(f"select i1 {from_end}, i64 {self.op(f'add i64 {i}, {size}')}, i64 {i}")
        if checked:
            self.refer_if(f"icmp uge i64 {self.last.get(i, i)}, {size}")
        return i

    def read_at(self, s: F.Load | F.Row) -> str:
        """Give the address that a statement reads.

        Indices that its loop has checked, or that a reverse pass reads again, are not checked.
        """
        checked = s.checked and id(s) not in self.checked
        return self.element(s.array, s.indices, checked and not self.is_reverse, checked, id(s))

    def element(
        self,
        array: F.Operand,
        indices: Sequence[F.Operand],
        checked: bool,
        may_be_negative: bool = True,
        reader: int | None = None,
    ) -> str:
        """Give the address of an element, or of the first element of a row."""
        assert isinstance(array.type, F.ArrayOf)
        data, *sizes = self.value(array)
        place = "0"
        for k, x in enumerate(indices):
            i = "" if reader is None else self.prepared.get((reader, k), "")
            if not i:
                i = self.index(x, sizes[k], checked) if checked or may_be_negative else self.one(x)
            before = place if place == "0" else self.op(f"mul nsw i64 {place}, {sizes[k]}")
            place = i if before == "0" else self.op(f"add nsw i64 {before}, {i}")
        rest = sizes[len(indices) :]
        of = array.type.element
        if isinstance(of, Scalar):
            memory = "i8" if SCALARS[of] == "i1" else SCALARS[of]
            offset = self.product([place, *rest]) if rest else place
            return self.op(f"getelementptr inbounds {memory}, ptr {data}, i64 {offset}")
        return self.at(data, self.product([place, *rest, stride(of)]))

    def arena(self, array: F.Var) -> str:
        """Give the arena of an array: that of values which do not outlive a step, or that of all others."""
        return self.state(SCRATCH) if self.lifetimes.is_scratch(array) else "%ctx"

    def room(self, s: F.New) -> tuple[str, str]:
        """Give memory for an array, and its size in bytes: that of all steps, if a loop has set it aside."""
        found = self.rooms.get(id(s))
        if found is None:
            assert isinstance(s.out.type, F.ArrayOf)
            sizes = [self.not_negative(self.one(n)) for n in s.sizes]
            arena = self.arena(s.out)
            if self.is_main and self.is_reverse and s.out in self.function.results:
                arena = RESULT
            found = self.array(arena, sizes, stride(s.out.type.element))
        return found

    def array(self, arena: str, sizes: Sequence[str], each: int) -> tuple[str, str]:
        """Allocate an array; return its address and its size in bytes. The run stops if it does not fit in memory."""
        n = sizes[0]
        for other in sizes[1:]:
            n = self.op(f"call i64 @te_elements(i64 {n}, i64 {other})")
        return self.take(arena, n, each), self.product([n, each])
