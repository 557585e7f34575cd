"""Rules of reverse CHAD for arrays: EC Fig. 8 for build and index; scan, gather, scatter and others likewise.

The cotangent of an array is a bag of indices and cotangents (EC section 7), with a constructor for a whole array (EC
8.1). An operation that passes on a whole array of cotangents uses that constructor, so the array is not split.
"""

from __future__ import annotations

from ..language import target as T
from ..language import terms as S
from ..language import written
from ..language.derivative_types import cotangent, reverse_primal
from ..language.sugar import component, equals, is_extreme, lower_filter, lower_fold, lower_map, wrapped
from ..language.tables import entry
from ..language.traverse import derivative_name
from ..language.types import BOOL, INT, UNIT, Array, Linear, LReal, is_discrete
from .environment import Context
from .transform import Reverse


# D[build n (i. t)]  :=  let n = D[n]1 in let a = build n (i. D[t]) in
#     <map fst a, \d. let ds = collect d n in for i < n: snd (a ! i) (ds ! i)>
@entry
def build(D: Reverse, t: S.Build, context: Context) -> S.Term:
    change = written.written(t)
    if change is not None:
        return replaced(D, t, change, context)
    if (longer := written.shortened(t)) is not None:
        return shortened(D, t, longer, context)

    n = D.let("n", D.primal(t.size, context))
    a = D.let("a", S.Build(n, t.index, D(t.body, context), t.is_parallel))

    def back(d: S.Var) -> S.Term:
        k, ds = D.fresh("k", INT), D.let("ds", T.Collect(d, n))
        return D.form.for_each(n, k, D.back(S.Index(a, k), S.Index(ds, k)), context, t.is_parallel)

    return D.result(component(a, n, D.fresh("j", INT), 0), back, cotangent(t.type))


# D[t with s at k]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in
#     <x with y at k, \d. let ds = collect d (size x) in do y' (ds ! k); x' (ds with 0 at k)>
def replaced(D: Reverse, t: S.Build, change: written.Written, context: Context) -> S.Term:
    j, place = D.fresh("j", INT), D.let("k", D.primal(change.place, context))
    p, q = D.bind_all((change.array, change.value), context)
    xs = S.Proj(p, 0)

    def at(array: S.Term) -> S.Term:
        return wrapped(place, array) if change.is_there else place

    def back(d: S.Var) -> S.Term:
        ds = D.let("ds", T.Collect(d, S.Size(xs)))
        zero, there = T.Zero(S.element_type(ds)), S.Index(ds, place)  # type: ignore[arg-type]
        d_value = there if change.is_there else S.If(written.has(xs, place), there, zero)
        return D.form.both(D.back(q, d_value), D.back(p, T.LDense(written.replaced(ds, j, at(ds), zero))))

    return D.result(written.replaced(xs, j, at(xs), S.Proj(q, 0)), back, cotangent(t.type))


# D[t without its last]  :=  let <x, x'> = D[t] in
#     <x without its last, \d. let ds = collect d (size x - 1) in x' (ds ++ [0])>
def shortened(D: Reverse, t: S.Build, longer: S.Term, context: Context) -> S.Term:
    p = D.bind("p", longer, context)
    fewer = written.without_last(S.Proj(p, 0), D.fresh("i", INT))

    def back(d: S.Var) -> S.Term:
        ds = D.let("ds", T.Collect(d, fewer.size))
        of = S.element_type(ds)
        return D.back(p, T.LDense(S.Concatenate(ds, S.Elements((T.Zero(of),), of))))  # type: ignore[arg-type]

    return D.result(fewer, back, cotangent(t.type))


# D[[t1, ..., tn]]  :=  let <x1, x1'> = D[t1] in ... in
#     <[x1, ..., xn], \d. let ds = collect d n in do x1' (ds ! 1); ...>
@entry
def elements(D: Reverse, t: S.Elements, context: Context) -> S.Term:
    ps = D.bind_all(t.items, context)

    def back(d: S.Var) -> S.Term:
        ds = D.let("ds", T.Collect(d, S.lit(len(ps))))
        return D.form.all([D.back(p, S.Index(ds, S.lit(i))) for i, p in enumerate(ps)], context)

    xs = S.Elements(tuple(S.Proj(p, 0) for p in ps), reverse_primal(t.of))
    return D.result(xs, back, cotangent(t.type))


# D[t ! i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <x ! i, \d. x' (BOne i d)>
@entry
def index(D: Reverse, t: S.Index, context: Context) -> S.Term:
    p, i = D.bind("p", t.array, context), D.let("i", D.primal(t.index, context))
    found = S.Index(S.Proj(p, 0), i, t.measured)
    return D.result(found, lambda d: D.back(p, T.LSingle(i, d)), cotangent(t.type))


# D[map (x1 ... xn. t) a1 ... an]  :=  D[build (min (size a1) ...) (i. let x1 = a1 ! i in ... t)]
@entry
def map_(D: Reverse, t: S.Map, context: Context) -> S.Term:
    return D(lower_map(t, D.fresh), context)


