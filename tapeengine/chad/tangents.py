"""Forward CHAD for a given tangent of the context: the executed form of CHAD 7.4.

For a context ``x1: t1, ..., xn: tn`` and a term of type ``t``, CHAD 7.4 computes the pair of the primal and a function
of tangents of the context. If that function is applied once, to tangents ``x1', ..., xn'`` known from the start, the
application can be moved into each rule:

    D[x1: t1, ..., xn: tn]1, x1': D[t1]2, ..., xn': D[tn]2  |-  D[term] : D[t]1 * D[t]2

So values and tangents are computed side by side, and no loop keeps values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad import target as T
from tapeengine.chad import terms as S
from tapeengine.chad.depth import deep
from tapeengine.chad.derivative_types import tangent
from tapeengine.chad.primitives import partial
from tapeengine.chad.sugar import component, equals, is_extreme, lower_filter, lower_map, wrapped
from tapeengine.chad.target import added, scaled
from tapeengine.chad.terms import Term, Var, lit
from tapeengine.chad.traverse import Names, all_names, substitute
from tapeengine.chad.types import BOOL, INT, Product, Type, is_discrete

__all__ = ["tangents"]


class Tangents:
    """The transformation of one definition.

    Parameters
    ----------
    names : Names
        Supplies the names of bound variables.

    Attributes
    ----------
    of : dict of str to Term
        The tangent of each variable.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.of: dict[str, Term] = {}

    def __call__(self, term: Term) -> Term:
        """Give the pair of a term and its tangent."""
        if is_discrete(term.type):
            return S.Tuple((term, T.Zero(tangent(term.type))))
        found: Term = RULES[type(term)](self, term)
        return found

    def fresh(self, hint: str, of: Type) -> Var:
        """Make a variable."""
        return Var(self.names(hint), of)

    def let(self, hint: str, bound: Term, body: Callable[[Var], Term]) -> Term:
        """Bind a term."""
        var = self.fresh(hint, bound.type)
        return S.Let(var, bound, body(var))

    def bind(self, term: Term, body: Callable[[Term, Term], Term]) -> Term:
        """Bind D[term] to a primal and a tangent."""
        if isinstance(term, Var):
            return body(term, self.tangent(term))
        return self.let("p", self(term), lambda p: body(S.Proj(p, 0), S.Proj(p, 1)))

    def bind_all(self, terms: tuple[Term, ...], body: Callable[[list[Term], list[Term]], Term]) -> Term:
        """Bind D of several terms."""

        def go(left: tuple[Term, ...], xs: list[Term], ds: list[Term]) -> Term:
            if not left:
                return body(xs, ds)
            return self.bind(left[0], lambda x, d: go(left[1:], [*xs, x], [*ds, d]))

        return go(terms, [], [])

    def tangent(self, var: Var) -> Term:
        """Give the tangent of a variable."""
        return self.of.get(var.name) or T.Zero(tangent(var.of))

    def bound(self, var: Var, value: Term, d: Term, body: Term) -> Term:
        """Bind a variable and its tangent in D[body]."""
        if is_discrete(var.of):
            return S.Let(var, value, self(body))
        dx = self.of[var.name] = self.fresh(f"t_{var.name}", tangent(var.of))
        return S.Let(var, value, S.Let(dx, d, self(body)))

    def paired(self, var: Var) -> Var:
        """Make a variable for a value and its tangent."""
        return self.fresh(var.name, Product((var.of, tangent(var.of))))

    def opened(self, pair: Var, var: Var, body: Term) -> Term:
        """Give D[body] for a variable that is paired with its tangent."""
        return self.bound(var, S.Proj(pair, 0), S.Proj(pair, 1), body)


def pair(x: Term, d: Term) -> Term:
    """Pair a value with its tangent."""
    return S.Tuple((x, d))


# D[x]  :=  <x, x'>
def variable(D: Tangents, t: Var) -> Term:
    return pair(t, D.tangent(t))


