"""Forward CHAD (CHAD 7.4), extended to sums, arrays and iteration.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t``

    D[x1: t1, ..., xn: tn]1  |-  D[term] : D[t]1 * (D[context]2 -> D[t]2)

where ``D[context]2`` is the left-nested linear pair of the variables' tangents, as in CHAD appendix B.1. Variables
of discrete type have no tangent and are left out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad import forward_arrays
from tapeengine.chad import target as T
from tapeengine.chad.derivative_types import forward_primal, tangent
from tapeengine.chad.primitives import partial
from tapeengine.chad.terms import (
    Apply,
    Branch,
    Call,
    Case,
    Definition,
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
from tapeengine.chad.types import Function, LFunction, Linear, LProduct, LUnit, Type, is_discrete

__all__ = ["Forward", "forward"]

Context = tuple[tuple[str, Linear], ...]


def context_type(context: Context) -> Linear:
    """Give the type of tangents of a context: left-nested pairs."""
    of: Linear = LUnit()
    for _, item in context:
        of = LProduct((of, item))
    return of


class Forward:
    """The forward transformation; `names` supplies the names of bound variables."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def __call__(self, term: Term, context: Context) -> Term:
        """Give D[term] in a context."""
        result: Term = RULES[type(term)](self, term, context)
        return result

    def fresh(self, hint: str, of: Type) -> Var:
        """Make a new variable."""
        return Var(self.names(hint), of)

    def let(self, hint: str, bound: Term, body: Callable[[Var], Term]) -> Term:
        """Bind a term to a new variable."""
        var = self.fresh(hint, bound.type)
        return Let(var, bound, body(var))

    def bind(self, hint: str, term: Term, context: Context, body: Callable[[Var], Term]) -> Term:
        """Bind D[term]."""
        return self.let(hint, self(term, context), body)

    def bind_all(self, terms: tuple[Term, ...], context: Context, body: Callable[[list[Var]], Term]) -> Term:
        """Bind D of several terms."""

        def go(remaining: tuple[Term, ...], bound: list[Var]) -> Term:
            if not remaining:
                return body(bound)
            first = remaining[0]
            name = first.name if isinstance(first, Var) else "p"
            return self.bind(name, first, context, lambda p: go(remaining[1:], [*bound, p]))

        return go(terms, [])

    def result(self, primal: Term, ahead: Callable[[Var], Term], context: Context) -> Term:
        """Pair a primal with its derivative, the function of ``v`` that gives ``ahead(v)``."""
        v = self.fresh("v", context_type(context))
        return Tuple((primal, Lambda((v,), ahead(v))))

    def ahead(self, pair: Term, v: Term) -> Term:
        """Call the derivative of a pair."""
        return Apply(Proj(pair, 1), (v,))

    def primal(self, term: Term, context: Context) -> Term:
        """Give the primal of a term of discrete type."""
        return Proj(self(term, context), 0)

    def extend(self, context: Context, *variables: Var) -> Context:
        """Extend a context by those variables that have a tangent."""
        return context + tuple((v.name, tangent(v.of)) for v in variables if not is_discrete(v.of))

    def extended(self, v: Term, variables: tuple[Var, ...], tangents: list[Term]) -> Term:
        """Extend a tangent of a context: ``<<v, t1>, t2>``."""
        for var, t in zip(variables, tangents, strict=True):
            if not is_discrete(var.of):
                v = T.LTuple((v, t))
        return v

    def binder(self, var: Var) -> Var:
        """Give a binder its type in the derivative."""
        return Var(var.name, forward_primal(var.of))

    # D[f(x1, ..., xn) = t]  :=  f(x1, ..., xn) = let <y, y'> = D[t] in <y, \<v1, ..., vn>. y' <<..., v1>, vn>>
    def definition(self, definition: Definition) -> Definition:
        """Transform a definition; its derivative takes the linear tuple of the parameters' tangents."""
        params = tuple(map(self.binder, definition.params))
        context = self.extend((), *definition.params)
        given = self.fresh("v", LProduct(tuple(tangent(p.of) for p in definition.params)))
        parts: list[Term] = [T.LProj(given, i) for i in range(len(params))]
        v = self.extended(T.Zero(LUnit()), definition.params, parts)

        def paired(p: Var) -> Term:
            return Tuple((Proj(p, 0), Lambda((given,), self.ahead(p, v))))

        body = self.bind("p", definition.body, context, paired)
        return Definition(definition.name, params, body.type, body)


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


def scaled(d: Term, factor: Term) -> Term:
    """Multiply a linear real by a real, which may be the literal one."""
    return d if isinstance(factor, Literal) and factor.value == 1 else T.LScale(d, factor)


def added(terms: list[Term], of: Linear) -> Term:
    """Add up tangents."""
    if not terms:
        return T.Zero(of)
    total = terms[0]
    for term in terms[1:]:
        total = T.Plus(total, term)
    return total


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
        Each definition gives the pair of its value and a function from the linear tuple of tangents of its parameters
        to the tangent of its value.
    """
    definitions = {}
    for name, d in module.definitions.items():
        names = Names(all_names(d.body) | {p.name for p in d.params} | set(module.definitions))
        definitions[name] = Forward(names).definition(d)
    return Module(module.main, definitions, {name: _sum(of) for name, of in module.types.items()})


def _sum(of: Any) -> Any:
    return forward_primal(of)
