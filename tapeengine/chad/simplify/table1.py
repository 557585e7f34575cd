"""The rules of CHAD appendix B, Table 1, one function for each: ``rule(term)`` is the rewritten term, or None.

A pass (`engine`) implements those of let itself. Pairs are tuples of any length here, ``plus`` and ``zero`` those of
linear types, ``map`` is `Build` as well as `Map`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tapeengine.chad import terms as S
from tapeengine.chad.target import LDense, LIndex, LProj, LScale, LTotal, LTuple, Plus, Zero, linear_type
from tapeengine.chad.traverse import Names, all_names, freshen

Rule = Callable[[S.Term], S.Term | None]


def is_cheap(term: S.Term) -> bool:
    """Tell whether copying a term costs nothing at run time."""
    match term:
        case S.Var() | S.Literal() | Zero() | S.Tuple(()):
            return True
        case S.Proj(inner, _):
            return is_cheap(inner)
    return False


# (\x. e) a  ~>  let x = a in e
def lam_app_let(term: S.Term) -> S.Term | None:
    match term:
        case S.Apply(S.Lambda(params, body), args):
            return S.lets(zip(params, args, strict=True), body)
    return None


# fst (a, b)  ~>  a        snd (a, b)  ~>  b
def pair_proj(term: S.Term) -> S.Term | None:
    match term:
        case S.Proj(S.Tuple(items), i) | LProj(LTuple(items), i):
            return items[i]
    return None


# (fst a, snd a)  ~>  a
def pair_eta(term: S.Term) -> S.Term | None:
    match term:
        case S.Tuple((S.Proj(a, 0), *_) as items) if a.type == term.type:
            pass
        case LTuple((LProj(a, 0), *_) as items) if a.type == term.type:
            pass
        case _:
            return None
    kind = type(items[0])
    if all(isinstance(item, kind) and item.index == i and item.term == a for i, item in enumerate(items)):  # type: ignore[attr-defined]
        return a
    return None


# fst (let x = a in e)  ~>  let x = a in fst e        snd likewise
def let_proj(term: S.Term) -> S.Term | None:
    match term:
        case S.Proj(S.Let(x, a, e), i):
            return S.Let(x, a, S.Proj(e, i))
        case LProj(S.Let(x, a, e), i):
            return S.Let(x, a, LProj(e, i))
    return None


# plus zero a  ~>  a
def plus_zero_1(term: S.Term) -> S.Term | None:
    match term:
        case Plus(Zero(), a):
            return a
    return None


# plus a zero  ~>  a
def plus_zero_2(term: S.Term) -> S.Term | None:
    match term:
        case Plus(a, Zero()):
            return a
    return None


# plus (a, b) (c, d)  ~>  (plus a c, plus b d)
def plus_pair(term: S.Term) -> S.Term | None:
    match term:
        case Plus(LTuple(xs), LTuple(ys)):
            return LTuple(tuple(Plus(x, y) for x, y in zip(xs, ys, strict=True)))
    return None


# plus (let x = e in a) b  ~>  let x = e in plus a b
def plus_let_1(term: S.Term) -> S.Term | None:
    match term:
        case Plus(S.Let(x, e, a), b):
            return S.Let(x, e, Plus(a, b))
    return None


# plus a (let x = e in b)  ~>  let x = e in plus a b
def plus_let_2(term: S.Term) -> S.Term | None:
    match term:
        case Plus(a, S.Let(x, e, b)):
            return S.Let(x, e, Plus(a, b))
    return None


# 0 * x, x * 0  ~>  0    1 * x, x * 1  ~>  x    0 + x, x + 0, x - 0, x / 1  ~>  x    d * 1  ~>  d    zero * r  ~>  zero
# (As in the paper, 0 * x is 0 even if x is not finite.)
def algebra(term: S.Term) -> S.Term | None:
    match term:
        case S.Op("mul", (S.Literal(0.0) as zero, _)) | S.Op("mul", (_, S.Literal(0.0) as zero)):
            return zero
        case S.Op("mul", (S.Literal(1.0), x)) | S.Op("mul", (x, S.Literal(1.0))):
            return x
        case S.Op("add", (S.Literal(0.0), x)) | S.Op("add", (x, S.Literal(0.0))):
            return x
        case S.Op("sub", (x, S.Literal(0.0))) | S.Op("div", (x, S.Literal(1.0))):
            return x
        case S.Op("iadd", (S.Literal(0), x)) | S.Op("iadd", (x, S.Literal(0))) | S.Op("isub", (x, S.Literal(0))):
            return x
        case LScale(x, S.Literal(1.0)):
            return x
        case LScale(Zero() as zero, _):
            return zero
    return None


# map (\x. zero) a  ~>  zero
def map_zero(term: S.Term) -> S.Term | None:
    match term:
        case LDense(S.Map(_, Zero(), _) | S.Build(_, _, Zero())):
            return Zero(linear_type(term))
    return None


# sum (zip a b)  ~>  (sum a, sum b)
def sum_zip(term: S.Term) -> S.Term | None:
    match term:
        case LTotal(LDense(S.Map(xs, LTuple(items), arrays, broadcasts))) if items:
            names = Names(all_names(term))
            bound = [S.Var(names("a"), a.type) for a in arrays]
            sums = [LTotal(LDense(freshen(S.Map(xs, item, tuple(bound), broadcasts), names))) for item in items]
            return S.lets(zip(bound, arrays, strict=True), LTuple(tuple(sums)))
        case LTotal(LDense(S.Build(n, i, LTuple(items)))) if items:
            names = Names(all_names(term))
            size = S.Var(names("n"), n.type)
            sums = [LTotal(LDense(freshen(S.Build(size, i, item), names))) for item in items]
            return S.Let(size, n, LTuple(tuple(sums)))
    return None


# sum zero  ~>  zero
def sum_zero(term: S.Term) -> S.Term | None:
    match term:
        case LTotal(Zero()) | LIndex(Zero(), _):
            return Zero(linear_type(term))
    return None


# sum (map (\x. [x]) e)  ~>  e
def sum_singleton(term: S.Term) -> S.Term | None:
    match term:
        case S.Total(S.Elements((item,))):
            return item
    return None


RULES: Mapping[type[S.Term], tuple[Rule, ...]] = MappingProxyType(
    {
        S.Apply: (lam_app_let,),
        S.Proj: (pair_proj, let_proj),
        LProj: (pair_proj, let_proj),
        S.Tuple: (pair_eta,),
        LTuple: (pair_eta,),
        Plus: (plus_zero_1, plus_zero_2, plus_pair, plus_let_1, plus_let_2),
        S.Op: (algebra,),
        LScale: (algebra,),
        LDense: (map_zero,),
        LTotal: (sum_zip, sum_zero),
        LIndex: (sum_zero,),
        S.Total: (sum_singleton,),
    }
)
