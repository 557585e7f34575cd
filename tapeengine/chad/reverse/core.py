"""Rules of reverse CHAD for the core language: EC Fig. 2 and Fig. 6, with n-ary tuples and sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..language import target as T
from ..language import terms as S
from ..language.derivative_types import cotangent, reverse_primal
from ..language.tables import entry
from ..language.target import scaled
from ..language.types import LNamed, LSum, Type, is_discrete
from ..primitives import partial
from .environment import Context
from .transform import Reverse, derivative_type

#: From so many parts of a variable on their cotangents are one tuple.
MANY = 4


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
# Of many parts of one variable, x' is called once, with the tuple of their cotangents: n calls would have n^2 parts.
@entry
def tuple_(D: Reverse, t: S.Tuple, context: Context) -> S.Term:
    of, (whole, places) = reverse_primal(t.type), parts_of_one(t.items)
    parts = {k: index for index, k in places.items()}
    others = [k for k in range(len(t.items)) if k not in parts]
    ps = D.bind_all((*whole, *(t.items[k] for k in others)), context)
    each = dict(zip(others, ps[len(whole) :], strict=True))

    def back(d: S.Var) -> S.Term:
        effects = [D.back(p, T.LProj(d, k)) for k, p in each.items() if not is_discrete(t.items[k].type)]
        return D.form.all([*(D.back(ps[0], spread(d, x.type, places)) for x in whole), *effects], context)

    items = (S.Proj(S.Proj(ps[0], 0), parts[k]) if k in parts else S.Proj(each[k], 0) for k in range(len(t.items)))
    return D.result(S.Tuple(tuple(items), of), back, cotangent(t.type))  # type: ignore[arg-type]


def parts_of_one(items: Sequence[S.Term]) -> tuple[list[S.Term], dict[int, int]]:
    """Give the variable of which many items are parts, if there is one, and the place among the items of each part."""
    found: dict[str, tuple[S.Term, dict[int, int]]] = {}
    for k, item in enumerate(items):
        if isinstance(item, S.Proj) and isinstance(item.term, S.Var):
            found.setdefault(item.term.name, (item.term, {}))[1].setdefault(item.index, k)
    whole, places = max(found.values(), key=lambda x: len(x[1]), default=(None, {}))
    return ([whole], places) if whole is not None and len(places) >= MANY else ([], {})


def spread(d: S.Term, of: Type, places: Mapping[int, int]) -> S.Term:
    """Give the cotangent of a tuple from that of another one, in which some of its parts have places."""
    each = enumerate(of.items)  # type: ignore[attr-defined]
    return T.LTuple(tuple(T.LProj(d, places[i]) if i in places else T.Zero(cotangent(item)) for i, item in each))


# D[proji t]  :=  let <x, x'> = D[t] in <proji x, \d. x' <0, ..., d, ..., 0>>
@entry
def proj(D: Reverse, t: S.Proj, context: Context) -> S.Term:
    items = t.term.type.items  # type: ignore[attr-defined]

    def one_hot(d: S.Term) -> S.Term:
        return T.LTuple(tuple(d if i == t.index else T.Zero(cotangent(item)) for i, item in enumerate(items)))

    p = D.bind("p", t.term, context)
    return D.result(S.Proj(S.Proj(p, 0), t.index), lambda d: D.back(p, one_hot(d)), cotangent(t.type))


# D[inji t]  :=  let <x, x'> = D[t] in <inji x, \d. x' (lcasti d)>
@entry
def inject(D: Reverse, t: S.Inject, context: Context) -> S.Term:
    p = D.bind("p", t.term, context)
    primal = S.Inject(t.index, S.Proj(p, 0), reverse_primal(t.of))  # type: ignore[arg-type]
    return D.result(primal, lambda d: D.back(p, T.LCast(t.index, d, cotangent(t.term.type))), cotangent(t.of))


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in
#     case x of {inji xi -> let <y, y'> = D[si] in <y, \d. do <(), dz> <- scope (y' d); x' (linji dz)>}
@entry
def case(D: Reverse, t: S.Case, context: Context) -> S.Term:
    of = cotangent(t.term.type)

    p = D.bind("p", t.term, context)

    def branch(i: int, b: S.Branch) -> S.Branch:
        slots = D.extend((), b.var)

        def back(y: S.Var, d: S.Var) -> S.Term:
            if not slots:
                return D.back(y, d)
            assert isinstance(of, LSum | LNamed)
            return D.form.after(slots, D.back(y, d), lambda ds: D.back(p, T.LInject(i, ds[0], of)))

        return S.Branch(D.binder(b.var), D.scoped(D.around, b.body, D.extend(context, b.var), back))

    return S.Case(S.Proj(p, 0), tuple(branch(i, b) for i, b in enumerate(t.branches)))


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
