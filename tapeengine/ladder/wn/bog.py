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

from ...chad.language import terms as S
from ...chad.language.traverse import free_variables
from ...chad.language.types import INT, Named, Product
from ..source import LetTuple
from ..target import Interface
from .bog_forward import BAG, Forward, function

D = Named("d")
ZERO = Interface("0", (), D)
#: A branch of a conditional: the variable that it binds, if any, and its body.
Chosen = tuple[S.Var | None, S.Term]


def bar(x: S.Var) -> S.Var:
    """The variable of a cotangent."""
    return S.Var(x.name + "*", D)


class Bog(Forward):
    """F and R."""

    def reverse(self, term: S.Term, d: S.Term, bag: S.Term, body: S.Term) -> S.Term:
        """``let R[term] d bag in body``."""
        match term:
            case S.Var():
                return S.Let(bar(term), d, body)
            case S.Literal():
                return body
            case S.Tuple(items):
                ds, bags = self.several("d", len(items)), self.several("b", len(items))
                return LetTuple(ds, d, LetTuple(bags, bag, self.all(items, ds, bags, body)))
            case S.Let(x, bound, inner):
                return self.let(bar(x), bound, inner, d, bag, body)
            case LetTuple(xs, bound, inner):
                return self.let(S.Tuple(tuple(map(bar, xs))), bound, inner, d, bag, body)
            case S.Build(size, i, element):
                return self.sumbuild(size, i, element, d, bag, body)
            case S.If(condition, then, orelse):
                return self.choice(condition, [(None, then), (None, orelse)], d, bag, body)
            case S.Case(whole, branches):
                return self.choice(whole, [(b.var, b.body) for b in branches], d, bag, body)
        return self.called(term, d, bag, body)

    def several(self, name: str, count: int) -> tuple[S.Var, ...]:
        """Variables with unused names."""
        return tuple(self.fresh(name, D) for _ in range(count))

    def all(self, terms: Sequence[S.Term], ds: Sequence[S.Var], bags: Sequence[S.Var], body: S.Term) -> S.Term:
        """R of several terms."""
        for term, d, bag in reversed(list(zip(terms, ds, bags, strict=True))):
            body = self.reverse(term, d, bag, body)
        return body

    def let(self, p: S.Term, bound: S.Term, inner: S.Term, d: S.Term, bag: S.Term, body: S.Term) -> S.Term:
        """R of a let."""
        first, second = self.several("b", 2)
        return LetTuple((first, second), bag, self.reverse(inner, d, second, self.reverse(bound, p, first, body)))

    def called(self, term: S.Term, d: S.Term, bag: S.Term, body: S.Term) -> S.Term:
        """R of an application."""
        name, args = function(term)
        inner, own, ds, bags = *self.several("b", 2), self.several("d", len(args)), self.several("b", len(args))
        made = Interface if isinstance(term, Interface) else S.Call
        call = made("rr$" + name, (d, own), Product((D,) * len(args)))
        rest = LetTuple(bags, inner, LetTuple(ds, call, self.all(args, ds, bags, body)))
        return LetTuple((inner, own), bag, rest)

    def sumbuild(self, size: S.Term, i: S.Var, element: S.Term, d: S.Term, bag: S.Term, body: S.Term) -> S.Term:
        """R of a build."""
        (first, second, m, bags), j = self.several("b", 4), self.fresh("j", INT)
        stars = tuple(bar(x) for x in free_variables(element).values() if x != i)
        each, own = (Interface("at", (array, j), D) for array in (d, bags))
        total = Interface("sumbuild", (S.Build(m, j, self.reverse(element, each, own, S.Tuple(stars))),), D)
        rest = LetTuple((m, bags), second, LetTuple(stars, total, self.reverse(size, ZERO, first, body)))
        return LetTuple((first, second), bag, rest)

    def choice(self, subject: S.Term, branches: Sequence[Chosen], d: S.Term, bag: S.Term, body: S.Term) -> S.Term:
        """R of a conditional: one binding for all variables that the branches bind."""
        first, second, of = self.several("b", 3)
        x, inner = branches[0]
        stars = tuple(bar(y) for y in free_variables(inner).values() if y != x)
        options = []
        for k, (x, inner) in enumerate(branches):
            own = self.fresh("b", BAG)
            options.append(S.Branch(own, self.reverse(inner, d, own, S.Tuple((self.injected(k, x), *stars)))))
        rest = LetTuple((of, *stars), S.Case(second, tuple(options)), self.reverse(subject, of, first, body))
        return LetTuple((first, second), bag, rest)

    def injected(self, k: int, x: S.Var | None) -> S.Term:
        """The cotangent of the subject of a conditional."""
        return ZERO if x is None else S.Inject(k, bar(x), D)

    def module(self, module: S.Module) -> S.Module:
        """rf$f and rr$f for each definition f."""
        turned = {}
        for name, f in module.definitions.items():
            d, bag, there = self.fresh("d", D), self.fresh("b", BAG), self.forward(f.body)
            back = self.reverse(f.body, d, bag, S.Tuple(tuple(map(bar, f.params))))
            turned["rf$" + name] = S.Definition("rf$" + name, f.params, there.type, there)
            turned["rr$" + name] = S.Definition("rr$" + name, (d, bag), back.type, back)
        return S.Module(module.main, turned, module.types)
