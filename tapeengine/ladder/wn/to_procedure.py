"""Terms to procedures: administrative normal form, with a Dup for each further use and an Elim for none.

T[e] : a procedure that uses up the free variables of e, and leaves the value
T[(e1, ..., en)] = share the free variables; T[e1]; ...; T[en]; x = (x1, ..., xn)
T[op(e1, ..., en)] = T[(e1, ..., en)]; x = Call op t
T[if b then e1 else e2] = share; T[b]; Case b (T[e1]; x = x1) (T[e2]; x = x2)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from tapeengine.chad.terms import If, Let, Literal, Op, Proj, Term, Tuple, Var
from tapeengine.chad.types import Product
from tapeengine.ladder.scope import free
from tapeengine.ladder.wn.procedure import Assign, Case, Const, Dup, Elim, Invoke, Pack, Procedure, Statement, Unpack

__all__ = ["Translation"]

#: For each free variable of a term the variable of the procedure that holds it.
Names = dict[str, str]


class Translation:
    """Translates terms; its variables are numbered."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.statements: list[Statement] = []

    def name(self) -> str:
        """A variable that has not been given yet."""
        return f"x{next(self.numbers)}"

    def emit(self, statement: Statement) -> None:
        """One statement more."""
        self.statements.append(statement)

    def share(self, names: Names, uses: Sequence[frozenset[str]]) -> list[Names]:
        """A variable of its own for each use of a name; names without a use end here."""
        shared: list[Names] = [{} for _ in uses]
        for name in sorted(names):
            users = [part for part, used in zip(shared, uses, strict=True) if name in used]
            rest = names[name]
            for part in users[:-1]:
                pair, part[name], following = self.name(), self.name(), self.name()
                self.emit(Dup(pair, rest))
                self.emit(Unpack((part[name], following), pair))
                rest = following
            if users:
                users[-1][name] = rest
            else:
                self.emit(Elim(rest))
        return shared

    def term(self, term: Term, names: Names) -> str:
        """Emit T[term]; gives the variable of its value."""
        match term:
            case Var(name):
                return names[name]
            case Literal(number):
                to = self.name()
                self.emit(Const(to, number))
                return to
            case Tuple(items):
                return self.pack(items, names)
            case Op(op, args):
                packed, to = self.pack(args, names), self.name()
                self.emit(Invoke(to, op, packed))
                return to
            case Proj(whole, index):
                return self.project(whole, index, names)
            case Let(x, bound, body):
                first, rest = self.share(names, [free(bound), free(body) - {x.name}])
                value = self.term(bound, first)
                if x.name not in free(body):
                    self.emit(Elim(value))
                    return self.term(body, rest)
                return self.term(body, {**rest, x.name: value})
            case If(condition, then, orelse):
                return self.choose(condition, (orelse, then), names)
        raise ValueError(f"{type(term).__name__} has no procedure here")

    def pack(self, items: Sequence[Term], names: Names) -> str:
        """T of a tuple."""
        parts = self.share(names, [free(item) for item in items])
        values = tuple(self.term(item, part) for item, part in zip(items, parts, strict=True))
        to = self.name()
        self.emit(Pack(to, values))
        return to

    def project(self, whole: Term, index: int, names: Names) -> str:
        """T of a component: the others are not used."""
        assert isinstance(whole.type, Product)
        parts = tuple(self.name() for _ in whole.type.items)
        self.emit(Unpack(parts, self.term(whole, names)))
        for k, part in enumerate(parts):
            if k != index:
                self.emit(Elim(part))
        return parts[index]

    def choose(self, condition: Term, options: Sequence[Term], names: Names) -> str:
        """T of a conditional; false is option 0."""
        first, rest = self.share(names, [free(condition), frozenset().union(*map(free, options))])
        subject, to = self.term(condition, first), self.name()
        branches = tuple(self.branch(option, rest, to) for option in options)
        self.emit(Case(subject, branches))
        return to

    def branch(self, option: Term, names: Names, to: str) -> tuple[str, Procedure]:
        """One branch: it uses up all names, as the other one does."""
        outer, self.statements = self.statements, []
        payload = self.name()
        self.emit(Elim(payload))
        (own,) = self.share(names, [free(option)])
        self.emit(Assign(to, self.term(option, own)))
        branch, self.statements = tuple(self.statements), outer
        return payload, branch
