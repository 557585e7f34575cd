r"""Tupling (WN Fig. 7) and polymorphic tupling (WN Fig. 8): values and linear maps together.

    N[e] : (T, a -o T)        N[k] = (k, 0)        N[x] = the variable of type (S, a -o S) that replaces x
    N[(e1, ..., en)] = ((t1, ..., tn), m1 x ... x mn)        where (ti, mi) = N[ei]
    N[let x = e1 in e2] = let x = N[e1] in N[e2]
    N[if b then e1 else e2] = if pi_1(N[b]) then N[e1] else N[e2]
    N[build(n, \i. e)] = let p = build(n, \i. N[e]) in (map pi_1 p, V(map pi_2 p))

    Fig. 7:  df : S -> (T, S -o T)                       df(x) = N[e] with (x, 1) for x
             N[op(e)] = let (x, m) = N[e] in (op(x), dop(x) . m)
    Fig. 8:  df : forall a. (S, a -o S) -> (T, a -o T)   df(x) = N[e]
             rev$f(x, dr) = the transpose of df(x, 1), applied to dr

No term is duplicated. The two figures differ in the argument of a function: in Fig. 7 a point, so the caller composes
with the map of its argument; in Fig. 8 the point with its map, so that functions compose directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...chad.language.terms import Build, If, Index, Let, Literal, Op, Proj, Size, Term, Total, Tuple, Var
from ...chad.language.types import INT, Array, Product, Type
from ..operations import ROWS
from ..target import Fresh, unpack
from .jacobian import MAP, linear_map, one_hot, operation, projection


def tupled(of: Type) -> Product:
    """``(T, a -o T)``."""
    return Product((of, MAP))


class Tupling:
    """The transformation of Fig. 8; its ``function`` at 1 is that of Fig. 7."""

    def __init__(self) -> None:
        self.fresh = Fresh()

    def function(self, params: Sequence[Var], body: Term) -> tuple[tuple[Var, ...], Term]:
        """``df(x, 1)``: its parameters, and the value paired with the map from the tuple of all parameters to it."""
        points = tuple(self.fresh(x.name, x.of) for x in params)
        term = self.term(body)
        for k, (x, point) in reversed(list(enumerate(zip(params, points, strict=True)))):
            term = Let(self.var(x), Tuple((point, projection(k, len(params)))), term)
        return points, term

    def var(self, x: Var) -> Var:
        """A binder with its transformed type."""
        return Var(x.name, tupled(x.of))

    def split(self, terms: Sequence[Term], then: Callable[[list[Var], list[Var]], Term]) -> Term:
        """``let (t1, m1) = N[e1] in ...`` around ``then(values, maps)``."""
        values = [self.fresh("t", term.type) for term in terms]
        maps = [self.fresh("m", MAP) for _ in terms]
        result = then(values, maps)
        for value, map_, term in reversed(list(zip(values, maps, terms, strict=True))):
            result = unpack(self.fresh, (value, map_), self.term(term), result)
        return result

    def value(self, term: Term) -> Term:
        """``pi_1(N[term])``."""
        return Proj(self.term(term), 0)

    def term(self, term: Term) -> Term:
        """N."""
        match term:
            case Var():
                return self.var(term)
            case Literal():
                return Tuple((term, linear_map("0")))
            case Tuple(items):
                return self.split(items, lambda ts, ms: Tuple((Tuple(tuple(ts)), linear_map("VCat", *ms))))
            case Proj(whole, index):
                assert isinstance(whole.type, Product)
                pi = projection(index, len(whole.type.items))
                return self.split([whole], lambda t, m: Tuple((Proj(t[0], index), linear_map("o", pi, m[0]))))
            case Op(op, args, _) if op in ROWS:
                return self.split(args, lambda ts, ms: chained(Op(op, tuple(ts)), operation(op, ts), ms))
            case Op(op, args, of):
                return Tuple((Op(op, tuple(map(self.value, args)), of), linear_map("0")))
            case Let(x, bound, body):
                return Let(self.var(x), self.term(bound), self.term(body))
            case If(condition, then, orelse):
                return If(self.value(condition), self.term(then), self.term(orelse))
        return self.vector(term)

    def vector(self, term: Term) -> Term:
        """N of the operations on vectors."""
        match term:
            case Build(width, i, body):
                point, pairs = self.fresh(i.name, INT), self.fresh("p", Array(tupled(body.type)))
                inner = Let(self.var(i), Tuple((point, linear_map("0"))), self.term(body))
                both = Tuple((self.unzip(pairs, 0), linear_map("V", self.unzip(pairs, 1))))
                return Let(pairs, Build(self.value(width), point, inner), both)
            case Index(array, index):
                return self.split([array, index], lambda t, m: chained(Index(t[0], t[1]), self.one_hot(*t), m[:1]))
            case Total(array):
                return self.split([array], lambda t, m: chained(Total(t[0]), self.ones(t[0]), m))
            case Size(array):
                return Tuple((Size(self.value(array)), linear_map("0")))
        raise ValueError(f"{type(term).__name__} is not in the language of the working notes")

    def one_hot(self, array: Term, index: Term) -> Term:
        """The map that selects one element."""
        return one_hot(self.fresh, Size(array), index)

    def ones(self, array: Term) -> Term:
        """The map that sums all elements."""
        return linear_map("H", Build(Size(array), self.fresh("j", INT), linear_map("1")))

    def unzip(self, pairs: Var, index: int) -> Term:
        """``map pi_index pairs``."""
        j = self.fresh("j", INT)
        return Build(Size(pairs), j, Proj(Index(pairs, j), index))


def chained(value: Term, outer: Term, maps: Sequence[Term]) -> Term:
    """``(value, outer . (m1 x ... x mn))``; a single map without x."""
    inner = maps[0] if len(maps) == 1 and not is_concatenated(value) else linear_map("VCat", *maps)
    return Tuple((value, linear_map("o", outer, inner)))


def is_concatenated(value: Term) -> bool:
    """Whether the outer map takes a tuple of arguments, even for one argument."""
    return isinstance(value, Op)
