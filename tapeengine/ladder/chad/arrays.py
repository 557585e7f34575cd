r"""Reverse CHAD for arrays (EC section 7, Fig. 8), and for the sum of an array.

    D[build n (i. t)] = let (m, _) = D[n] in let ps = build m (i. D_{G,i}[t]) in
                        (map fst ps, \d. let ds = collect d in for each i: take di out of (snd ps[i]) ds[i])
    D[t[s]] = let (x, x') = D[t] in let (i, _) = D[s] in (x[i], \d. x' (at i d))
    D[sum t] = let (x, x') = D[t] in (sum x, \d. x' (copies d))

Reading an element is a projection from a product whose width is known only at run time. Its cotangent is one-hot, and
must be as cheap as the cotangent of ``fst``; bags make that possible.
"""

from __future__ import annotations

from tapeengine.chad.terms import Apply, Build, Index, Let, Proj, Size, Term, Total, Var
from tapeengine.chad.types import INT, Array, Product
from tapeengine.ladder.chad.rules import BACK, Chad, Context, D, operation

__all__ = ["Arrays"]


class Arrays(Chad):
    """D_G with the operations on arrays."""

    def array(self, term: Term, g: Context) -> Term:
        """D of the operations on arrays."""
        match term:
            case Build(size, i, body):
                (m,), _, around = self.pairs([size], g)
                return around(self.build(m, i, body, g))
            case Index(array, at):
                element = term.type
                (x, i), (b, _), around = self.pairs([array, at], g)
                hot = lambda d: Apply(b, (operation("at", element, Size(x), i, d),))  # noqa: E731
                return around(self.back(Index(x, i), hot))
            case Size(array):
                (x,), _, around = self.pairs([array], g)
                return around(self.back(Size(x), lambda d: self.none(g)))
            case Total(array):
                (x,), (b,), around = self.pairs([array], g)
                return around(self.back(Total(x), lambda d: Apply(b, (operation("copies", Size(x), d),))))
        return super().array(term, g)

    def build(self, m: Var, i: Var, body: Term, g: Context) -> Term:
        """The values of all elements, and the backpropagator that calls those of the elements."""
        j, k = self.fresh("j", INT), self.fresh("k", INT)
        pairs = Build(m, i, self.term(body, (*g, i)))
        ps = self.fresh("ps", Array(Product((self.type(body.type), BACK))))

        def effect(d: Var) -> Term:
            ds = self.fresh("ds", Array(D))
            called = Apply(Proj(Index(ps, k), 1), (Index(ds, k),))
            element = self.take(g, i, called, lambda di: self.none(g))
            return Let(ds, operation("collect", body.type, m, d), self.each(g, Build(m, k, element)))

        return Let(ps, pairs, self.back(Build(m, j, Proj(Index(ps, j), 0)), effect))
