"""Rules of forward CHAD for arrays and iteration: each operation is applied to tangents as to primals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad import target as T
from tapeengine.chad.derivative_types import forward_primal, tangent
from tapeengine.chad.specification.forward_transform import Context, Forward
from tapeengine.chad.sugar import component, equals, is_extreme, lower_filter, lower_map, wrapped
from tapeengine.chad.terms import (
    Apply,
    Build,
    Concatenate,
    Elements,
    Filter,
    Fold,
    For,
    Gather,
    If,
    Index,
    Let,
    Map,
    Op,
    Proj,
    Replicate,
    Scan,
    Scatter,
    Size,
    Term,
    Total,
    Tuple,
    Var,
    While,
    lit,
)
from tapeengine.chad.types import BOOL, INT, LReal, is_discrete

__all__ = ["RULES"]


# D[build n (i. t)]  :=  let n = D[n]1 in let a = build n (i. D[t]) in <map fst a, \v. build n (i. snd (a ! i) v)>
def build(D: Forward, t: Build, context: Context) -> Term:
    def paired(n: Var, a: Var) -> Term:
        k = D.fresh("k", INT)
        return D.result(
            component(a, n, D.fresh("j", INT), 0), lambda v: T.LDense(Build(n, k, D.ahead(Index(a, k), v))), context
        )

    def sized(n: Var) -> Term:
        return D.let("a", Build(n, t.index, D(t.body, context)), lambda a: paired(n, a))

    return D.let("n", D.primal(t.size, context), sized)


# D[[t1, ..., tn]]  :=  let <x1, x1'> = D[t1] in ... in <[x1, ..., xn], \v. [x1' v, ..., xn' v]>
def elements(D: Forward, t: Elements, context: Context) -> Term:
    def body(ps: list[Var]) -> Term:
        primal = Elements(tuple(Proj(p, 0) for p in ps), forward_primal(t.of))
        of = tangent(t.of)
        return D.result(primal, lambda v: T.LDense(Elements(tuple(D.ahead(p, v) for p in ps), of)), context)

    return D.bind_all(t.items, context, body)


# D[t ! i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <x ! i, \v. (x' v) ! i>
def index(D: Forward, t: Index, context: Context) -> Term:
    def body(p: Var) -> Term:
        def at(i: Var) -> Term:
            x = Proj(p, 0)
            return D.result(Index(x, i, t.measured), lambda v: Index(T.Collect(D.ahead(p, v), Size(x)), i), context)

        return D.let("i", D.primal(t.index, context), at)

    if isinstance(t.array, Var):
        return D.let("i", D.primal(t.index, context), lambda i: element(D, t.array, i, context))
    return D.bind("p", t.array, context, body)


def element(D: Forward, array: Term, i: Term, context: Context) -> Term:
    """An element of a variable: only that element of the tangent is read."""
    return D.bind(
        "p",
        array,
        context,
        lambda p: D.result(Index(Proj(p, 0), i), lambda v: T.LIndex(D.ahead(p, v), wrapped(i, Proj(p, 0))), context),
    )


# D[size t]  :=  <size D[t]1, \v. 0>
def size(D: Forward, t: Size, context: Context) -> Term:
    return D.result(Size(D.primal(t.array, context)), lambda v: T.Zero(tangent(INT)), context)


# D[map (x. t) a]  :=  D[build (size a) (i. let x = a ! i in t)]
def map_(D: Forward, t: Map, context: Context) -> Term:
    return D(lower_map(t, D.fresh), context)


# D[sum t]  :=  let <x, x'> = D[t] in <sum x, \v. sum (x' v)>
def total(D: Forward, t: Total, context: Context) -> Term:
    return D.bind(
        "p", t.array, context, lambda p: D.result(Total(Proj(p, 0)), lambda v: T.LTotal(D.ahead(p, v)), context)
    )


# D[replicate n t]  :=  let n = D[n]1 in let <x, x'> = D[t] in <replicate n x, \v. replicate n (x' v)>
def replicate(D: Forward, t: Replicate, context: Context) -> Term:
    def body(n: Var, p: Var) -> Term:
        return D.result(Replicate(n, Proj(p, 0)), lambda v: T.LDense(Replicate(n, D.ahead(p, v))), context)

    return D.let("n", D.primal(t.size, context), lambda n: D.bind("p", t.term, context, lambda p: body(n, p)))


# D[gather t i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <gather x i, \v. gather (x' v) i>
def gather(D: Forward, t: Gather, context: Context) -> Term:
    def body(p: Var, i: Var) -> Term:
        x = Proj(p, 0)
        return D.result(Gather(x, i), lambda v: T.LDense(Gather(T.Collect(D.ahead(p, v), Size(x)), i)), context)

    return D.bind("p", t.array, context, lambda p: D.let("i", D.primal(t.indices, context), lambda i: body(p, i)))


# D[scatter t i s]  :=  let <x, x'> = D[t] in let i = D[i]1 in let <y, y'> = D[s] in
#     <scatter x i y, \v. x' v + BScatter i (y' v)>
def scatter(D: Forward, t: Scatter, context: Context) -> Term:
    def body(ps: list[Var]) -> Term:
        p, i, q = ps
        return D.result(
            Scatter(Proj(p, 0), Proj(i, 0), Proj(q, 0)),
            lambda v: T.Plus(D.ahead(p, v), T.LScatter(Proj(i, 0), D.ahead(q, v))),
            context,
        )

    return D.bind_all((t.array, t.indices, t.values), context, body)


# D[filter (x. c) t]: a gather at the selected indices, unless the elements are discrete
def filter_(D: Forward, t: Filter, context: Context) -> Term:
    if is_discrete(t.array.type):
        p = D.primal(t.array, context)
        kept = Filter(D.binder(t.var), D.primal(t.condition, context), p)
        return D.result(kept, lambda v: T.Zero(tangent(t.array.type)), context)
    return D(lower_filter(t, D.fresh), context)


# D[t ++ s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <x ++ y, \v. x' v ++ y' v>
def concatenate(D: Forward, t: Concatenate, context: Context) -> Term:
    def body(ps: list[Var]) -> Term:
        p, q = ps

        def ahead(v: Var) -> Term:
            parts = [T.Collect(D.ahead(r, v), Size(Proj(r, 0))) for r in (p, q)]
            return T.LDense(Concatenate(parts[0], parts[1]))

        return D.result(Concatenate(Proj(p, 0), Proj(q, 0)), ahead, context)

    return D.bind_all((t.first, t.second), context, body)


# D[for n (i s. t) s0]  :=  let <x, x'> = D[s0] in let n = D[n]1 in let <y, fs> = mapAccum n (i s. D[t]) x in
#     <y, \v. for n (i ds. (fs ! i) <v, ds>) (x' v)>
def for_(D: Forward, t: For, context: Context) -> Term:
    def body(p: Var, n: Var) -> Term:
        step = D(t.body, D.extend(context, t.state))
        loop = T.MapAccum(n, t.index, D.binder(t.state), Proj(p, 0), step)
        return D.let("r", loop, lambda r: rewound(D, t.state, p, r, n, context))

    return D.bind("p", t.init, context, lambda p: D.let("n", D.primal(t.size, context), lambda n: body(p, n)))


# D[while (s. c) (s. t) s0]: as for, with as many steps as were kept
def while_(D: Forward, t: While, context: Context) -> Term:
    inner = D.extend(context, t.state)

    def body(p: Var) -> Term:
        loop = T.WhileAccum(D.binder(t.state), Proj(p, 0), D.primal(t.condition, inner), D(t.body, inner))
        return D.let("r", loop, lambda r: rewound(D, t.state, p, r, Size(Proj(r, 1)), context))

    return D.bind("p", t.init, context, body)


def rewound(D: Forward, state: Var, init: Var, loop: Var, n: Term, context: Context) -> Term:
    """Pair the last state of a loop with the derivative that runs its steps again."""

    def ahead(v: Var) -> Term:
        k, ds = D.fresh("k", INT), D.fresh("v", tangent(state.of))
        step = D_step(D, Index(Proj(loop, 1), k), D.extended(v, (state,), [ds]))
        return For(n, k, ds, D.ahead(init, v), step)

    return D.result(Proj(loop, 0), ahead, context)


def D_step(D: Forward, function: Term, v: Term) -> Term:
    """Apply the derivative of a step."""
    return Apply(function, (v,))


# D[fold (x y. t) s]: a loop from the left over the derivatives of its combinations
def fold(D: Forward, t: Fold, context: Context) -> Term:
    if is_extreme(t):
        return extreme(D, t, context)
    inner = D.extend(context, t.left, t.right)

    def body(p: Var) -> Term:
        return D.let("n", Op("isub", (Size(Proj(p, 0)), lit(1)), INT), lambda n: chain(p, n))

    def chain(p: Var, n: Var) -> Term:
        xs = Proj(p, 0)
        k = D.fresh("k", INT)
        step = Let(D.binder(t.right), Index(xs, Op("iadd", (k, lit(1)), INT)), D(t.body, inner))
        loop = T.MapAccum(n, k, D.binder(t.left), Index(xs, lit(0)), step)
        return D.let("r", loop, lambda r: paired(p, n, r))

    def paired(p: Var, n: Var, r: Var) -> Term:
        def ahead(v: Var) -> Term:
            def over(ds: Var) -> Term:
                k, d = D.fresh("k", INT), D.fresh("v", tangent(t.type))
                right = Index(ds, Op("iadd", (k, lit(1)), INT))
                step = D_step(D, Index(Proj(r, 1), k), D.extended(v, (t.left, t.right), [d, right]))
                return For(n, k, d, Index(ds, lit(0)), step)

            return D.let("ds", T.Collect(D.ahead(p, v), Size(Proj(p, 0))), over)

        return D.result(Proj(r, 0), ahead, context)

    return D.bind("p", t.array, context, body)


# D[fold max s]: the mean of the tangents of all elements equal to the largest
def extreme(D: Forward, t: Fold, context: Context) -> Term:
    def body(p: Var) -> Term:
        xs = Proj(p, 0)

        def ahead(m: Var, v: Var) -> Term:
            def over(ds: Var) -> Term:
                i = D.fresh("i", INT)
                share = If(Op("eq", (Index(xs, i), m), BOOL), Index(ds, i), T.Zero(LReal()))
                return T.LScale(T.LTotal(T.LDense(Build(Size(xs), i, share))), part)

            part = Op("div", (lit(1.0), equals(xs, m, D.fresh("i", INT))))
            return D.let("ds", T.Collect(D.ahead(p, v), Size(xs)), over)

        return D.let("m", Fold(t.left, t.right, t.body, xs), lambda m: D.result(m, lambda v: ahead(m, v), context))

    return D.bind("p", t.array, context, body)


# D[scan (s x. t) s0 a]: a scan over the derivatives of its steps
def scan(D: Forward, t: Scan, context: Context) -> Term:
    inner = D.extend(context, t.state, t.var)

    def body(ps: list[Var]) -> Term:
        p, q = ps
        xs = Proj(q, 0)
        k = D.fresh("k", INT)
        kept = D.let("y", D(t.body, inner), lambda y: Tuple((Proj(y, 0), y)))
        loop = T.MapAccum(Size(xs), k, D.binder(t.state), Proj(p, 0), Let(D.binder(t.var), Index(xs, k), kept))
        return D.let("r", Proj(loop, 1), lambda r: paired(p, q, r))

    def paired(p: Var, q: Var, r: Var) -> Term:
        def ahead(v: Var) -> Term:
            def over(ds: Var) -> Term:
                k, d = D.fresh("k", INT), D.fresh("v", tangent(t.state.of))
                step = D_step(D, Proj(Index(r, k), 1), D.extended(v, (t.state, t.var), [d, Index(ds, k)]))
                both = D.let("t", step, lambda s: Tuple((s, s)))
                return T.LDense(Proj(T.MapAccum(Size(r), k, d, D.ahead(p, v), both), 1))

            return D.let("ds", T.Collect(D.ahead(q, v), Size(Proj(q, 0))), over)

        return D.result(component(r, Size(r), D.fresh("j", INT), 0), ahead, context)

    return D.bind_all((t.init, t.array), context, body)


RULES: Mapping[type[Term], Any] = MappingProxyType(
    {
        Build: build,
        Elements: elements,
        Index: index,
        Size: size,
        Map: map_,
        Total: total,
        Replicate: replicate,
        Gather: gather,
        Scatter: scatter,
        Filter: filter_,
        Concatenate: concatenate,
        For: for_,
        While: while_,
        Fold: fold,
        Scan: scan,
    }
)