# D[let x = t in s]  :=  let <x, x'> = D[t] in D[s]
def let(D: Tangents, t: S.Let) -> Term:
    if is_discrete(t.var.of):
        return S.Let(t.var, t.bound, D(t.body))
    return D.let("p", D(t.bound), lambda p: D.opened(p, t.var, t.body))


def literal(D: Tangents, t: S.Literal) -> Term:
    return pair(t, T.Zero(tangent(t.type)))


# D[op(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in <op(x1, ..., xn), Dop(x1, ..., xn; x1', ..., xn')>
def op(D: Tangents, t: S.Op) -> Term:
    def body(xs: list[Term], ds: list[Term]) -> Term:
        def both(y: Var) -> Term:
            factors = [(d, partial(t.op, i, xs, y)) for i, d in enumerate(ds)]
            return pair(y, added([scaled(d, f) for d, f in factors if f is not None], tangent(t.type)))

        return D.let("y", S.Op(t.op, tuple(xs), t.of), both)

    return D.bind_all(t.args, body)


def primitive(D: Tangents, t: S.Primitive) -> Term:
    of = tangent(t.of)

    def body(xs: list[Term], ds: list[Term]) -> Term:
        def both(y: Var) -> Term:
            each = enumerate(zip(ds, t.args, strict=True))
            parts = [T.Jvp(t.name, i, d, tuple(xs), y, t.static, of) for i, (d, a) in each if not is_discrete(a.type)]
            return pair(y, added(list(parts), of))

        return D.let("y", S.Primitive(t.name, tuple(xs), t.static, t.of), both)

    return D.bind_all(t.args, body)


def tuple_(D: Tangents, t: S.Tuple) -> Term:
    return D.bind_all(t.items, lambda xs, ds: pair(S.Tuple(tuple(xs), t.of), T.LTuple(tuple(ds))))


def proj(D: Tangents, t: S.Proj) -> Term:
    return D.bind(t.term, lambda x, d: pair(S.Proj(x, t.index), T.LProj(d, t.index)))


def inject(D: Tangents, t: S.Inject) -> Term:
    of: Any = tangent(t.of)
    return D.bind(t.term, lambda x, d: pair(S.Inject(t.index, x, t.of), T.LInject(t.index, d, of)))


# D[case t of {inji xi -> si}]  :=  let <x, x'> = D[t] in case x of {inji xi -> let xi' = lcasti x' in D[si]}
def case(D: Tangents, t: S.Case) -> Term:
    def branch(i: int, b: S.Branch, d: Term) -> S.Branch:
        if is_discrete(b.var.of):
            return S.Branch(b.var, D(b.body))
        dx = D.of[b.var.name] = D.fresh(f"t_{b.var.name}", tangent(b.var.of))
        return S.Branch(b.var, S.Let(dx, T.LCast(i, d, tangent(b.var.of), (b.var,)), D(b.body)))

    return D.bind(t.term, lambda x, d: S.Case(x, tuple(branch(i, b, d) for i, b in enumerate(t.branches))))


def if_(D: Tangents, t: S.If) -> Term:
    return S.If(t.condition, D(t.then), D(t.orelse))


# D[f(t1, ..., tn)]  :=  let <x1, x1'> = D[t1] in ... in f(x1, ..., xn, x1', ..., xn')
def call(D: Tangents, t: S.Call) -> Term:
    def body(xs: list[Term], ds: list[Term]) -> Term:
        real = [d for d, a in zip(ds, t.args, strict=True) if not is_discrete(a.type)]
        return S.Call(tangent_name(t.name), (*xs, *real), Product((t.of, tangent(t.of))))

    return D.bind_all(t.args, body)


def tangent_name(name: str) -> str:
    """Give the name of the definition that computes a definition's value and tangent."""
    return f"tangent_{name}"


