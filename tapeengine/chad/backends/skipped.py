"""Let a reverse pass skip loops whose cotangents are zero: a linear map sends zero to zero.

Branches, and the largest or smallest of several numbers, give most of what they choose from the cotangent zero. A loop
that only adds products with cotangents would then add zeros; it is put in a branch that is taken if one of them is not
zero. The bits stay: a sum that began at ``0.0`` is never ``-0.0``, so adding zeros of any sign does not change it.
Where the sign of a zero could be seen, and where a loop does anything else than add, it stays as it is. A product of
zero and an infinite partial derivative is left out, too, which is NaN otherwise; all back ends that have the same bits
skip the same loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ..intermediate import statements as F
from ..intermediate.analysis import blocks, keeps, name_of, outs, reads, recalls, walk
from ..intermediate.operations import OPERATIONS_BY_NAME, REAL, TRUTH, Scalar

ZERO, ONE = F.Const(0.0, REAL), F.Const(1.0, REAL)
#: Operations whose value is zero if all, or if one, of these operands is zero.
ALL_OF, ONE_OF = {"add": (0, 1), "sub": (0, 1)}, {"mul": (0, 1), "div": (0,), "neg": (0,)}


def skipping(function: F.Function) -> F.Function:
    """Give a reverse pass that skips loops whose cotangents are zero; any other function unchanged."""
    if function.recalled is None or not any(isinstance(s, F.If) for s, _ in walk(function.body)):
        return function
    facts = Facts(function)
    if not facts.sparse:
        return function
    return replace(function, body=facts.block(function.body, frozenset()))


class Facts:
    """What a reverse pass does with its numbers and arrays."""

    def __init__(self, function: F.Function) -> None:
        self.statements = [s for s, _ in walk(function.body)]
        self.rows: dict[str, str] = {}
        self.sources: dict[str, list[F.Operand]] = {}
        self.users: dict[str, list[F.Statement]] = {}
        self.setters: dict[str, list[F.Statement]] = {}
        for s in self.statements:
            if isinstance(s, F.Row) and isinstance(s.array, F.Var):
                self.rows[s.out.name] = s.array.name
            for v, x in pairs_of(s):
                self.sources.setdefault(v.name, []).append(x)
            for x in reads(s):
                self.users.setdefault(name_of(x), []).append(s)
            for v in outs(s):
                self.setters.setdefault(v.name, []).append(s)
        self.body = function.body
        self.handed_to: dict[str, list[F.Statement]] = {}
        for s in self.statements:
            for name in {self.base(x) for x in (*reads(s), *(x for _, x in pairs_of(s)))}:
                self.handed_to.setdefault(name, []).append(s)
        self.sums = {s.out.name for s in self.statements if isinstance(s, F.New | F.ZerosLike)}
        self.sums -= {self.base(x) for s in self.statements for x in overwritten(s)}
        self.sparse = self.likely_zeros()
        self.signed = (
            self.seen_signs({x.name for x in function.results if isinstance(x, F.Var)}) if self.sparse else set()
        )

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

    # ------------------------------------------------------------ the sign of a zero

    def is_sum(self, x: F.Var) -> bool:
        """Tell whether a variable only gets sums that begin at 0.0, so that it is never -0.0."""
        if not isinstance(x.type, Scalar):
            return self.base(x) in self.sums
        sources = self.sources.get(x.name, [])
        return bool(sources) and all(isinstance(s, F.Const) and repr(s.value) == "0.0" for s in sources)

    def seen_signs(self, ends: set[str]) -> set[str]:
        """Find the numbers on whose sign, where they are zero, a result may depend."""
        ends |= {x.name for s in self.statements for x in self.shown(s) if isinstance(x, F.Var)}
        found, pending = set(), list(ends)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += (
                    x.name for s in self.setters.get(name, ()) for x in self.handed(s, name) if isinstance(x, F.Var)
                )
        return found

    def handed(self, s: F.Statement, name: str) -> Iterable[F.Operand]:
        """Give the operands whose sign a statement passes on to a variable."""
        match s:
            case F.Compute():
                return s.args
            case F.Add():
                return () if self.is_sum(s.out) else (s.value,)
        return [x for v, x in pairs_of(s) if v.name == name]

    def shown(self, s: F.Statement) -> Iterable[F.Operand]:
        """Give the operands that a statement uses in another way than passing them on linearly."""
        match s:
            case F.Compute():
                linear = ALL_OF.get(s.operation.name, ONE_OF.get(s.operation.name, ()))
                return s.args[len(linear) :]
            case F.Assign() | F.Add():
                return ()
            case F.AddAt():
                return () if self.is_sum(s.array) else (s.value,)
            case F.For() | F.While() | F.If():
                return keeps(s)
        return reads(s)

    # ------------------------------------------------------------ loops

    def block(self, statements: Sequence[F.Statement], tested: frozenset[str]) -> list[F.Statement]:
        """Give statements whose loops are skipped where they may be."""
        found: list[F.Statement] = []
        for k, s in enumerate(statements):
            if isinstance(s, F.For):
                zeros = [v for v in self.zeros(s, statements[:k], tested) if v.name not in tested]
                inner = replace(s, body=self.block(s.body, tested | {v.name for v in zeros}))
                found += branch(zeros, inner) if zeros else [inner]
            elif isinstance(s, F.If):
                found.append(replace(s, then=self.block(s.then, tested), orelse=self.block(s.orelse, tested)))
            else:
                found.append(s)
        return found

    def zeros(self, loop: F.For, before: Sequence[F.Statement], tested: Collection[str]) -> list[F.Var]:
        """Give the numbers whose being zero ensures that a loop changes nothing; empty if there are none."""
        inside = [s for s, _ in walk(loop.body)]
        made = {v.name for s in inside if not isinstance(s, F.Add) for v in outs(s)} - {v.name for v, _ in loop.carried}
        read = [x for s in inside for x in ((s.value,) if isinstance(s, F.Add) else reads(s))]
        read += (v for v, _ in loop.carried)
        given = {x.name: x for x in read if isinstance(x, F.Var) and x.type == REAL and x.name not in made}
        empty = {v.name for s in before if isinstance(s, F.Assign) for v, x in pairs_of(s) if x == ZERO}
        likely = {name for name in given if name in self.sparse}
        if likely <= set(tested) or not all(map(is_plain, inside)) or loop.kept is not None:
            return []
        unchanged = Unchanged(self, loop, inside, likely | (empty & given.keys()), made)
        return [given[name] for name in given if name in unchanged.wanted] if unchanged.holds() else []


class Unchanged:
    """What a loop does if some numbers are zero."""

    def __init__(
        self, facts: Facts, loop: F.For, inside: Sequence[F.Statement], wanted: set[str], made: set[str]
    ) -> None:
        self.facts, self.loop, self.inside, self.made = facts, loop, inside, made
        assigned = (F.Compute, F.Load, F.Assign, F.For, F.New)
        own = {v.name for s in inside if isinstance(s, assigned) for v in outs(s) if v.type == REAL or is_numbers(v)}
        fields = {f.name for s in (loop, *inside) for f in recalls(s)}
        rows = self.facts.rows.keys()
        self.zeros = wanted | (own - fields - rows)
        pending, parts = [loop, *inside], {id(s) for s in (loop, *inside)}
        while pending:
            given = self.gives(pending.pop())
            gone = {name for name, values in given if name in self.zeros and not all(map(self.is_zero, values))}
            self.zeros -= gone
            pending += (s for name in gone for s in facts.handed_to.get(name, ()) if id(s) in parts)
        self.wanted = wanted & self.zeros

    def gives(self, s: F.Statement) -> Iterator[tuple[str, Iterable[F.Operand]]]:
        """Iterate over what a statement hands to a name, with the values; one that is not zero if unknown."""
        match s:
            case F.Compute() if not is_zero(s, self.is_zero):
                yield s.out.name, (ONE,)
            case F.Load() if self.facts.base(s.array) not in self.zeros & self.made:
                yield s.out.name, (ONE,)
            case F.Add():
                yield s.out.name, (s.value,)
            case F.AddAt() | F.AddAll() | F.Store():
                yield self.facts.base(s.array), (s.value,)
        yield from ((v.name, (x,)) for v, x in pairs_of(s))

    def is_zero(self, x: F.Operand) -> bool:
        """Tell whether a number, or all of an array that the loop has made, is zero."""
        if isinstance(x, F.Const):
            return x == ZERO
        if isinstance(x.type, Scalar):
            return x.name in self.zeros
        return self.facts.base(x) in self.zeros & self.made

    def holds(self) -> bool:
        """Tell whether the loop changes nothing that is seen after it."""
        if not self.wanted & self.facts.sparse or not all(map(self.adds_nothing, self.inside)):
            return False
        for v, x in self.loop.carried:
            if v != x and not (self.is_zero(v) and v.name not in self.facts.signed):
                return False
        own = {id(s) for s in (self.loop, *self.inside)}
        around = (self.facts.users, self.facts.setters)
        return all(id(s) in own for at in around for name in self.made for s in at.get(name, ()))

    def adds_nothing(self, s: F.Statement) -> bool:
        """Tell whether a statement changes nothing outside the loop."""
        match s:
            case F.Add() if s.out.name not in self.made:
                is_hidden = self.facts.is_sum(s.out) or s.out.name not in self.facts.signed
                return s.out.type == REAL and self.is_zero(s.value) and is_hidden
            case F.AddAt() | F.AddAll() if self.facts.base(s.array) not in self.made:
                return is_numbers(s.array) and self.is_zero(s.value) and self.facts.is_sum(s.array)
            case F.Store() | F.Assign() | F.For():
                names = (self.facts.base(s.array),) if isinstance(s, F.Store) else (v.name for v, _ in pairs_of(s))
                return all(name in self.made for name in names)
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


def is_plain(s: F.Statement) -> bool:
    """Tell whether a statement may be part of a loop that is skipped: it fails nowhere, and arrays keep their names."""
    match s:
        case F.Load():
            return isinstance(s.out.type, Scalar)
        case F.Assign():
            return all(isinstance(x.type, Scalar) for x in s.values)
        case F.For():
            return s.kept is None and all(isinstance(x.type, Scalar) for _, x in s.carried)
        case F.If():
            return s.kept is None
        case F.Row() | F.New():
            return is_numbers(s.out)
    return isinstance(s, F.Compute | F.Size | F.Add | F.AddAt | F.AddAll | F.Store)


def is_numbers(x: F.Var) -> bool:
    """Tell whether a variable is an array of reals."""
    return isinstance(x.type, F.ArrayOf) and x.type.element == REAL


def is_zero(s: F.Compute, known: Callable[[F.Operand], bool]) -> bool:
    """Tell whether an operation gives zero, from the operands that are known to be zero."""
    name = s.operation.name
    if name in ALL_OF:
        return all(known(x) or x == ZERO for x in s.args) and any(map(known, s.args))
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
