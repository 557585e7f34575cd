r"""The single-use dialect (WN section 11): terms that use each variable exactly once.

    S[e] where several parts of e use x        = let (x1, x2) = dup x in e, with x1 in one part and x2 in the others
    S[e] where e does not use x                = let () = elim x in S[e]
    S[if b then e1 else e2], S[case ...]       the branches use the same variables: a branch eliminates unused ones
    S[pi_k e]                                  = let (x1, ..., xn) = S[e] in xk, and the others are eliminated

In the reverse pass a use of x becomes a binding of its cotangent. With two uses, one binding would hide the other. So a
second use is a dup, whose reverse pass adds, and no use is an elim, whose reverse pass is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...chad.language import terms as S
from ...chad.language.traverse import children, free_variables
from ...chad.language.types import Product
from ..source import Ccl, LetTuple, NTimes
from ..target import Fresh, Interface
from .primitives import application

#: Maps each variable in scope to the variable that holds its value now.
Names = dict[str, S.Var]
Around = Callable[[S.Term], S.Term]
Body = tuple[tuple[S.Var, ...], S.Term]
Choice = tuple[S.Term, list[Body], Around]


def free(term: S.Term) -> frozenset[str]:
    """The names of the free variables of a term."""
    return frozenset(free_variables(term))


def single_use(module: S.Module) -> S.Module:
    """S on all definitions."""
    return SingleUse().module(module)


class SingleUse:
    """S; it makes its own variables."""

    def __init__(self) -> None:
        self.fresh = Fresh()

    def share(self, names: Names, uses: Sequence[frozenset[str]]) -> tuple[list[Names], Around]:
        """The variables of each part, and a function that binds them around a body."""
        shared: list[Names] = [{} for _ in uses]
        lets: list[tuple[tuple[S.Var, ...], S.Term]] = []
        for name in sorted(names):
            users, rest = [part for part, used in zip(shared, uses, strict=True) if name in used], names[name]
            for part in users[:-1]:
                part[name], following = self.fresh(name, rest.of), self.fresh(name, rest.of)
                lets.append(((part[name], following), Interface("dup", (rest,), Product((rest.of, rest.of)))))
                rest = following
            if users:
                users[-1][name] = rest
            else:
                lets.append(((), Interface("elim", (rest,), Product())))

        def around(body: S.Term) -> S.Term:
            for variables, bound in reversed(lets):
                body = LetTuple(variables, bound, body)
            return body

        return shared, around

    def body(self, names: Names, variables: Sequence[S.Var], body: S.Term) -> Body:
        """Binders with unused names, and S of a body that has them in scope."""
        binders = tuple(self.fresh(x.name, x.of) for x in variables)
        scope = {**names, **{x.name: binder for x, binder in zip(variables, binders, strict=True)}}
        (own,), around = self.share(scope, [free(body)])
        return binders, around(self.term(body, own))

    def parts(self, terms: Sequence[S.Term], names: Names) -> tuple[tuple[S.Term, ...], Around]:
        """S of several parts of a term."""
        shared, around = self.share(names, [free(term) for term in terms])
        return tuple(self.term(term, own) for term, own in zip(terms, shared, strict=True)), around

    def choice(self, subject: S.Term, bodies: Sequence[Body], names: Names) -> Choice:
        """S of a subject and of branches with their binders."""
        inner = frozenset().union(*(free(body) - {x.name for x in binders} for binders, body in bodies))
        (first, rest), around = self.share(names, [free(subject), inner])
        return self.term(subject, first), [self.body(rest, *body) for body in bodies], around

    def term(self, term: S.Term, names: Names) -> S.Term:
        """S of a term whose free variables are those of ``names``."""
        match term:
            case S.Var(name):
                return names[name]
            case S.Literal():
                return term
            case S.Let(x, bound, body):
                (first, rest), around = self.share(names, [free(bound), free(body) - {x.name}])
                (x,), body = self.body(rest, [x], body)
                return around(S.Let(x, self.term(bound, first), body))
            case S.Build(size, i, body):
                (first, rest), around = self.share(names, [free(size), free(body) - {i.name}])
                (i,), body = self.body(rest, [i], body)
                return around(S.Build(self.term(size, first), i, body))
            case S.If(condition, then, orelse):
                subject, bodies, around = self.choice(condition, [((), then), ((), orelse)], names)
                return around(S.If(subject, bodies[0][1], bodies[1][1]))
            case S.Case(whole, branches):
                subject, bodies, around = self.choice(whole, [((b.var,), b.body) for b in branches], names)
                return around(S.Case(subject, tuple(S.Branch(x, body) for (x,), body in bodies)))
            case S.Proj(whole, index):
                return self.project(whole, index, names)
        return self.applied(term, names)

    def applied(self, term: S.Term, names: Names) -> S.Term:
        """S of a tuple, of an application or of a loop."""
        (*parts,), around = self.parts([part for part, _ in children(term)], names)
        match term:
            case S.Tuple():
                return around(replace(term, items=tuple(parts)))
            case S.Call():
                return around(replace(term, args=tuple(parts)))
            case NTimes() | Ccl():
                return around(replace(term, size=parts[0], init=parts[1]))
        found = application(term)
        if found is None:
            raise ValueError(f"{type(term).__name__} is not in the language of the working notes")
        return around(Interface(found[0], tuple(parts), term.type))

    def project(self, whole: S.Term, index: int, names: Names) -> S.Term:
        """S of a component; the other components are eliminated."""
        assert isinstance(whole.type, Product)
        parts = tuple(self.fresh("p", of) for of in whole.type.items)
        body: S.Term = parts[index]
        for k, part in enumerate(parts):
            body = body if k == index else LetTuple((), Interface("elim", (part,), Product()), body)
        return LetTuple(parts, self.term(whole, names), body)

    def module(self, module: S.Module) -> S.Module:
        """S on all definitions."""
        turned = {}
        for name, f in module.definitions.items():
            params, body = self.body({}, f.params, f.body)
            turned[name] = S.Definition(name, params, f.result, body)
        return S.Module(module.main, turned, module.types)
