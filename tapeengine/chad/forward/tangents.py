"""Forward CHAD for a given tangent of the context: the form of CHAD 7.4 that runs.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t``, CHAD 7.4 computes the pair of the primal and a function
of tangents of the context. If that function is applied once, to tangents ``x1', ..., xn'`` known from the start, the
application can be moved into each rule:

    D[x1: t1, ..., xn: tn]1, x1': D[t1]2, ..., xn': D[tn]2  |-  D[term] : D[t]1 * D[t]2

So values and tangents are computed side by side, and no loop keeps values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...recursion import deep
from ..language import target as T
from ..language import terms as S
from ..language import written
from ..language.derivative_types import tangent
from ..language.sugar import component, is_extreme, lower_fold, wrapped
from ..language.tables import entry, table
from ..language.terms import Term, Var
from ..language.traverse import Names, all_names, derivative_name, substitute
from ..language.types import INT, Product, is_discrete
from . import rules as forward
from .rules import Forward, Pair


class Tangents(Forward):
    """The transformation of one definition.

    `of`: the tangent of each variable.
    """

    def __init__(self, names: Names) -> None:
        super().__init__(names)
        self.of: dict[str, Term] = {}
        self.rules = RULES

    def __call__(self, term: Term) -> Term:
        """Give the pair of a term and its tangent."""
        if is_discrete(term.type):
            return S.Tuple((term, T.Zero(tangent(term.type))))
        return super().__call__(term)

    def bind(self, term: Term) -> Pair:
        """Bind D[term] to a primal and a tangent."""
        if isinstance(term, Var):
            return Pair(term, lambda: self.tangent(term))
        p = self.let("p", self(term))
        return Pair(S.Proj(p, 0), lambda: S.Proj(p, 1))

    def result(self, primal: Term, ahead: Callable[[], Term]) -> Term:
        """Pair a value with its tangent."""
        return S.Tuple((primal, self.scoped(ahead)))

    def primal(self, term: Term) -> Term:
        """Give a term of discrete type: itself."""
        return term

    def tangent(self, var: Var) -> Term:
        """Give the tangent of a variable."""
        return self.of.get(var.name) or T.Zero(tangent(var.of))

    def given(self, var: Var) -> Var:
        """Make a variable for the tangent of a variable."""
        dx = self.of[var.name] = self.fresh(derivative_name(var.name), tangent(var.of))
        return dx

    def bound(self, var: Var, value: Term, d: Term, body: Callable[[], Term]) -> Term:
        """Bind a variable and its tangent in D[body]."""
        if is_discrete(var.of):
            return S.Let(var, value, body())
        dx = self.given(var)
        return S.Let(var, value, S.Let(dx, d, body()))

    def paired(self, var: Var) -> Var:
        """Make a variable for a value and its tangent."""
        return self.fresh(var.name, Product((var.of, tangent(var.of))))

    def opened(self, pair: Var, var: Var, body: Term) -> Term:
        """Give D[body] for a variable that is paired with its tangent."""
        return self.bound(var, S.Proj(pair, 0), S.Proj(pair, 1), lambda: self(body))


# D[x]  :=  <x, x'>
@entry
def variable(D: Tangents, t: Var) -> Term:
    return S.Tuple((t, D.tangent(t)))


# D[let x = t in s]  :=  let <x, x'> = D[t] in D[s]
@entry
def let(D: Tangents, t: S.Let) -> Term:
    if is_discrete(t.var.of):
        return S.Let(t.var, t.bound, D(t.body))
    return D.opened(D.let("p", D(t.bound)), t.var, t.body)


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in case x of {inji xi -> let xi' = lcasti x' in D[si]}
@entry
def case(D: Tangents, t: S.Case) -> Term:
    p = D.bind(t.term)

    def branch(i: int, b: S.Branch) -> S.Branch:
        if is_discrete(b.var.of):
            return S.Branch(b.var, D(b.body))
        return S.Branch(b.var, S.Let(D.given(b.var), T.LCast(i, p.d(), tangent(b.var.of), (b.var,)), D(b.body)))

    return S.Case(p.x, tuple(branch(i, b) for i, b in t.by_option.items()), t.options)


# D[f(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in f(x1, ..., xn, x1', ..., xn')
@entry
def call(D: Tangents, t: S.Call) -> Term:
    ps = D.bind_all(t.args)
    real = [p.d() for p, a in zip(ps, t.args, strict=True) if not is_discrete(a.type)]
    return S.Call(tangent_name(t.name), (*(p.x for p in ps), *real), Product((t.of, tangent(t.of))))


def tangent_name(name: str) -> str:
    """Give the name of the definition that computes a definition's value and tangent."""
    return f"tangent_{name}"


def halves(D: Tangents, n: Term, pairs: Var) -> Term:
    """Give an array of pairs as a pair of an array and its tangent."""
    j, k = D.fresh("j", INT), D.fresh("k", INT)
    return S.Tuple((component(pairs, n, j, 0), T.LDense(component(pairs, n, k, 1))))