# ---------------------------------------------------------------- arrays


def halves(D: Tangents, n: Term, pairs: Var) -> Term:
    """Give an array of pairs as a pair of an array and its tangent."""
    j, k = D.fresh("j", INT), D.fresh("k", INT)
    return pair(component(pairs, n, j, 0), T.LDense(component(pairs, n, k, 1)))


# D[build n (i. t)]  :=  let a = build n (i. D[t]) in <map fst a, map snd a>
def build(D: Tangents, t: S.Build) -> Term:
    return D.let("n", t.size, lambda n: D.let("a", S.Build(n, t.index, D(t.body)), lambda a: halves(D, n, a)))


def elements(D: Tangents, t: S.Elements) -> Term:
    def body(xs: list[Term], ds: list[Term]) -> Term:
        return pair(S.Elements(tuple(xs), t.of), T.LDense(S.Elements(tuple(ds), tangent(t.of))))

    return D.bind_all(t.items, body)


def index(D: Tangents, t: S.Index) -> Term:
    def body(x: Term, d: Term) -> Term:
        return D.let("i", t.index, lambda i: pair(S.Index(x, i, t.measured), T.LIndex(d, wrapped(i, x))))

    return D.bind(t.array, body)


def map_(D: Tangents, t: S.Map) -> Term:
    return D(lower_map(t, D.fresh))


def total(D: Tangents, t: S.Total) -> Term:
    return D.bind(t.array, lambda x, d: pair(S.Total(x), T.LTotal(d)))


def replicate(D: Tangents, t: S.Replicate) -> Term:
    def body(n: Var) -> Term:
        return D.bind(t.term, lambda x, d: pair(S.Replicate(n, x), T.LDense(S.Replicate(n, d))))

    return D.let("n", t.size, body)


def gather(D: Tangents, t: S.Gather) -> Term:
    def body(x: Term, d: Term) -> Term:
        return D.let("i", t.indices, lambda i: pair(S.Gather(x, i), T.LDense(S.Gather(T.Collect(d, S.Size(x)), i))))

    return D.bind(t.array, body)


def scatter(D: Tangents, t: S.Scatter) -> Term:
    def body(xs: list[Term], ds: list[Term]) -> Term:
        def at(i: Var) -> Term:
            return pair(S.Scatter(xs[0], i, xs[1]), T.Plus(ds[0], T.LScatter(i, ds[1])))

        return D.let("i", t.indices, at)

    return D.bind_all((t.array, t.values), body)


# D[filter (x. c) t]  :=  D[let a = t in gather a (filter (i. let x = a ! i in c) (build (size a) (j. j)))]
def filter_(D: Tangents, t: S.Filter) -> Term:
    return D(lower_filter(t, D.fresh))


def concatenate(D: Tangents, t: S.Concatenate) -> Term:
    def body(xs: list[Term], ds: list[Term]) -> Term:
        first, second = (T.Collect(d, S.Size(x)) for x, d in zip(xs, ds, strict=True))
        return pair(S.Concatenate(xs[0], xs[1]), T.LDense(S.Concatenate(first, second)))

    return D.bind_all((t.first, t.second), body)


# ---------------------------------------------------------------- loops: the state is a pair of a value and its tangent


def for_(D: Tangents, t: S.For) -> Term:
    both = D.paired(t.state)
    return S.For(t.size, t.index, both, D(t.init), D.opened(both, t.state, t.body))


def while_(D: Tangents, t: S.While) -> Term:
    both = D.paired(t.state)
    alone = D.names.var(t.state)
    condition = S.Let(alone, S.Proj(both, 0), substitute(t.condition, {t.state.name: alone}))
    return S.While(both, D(t.init), condition, D.opened(both, t.state, t.body))


