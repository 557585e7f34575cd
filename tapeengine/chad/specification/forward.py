r"""Forward CHAD as the paper has it (CHAD 7.4), extended to sums, arrays and iteration.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t``

    D[x1: t1, ..., xn: tn]1  |-  D[term] : D[t]1 * (D[context]2 -> D[t]2)

where ``D[context]2`` is the left-nested linear pair of the variables' tangents, as in CHAD appendix B.1. Variables of
discrete type have no tangent and are omitted. A rule of `tapeengine.chad.forward.rules` that gives ``<x, x'>`` gives
``<x, \\v. x'>`` here, where the tangent of a part is its function applied to v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forward import rules as shared
from ..forward.rules import Forward, Pair
from ..language import target as T
from ..language import terms as S
from ..language.derivative_types import forward_primal, tangent
from ..language.sugar import component, is_extreme, lower_fold
from ..language.tables import entry, table
from ..language.traverse import Names, all_names
from ..language.types import INT, Function, LProduct, LUnit, is_discrete
from ..reverse.environment import Context
from .environment import pairs_of


class OfContext(Forward):
    """The transformation of one definition.

    Attributes
    ----------
    context : tuple of pairs of str and Linear
        The variables in scope that have a tangent.
    v : Term
        The tangent of the context, inside a result.
    """

    def __init__(self, names: Names) -> None:
        super().__init__(names)
        self.rules = RULES
        self.context: Context = ()
        self.v: S.Term = T.Zero(LUnit())

    def bind(self, term: S.Term) -> Pair:
        """Bind D[term]."""
        p = self.let(term.name if isinstance(term, S.Var) else "p", self(term))
        return Pair(S.Proj(p, 0), lambda: self.ahead(p))

    def result(self, primal: S.Term, ahead: Callable[[], S.Term]) -> S.Term:
        """Pair a primal with its derivative, a function of the context's tangent."""
        v = self.fresh("v", pairs_of(self.context))
        outer, self.v = self.v, v
        made = S.Tuple((primal, S.Lambda((v,), self.scoped(ahead))))
        self.v = outer
        return made

    def primal(self, term: S.Term) -> S.Term:
        """Give the primal of a term of discrete type."""
        return S.Proj(self(term), 0)

    def within(self, term: S.Term, *variables: S.Var) -> S.Term:
        """Give D[term] in the scope of more variables."""
        outer = self.context
        self.context += tuple((x.name, tangent(x.of)) for x in variables if not is_discrete(x.of))
        found = self(term)
        self.context = outer
        return found

    def ahead(self, pair: S.Term, *given: tuple[S.Var, S.Term], v: S.Term | None = None) -> S.Term:
        """Call the derivative of a pair; see `called`."""
        return self.called(S.Proj(pair, 1), *given, v=v)

    def called(self, function: S.Term, *given: tuple[S.Var, S.Term], v: S.Term | None = None) -> S.Term:
        """Call a derivative, for tangents of more variables: ``function <<v, t1>, t2>``."""
        v = self.v if v is None else v
        for var, t in given:
            v = v if is_discrete(var.of) else T.LTuple((v, t))
        return S.Apply(function, (v,))

    # D[f(x1, ..., xn) = t]  :=  f(x1, ..., xn) = let <y, y'> = D[t] in <y, \<v1, ..., vn>. y' <<..., v1>, vn>>
    def definition(self, definition: S.Definition) -> S.Definition:
        """Transform a definition; its derivative takes the linear tuple of the parameters' tangents."""
        given = self.fresh("v", LProduct(tuple(tangent(p.of) for p in definition.params)))
        parts = [(p, T.LProj(given, i)) for i, p in enumerate(definition.params)]

        def paired() -> S.Term:
            p = self.let("p", self.within(definition.body, *definition.params))
            return S.Tuple((S.Proj(p, 0), S.Lambda((given,), self.ahead(p, *parts))))

        body = self.scoped(paired)
        return S.Definition(definition.name, tuple(map(self.binder, definition.params)), body.type, body)


