"""Let a reverse pass skip loops whose cotangent is zero: a linear map sends zero to zero.

Branches, and the largest or smallest of several numbers, give most of what they choose from the cotangent zero. An
innermost loop that only adds products with cotangents would then add zeros; it is put in a branch that is taken if one
of them is not zero. The bits stay: a sum that began at ``0.0`` is never ``-0.0``, so adding zeros of any sign does not
change it. A loop that adds to anything else, or does anything else than add, stays as it is. A product of zero and an
infinite partial derivative is left out, too, which is NaN otherwise; all back ends that have the same bits skip the
same loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ..intermediate import statements as F
from ..intermediate.analysis import blocks, name_of, outs, reads, rewritten, walk
from ..intermediate.operations import OPERATIONS_BY_NAME, REAL, TRUTH, Scalar

ZERO = F.Const(0.0, REAL)
#: Operations whose value is zero if all, or if one, of these operands is zero.
ALL_OF, ONE_OF = ("add", "sub"), {"mul": (0, 1), "div": (0,), "neg": (0,)}
#: What a loop that is skipped may do: it fails nowhere, and gives no array another name.
PLAIN = F.Compute | F.Load | F.Row | F.Size | F.Assign | F.Add | F.AddAt


def skipping(function: F.Function) -> F.Function:
    """Give a reverse pass that skips loops whose cotangents are zero; any other function unchanged."""
    if function.recalled is None or not any(isinstance(s, F.If) for s, _ in walk(function.body)):
        return function
    facts = Facts(function)
    if not facts.sparse:
        return function
    return replace(function, body=rewritten(function.body, facts.skipped))


class Facts:
    """What a reverse pass does with its numbers and arrays."""

    def __init__(self, function: F.Function) -> None:
        self.statements = [s for s, _ in walk(function.body)]
        self.rows: dict[str, str] = {}
        self.sources: dict[str, list[F.Operand]] = {}
        self.users: dict[str, list[F.Statement]] = {}
        for s in self.statements:
            if isinstance(s, F.Row) and isinstance(s.array, F.Var):
                self.rows[s.out.name] = s.array.name
            for v, x in pairs_of(s):
                self.sources.setdefault(v.name, []).append(x)
            for x in (*reads(s), *outs(s)):
                self.users.setdefault(name_of(x), []).append(s)
        self.body = function.body
        self.handed_to: dict[str, list[F.Statement]] = {}
        for s in self.statements:
            for name in {self.base(x) for x in (*reads(s), *(x for _, x in pairs_of(s)))}:
                self.handed_to.setdefault(name, []).append(s)
        self.sums = {s.out.name for s in self.statements if isinstance(s, F.New | F.ZerosLike)}
        self.sums -= {self.base(x) for s in self.statements for x in overwritten(s)}
        self.sparse = self.likely_zeros()

    def base(self, x: F.Operand) -> str:
        """Give the name of the array that a variable is a row of, directly or through other rows."""
        name = name_of(x)
        while name in self.rows:
            name = self.rows[name]
        return name

    def likely_zeros(self) -> set[str]:
        """Find the numbers, and arrays of numbers, that are likely to be zero: what one branch of two adds to."""
        found = set[str]()
        lopsided(self.body, found)
        pending = list(self.statements)
        while pending:
            more = set(self.from_sparse(pending.pop(), found)) - found
            found |= more
            pending += (s for name in more for s in self.handed_to.get(name, ()))
        return found

    def from_sparse(self, s: F.Statement, sparse: Collection[str]) -> Iterator[str]:
        """Iterate over the names to which a statement hands a value that is likely to be zero."""
        match s:
            case F.Store() | F.AddAt() if name_of(s.value) in sparse:
                yield self.base(s.array)
            case F.Load() if self.base(s.array) in sparse:
                yield s.out.name
            case F.Compute() if is_zero(s, lambda x: name_of(x) in sparse):
                yield s.out.name
        yield from (v.name for v, x in pairs_of(s) if name_of(x) in sparse)

    def is_sum(self, x: F.Var) -> bool:
        """Tell whether a variable only gets sums that begin at 0.0, so that it is never -0.0."""
        if not isinstance(x.type, Scalar):
            return self.base(x) in self.sums
        sources = self.sources.get(x.name, [])
        return bool(sources) and all(isinstance(s, F.Const) and repr(s.value) == "0.0" for s in sources)

    # ------------------------------------------------------------ loops

    def skipped(self, s: F.Statement) -> list[F.Statement]:
        """Give a statement; a loop in a branch if it may be skipped."""
        zeros = self.zeros(s) if isinstance(s, F.For) and s.kept is None and not s.carried else []
        return branch(zeros, s) if zeros else [s]  # type: ignore[arg-type]

    def zeros(self, loop: F.For) -> list[F.Var]:
        """Give the numbers whose being zero ensures that a loop changes nothing; empty if there are none."""
        made = {v.name for s in loop.body if not isinstance(s, F.Add) for v in outs(s)}
        read = [x for s in loop.body for x in ((s.value,) if isinstance(s, F.Add) else reads(s))]
        given = {x.name: x for x in read if isinstance(x, F.Var) and x.type == REAL and x.name in self.sparse - made}
        if not given or not self.adds_nothing(loop.body, set(given)):
            return []
        own = set(map(id, loop.body))
        return list(given.values()) if all(id(s) in own for name in made for s in self.users[name]) else []

    def adds_nothing(self, steps: Sequence[F.Statement], zeros: set[str]) -> bool:
        """Tell whether statements only add zeros to sums, if some numbers are zero; note what they give is zero."""

        def known(x: F.Operand) -> bool:
            return name_of(x) in zeros

        for s in steps:
            if not isinstance(s, PLAIN) or (isinstance(s, F.Load) and isinstance(s.out.type, F.ArrayOf)):
                return False
            if isinstance(s, F.Add | F.AddAt):
                if not known(s.value) or not self.is_sum(s.out if isinstance(s, F.Add) else s.array):
                    return False
                continue
            gave = [v.name for v, x in pairs_of(s) if x == ZERO or known(x)]
            if isinstance(s, F.Compute) and is_zero(s, known):
                gave = [s.out.name]
            zeros.difference_update(v.name for v in outs(s))
            zeros.update(gave)
        return True


# ------------------------------------------------------------ parts of statements


def pairs_of(s: F.Statement) -> Iterable[tuple[F.Var, F.Operand]]:
    """Give the variables that a statement assigns without a change, and their values."""
    if isinstance(s, F.Assign):
        return zip(s.outs, s.values, strict=True)
    return s.carried if isinstance(s, F.For | F.While) else ()


def lopsided(statements: Sequence[F.Statement], found: set[str]) -> set[str]:
    """Give the variables to which statements add; note those to which one branch of two adds."""
    adds = {s.out.name for s in statements if isinstance(s, F.Add)}
    for s in statements:
        if isinstance(s, F.Flow):
            each = [lopsided(block, found) for block in blocks(s)]
            found |= each[0] ^ each[1] if isinstance(s, F.If) else set()
            adds = adds.union(*each)
    return adds


def overwritten(s: F.Statement) -> Iterator[F.Var]:
    """Iterate over arrays that hold, or may share, anything else than sums that began at zero."""
    if isinstance(s, F.AddAt | F.AddAll | F.Row | F.Size | F.Load):
        return
    made = () if isinstance(s, F.New | F.ZerosLike) else outs(s)
    yield from (x for x in (*reads(s), *made) if isinstance(x, F.Var) and not isinstance(x.type, Scalar))


def is_zero(s: F.Compute, known: Callable[[F.Operand], bool]) -> bool:
    """Tell whether an operation gives zero, from the operands that are known to be zero."""
    name = s.operation.name
    if name in ALL_OF:
        return all(x == ZERO or known(x) for x in s.args) and any(map(known, s.args))
    return any(known(s.args[k]) for k in ONE_OF.get(name, ()))


def branch(zeros: Sequence[F.Var], loop: F.For) -> list[F.Statement]:
    """Write a loop that runs if one of some numbers is not zero."""
    made: list[F.Statement] = []

    def compute(operation: str, *args: F.Operand) -> F.Var:
        out = F.Var(f"{loop.index.name}.runs{len(made)}", TRUTH)
        made.append(F.Compute(out, OPERATIONS_BY_NAME[operation], args))
        return out

    if len(zeros) == 1:
        runs = compute("ne", zeros[0], ZERO)
    else:
        rest = compute("eq", zeros[0], ZERO)
        for x in zeros[1:]:
            rest = compute("and", rest, compute("eq", x, ZERO))
        runs = compute("not", rest)
    return [*made, F.If(runs, [loop], [])]