# D[sum t]  :=  let <x, x'> = D[t] in <sum x, \d. x' (BArray (replicate (size x) d))>
@entry
def total(D: Reverse, t: S.Total, context: Context) -> S.Term:
    p = D.bind("p", t.array, context)
    x = S.Proj(p, 0)
    found = S.Total(x, in_pairs=t.in_pairs)
    return D.result(found, lambda d: D.back(p, T.LDense(S.Replicate(S.Size(x), d))), cotangent(t.type))


# D[replicate n t]  :=  let n = D[n]1 in let <x, x'> = D[t] in <replicate n x, \d. x' (sum d)>
@entry
def replicate(D: Reverse, t: S.Replicate, context: Context) -> S.Term:
    n, p = D.let("n", D.primal(t.size, context)), D.bind("p", t.term, context)
    like = (S.Proj(p, 0),) if isinstance(t.term.type, Array) else ()
    return D.result(S.Replicate(n, S.Proj(p, 0)), lambda d: D.back(p, T.LTotal(d, like)), cotangent(t.type))


# D[gather t i]  :=  let <x, x'> = D[t] in let i = D[i]1 in <gather x i, \d. x' (BScatter i d)>
@entry
def gather(D: Reverse, t: S.Gather, context: Context) -> S.Term:
    p, i = D.bind("p", t.array, context), D.let("i", D.primal(t.indices, context))
    return D.result(S.Gather(S.Proj(p, 0), i), lambda d: D.back(p, T.LScatter(i, d)), cotangent(t.type))


# D[scatter t i s]  :=  let <x, x'> = D[t] in let i = D[i]1 in let <y, y'> = D[s] in
#     <scatter x i y, \d. do let ds = collect d (size x); y' (BArray (gather ds i)); x' (BArray ds)>
@entry
def scatter(D: Reverse, t: S.Scatter, context: Context) -> S.Term:
    p, i = D.bind("p", t.array, context), D.let("i", D.primal(t.indices, context))
    q = D.bind("p", t.values, context)
    x, y = S.Proj(p, 0), S.Proj(q, 0)

    def back(d: S.Var) -> S.Term:
        ds = D.let("ds", T.Collect(d, S.Size(x)))
        return D.form.both(D.back(q, T.LDense(S.Gather(ds, i))), D.back(p, T.LDense(ds)))

    return D.result(S.Scatter(x, i, y), back, cotangent(t.type))


# D[filter (x. c) t]  :=  D[let a = t in gather a (filter (i. let x = a ! i in c) (build (size a) (j. j)))]
@entry
def filter_(D: Reverse, t: S.Filter, context: Context) -> S.Term:
    return D(lower_filter(t, D.fresh), context)


# D[t ++ s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <x ++ y, \d. do let ds = collect d (size x + size y);
#     x' (BArray (build (size x) (i. ds ! i))); y' (BArray (build (size y) (i. ds ! (size x + i))))>
# D[t ++ [s]]  likewise, but for  y' (BArray [ds ! size x]); x' (BArray (ds without its last))
@entry
def concatenate(D: Reverse, t: S.Concatenate, context: Context) -> S.Term:
    is_longer = isinstance(t.second, S.Elements) and len(t.second.items) == 1 and written.is_flat(t.second.of)
    p, q = D.bind_all((t.first, t.second), context)
    n, m = S.Size(S.Proj(p, 0)), S.lit(1) if is_longer else S.Size(S.Proj(q, 0))

    def back(d: S.Var) -> S.Term:
        ds = D.let("ds", T.Collect(d, S.Op("iadd", (n, m), INT)))
        i, j = D.fresh("i", INT), D.fresh("j", INT)
        if is_longer:
            last = S.Elements((S.Index(ds, n),), S.element_type(ds))
            return D.form.both(D.back(q, T.LDense(last)), D.back(p, T.LDense(written.without_last(ds, i))))
        low = S.Build(n, i, S.Index(ds, i))
        high = S.Build(m, j, S.Index(ds, S.Op("iadd", (n, j), INT)))
        return D.form.both(D.back(p, T.LDense(low)), D.back(q, T.LDense(high)))

    return D.result(S.Concatenate(S.Proj(p, 0), S.Proj(q, 0)), back, cotangent(t.type))


# D[fold (x y. t) s]  :=  D[let a = s in for (size a - 1) (i x. let y = a ! (i + 1) in t) (a ! 0)]: the reduction is a
# chain from the left (EC Fig. 8 and 9 have a tree), whose reverse pass descends from its end
@entry
def fold(D: Reverse, t: S.Fold, context: Context) -> S.Term:
    return extreme(D, t, context) if is_extreme(t) else D(lower_fold(t, D.fresh), context)