# D[x]  :=  <x, \v. proj_x v>
@entry
def variable(D: OfContext, t: S.Var) -> S.Term:
    def ahead() -> S.Term:
        v = D.v
        for name, _ in reversed(D.context):
            if name == t.name:
                return T.LProj(v, 1)
            v = T.LProj(v, 0)
        return T.Zero(tangent(t.of))

    return D.result(D.binder(t), ahead)


# D[let x = t in s]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <y, \v. y' <v, x' v>>
@entry
def let(D: OfContext, t: S.Let) -> S.Term:
    x = D.let(t.var.name, D(t.bound))
    D.lets.append((D.binder(t.var), S.Proj(x, 0)))
    y = D.let("p", D.within(t.body, t.var))
    return D.result(S.Proj(y, 0), lambda: D.ahead(y, (t.var, D.ahead(x))))


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in
#     case x of {inji xi -> let <y, y'> = D[si] in <y, \v. y' <v, lcasti (x' v)>>}
@entry
def case(D: OfContext, t: S.Case) -> S.Term:
    p = D.bind(t.term)

    def made(i: int, b: S.Branch) -> S.Term:
        y = D.let("p", D.within(b.body, b.var))
        return D.result(S.Proj(y, 0), lambda: D.ahead(y, (b.var, T.LCast(i, p.d(), tangent(b.var.of)))))

    branches = tuple(S.Branch(D.binder(b.var), D.scoped(made, i, b)) for i, b in t.by_option.items())
    return S.Case(p.x, branches, t.options)


# D[\x. t]  :=  let y = \x. D[t] in
#     <\x. let <z, z'> = y x in <z, \v. z' <0, v>>, \v. \x. (snd (y x)) <v, 0>>
@entry
def lambda_(D: OfContext, t: S.Lambda) -> S.Term:
    params = tuple(map(D.binder, t.params))

    y = D.let("y", S.Lambda(params, D.within(t.body, *t.params)))

    def primal() -> S.Term:
        copies = tuple(D.names.var(p) for p in params)
        given = D.fresh("v", LProduct(tuple(tangent(p.of) for p in t.params)))
        parts = [(p, T.LProj(given, i)) for i, p in enumerate(t.params)]
        return S.Lambda(copies, D.scoped(paired, copies, given, parts))

    def paired(copies: tuple[S.Var, ...], given: S.Var, parts: list[tuple[S.Var, S.Term]]) -> S.Term:
        z, zero = D.let("z", S.Apply(y, copies)), T.Zero(pairs_of(D.context))
        return S.Tuple((S.Proj(z, 0), S.Lambda((given,), D.ahead(z, *parts, v=zero))))

    def ahead() -> S.Term:
        copies = tuple(D.names.var(p) for p in params)
        return T.LLambda(copies, D.ahead(S.Apply(y, copies), *((p, T.Zero(tangent(p.of))) for p in t.params)))

    return D.result(primal(), ahead)


# D[t s]  :=  let <x, xctx'> = D[t] in let <y, y'> = D[s] in let <z, xarg'> = x y in
#             <z, \v. (xctx' v) y + xarg' (y' v)>
@entry
def apply(D: OfContext, t: S.Apply) -> S.Term:
    f, *args = D.bind_all((t.function, *t.args))
    ys = tuple(p.x for p in args)
    z = D.let("z", S.Apply(f.x, ys))

    def ahead() -> S.Term:
        along = T.LTuple(tuple(p.d() for p in args))
        return T.Plus(T.LApply(f.d(), ys), D.ahead(z, v=along))

    return D.result(S.Proj(z, 0), ahead)


# D[f(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in let <z, z'> = D[f](x1, ..., xn) in
#                        <z, \v. z' <x1' v, ..., xn' v>>
@entry
def call(D: OfContext, t: S.Call) -> S.Term:
    of = forward_primal(Function(tuple(a.type for a in t.args), t.of))
    assert isinstance(of, Function)

    ps = D.bind_all(t.args)
    z = D.let("z", S.Call(t.name, tuple(p.x for p in ps), of.result))
    return D.result(S.Proj(z, 0), lambda: D.ahead(z, v=T.LTuple(tuple(p.d() for p in ps))))


# ---------------------------------------------------------------- arrays and loops


