"""Converts single-use terms to procedures: administrative normal form (WN section 10).

T[e] : a procedure that consumes the free variables of e, and leaves the value
T[f(e1, ..., en)] = T[e1]; ...; T[en]; t = (x1, ..., xn); x = Call f t
T[dup e] = T[e]; x = Dup x1                  T[let x = e1 in e2] = T[e1]; T[e2], with its variable for x
T[let () = elim e in e2] = T[e]; Elim x1; T[e2]     T[let (x1, ..., xn) = e1 in e2] = T[e1]; (x1, ..., xn) = x; T[e2]
T[if b then e1 else e2] = T[b]; Case b (z: Elim z; T[e2]; x = x2) (z: Elim z; T[e1]; x = x1)        False is option 0
T[case e of in_k x -> ek] = T[e]; Case x (x: T[ek]; x = xk)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ...chad.language.terms import Case as CaseTerm
from ...chad.language.terms import If, Let, Literal, Term, Tuple, Var
from ..source import LetTuple
from ..target import Interface
from . import procedure as P

#: Maps each variable of a term to the procedure's variable.
Names = dict[str, str]


class Translation:
    """Translates terms; its variables are numbered."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.statements: list[P.Statement] = []

    def name(self) -> str:
        """An unused variable name."""
        return f"x{next(self.numbers)}"

    def emit(self, statement: P.Statement) -> None:
        """Append one statement."""
        self.statements.append(statement)

    def pack(self, items: Sequence[Term], names: Names) -> str:
        """T of a tuple."""
        values = tuple(self.term(item, names) for item in items)
        to = self.name()
        self.emit(P.Pack(to, values))
        return to

    def unpack(self, xs: Sequence[Var], whole: str, names: Names) -> Names:
        """Unpack a tuple; return the names extended by those of its components."""
        parts = tuple(self.name() for _ in xs)
        self.emit(P.Unpack(parts, whole))
        return {**names, **dict(zip((x.name for x in xs), parts, strict=True))}

    def term(self, term: Term, names: Names) -> str:
        """Emit T[term]; return the variable of its value."""
        match term:
            case Var(name):
                return names[name]
            case Literal(number):
                to = self.name()
                self.emit(P.Const(to, number))
                return to
            case Tuple(items):
                return self.pack(items, names)
            case Let(x, bound, body):
                return self.term(body, {**names, x.name: self.term(bound, names)})
            case LetTuple((), Interface("elim", (x,)), body):
                self.emit(P.Elim(self.term(x, names)))
                return self.term(body, names)
            case LetTuple(xs, bound, body):
                return self.term(body, self.unpack(xs, self.term(bound, names), names))
            case If(condition, then, orelse):
                return self.choose(condition, [(None, orelse), (None, then)], names)
            case CaseTerm(whole, branches):
                return self.choose(whole, [(b.var, b.body) for b in branches], names)
            case Interface(name, args):
                return self.applied(name, args, names)
        raise ValueError(f"{type(term).__name__} cannot be converted to a procedure")

    def applied(self, name: str, args: Sequence[Term], names: Names) -> str:
        """T of an application."""
        if name in ("dup", "in0", "in1"):
            argument, to = self.term(args[0], names), self.name()
            self.emit(P.Dup(to, argument) if name == "dup" else P.Inject(to, int(name[2:]), argument))
            return to
        packed, to = self.pack(args, names), self.name()
        self.emit(P.Invoke(to, name, packed))
        return to

    def choose(self, subject: Term, options: Sequence[tuple[Var | None, Term]], names: Names) -> str:
        """T of a conditional."""
        tested, to = self.term(subject, names), self.name()
        self.emit(P.Case(tested, tuple(self.branch(x, option, names, to) for x, option in options)))
        return to

    def branch(self, x: Var | None, option: Term, names: Names, to: str) -> tuple[str, P.Procedure]:
        """One branch, which consumes all names, like the other branches."""
        outer, self.statements = self.statements, []
        payload = self.name()
        if x is None:
            self.emit(P.Elim(payload))
        self.emit(P.Assign(to, self.term(option, {**names, x.name: payload} if x else names)))
        branch, self.statements = tuple(self.statements), outer
        return payload, branch
