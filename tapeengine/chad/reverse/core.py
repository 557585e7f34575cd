"""Rules of reverse CHAD for the core language: EC Fig. 2 and Fig. 6, with n-ary tuples and sums."""

from __future__ import annotations

from ..language import target as T
from ..language import terms as S
from ..language.derivative_types import cotangent, reverse_primal
from ..language.tables import entry
from ..language.target import scaled
from ..language.traverse import is_used
from ..language.types import LNamed, LSum, is_discrete
from ..primitives import partial
from .environment import Context
from .transform import Reverse, derivative_type


# D[x]  :=  <x, \d. one_x d>
@entry
def variable(D: Reverse, t: S.Var, context: Context) -> S.Term:
    return D.result(D.binder(t), lambda d: D.form.one(t.name, d, context), cotangent(t.of))


# D[let x = t in s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in
#                        <y, \d. do <(), dx> <- scope (y' d); x' dx>
@entry
def let(D: Reverse, t: S.Let, context: Context) -> S.Term:
    if is_discrete(t.var.of):
        return S.Let(t.var, D.primal(t.bound, context), D(t.body, context))
    x = D.bind(t.var.name, t.bound, context)
    D.lets.append((D.binder(t.var), S.Proj(x, 0)))

    def back(y: S.Var, d: S.Var) -> S.Term:
        return D.form.after(D.extend((), t.var), D.back(y, d), lambda ds: D.back(x, ds[0]))

    return D.around(t.body, D.extend(context, t.var), back)


# D[r]  :=  <r, \d. return ()>
@entry
def literal(D: Reverse, t: S.Literal, context: Context) -> S.Term:
    return D.result(t, lambda d: D.form.nothing(context), cotangent(t.type))


# D[op(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... let <xn, xn'> = D[tn] in let y = op(x1, ..., xn) in
#                         <y, \d. let <d1, ..., dn> = Dop^t(x1, ..., xn; d) in do x1' d1; ...; xn' dn>
@entry
def op(D: Reverse, t: S.Op, context: Context) -> S.Term:
    hint, ps = D.hint, D.bind_all(t.args, context)
    xs = [S.Proj(p, 0) for p in ps]
    y = D.let(hint, S.Op(t.op, tuple(xs), t.of))

    def back(d: S.Var) -> S.Term:
        factors = [(p, partial(t, i, xs, y)) for i, p in enumerate(ps)]
        return D.form.all([D.back(p, scaled(d, factor)) for p, factor in factors if factor is not None], context)

    return D.result(y, back, cotangent(t.type))


# D[prim(t1, ..., tn)]: as for scalar operations, with the registry's vjp rule for each argument as Dop^t
@entry
def primitive(D: Reverse, t: S.Primitive, context: Context) -> S.Term:
    hint, ps = D.hint, D.bind_all(t.args, context)
    xs = tuple(S.Proj(p, 0) for p in ps)
    y = D.let(hint, S.Primitive(t.name, xs, t.static, t.of))

    def back(d: S.Var) -> S.Term:
        effects = [
            D.back(p, T.Vjp(t.name, i, d, xs, y, t.static, cotangent(a.type)))
            for i, (p, a) in enumerate(zip(ps, t.args, strict=True))
            if not is_discrete(a.type)
        ]
        return D.form.all(effects, context)

    return D.result(y, back, cotangent(t.type))


# D[<t1, ..., tn>]  :=  let <x1, x1'> = D[t1] in ... in <<x1, ..., xn>, \d. do x1' (lproj1 d); ...; xn' (lprojn d)>
@entry
def tuple_(D: Reverse, t: S.Tuple, context: Context) -> S.Term:
    of, ps = reverse_primal(t.type), D.bind_all(t.items, context)

    def back(d: S.Var) -> S.Term:
        each = zip(ps, t.items, strict=True)
        effects = [D.back(p, T.LProj(d, k)) for k, (p, x) in enumerate(each) if not is_discrete(x.type)]
        return D.form.all(effects, context)

    return D.result(S.Tuple(tuple(S.Proj(p, 0) for p in ps), of), back, cotangent(t.type))  # type: ignore[arg-type]