def fold(D: Tangents, t: S.Fold) -> Term:
    if is_extreme(t):
        return D.bind(
            t.array, lambda x, d: D.let("m", S.Fold(t.left, t.right, t.body, x), lambda m: shared(D, x, d, m))
        )

    def body(x: Term, d: Term) -> Term:
        both, k = D.paired(t.left), D.fresh("k", INT)
        at = S.Op("iadd", (k, lit(1)), INT)
        init = pair(S.Index(x, lit(0)), T.LIndex(d, lit(0)))
        dr = D.of[t.right.name] = D.fresh(f"t_{t.right.name}", tangent(t.right.of))
        step = D.opened(both, t.left, t.body)
        step = S.Let(t.right, S.Index(x, at), S.Let(dr, T.LIndex(d, at), step))
        return S.For(S.Op("isub", (S.Size(x), lit(1)), INT), k, both, init, step)

    return D.bind(t.array, body)


def shared(D: Tangents, x: Term, d: Term, m: Var) -> Term:
    """Give the largest element and the mean of the tangents of all elements equal to it."""
    i = D.fresh("i", INT)
    share = S.If(S.Op("eq", (S.Index(x, i), m), BOOL), T.LIndex(d, i), T.Zero(tangent(m.of)))
    part = S.Op("div", (lit(1.0), equals(x, m, D.fresh("i", INT))))
    return pair(m, T.LScale(T.LTotal(T.LDense(S.Build(S.Size(x), i, share))), part))


def scan(D: Tangents, t: S.Scan) -> Term:
    def body(x: Term, d: Term) -> Term:
        both, k = D.paired(t.state), D.fresh("k", INT)
        dx = D.of[t.var.name] = D.fresh(f"t_{t.var.name}", tangent(t.var.of))
        step = D.let("y", D.opened(both, t.state, t.body), lambda y: S.Tuple((y, y)))
        step = S.Let(t.var, S.Index(x, k), S.Let(dx, T.LIndex(d, k), step))
        loop = T.MapAccum(S.Size(x), k, both, D(t.init), step)
        return D.let("r", S.Proj(loop, 1), lambda r: D.let("n", S.Size(r), lambda n: halves(D, n, r)))

    return D.bind(t.array, body)


RULES: Mapping[type[Term], Any] = MappingProxyType(
    {
        Var: variable,
        S.Let: let,
        S.Literal: literal,
        S.Op: op,
        S.Primitive: primitive,
        S.Tuple: tuple_,
        S.Proj: proj,
        S.Inject: inject,
        S.Case: case,
        S.If: if_,
        S.Call: call,
        S.Build: build,
        S.Elements: elements,
        S.Index: index,
        S.Map: map_,
        S.Total: total,
        S.Replicate: replicate,
        S.Gather: gather,
        S.Scatter: scatter,
        S.Filter: filter_,
        S.Concatenate: concatenate,
        S.For: for_,
        S.While: while_,
        S.Fold: fold,
        S.Scan: scan,
    }
)


def definition(given: S.Definition, used: set[str]) -> S.Definition:
    """Transform a definition: the result takes tangents after its parameters, and returns value and tangent."""
    D = Tangents(Names(all_names(given.body) | {p.name for p in given.params} | used))
    for p in given.params:
        if not is_discrete(p.of):
            D.of[p.name] = D.fresh(f"t_{p.name}", tangent(p.of))
    ds = tuple(d for d in D.of.values() if isinstance(d, Var))
    body = D(given.body)
    return S.Definition(tangent_name(given.name), (*given.params, *ds), body.type, body)


@deep()
def tangents(module: S.Module) -> S.Module:
    """Differentiate every definition of a module in forward mode.

    Parameters
    ----------
    module : Module
        A module without function values.

    Returns
    -------
    Module
        The module with, for each definition, another one that also takes tangents and returns value and tangent.
    """
    made = {tangent_name(name): definition(d, set(module.definitions)) for name, d in module.definitions.items()}
    return S.Module(tangent_name(module.main), {**module.definitions, **made}, module.types)