# D[build n (i. t)]  :=  let a = build n (i. D[t]) in <map fst a, map snd a>
@entry
def build(D: Tangents, t: S.Build) -> Term:
    change = written.written(t)
    if change is not None:
        return replaced(D, t, change)
    longer = written.shortened(t)
    if longer is not None:
        return shortened(D, t.index, D.bind(longer))
    n = D.let("n", t.size)
    return halves(D, n, D.let("a", S.Build(n, t.index, D(t.body))))


# D[t with s at k]  :=  let <x, x'> = D[t] in let <y, y'> = D[s] in <x with y at k, x' with y' at k>
def replaced(D: Tangents, t: S.Build, change: written.Written) -> Term:
    def at(array: Term) -> Term:
        return wrapped(change.place.args[0], array) if isinstance(change.place, S.Op) else change.place

    p, q = D.bind_all((change.array, change.value))
    ds, dy = D.let("ds", T.Collect(p.d(), S.Size(p.x))), D.let("dy", q.d())
    changed = written.replaced(p.x, t.index, at(p.x), q.x)
    return S.Tuple((changed, T.LDense(written.replaced(ds, D.fresh("j", INT), at(ds), dy))))


# D[t without its last]  :=  let <x, x'> = D[t] in <x without its last, x' without its last>
def shortened(D: Tangents, i: Var, p: Pair) -> Term:
    ds = D.let("ds", T.Collect(p.d(), S.Size(p.x)))
    return S.Tuple((written.without_last(p.x, i), T.LDense(written.without_last(ds, D.fresh("j", INT)))))


# ---------------------------------------------------------------- loops: the state is a pair of a value and its tangent


@entry
def for_(D: Tangents, t: S.For) -> Term:
    both = D.paired(t.state)
    return S.For(t.size, t.index, both, D(t.init), D.opened(both, t.state, t.body))


@entry
def while_(D: Tangents, t: S.While) -> Term:
    both = D.paired(t.state)
    alone = D.names.var(t.state)
    condition = S.Let(alone, S.Proj(both, 0), substitute(t.condition, {t.state.name: alone}))
    return S.While(both, D(t.init), condition, D.opened(both, t.state, t.body))


@entry
def fold(D: Tangents, t: S.Fold) -> Term:
    return forward.extreme(D, t) if is_extreme(t) else D(lower_fold(t, D.fresh))


@entry
def scan(D: Tangents, t: S.Scan) -> Term:
    p, both, k = D.bind(t.array), D.paired(t.state), D.fresh("k", INT)

    def step() -> Term:
        y = D.let("y", D.opened(both, t.state, t.body))
        return S.Tuple((y, y))

    each = D.bound(t.var, S.Index(p.x, k), T.LIndex(p.d(), k), lambda: D.scoped(step))
    r = D.let("r", S.Proj(T.MapAccum(S.Size(p.x), k, both, D(t.init), each), 1))
    return halves(D, D.let("n", S.Size(r)), r)


RULES = table(vars(forward), globals())


def definition(given: S.Definition, used: set[str]) -> S.Definition:
    """Transform a definition: the result takes tangents after its parameters, and returns value and tangent."""
    D = Tangents(Names(all_names(given.body) | {p.name for p in given.params} | used))
    for p in given.params:
        if not is_discrete(p.of):
            D.given(p)
    ds = tuple(d for d in D.of.values() if isinstance(d, Var))
    body = D(given.body)
    return S.Definition(tangent_name(given.name), (*given.params, *ds), body.type, body)


def along(main: S.Definition, places: Sequence[int]) -> S.Definition:
    """Give the tangent of a definition for the parameters in some places; the others have tangents of zero."""
    names = Names({p.name for p in main.params})
    ds = {k: names.var(Var(derivative_name(main.params[k].name), tangent(main.params[k].of))) for k in places}
    real = [(k, p) for k, p in enumerate(main.params) if not is_discrete(p.of)]
    given = tuple(ds.get(k) or T.Zero(tangent(p.of)) for k, p in real)
    body = S.Call(tangent_name(main.name), (*main.params, *given), Product((main.result, tangent(main.result))))
    return S.Definition(f"{tangent_name(main.name)}_along", (*main.params, *ds.values()), body.type, body)


@deep()
def tangents(module: S.Module, places: Sequence[int] | None = None) -> S.Module:
    """Differentiate every definition of a module in forward mode.

    Parameters
    ----------
    module : Module
        A module without function values.
    places : sequence of int, optional
        The parameters of the main definition that have tangents, instead of all that are not discrete.

    Returns
    -------
    Module
        The module with, for each definition, another one that also takes tangents and returns value and tangent.
    """
    made = {tangent_name(name): definition(d, set(module.definitions)) for name, d in module.definitions.items()}
    main = tangent_name(module.main)
    if places is not None:
        first = along(module.definitions[module.main], places)
        main, made[first.name] = first.name, first
    return S.Module(main, {**module.definitions, **made}, module.types)