# D[build n (i. t)]  :=  let n = D[n]1 in let a = build n (i. D[t]) in <map fst a, \v. build n (i. snd (a ! i) v)>
@entry
def build(D: OfContext, t: S.Build) -> S.Term:
    n = D.let("n", D.primal(t.size))
    a = D.let("a", S.Build(n, t.index, D(t.body)))
    k, each = D.fresh("k", INT), component(a, n, D.fresh("j", INT), 0)
    return D.result(each, lambda: T.LDense(S.Build(n, k, D.ahead(S.Index(a, k)))))


# D[size t]  :=  <size D[t]1, \v. 0>
@entry
def size(D: OfContext, t: S.Size) -> S.Term:
    return D.result(S.Size(D.primal(t.array)), lambda: T.Zero(tangent(INT)))


# D[for n (i s. t) s0]  :=  let <x, x'> = D[s0] in let n = D[n]1 in let <y, fs> = mapAccum n (i s. D[t]) x in
#     <y, \v. for n (i ds. (fs ! i) <v, ds>) (x' v)>
@entry
def for_(D: OfContext, t: S.For) -> S.Term:
    p, n = D.bind(t.init), D.let("n", D.primal(t.size))
    r = D.let("r", T.MapAccum(n, t.index, D.binder(t.state), p.x, D.within(t.body, t.state)))
    return rewound(D, t.state, p, r, n)


# D[while (s. c) (s. t) s0]: as for, with as many steps as were kept
@entry
def while_(D: OfContext, t: S.While) -> S.Term:
    p, condition = D.bind(t.init), S.Proj(D.within(t.condition, t.state), 0)
    r = D.let("r", T.WhileAccum(D.binder(t.state), p.x, condition, D.within(t.body, t.state)))
    return rewound(D, t.state, p, r, S.Size(S.Proj(r, 1)))


def rewound(D: OfContext, state: S.Var, init: Pair, loop: S.Var, n: S.Term) -> S.Term:
    """Pair the last state of a loop with the derivative that runs its steps again."""

    def ahead() -> S.Term:
        k, ds = D.fresh("k", INT), D.fresh("v", tangent(state.of))
        return S.For(n, k, ds, init.d(), D.called(S.Index(S.Proj(loop, 1), k), (state, ds)))

    return D.result(S.Proj(loop, 0), ahead)


# D[fold (x y. t) s]  :=  D[let a = s in for (size a - 1) (i x. let y = a ! (i + 1) in t) (a ! 0)]
@entry
def fold(D: OfContext, t: S.Fold) -> S.Term:
    return shared.extreme(D, t) if is_extreme(t) else D(lower_fold(t, D.fresh))


# D[scan (s x. t) s0 a]: a scan over the derivatives of its steps
@entry
def scan(D: OfContext, t: S.Scan) -> S.Term:
    (p, q), k = D.bind_all((t.init, t.array)), D.fresh("k", INT)

    def kept() -> S.Term:
        y = D.let("y", D.within(t.body, t.state, t.var))
        return S.Tuple((S.Proj(y, 0), y))

    step = S.Let(D.binder(t.var), S.Index(q.x, k), D.scoped(kept))
    r = D.let("r", S.Proj(T.MapAccum(S.Size(q.x), k, D.binder(t.state), p.x, step), 1))

    def both(k: S.Var, d: S.Var, ds: S.Var) -> S.Term:
        s = D.let("t", D.ahead(S.Index(r, k), (t.state, d), (t.var, S.Index(ds, k))))
        return S.Tuple((s, s))

    def ahead() -> S.Term:
        ds = D.let("ds", T.Collect(q.d(), S.Size(q.x)))
        k, d = D.fresh("k", INT), D.fresh("v", tangent(t.state.of))
        return T.LDense(S.Proj(T.MapAccum(S.Size(r), k, d, p.d(), D.scoped(both, k, d, ds)), 1))

    return D.result(component(r, S.Size(r), D.fresh("j", INT), 0), ahead)


RULES = table(vars(shared), globals())


def forward(module: S.Module) -> S.Module:
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
        definitions[name] = OfContext(names).definition(d)
    types: dict[str, Any] = {name: forward_primal(of) for name, of in module.types.items()}
    return S.Module(module.main, definitions, types)
