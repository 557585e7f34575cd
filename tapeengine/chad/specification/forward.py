"""Forward CHAD (CHAD 7.4), extended to sums, arrays and iteration.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t``

    D[x1: t1, ..., xn: tn]1  |-  D[term] : D[t]1 * (D[context]2 -> D[t]2)

where ``D[context]2`` is the left-nested linear pair of the variables' tangents, as in CHAD appendix B.1. Variables of
discrete type have no tangent and are omitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad import target as T
from tapeengine.chad.derivative_types import forward_primal, tangent
from tapeengine.chad.primitives import partial
from tapeengine.chad.specification import forward_arrays
from tapeengine.chad.specification.forward_transform import Context, Forward, context_type
from tapeengine.chad.target import added, scaled
from tapeengine.chad.terms import (
    Apply,
    Branch,
    Call,
    Case,
    If,
    Inject,
    Lambda,
    Let,
    Literal,
    Module,
    Op,
    Primitive,
    Proj,
    Term,
    Tuple,
    Var,
)
from tapeengine.chad.traverse import Names, all_names
from tapeengine.chad.types import Function, LFunction, LProduct, LUnit, is_discrete

__all__ = ["forward"]


# D[x]  :=  <x, \v. proj_x v>
def variable(D: Forward, t: Var, context: Context) -> Term:
    def ahead(v: Term) -> Term:
        for name, _ in reversed(context):
            if name == t.name:
                return T.LProj(v, 1)
            v = T.LProj(v, 0)
        return T.Zero(tangent(t.of))

    return D.result(D.binder(t), ahead, context)


# D[let x = t in s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <y, \v. y' <v, x' v>>
def let(D: Forward, t: Let, context: Context) -> Term:
    def body(x: Var) -> Term:
        inner = D.bind(
            "p",
            t.body,
            D.extend(context, t.var),
            lambda y: D.result(Proj(y, 0), lambda v: D.ahead(y, D.extended(v, (t.var,), [D.ahead(x, v)])), context),
        )
        return Let(D.binder(t.var), Proj(x, 0), inner)

    return D.bind(t.var.name, t.bound, context, body)


# D[r]  :=  <r, \v. 0>
def literal(D: Forward, t: Literal, context: Context) -> Term:
    return D.result(t, lambda v: T.Zero(tangent(t.type)), context)


# D[op(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in <op(x1, ..., xn), \v. Dop(x1, ..., xn; <x1' v, ..., xn' v>)>
def op(D: Forward, t: Op, context: Context) -> Term:
    def body(ps: list[Var]) -> Term:
        xs = [Proj(p, 0) for p in ps]
        return D.let("y", Op(t.op, tuple(xs), t.of), lambda y: D.result(y, lambda v: ahead(ps, y, v), context))

    def ahead(ps: list[Var], y: Var, v: Var) -> Term:
        xs = [Proj(p, 0) for p in ps]
        factors = [(p, partial(t.op, i, xs, y)) for i, p in enumerate(ps)]
        terms = [scaled(D.ahead(p, v), f) for p, f in factors if f is not None]
        return added(terms, tangent(t.type))

    return D.bind_all(t.args, context, body)


# D[prim(t1, ..., tn)]: as for scalar operations, with the registry's jvp rule for each argument
def primitive(D: Forward, t: Primitive, context: Context) -> Term:
    of = tangent(t.of)

    def body(ps: list[Var]) -> Term:
        xs = tuple(Proj(p, 0) for p in ps)

        def paired(y: Var) -> Term:
            def ahead(v: Var) -> Term:
                each = enumerate(zip(ps, t.args, strict=True))
                return added(
                    [
                        T.Jvp(t.name, i, D.ahead(p, v), xs, y, t.static, of)
                        for i, (p, a) in each
                        if not is_discrete(a.type)
                    ],
                    of,
                )

            return D.result(y, ahead, context)

        return D.let("y", Primitive(t.name, xs, t.static, t.of), paired)

    return D.bind_all(t.args, context, body)


# D[<t1, ..., tn>]  :=  let <x1, x1'> = D[t1] in ... in <<x1, ..., xn>, \v. <x1' v, ..., xn' v>>
def tuple_(D: Forward, t: Tuple, context: Context) -> Term:
    of: Any = forward_primal(t.type)

    def body(ps: list[Var]) -> Term:
        primal = Tuple(tuple(Proj(p, 0) for p in ps), of)
        if not ps:
            return D.result(primal, lambda v: T.Zero(LUnit()), context)
        return D.result(primal, lambda v: T.LTuple(tuple(D.ahead(p, v) for p in ps)), context)

    return D.bind_all(t.items, context, body)


# D[proji t]  :=  let <x, x'> = D[t] in <proji x, \v. proji (x' v)>
def proj(D: Forward, t: Proj, context: Context) -> Term:
    return D.bind(
        "p",
        t.term,
        context,
        lambda p: D.result(Proj(Proj(p, 0), t.index), lambda v: T.LProj(D.ahead(p, v), t.index), context),
    )


# D[inji t]  :=  let <x, x'> = D[t] in <inji x, \v. linji (x' v)>
def inject(D: Forward, t: Inject, context: Context) -> Term:
    of: Any = tangent(t.of)
    primal: Any = forward_primal(t.of)
    return D.bind(
        "p",
        t.term,
        context,
        lambda p: D.result(
            Inject(t.index, Proj(p, 0), primal), lambda v: T.LInject(t.index, D.ahead(p, v), of), context
        ),
    )


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in
#     case x of {inji xi -> let <y, y'> = D[si] in <y, \v. y' <v, lcasti (x' v)>>}
def case(D: Forward, t: Case, context: Context) -> Term:
    def branch(p: Var, i: int, b: Branch) -> Branch:
        def ahead(y: Var, v: Var) -> Term:
            given = T.LCast(i, D.ahead(p, v), tangent(b.var.of))
            return D.ahead(y, D.extended(v, (b.var,), [given]))

        inner = D.extend(context, b.var)
        body = D.bind("p", b.body, inner, lambda y: D.result(Proj(y, 0), lambda v: ahead(y, v), context))
        return Branch(D.binder(b.var), body)

    return D.bind(
        "p", t.term, context, lambda p: Case(Proj(p, 0), tuple(branch(p, i, b) for i, b in enumerate(t.branches)))
    )


# D[if c then t else s]  :=  if D[c]1 then D[t] else D[s]
def if_(D: Forward, t: If, context: Context) -> Term:
    return If(D.primal(t.condition, context), D(t.then, context), D(t.orelse, context))


# D[\x. t]  :=  let y = \x. D[t] in
#     <\x. let <z, z'> = y x in <z, \v. z' <0, v>>, \v. \x. (snd (y x)) <v, 0>>
def lambda_(D: Forward, t: Lambda, context: Context) -> Term:
    params = tuple(map(D.binder, t.params))
    both = Lambda(params, D(t.body, D.extend(context, *t.params)))

    def primal(y: Var) -> Term:
        copies = tuple(D.names.var(p) for p in params)
        given = D.fresh("v", LProduct(tuple(tangent(p.of) for p in t.params)))
        parts: list[Term] = [T.LProj(given, i) for i in range(len(params))]
        v = D.extended(T.Zero(context_type(context)), t.params, parts)
        return Lambda(
            copies, D.let("z", Apply(y, copies), lambda z: Tuple((Proj(z, 0), Lambda((given,), D.ahead(z, v)))))
        )

    def ahead(y: Var, v: Var) -> Term:
        copies = tuple(D.names.var(p) for p in params)
        zeros: list[Term] = [T.Zero(tangent(p.of)) for p in t.params]
        return T.LLambda(copies, D.ahead(Apply(y, copies), D.extended(v, t.params, zeros)))

    return D.let("y", both, lambda y: D.result(primal(y), lambda v: ahead(y, v), context))


# D[t s]  :=  let <x, xctx'> = D[t] in let <y, y'> = D[s] in let <z, xarg'> = x y in
#             <z, \v. (xctx' v) y + xarg' (y' v)>
def apply(D: Forward, t: Apply, context: Context) -> Term:
    def body(ps: list[Var]) -> Term:
        f, *args = ps
        ys = tuple(Proj(p, 0) for p in args)

        def ahead(z: Var, v: Var) -> Term:
            assert isinstance(tangent(t.function.type), LFunction)
            of_context = T.LApply(D.ahead(f, v), ys)
            return T.Plus(of_context, D.ahead(z, T.LTuple(tuple(D.ahead(p, v) for p in args))))

        return D.let("z", Apply(Proj(f, 0), ys), lambda z: D.result(Proj(z, 0), lambda v: ahead(z, v), context))

    return D.bind_all((t.function, *t.args), context, body)


# D[f(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in let <z, z'> = D[f](x1, ..., xn) in
#                        <z, \v. z' <x1' v, ..., xn' v>>
def call(D: Forward, t: Call, context: Context) -> Term:
    of = forward_primal(Function(tuple(a.type for a in t.args), t.of))
    assert isinstance(of, Function)

    def body(ps: list[Var]) -> Term:
        made = Call(t.name, tuple(Proj(p, 0) for p in ps), of.result)
        return D.let(
            "z",
            made,
            lambda z: D.result(Proj(z, 0), lambda v: D.ahead(z, T.LTuple(tuple(D.ahead(p, v) for p in ps))), context),
        )

    return D.bind_all(t.args, context, body)


RULES: Mapping[type[Term], Any] = MappingProxyType(
    {
        Var: variable,
        Let: let,
        Literal: literal,
        Op: op,
        Primitive: primitive,
        Tuple: tuple_,
        Proj: proj,
        Inject: inject,
        Case: case,
        If: if_,
        Lambda: lambda_,
        Apply: apply,
        Call: call,
        **forward_arrays.RULES,
    }
)


def forward(module: Module) -> Module:
    """Differentiate every definition of a module in forward mode.

    Returns
    -------
    Module
        Each definition returns the pair of its value and a function from the linear tuple of tangents of its parameters
        to the tangent of its value.
    """
    definitions = {}
    for name, d in module.definitions.items():
        names = Names(all_names(d.body) | {p.name for p in d.params} | set(module.definitions))
        definitions[name] = Forward(names, RULES).definition(d)
    return Module(module.main, definitions, {name: _sum(of) for name, of in module.types.items()})


def _sum(of: Any) -> Any:
    return forward_primal(of)
