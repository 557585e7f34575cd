r"""The forward pass of BOG-style AD (WN section 11, Fig. 24): the value, and the data for the reverse pass.

f : S -> T  gives  rf$f : S -> (T, B[e])        rf$f(s) = F[e]        B[e] is a "bag of gradients"

F[k] = (k, ())        F[x] = (x, ())
F[(e1, ..., en)]      = let (a1, b1) = F[e1] in ... in ((a1, ..., an), (b1, ..., bn))
F[f(e1, ..., en)]     = let (a1, b1) = F[e1] in ... in let (r, bf) = rf$f(a1, ..., an) in (r, ((b1, ..., bn), bf))
F[let x = e1 in e2]   = let (x, b1) = F[e1] in let (r, b2) = F[e2] in (r, (b1, b2))
F[let (x1, ..., xn) = e1 in e2] = let (p, b1) = F[e1] in let (x1, ..., xn) = p in ... the same
F[build n (\i. e)]    = let (m, bn) = F[n] in let (r, bs) = unzip (build m (\i. F[e])) in (r, (bn, (m, bs)))
F[case e of in_k x -> ek] = let (s, b) = F[e] in case s of in_k x -> let (r, bk) = F[ek] in (r, (b, in_k bk))
F[if e then e0 else e1]   = let (s, b) = F[e] in if s then let (r, b0) = F[e0] in (r, (b, in_0 b0)) else ...
"""

from __future__ import annotations

from collections.abc import Sequence

from ...chad.language import terms as S
from ...chad.language.types import INT, Array, Named, Product, Type
from ..source import Ccl, LetTuple, NTimes
from ..target import Fresh, Interface

BAG = Named("B")
UNIT = S.Tuple(())


def with_bag(of: Type) -> Product:
    """``(T, B)``."""
    return Product((of, BAG))


def function(term: S.Term) -> tuple[str, tuple[S.Term, ...]]:
    """The function that a term applies, and its arguments."""
    match term:
        case Interface(name, args) | S.Call(name, args):
            return name, args
        case NTimes(name, size, init) | Ccl(name, size, init):
            return f"{type(term).__name__}${name}", (size, init)
    raise ValueError(f"{type(term).__name__} is not in the single-use dialect")


class Forward:
    """F."""

    def __init__(self) -> None:
        self.fresh = Fresh()

    def pair(self, of: Type) -> tuple[S.Var, S.Var]:
        """Variables for a value and its bag."""
        return self.fresh("a", of), self.fresh("b", BAG)

    def bind(self, value: S.Var, bag: S.Var, term: S.Term, body: S.Term) -> S.Term:
        """``let (value, bag) = F[term] in body``."""
        return LetTuple((value, bag), self.forward(term), body)

    def forward(self, term: S.Term) -> S.Term:
        """F."""
        match term:
            case S.Var() | S.Literal():
                return S.Tuple((term, UNIT))
            case S.Tuple(items):
                pairs = [self.pair(item.type) for item in items]
                values, bags = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
                return self.binds(pairs, items, S.Tuple((S.Tuple(values), S.Tuple(bags))))
            case S.Let(x, bound, body):
                bag = self.fresh("b", BAG)
                return self.bind(x, bag, bound, self.after(bag, body))
            case LetTuple(xs, bound, body):
                whole, bag = self.pair(bound.type)
                return self.bind(whole, bag, bound, LetTuple(xs, whole, self.after(bag, body)))
            case S.Build(size, i, body):
                m, bag = self.pair(INT)
                return self.bind(m, bag, size, self.build(m, bag, i, body))
            case S.If(condition, then, orelse):
                s, bag = self.pair(condition.type)
                return self.bind(s, bag, condition, S.If(s, self.option(0, then, bag), self.option(1, orelse, bag)))
            case S.Case(whole, branches):
                s, bag = self.pair(whole.type)
                turned = tuple(S.Branch(b.var, self.option(k, b.body, bag)) for k, b in enumerate(branches))
                return self.bind(s, bag, whole, S.Case(s, turned))
        return self.applied(term)

    def binds(self, pairs: Sequence[tuple[S.Var, S.Var]], terms: Sequence[S.Term], body: S.Term) -> S.Term:
        """`bind` for several terms."""
        for (value, bag), term in reversed(list(zip(pairs, terms, strict=True))):
            body = self.bind(value, bag, term, body)
        return body

    def after(self, bag: S.Term, body: S.Term) -> S.Term:
        """``let (r, b2) = F[body] in (r, (bag, b2))``."""
        r, inner = self.pair(body.type)
        return self.bind(r, inner, body, S.Tuple((r, S.Tuple((bag, inner)))))

    def option(self, k: int, body: S.Term, bag: S.Term) -> S.Term:
        """``let (r, bk) = F[body] in (r, (bag, in_k bk))``."""
        r, inner = self.pair(body.type)
        return self.bind(r, inner, body, S.Tuple((r, S.Tuple((bag, S.Inject(k, inner, BAG))))))

    def build(self, m: S.Var, bag: S.Var, i: S.Var, body: S.Term) -> S.Term:
        r"""``let (r, bs) = unzip (build m (\i. F[body])) in (r, (bag, (m, bs)))``."""
        ps, j = self.fresh("ps", Array(with_bag(body.type))), self.fresh("j", INT)
        r, bs = (S.Build(S.Size(ps), j, S.Proj(S.Index(ps, j), k)) for k in range(2))
        return S.Let(ps, S.Build(m, i, self.forward(body)), S.Tuple((r, S.Tuple((bag, S.Tuple((m, bs)))))))

    def applied(self, term: S.Term) -> S.Term:
        """``rf$f(a1, ..., an)``."""
        name, args = function(term)
        pairs, (r, bag) = [self.pair(arg.type) for arg in args], self.pair(term.type)
        values, bags = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        made = Interface if isinstance(term, Interface) else S.Call
        call = made("rf$" + name, values, with_bag(term.type))
        return self.binds(pairs, args, LetTuple((r, bag), call, S.Tuple((r, S.Tuple((S.Tuple(bags), bag))))))
