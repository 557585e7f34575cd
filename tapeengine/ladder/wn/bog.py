r"""The reverse pass of BOG-style AD (WN section 11, Fig. 24), in the single-use dialect.

    f : S -> T  gives  rr$f : (dT, B[e]) -> dS        rr$f(dt, b) = let R[e] dt b in s*
    R[e] dt b is a set of bindings: of the cotangent x* for each free variable x of e

    R[k] dt b             = {}
    R[x] dt b             = {x* = dt}
    R[(e1, ..., en)] dt b = {(d1, ..., dn) = dt; (b1, ..., bn) = b} ++ R[e1] d1 b1 ++ ... ++ R[en] dn bn
    R[f(e1, ..., en)] dt b   = {((b1, ..., bn), bf) = b; (d1, ..., dn) = rr$f(dt, bf)} ++ R[e1] d1 b1 ++ ...
    R[let p = e1 in e2] dt b = {(b1, b2) = b} ++ R[e2] dt b2 ++ R[e1] p* b1          p is x or (x1, ..., xn)
    R[build n (\i. e)] dt b  = {(bn, (m, bs)) = b; v* = sumbuild m (\i. let R[e] dt[i] bs[i] in v*)} ++ R[n] 0 bn
    R[case e of in_k x -> ek] dt b = {(b', b'') = b; (d, v*) = case b'' of in_k bk -> let R[ek] dt bk in (in_k x*, v*)}
                             ++ R[e] d b'                likewise if, where d = 0
                             v are the free variables of the branches, or of the element

Each use of x becomes a binding of x*, and each binding of x a use of x*. So x must be used exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...chad.language.terms import (
    Branch,
    Build,
    Call,
    Case,
    Definition,
    If,
    Inject,
    Let,
    Literal,
    Module,
    Term,
    Tuple,
    Var,
)
from ...chad.language.traverse import free_variables
from ...chad.language.types import INT, Named, Product
from ..source import LetTuple
from ..target import Interface
from .bog_forward import BAG, Forward, function

D = Named("d")
ZERO = Interface("0", (), D)
#: A branch of a conditional: the variable that it binds, if any, and its body.
Chosen = tuple[Var | None, Term]


def bar(x: Var) -> Var:
    """The variable of a cotangent."""
    return Var(x.name + "*", D)


class Bog(Forward):
    """F and R."""

    def reverse(self, term: Term, d: Term, bag: Term, body: Term) -> Term:
        """``let R[term] d bag in body``."""
        match term:
            case Var():
                return Let(bar(term), d, body)
            case Literal():
                return body
            case Tuple(items):
                ds, bags = self.several("d", len(items)), self.several("b", len(items))
                return LetTuple(ds, d, LetTuple(bags, bag, self.all(items, ds, bags, body)))
            case Let(x, bound, inner):
                return self.let(bar(x), bound, inner, d, bag, body)
            case LetTuple(xs, bound, inner):
                return self.let(Tuple(tuple(map(bar, xs))), bound, inner, d, bag, body)
            case Build(size, i, element):
                return self.sumbuild(size, i, element, d, bag, body)
            case If(condition, then, orelse):
                return self.choice(condition, [(None, then), (None, orelse)], d, bag, body)
            case Case(whole, branches):
                return self.choice(whole, [(b.var, b.body) for b in branches], d, bag, body)
        return self.called(term, d, bag, body)

    def several(self, name: str, count: int) -> tuple[Var, ...]:
        """Variables with unused names."""
        return tuple(self.fresh(name, D) for _ in range(count))

    def all(self, terms: Sequence[Term], ds: Sequence[Var], bags: Sequence[Var], body: Term) -> Term:
        """R of several terms."""
        for term, d, bag in reversed(list(zip(terms, ds, bags, strict=True))):
            body = self.reverse(term, d, bag, body)
        return body

    def let(self, p: Term, bound: Term, inner: Term, d: Term, bag: Term, body: Term) -> Term:
        """R of a let."""
        first, second = self.several("b", 2)
        return LetTuple((first, second), bag, self.reverse(inner, d, second, self.reverse(bound, p, first, body)))

    def called(self, term: Term, d: Term, bag: Term, body: Term) -> Term:
        """R of an application."""
        name, args = function(term)
        inner, own, ds, bags = *self.several("b", 2), self.several("d", len(args)), self.several("b", len(args))
        made = Interface if isinstance(term, Interface) else Call
        call = made("rr$" + name, (d, own), Product((D,) * len(args)))
        rest = LetTuple(bags, inner, LetTuple(ds, call, self.all(args, ds, bags, body)))
        return LetTuple((inner, own), bag, rest)

    def sumbuild(self, size: Term, i: Var, element: Term, d: Term, bag: Term, body: Term) -> Term:
        """R of a build."""
        (first, second, m, bags), j = self.several("b", 4), self.fresh("j", INT)
        stars = tuple(bar(x) for x in free_variables(element).values() if x != i)
        each, own = (Interface("at", (array, j), D) for array in (d, bags))
        total = Interface("sumbuild", (Build(m, j, self.reverse(element, each, own, Tuple(stars))),), D)
        rest = LetTuple((m, bags), second, LetTuple(stars, total, self.reverse(size, ZERO, first, body)))
        return LetTuple((first, second), bag, rest)

    def choice(self, subject: Term, branches: Sequence[Chosen], d: Term, bag: Term, body: Term) -> Term:
        """R of a conditional: one binding for all variables that the branches bind."""
        first, second, of = self.several("b", 3)
        x, inner = branches[0]
        stars = tuple(bar(y) for y in free_variables(inner).values() if y != x)
        options = []
        for k, (x, inner) in enumerate(branches):
            own = self.fresh("b", BAG)
            options.append(Branch(own, self.reverse(inner, d, own, Tuple((self.injected(k, x), *stars)))))
        rest = LetTuple((of, *stars), Case(second, tuple(options)), self.reverse(subject, of, first, body))
        return LetTuple((first, second), bag, rest)

    def injected(self, k: int, x: Var | None) -> Term:
        """The cotangent of the subject of a conditional."""
        return ZERO if x is None else Inject(k, bar(x), D)

    def module(self, module: Module) -> Module:
        """rf$f and rr$f for each definition f."""
        turned = {}
        for name, f in module.definitions.items():
            d, bag, there = self.fresh("d", D), self.fresh("b", BAG), self.forward(f.body)
            back = self.reverse(f.body, d, bag, Tuple(tuple(map(bar, f.params))))
            turned["rf$" + name] = Definition("rf$" + name, f.params, there.type, there)
            turned["rr$" + name] = Definition("rr$" + name, (d, bag), back.type, back)
        return Module(module.main, turned, module.types)
