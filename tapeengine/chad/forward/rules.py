"""Forward CHAD (CHAD 7.4): the rules of constructors that bind no variable, which both of its forms share.

D[term] is a pair of a primal and a tangent. `tapeengine.chad.forward.tangents` gives the tangent for a known tangent of
the context, which is the form that runs; `tapeengine.chad.specification.forward` gives it as a function of that, as the
paper does. A rule says what the tangent is; the form says where its parts come from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..language import target as T
from ..language import terms as S
from ..language.derivative_types import forward_primal, tangent
from ..language.sugar import equals, is_extreme, lower_filter, lower_map, wrapped
from ..language.tables import entry
from ..language.target import added, scaled
from ..language.terms import Term, Var, lit
from ..language.traverse import Lets
from ..language.types import BOOL, INT, LUnit, is_discrete
from ..primitives import partial


@dataclass(frozen=True)
class Pair:
    """A primal, and what gives its tangent inside a result."""

    x: Term
    d: Callable[[], Term]


class Forward(Lets, ABC):
    """One form of the transformation."""

    rules: Mapping[type[Term], Rule]

    def __call__(self, term: Term) -> Term:
        """Give D[term]."""
        return self.scoped(self.rules[type(term)], self, term)  # type: ignore[no-any-return]

    @abstractmethod
    def bind(self, term: Term) -> Pair:
        """Bind D[term]."""

    @abstractmethod
    def result(self, primal: Term, ahead: Callable[[], Term]) -> Term:
        """Pair a primal with its tangent."""

    @abstractmethod
    def primal(self, term: Term) -> Term:
        """Give the primal of a term of discrete type."""

    def bind_all(self, terms: tuple[Term, ...]) -> list[Pair]:
        """Bind D of several terms."""
        return list(map(self.bind, terms))

    def binder(self, var: Var) -> Var:
        """Give a binder its type in the derivative."""
        return Var(var.name, forward_primal(var.of))


Rule = Callable[[Any, Any], Term]


# D[r]  :=  <r, 0>
@entry
def literal(D: Forward, t: S.Literal) -> Term:
    return D.result(t, lambda: T.Zero(tangent(t.type)))


# D[op(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in <op(x1, ..., xn), Dop(x1, ..., xn; x1', ..., xn')>
@entry
def op(D: Forward, t: S.Op) -> Term:
    ps = D.bind_all(t.args)
    xs = [p.x for p in ps]
    y = D.let("y", S.Op(t.op, tuple(xs), t.of))

    def along() -> Term:
        factors = [(p, partial(t, i, xs, y)) for i, p in enumerate(ps)]
        return added([scaled(p.d(), f) for p, f in factors if f is not None], tangent(t.type))

    return D.result(y, along)


# D[prim(t1, ..., tn)]: as for scalar operations, with the registry's jvp rule for each argument
@entry
def primitive(D: Forward, t: S.Primitive) -> Term:
    of, ps = tangent(t.of), D.bind_all(t.args)
    xs = tuple(p.x for p in ps)
    y = D.let("y", S.Primitive(t.name, xs, t.static, t.of))

    def along() -> Term:
        each = enumerate(zip(ps, t.args, strict=True))
        parts = [T.Jvp(t.name, i, p.d(), xs, y, t.static, of) for i, (p, a) in each if not is_discrete(a.type)]
        return added(list(parts), of)

    return D.result(y, along)


# D[<t1, ..., tn>]  :=  let <x1, x1'> = D[t1] in ... in <<x1, ..., xn>, <x1', ..., xn'>>
@entry
def tuple_(D: Forward, t: S.Tuple) -> Term:
    of: Any = forward_primal(t.type)
    ps = D.bind_all(t.items)
    along = lambda: T.LTuple(tuple(p.d() for p in ps)) if ps else T.Zero(LUnit())  # noqa: E731
    return D.result(S.Tuple(tuple(p.x for p in ps), of), along)


# D[proji t]  :=  let <x, x'> = D[t] in <proji x, proji x'>
@entry
def proj(D: Forward, t: S.Proj) -> Term:
    p = D.bind(t.term)
    return D.result(S.Proj(p.x, t.index), lambda: T.LProj(p.d(), t.index))


# D[t with i = s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <x with i = y, x' with i = y'>
@entry
def update(D: Forward, t: S.Update) -> Term:
    p, q = D.bind(t.term), D.bind(t.item)
    return D.result(S.Update(p.x, t.index, q.x), lambda: T.LUpdate(p.d(), t.index, q.d()))


# D[inji t]  :=  let <x, x'> = D[t] in <inji x, linji x'>
@entry
def inject(D: Forward, t: S.Inject) -> Term:
    of, primal, p = tangent(t.of), forward_primal(t.of), D.bind(t.term)
    return D.result(S.Inject(t.index, p.x, primal), lambda: T.LInject(t.index, p.d(), of))  # type: ignore[arg-type]


# D[resize t]  :=  let <x, x'> = D[t] in <resize x, resize x'>
@entry
def resize(D: Forward, t: S.Resize) -> Term:
    p = D.bind(t.term)
    return D.result(S.Resize(p.x, forward_primal(t.of)), lambda: S.Resize(p.d(), tangent(t.of)))


# D[if c then t else s]  :=  if D[c]1 then D[t] else D[s]
@entry
def if_(D: Forward, t: S.If) -> Term:
    return S.If(D.primal(t.condition), D(t.then), D(t.orelse))


# ---------------------------------------------------------------- arrays: operations apply to tangents as to primals


# D[[t1, ..., tn]]  :=  let <x1, x1'> = D[t1] in ... in <[x1, ..., xn], [x1', ..., xn']>
@entry
def elements(D: Forward, t: S.Elements) -> Term:
    ps = D.bind_all(t.items)
    primal = S.Elements(tuple(p.x for p in ps), forward_primal(t.of))
    return D.result(primal, lambda: T.LDense(S.Elements(tuple(p.d() for p in ps), tangent(t.of))))


# D[t ! i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <x ! i, x' ! i>
@entry
def index(D: Forward, t: S.Index) -> Term:
    p, i = D.bind(t.array), D.let("i", D.primal(t.index))
    return D.result(S.Index(p.x, i, t.measured), lambda: T.LIndex(p.d(), wrapped(i, p.x)))


# D[map (x. t) a]  :=  D[build (size a) (i. let x = a ! i in t)]
@entry
def map_(D: Forward, t: S.Map) -> Term:
    return D(lower_map(t, D.fresh))


# D[sum t]  :=  let <x, x'> = D[t] in <sum x, sum x'>
@entry
def total(D: Forward, t: S.Total) -> Term:
    p = D.bind(t.array)
    return D.result(S.Total(p.x, in_pairs=t.in_pairs), lambda: T.LTotal(p.d()))


# D[replicate n t]  :=  let n = D[n]1 in let <x, x'> = D[t] in <replicate n x, replicate n x'>
@entry
def replicate(D: Forward, t: S.Replicate) -> Term:
    n, p = D.let("n", D.primal(t.size)), D.bind(t.term)
    return D.result(S.Replicate(n, p.x), lambda: T.LDense(S.Replicate(n, p.d())))


# D[gather t i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <gather x i, gather x' i>
@entry
def gather(D: Forward, t: S.Gather) -> Term:
    p, i = D.bind(t.array), D.let("i", D.primal(t.indices))
    return D.result(S.Gather(p.x, i), lambda: T.LDense(S.Gather(T.Collect(p.d(), S.Size(p.x)), i)))


# D[scatter t i s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in let i = D[i]1 in <scatter x i y, x' + BScatter i y'>
@entry
def scatter(D: Forward, t: S.Scatter) -> Term:
    (p, q), i = D.bind_all((t.array, t.values)), D.let("i", D.primal(t.indices))
    return D.result(S.Scatter(p.x, i, q.x), lambda: T.Plus(p.d(), T.LScatter(i, q.d())))


# D[filter (x. c) t]  :=  D[let a = t in gather a (filter (i. let x = a ! i in c) (build (size a) (j. j)))],
# unless the elements are discrete
@entry
def filter_(D: Forward, t: S.Filter) -> Term:
    if not is_discrete(t.array.type):
        return D(lower_filter(t, D.fresh))
    kept = S.Filter(D.binder(t.var), D.primal(t.condition), D.primal(t.array))
    return D.result(kept, lambda: T.Zero(tangent(t.array.type)))


# D[t ++ s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <x ++ y, x' ++ y'>
@entry
def concatenate(D: Forward, t: S.Concatenate) -> Term:
    p, q = D.bind_all((t.first, t.second))

    def along() -> Term:
        first, second = (T.Collect(r.d(), S.Size(r.x)) for r in (p, q))
        return T.LDense(S.Concatenate(first, second))

    return D.result(S.Concatenate(p.x, q.x), along)


# D[fold max s]: the mean of the tangents of all elements equal to the largest
def extreme(D: Forward, t: S.Fold) -> Term:
    """A fold that computes a maximum or minimum as numpy does; each form has its own rule for others."""
    assert is_extreme(t)
    p = D.bind(t.array)
    m = D.let("m", S.Fold(t.left, t.right, t.body, p.x))

    def along() -> Term:
        i = D.fresh("i", INT)
        part = S.Op("div", (lit(1.0), equals(p.x, m, D.fresh("i", INT))))
        ds = D.let("ds", T.Collect(p.d(), S.Size(p.x)))
        share = S.If(S.Op("eq", (S.Index(p.x, i), m), BOOL), S.Index(ds, i), T.Zero(tangent(m.of)))
        return T.LScale(T.LTotal(T.LDense(S.Build(S.Size(p.x), i, share))), part)

    return D.result(m, along)
