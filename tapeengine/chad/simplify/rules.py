"""The rules, in a function for each constructor or several: ``rule(term)`` is the rewritten term, or None.

They are those of CHAD appendix B, Table 1, of which a pass (`engine`) implements those of let itself; and rules for
sums, conditionals, linear operations, arrays of cotangents and contributions of zero. Pairs are tuples of any length
here, ``plus`` and ``zero`` those of linear types, ``map`` is `Build` as well as `Map`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping

from ..language import target as T
from ..language import terms as S
from ..language.traverse import Names, all_names, freshen, substitute
from ..language.types import FLOAT, LUnit
from ..primitives import evaluate_op

Rule = Callable[[S.Term], S.Term | None]


def is_cheap(term: S.Term) -> bool:
    """Tell whether copying a term costs nothing at run time."""
    match term:
        case S.Var() | S.Literal() | T.Zero() | S.Tuple(()):
            return True
        case S.Proj(inner, _):
            return is_cheap(inner)
    return False


def zero(term: S.Term) -> T.Zero:
    """Give the zero of the type of a term."""
    return T.Zero(T.linear_type(term))


def apply(term: S.Term) -> S.Term | None:
    match term:
        # (\x. e) a  ~>  let x = a in e        (of tangents of functions likewise)
        case S.Apply(S.Lambda(params, body), args) | T.LApply(T.LLambda(params, body), args):
            return S.lets(zip(params, args, strict=True), body)

        # zero a  ~>  zero
        case T.LApply(T.Zero()):
            return zero(term)
    return None


def proj(term: S.Term) -> S.Term | None:
    match term:
        # fst (a, b)  ~>  a        snd (a, b)  ~>  b
        case S.Proj(S.Tuple(items), i) | T.LProj(T.LTuple(items), i):
            return items[i]
        # fst (let x = a in e)  ~>  let x = a in fst e        snd likewise
        case S.Proj(S.Let(x, a, e), i) | T.LProj(S.Let(x, a, e), i):
            return S.Let(x, a, type(term)(e, i))
        # fst (a with fst = b)  ~>  b        snd (a with fst = b)  ~>  snd a
        case S.Proj(S.Update(a, i, b), j) | T.LProj(T.LUpdate(a, i, b), j):
            return b if i == j else type(term)(a, j)
        # lproj_i zero  ~>  zero
        case T.LProj(T.Zero(), _):
            return zero(term)
    return None


def tuple_(term: S.Term) -> S.Term | None:
    match term:
        # (fst a, snd a)  ~>  a
        case S.Tuple((S.Proj(a, 0), *_)) | T.LTuple((T.LProj(a, 0), *_)) if a.type == term.type and is_eta(term, a):
            return a
        # <zero, ..., zero>  ~>  zero
        case T.LTuple(items) if items and all(isinstance(item, T.Zero) for item in items):
            return zero(term)
        # <..., let x = a in t, ...>  ~>  let x = a in <..., t, ...>
        case S.Tuple(items) | T.LTuple(items):
            for i, item in enumerate(items):
                if isinstance(item, S.Let):
                    parts = (*items[:i], item.body, *items[i + 1 :])
                    return S.Let(item.var, item.bound, dataclasses.replace(term, items=parts))
    return None


def is_eta(term: S.Tuple | T.LTuple, a: S.Term) -> bool:
    """Tell whether the items of a tuple are all parts of a term."""
    kind = type(term.items[0])
    return all(isinstance(x, kind) and x.index == i and x.term == a for i, x in enumerate(term.items))  # type: ignore[attr-defined]


def components(term: S.Term) -> tuple[S.Term, dict[int, S.Term]]:
    """Split a linear tuple into another one and the components in which it differs."""
    found: dict[int, S.Term] = {}
    while isinstance(term, T.LUpdate):
        found.setdefault(term.index, term.item)
        term = term.term
    if isinstance(term, T.LTuple):
        found, term = {**dict(enumerate(term.items)), **found}, zero(term)
    return term, {k: x for k, x in found.items() if not (isinstance(x, T.Zero) and isinstance(term, T.Zero))}


def of_components(rest: S.Term, each: Mapping[int, S.Term]) -> S.Term:
    """Invert `components`."""
    of = rest.type.items  # type: ignore[attr-defined]
    if isinstance(rest, T.Zero) and len(of) < max(S.MANY, len(each) + 1):
        return T.LTuple(tuple(each.get(k, T.Zero(t)) for k, t in enumerate(of)))
    for k, item in each.items():
        rest = T.LUpdate(rest, k, item)
    return rest


# plus (a, b) (c, d)  ~>  (plus a c, plus b d)
# plus (a with fst = b) (zero with fst = c, snd = d)  ~>  a with fst = plus b c, snd = plus (snd a) d
def sum_of_components(a: S.Term, b: S.Term, plus: Callable[..., S.Term]) -> S.Term | None:
    """Add two linear tuples by components; None if that would not be shorter than their sum."""
    (rest, xs), (other, ys) = components(a), components(b)
    if not isinstance(other, T.Zero):
        return sum_of_components(b, a, lambda y, x: plus(x, y)) if isinstance(rest, T.Zero) else None
    if not (xs and ys and isinstance(rest, T.Zero | S.Var)):
        return None
    own = {k: T.LProj(rest, k) for k in ys if isinstance(rest, S.Var)} | xs
    return of_components(rest, xs | {k: plus(own[k], y) if k in own else y for k, y in ys.items()})


def plus(term: S.Term) -> S.Term | None:
    match term:
        # plus zero a  ~>  a        plus a zero  ~>  a
        case T.Plus(T.Zero(), a) | T.Plus(a, T.Zero()):
            return a
        # plus (let x = e in a) b  ~>  let x = e in plus a b        plus a (let x = e in b)  ~>  let x = e in plus a b
        case T.Plus(S.Let(x, e, a), b):
            return S.Let(x, e, T.Plus(a, b))
        case T.Plus(a, S.Let(x, e, b)):
            return S.Let(x, e, T.Plus(a, b))
        # plus (map (i. a) n) (map (j. b) n)  ~>  map (i. plus a b[i/j]) n   (n a variable or number)
        case T.Plus(T.LDense(S.Build((S.Var() | S.Literal()) as n, i, a)), T.LDense(S.Build(m, j, b))) if n == m:
            return T.LDense(S.Build(n, i, T.Plus(a, substitute(b, {j.name: i}))))
    return None


# 0 * x, x * 0  ~>  0    1 * x, x * 1  ~>  x    0 + x, x + 0, x - 0, x / 1  ~>  x    d * 1  ~>  d    zero * r  ~>  zero
# (For zeros of tangents, of which 0 * x is 0 even if x is not finite. Of other zeros, -0.0 + x and x - 0.0 are x.)
def algebra(term: S.Term) -> S.Term | None:
    match term:
        case S.Op("mul", (S.Literal(absorbs=True) as none, _)) | S.Op("mul", (_, S.Literal(absorbs=True) as none)):
            return none
        case S.Op("mul", (S.Literal(1.0), x)) | S.Op("mul", (x, S.Literal(1.0))) | S.Op("div", (x, S.Literal(1.0))):
            return x
        case S.Op("add", (none, x)) if is_nothing(none, -0.0):
            return x
        case S.Op("add", (x, none)) if is_nothing(none, -0.0):
            return x
        case S.Op("sub", (x, none)) if is_nothing(none, 0.0):
            return x
        case S.Op("iadd", (S.Literal(0), x)) | S.Op("iadd", (x, S.Literal(0))) | S.Op("isub", (x, S.Literal(0))):
            return x
        case T.LScale(x, S.Literal(1.0)) | T.LScale(T.Zero() as x, _):
            return x
    return None


def is_nothing(term: S.Term, zero: float) -> bool:
    """Tell whether a term is a zero that absorbs, or this one."""
    return isinstance(term, S.Literal) and (term.absorbs or term == S.lit(zero))


# op(literals)  ~>  literal
def constant_fold(term: S.Term) -> S.Term | None:
    match term:
        case S.Op(op, args, of) if args and all(isinstance(a, S.Literal) for a in args):
            try:
                value = evaluate_op(op, [a.value for a in args])  # type: ignore[attr-defined]
            except (ArithmeticError, ValueError):
                return None
            if of == FLOAT and not abs(value) < 1e300:
                return None
            return S.Literal(value, of)
    return None


# d/da a**n  ~>  n * a**(n - 1)   (n a number other than 0)
def power_partial(term: S.Term) -> S.Term | None:
    match term:
        case S.Op("powda", (a, S.Literal(n))) if n != 0:
            return S.Op("mul", (S.Literal(n, FLOAT), a if n == 2 else S.Op("pow", (a, S.Literal(n - 1.0, FLOAT)))))
    return None


def total(term: S.Term) -> S.Term | None:
    match term:
        # sum (zip a b)  ~>  (sum a, sum b)
        case T.LTotal(T.LDense(S.Map(xs, T.LTuple(items), arrays, broadcasts))) if items:
            names = Names(all_names(term))
            bound = [S.Var(names("a"), a.type) for a in arrays]
            sums = [T.LTotal(T.LDense(freshen(S.Map(xs, item, tuple(bound), broadcasts), names))) for item in items]
            return S.lets(zip(bound, arrays, strict=True), T.LTuple(tuple(sums)))
        case T.LTotal(T.LDense(S.Build(n, i, T.LTuple(items)))) if items:
            names = Names(all_names(term))
            size = S.Var(names("n"), n.type)
            sums = [T.LTotal(T.LDense(freshen(S.Build(size, i, item), names))) for item in items]
            return S.Let(size, n, T.LTuple(tuple(sums)))
        # sum (map (\x. [x]) e)  ~>  e
        case S.Total(S.Elements((item,))):
            return item
    return None


def branch(term: S.Term) -> S.Term | None:
    match term:
        # case inj_k a of {inj_i x_i -> e_i}  ~>  let x_k = a in e_k
        case S.Case(S.Inject(k, a, _)) if (found := term.branch(k)) is not None:
            return S.Let(found.var if k in term.by_option else S.Var(found.var.name, a.type), a, found.body)
        # if true then a else b  ~>  a        if false then a else b  ~>  b
        case S.If(S.Literal(value), a, b):
            return a if value else b
    return None


def linear(term: S.Term) -> S.Term | None:
    match term:
        # resize zero  ~>  zero        resize (inj_k a)  ~>  inj_k a
        case S.Resize(T.Zero()):
            return zero(term)
        case S.Resize(S.Inject(k, a, _), of):
            return S.Inject(k, a, of)  # type: ignore[arg-type]
        # lcast_k (linj_k a)  ~>  a
        case T.LCast(k, T.LInject(i, a, _), _) if i == k:
            return a
        # map (\x. zero) a  ~>  zero        sum zero  ~>  zero        for other linear operations likewise
        case (
            T.LDense(S.Map(_, T.Zero(), _) | S.Build(_, _, T.Zero()))
            | (T.LTotal(T.Zero()) | T.LIndex(T.Zero(), _) | T.LCast(_, T.Zero(), _))
            | (
                T.LUpdate(T.Zero(), _, T.Zero())
                | T.LSingle(_, T.Zero())
                | T.LInject(_, T.Zero(), _)
                | T.LScatter(_, T.Zero())
            )
        ):
            return zero(term)
        # (let x = a in d) * r  ~>  let x = a in d * r, and for other linear operations likewise
        case T.LScale() | T.LTotal() | T.LIndex() | T.LCast() | T.LInject() if isinstance(term.term, S.Let):
            inner = term.term
            return S.Let(inner.var, inner.bound, dataclasses.replace(term, term=inner.body))
    return None


# sum (BArray a)  needs its elements; collect (BArray a) n  ~>  a   (Both sizes are those of one primal.)
def collect(term: S.Term) -> S.Term | None:
    match term:
        case T.Collect(T.LDense(array), _):
            return array
        case T.Collect(T.Zero(), n):
            return S.Replicate(n, T.Zero(term.type.element))  # type: ignore[attr-defined]

    return None


# index (build n (i. t)) k  ~>  let i = k in t        index (replicate n t) k  ~>  t   (k is not negative)
# A negative index counts from the end, so the index must be a number or one of `counting`, the indices of loops.
def index_build(term: S.Term, counting: Collection[str] = ()) -> S.Term | None:
    match term:
        case S.Index(S.Build(_, i, body), (S.Var() | S.Literal()) as k) if is_count(k, counting):
            return S.Let(i, k, body)
        case S.Index(S.Replicate(_, body), (S.Var() | S.Literal()) as k) if is_count(k, counting):
            return body
    return None


def is_count(k: S.Var | S.Literal, counting: Collection[str]) -> bool:
    """Tell whether an index is known not to be negative."""
    return k.value >= 0 if isinstance(k, S.Literal) else k.name in counting


# size (build n (i. t))  ~>  n        size (replicate n t)  ~>  n
def size_build(term: S.Term) -> S.Term | None:
    match term:
        case S.Size(S.Build((S.Var() | S.Literal()) as n, _, _) | S.Replicate((S.Var() | S.Literal()) as n, _)):
            return n
    return None


# one_x zero  ~>  return ()
def one_zero(term: S.Term) -> S.Term | None:
    match term:
        case T.One(_, d) if isinstance(d, T.Zero) or d.type == LUnit():
            return T.Return(S.unit())
        case T.One(slot, S.Let(y, a, d)):
            return S.Let(y, a, T.One(slot, d))
        case T.ForEach(_, _, T.Return()):
            return T.Return(S.unit())
    return None


#: The rules by the constructor at their head; a pass itself implements those of let and of computations.
RULES: Mapping[type[S.Term], tuple[Rule, ...]] = {
    **dict.fromkeys((S.Apply, T.LApply), (apply,)),
    **dict.fromkeys((S.Proj, T.LProj), (proj,)),
    **dict.fromkeys((S.Tuple, T.LTuple), (tuple_,)),
    **dict.fromkeys((S.Case, S.If), (branch,)),
    **dict.fromkeys((T.One, T.ForEach), (one_zero,)),
    **dict.fromkeys((T.LDense, T.LIndex, T.LUpdate, T.LCast, T.LSingle, T.LInject, T.LScatter, S.Resize), (linear,)),
    T.Plus: (plus,),
    S.Op: (algebra, constant_fold, power_partial),
    T.LScale: (algebra, linear),
    T.LTotal: (total, linear),
    S.Total: (total,),
    T.Collect: (collect,),
    S.Index: (index_build,),
    S.Size: (size_build,),
}
