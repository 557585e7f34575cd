"""The methods of the rules of forward CHAD: binding, contexts and their tangents, definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.chad import target as T
from tapeengine.chad.derivative_types import forward_primal, tangent
from tapeengine.chad.terms import Apply, Definition, Lambda, Let, Proj, Term, Tuple, Var
from tapeengine.chad.traverse import Names
from tapeengine.chad.types import Linear, LProduct, LUnit, Type, is_discrete

__all__ = ["Context", "Forward", "context_type"]

Context = tuple[tuple[str, Linear], ...]


def context_type(context: Context) -> Linear:
    """Give the type of tangents of a context: left-nested pairs."""
    of: Linear = LUnit()
    for _, item in context:
        of = LProduct((of, item))
    return of


class Forward:
    """The forward transformation; `names` supplies names of bound variables, `rules` has one for each constructor."""

    def __init__(self, names: Names, rules: Mapping[type[Term], Any]) -> None:
        self.names = names
        self.rules = rules

    def __call__(self, term: Term, context: Context) -> Term:
        """Give D[term] in a context."""
        result: Term = self.rules[type(term)](self, term, context)
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
        """Pair a primal with its derivative, which maps ``v`` to ``ahead(v)``."""
        v = self.fresh("v", context_type(context))
        return Tuple((primal, Lambda((v,), ahead(v))))

    def ahead(self, pair: Term, v: Term) -> Term:
        """Call the derivative of a pair."""
        return Apply(Proj(pair, 1), (v,))

    def primal(self, term: Term, context: Context) -> Term:
        """Give the primal of a term of discrete type."""
        return Proj(self(term, context), 0)

    def extend(self, context: Context, *variables: Var) -> Context:
        """Extend a context by the variables that have a tangent."""
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