# D[fold max s]  :=  let <x, x'> = D[s], m = fold max x in <m, \d -> x' (i. if x ! i = m then d / n else 0)>, where n is
# the number of elements equal to m: the opcode's own rule, generalised to any number of tied elements
def extreme(D: Reverse, t: S.Fold, context: Context) -> S.Term:
    p = D.bind("p", t.array, context)
    xs = S.Proj(p, 0)
    m = D.let("m", S.Fold(t.left, t.right, t.body, xs))

    def back(d: S.Var) -> S.Term:
        part = D.let("part", T.LScale(d, S.Op("div", (S.lit(1.0), equals(xs, m, D.fresh("i", INT))))))
        i = D.fresh("i", INT)
        share = S.If(S.Op("eq", (S.Index(xs, i), m), BOOL), part, T.Zero(LReal()))
        return D.back(p, T.LDense(S.Build(S.Size(xs), i, share)))

    return D.result(m, back, LReal())


# D[scan (s x. t) s0 a]: the backpropagators of all steps are kept; the reverse pass threads the cotangent of the
# state from the last step to the first, adding the cotangent of each output on the way.
@entry
def scan(D: Reverse, t: S.Scan, context: Context) -> S.Term:
    of = cotangent(t.state.of)
    inner, (p, q) = D.extend(context, t.state, t.var), D.bind_all((t.init, t.array), context)
    xs, k, state = S.Proj(q, 0), D.fresh("k", INT), D.binder(t.state)

    def keep() -> S.Term:
        y = D.let("y", D(t.body, inner))
        return S.Tuple((S.Proj(y, 0), y))

    step = S.Let(D.binder(t.var), S.Index(xs, k), D.scoped(keep))
    loop = D.let("r", T.MapAccum(S.Size(xs), k, state, S.Proj(p, 0), step))
    r, like = S.Proj(loop, 1), sized(of, S.Proj(loop, 0))

    def both(ds: list[S.Term]) -> S.Term:
        got, variables = iter(ds), (t.state, t.var)
        return S.Tuple(tuple(T.Zero(cotangent(v.of)) if is_discrete(v.of) else next(got) for v in variables))

    def finish(got: S.Term) -> S.Term:
        each = ((p, t.init, S.Proj(got, 0)), (q, t.array, T.LDense(S.Proj(got, 1))))
        return D.form.all([D.back(x, d) for x, term, d in each if not is_discrete(term.type)], context)

    def back(d: S.Var) -> S.Term:
        n = D.let("n", S.Size(r))
        ds = D.let("ds", T.Collect(d, n))
        k, state = D.fresh("k", INT), D.fresh("d", of)
        effect = D.back(S.Index(r, k), T.Plus(state, S.Index(ds, k)))
        step = D.form.scopes(D.extend((), t.state, t.var), effect, both)
        return D.form.descend(context, finish, n, k, state, T.Zero(of), step, like)

    return D.result(component(r, S.Size(r), D.fresh("j", INT), 0), back, cotangent(t.type))


# ---------------------------------------------------------------- iteration
# A loop keeps the backpropagator of each step in an array. The reverse pass calls them from the last to the first, and
# threads the cotangent of the carried state. Recursion needs no separate rule: see `core.call`.


# D[for n (i s. t) s0]  :=  let <x, x'> = D[s0] in let n = D[n]1 in let <y, fs> = mapAccum n (i s. D[t]) x in
#     <y, \d. do <d0, _> <- descend n (i d. do <(), ds> <- scope_s ((fs ! i) d); return <ds, ()>) d; x' d0>
@entry
def for_(D: Reverse, t: S.For, context: Context) -> S.Term:
    p, n = D.bind("p", t.init, context), D.let("n", D.primal(t.size, context))
    body = D(t.body, D.extend(context, t.state))
    r = D.let("r", T.MapAccum(n, t.index, D.binder(t.state), S.Proj(p, 0), body))
    return unwound(D, t.state, p, r, n, context)


# D[while (s. c) (s. t) s0]: as for, with as many steps as were kept
@entry
def while_(D: Reverse, t: S.While, context: Context) -> S.Term:
    inner, p = D.extend(context, t.state), D.bind("p", t.init, context)
    condition = D.primal(t.condition, inner)
    r = D.let("r", T.WhileAccum(D.binder(t.state), S.Proj(p, 0), condition, D(t.body, inner)))
    return unwound(D, t.state, p, r, S.Size(S.Proj(r, 1)), context)


def unwound(D: Reverse, state: S.Var, init: S.Var, loop: S.Var, n: S.Term, context: Context) -> S.Term:
    """Pair the last state of a loop with the backpropagator that runs its steps in reverse."""
    of = cotangent(state.of)

    def back(d: S.Var) -> S.Term:
        k, ds = D.fresh("k", INT), D.fresh(derivative_name(state.name), of)
        effect = S.Apply(S.Index(S.Proj(loop, 1), k), (ds,))
        step = D.form.scopes(D.extend((), state), effect, lambda got: S.Tuple((got[0], S.Tuple((), UNIT))))
        finish = lambda got: D.back(init, S.Proj(got, 0))  # noqa: E731
        like = sized(of, S.Proj(loop, 0))
        return D.form.descend(context, finish, D.let("n", n), k, ds, d, step, like)

    return D.result(S.Proj(loop, 0), back, of)


def sized(of: Linear, like: S.Term) -> tuple[S.Term, ...]:
    """Give the primal of a cotangent if the cotangent has sizes."""
    return (like,) if "LArray" in repr(of) else ()