# D[proji t]  :=  let <x, x'> = D[t] in <proji x, \d. x' <0, ..., d, ..., 0>>
@entry
def proj(D: Reverse, t: S.Proj, context: Context) -> S.Term:
    of = t.term.type

    def one_hot(d: S.Term) -> S.Term:
        if len(of.items) >= S.MANY:  # type: ignore[attr-defined]
            return T.LUpdate(T.Zero(cotangent(of)), t.index, d)
        zeros = [T.Zero(cotangent(item)) for item in of.items]  # type: ignore[attr-defined]
        return T.LTuple((*zeros[: t.index], d, *zeros[t.index + 1 :]))

    p = D.bind("p", t.term, context)
    return D.result(S.Proj(S.Proj(p, 0), t.index), lambda d: D.back(p, one_hot(d)), cotangent(t.type))


# D[t with i = s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in
#                      <x with i = y, \d. do x' (d with i = 0); y' (lproji d)>
@entry
def update(D: Reverse, t: S.Update, context: Context) -> S.Term:
    p, q = D.bind_all((t.term, t.item), context)
    none = T.Zero(cotangent(t.term.type.items[t.index]))  # type: ignore[attr-defined]

    def back(d: S.Var) -> S.Term:
        effects = [(t.term, D.back(p, T.LUpdate(d, t.index, none))), (t.item, D.back(q, T.LProj(d, t.index)))]
        return D.form.all([effect for term, effect in effects if not is_discrete(term.type)], context)

    return D.result(S.Update(S.Proj(p, 0), t.index, S.Proj(q, 0)), back, cotangent(t.type))


# D[inji t]  :=  let <x, x'> = D[t] in <inji x, \d. x' (lcasti d)>
@entry
def inject(D: Reverse, t: S.Inject, context: Context) -> S.Term:
    p = D.bind("p", t.term, context)
    primal = S.Inject(t.index, S.Proj(p, 0), reverse_primal(t.of))  # type: ignore[arg-type]
    return D.result(primal, lambda d: D.back(p, T.LCast(t.index, d, cotangent(t.term.type))), cotangent(t.of))


# D[resize t]  :=  let <x, x'> = D[t] in <resize x, \d. x' (resize d)>
@entry
def resize(D: Reverse, t: S.Resize, context: Context) -> S.Term:
    p = D.bind("p", t.term, context)
    primal = S.Resize(S.Proj(p, 0), reverse_primal(t.of))
    return D.result(primal, lambda d: D.back(p, S.Resize(d, cotangent(t.term.type))), cotangent(t.of))


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in
#     case x of {inji xi -> let <y, y'> = D[si] in <y, \d. do <(), dz> <- scope (y' d); x' (linji dz)>}
@entry
def case(D: Reverse, t: S.Case, context: Context) -> S.Term:
    of = cotangent(t.term.type)

    p = D.bind("p", t.term, context)

    def branch(i: int, b: S.Branch) -> S.Branch:
        used = is_used(b.var, b.body)  # branches that do not use their options are the same: see `told_apart`
        slots, inner = (D.extend((), b.var), D.extend(context, b.var)) if used else ((), context)

        def back(y: S.Var, d: S.Var) -> S.Term:
            if not slots:
                return D.back(y, d)
            assert isinstance(of, LSum | LNamed)
            return D.form.after(slots, D.back(y, d), lambda ds: D.back(p, T.LInject(i, ds[0], of)))

        return S.Branch(D.binder(b.var), D.scoped(D.around, b.body, inner, back))

    return S.Case(S.Proj(p, 0), tuple(branch(i, b) for i, b in t.by_option.items()), t.options)


# D[if c then t else s]  :=  if c then D[t] else D[s]
@entry
def if_(D: Reverse, t: S.If, context: Context) -> S.Term:
    return S.If(D.primal(t.condition, context), D(t.then, context), D(t.orelse, context))


# D[f(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... let <z, z'> = D[f](x1, ..., xn) in
#                        <z, \d. let <d1, ..., dn> = z' d in do x1' d1; ...; xn' dn>   (f is closed: EC appendix B)
@entry
def call(D: Reverse, t: S.Call, context: Context) -> S.Term:
    of, ps = derivative_type(tuple(a.type for a in t.args), t.of), D.bind_all(t.args, context)
    z = D.let("z", S.Call(t.name, tuple(S.Proj(p, 0) for p in ps), of))

    def back(d: S.Var) -> S.Term:
        ds, each = D.let("ds", D.back(z, d)), enumerate(zip(ps, t.args, strict=True))
        return D.form.all([D.back(p, T.LProj(ds, i)) for i, (p, a) in each if not is_discrete(a.type)], context)

    return D.result(S.Proj(z, 0), back, cotangent(t.of))
