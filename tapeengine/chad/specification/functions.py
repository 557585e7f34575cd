"""Rules of reverse CHAD for functions, with copowers (CHAD 7.5).

Only the form "copower" differentiates functions directly. The others take closed and defunctionalised programs, because
these rules differentiate a function twice at each call (EC section 9).
"""

from __future__ import annotations

from ..language import target as T
from ..language.derivative_types import cotangent, reverse_primal
from ..language.tables import entry
from ..language.terms import Apply, Lambda, Proj, Term, Tuple, Var
from ..language.types import Copower, is_discrete
from ..reverse.environment import Context
from ..reverse.transform import Reverse


# D[\x. t]  :=  let y = \x. D[t] in
#     <\x. let <z, z'> = y x in <z, \d. snd (z' d)>, \d. case d of !x (x) d -> fst ((snd (y x)) d)>
@entry
def lambda_(D: Reverse, t: Lambda, context: Context) -> Term:
    params = tuple(Var(p.name, reverse_primal(p.of)) for p in t.params)
    both = Lambda(params, D(t.body, D.extend(context, *t.params)))
    slots = D.extend((), *t.params)
    of = cotangent(t.type)
    assert isinstance(of, Copower)

    def argument_part(ds: list[Term]) -> Term:
        got = iter(ds)
        return T.LTuple(tuple(T.Zero(cotangent(p.of)) if is_discrete(p.of) else next(got) for p in t.params))

    y = D.let("y", both)
    copies = tuple(D.names.var(p) for p in params)

    def paired() -> Term:
        z = D.let("z", Apply(y, copies))
        d = D.fresh("d", cotangent(t.body.type))
        return Tuple((Proj(z, 0), Lambda((d,), Proj(D.form.scopes(slots, D.back(z, d), argument_part), 1))))

    def back(d: Var) -> Term:
        key, value = D.fresh("x", of.key), D.fresh("d", of.value)
        effect = D.back(Apply(y, tuple(Proj(key, i) for i in range(len(params)))), value)
        return T.CopowerFold(key, value, Proj(D.form.scopes(slots, effect, argument_part), 0), d)

    return D.result(Lambda(copies, D.scoped(paired)), back, of)


# D[t s]  :=  let <x, xctx'> = D[t] in let <y, y'> = D[s] in let <z, xarg'> = x y in
#             <z, \d. xctx' (!y (x) d) + y' (xarg' d)>
@entry
def apply(D: Reverse, t: Apply, context: Context) -> Term:
    f, *args = D.bind_all((t.function, *t.args), context)
    ys = tuple(Proj(p, 0) for p in args)
    z = D.let("z", Apply(Proj(f, 0), ys))

    def back(d: Var) -> Term:
        logged = D.back(f, T.Singleton(Tuple(ys), d))
        ds, each = D.let("ds", D.back(z, d)), enumerate(zip(args, t.args, strict=True))
        return D.form.all(
            [logged, *(D.back(p, T.LProj(ds, i)) for i, (p, a) in each if not is_discrete(a.type))], context
        )

    return D.result(Proj(z, 0), back, cotangent(t.type))
