r"""The categorical language CL (WN section 6, Fig. 9 to 11): programs without variables, and the conversion of terms.

c ::= K(k) | P[i] | P[i1, ..., im] | F(f) | c1; c2 | (c1, ..., cn) | IF(c1, c2, c3) | L(c1, c2) | B(c1, c2)

t <> K(k) = k          t <> P[i] = pi_i(t)       t <> P[i1, ..., im] = (pi_i1(t), ..., pi_im(t))      t <> F(f) = f(t)
t <> (c1; c2) = (t <> c1) <> c2                  t <> (c1, ..., cn) = (t <> c1, ..., t <> cn)
t <> IF(c1, c2, c3) = if t <> c1 then t <> c2 else t <> c3
t <> L(c1, c2) = (t, t <> c1) <> c2              t <> B(c1, c2) = build (t <> c1) (\i. (t, i) <> c2)

C[e] G : T(G) => T, where G |- e : T and G = (x1, ..., xn)
C[k] G = K(k)             C[x] G = P[place of x in G]          C[op(e1, ..., en)] G = (C[e1] G, ..., C[en] G); F(op)
C[let x = e1 in e2] G = L(C[e1] G, C[e2] (G, x))               C[build(n, \i. e)] G = B(C[n] G, C[e] (G, i))
C[if b then e1 else e2] G = IF(C[b] G, C[e1] G, C[e2] G)
Pruning: C[e] G = P[places of G']; C[e] G'                     where G' are the variables of G that are free in e
"""

from __future__ import annotations

from typing import Any

from ...chad.language.terms import Build as BuildTerm
from ...chad.language.terms import If, Let, Literal, Op, Proj, Term, Tuple, Var
from ...chad.language.traverse import children, free_variables
from ..constructors import Constructor

Context = tuple[str, ...]


class Categorical(Constructor):
    """Base class of the constructors."""


class Constant(Categorical):
    """``K(value)``."""

    value: Any


class Pick(Categorical):
    """``P[index]``."""

    index: int


class Prune(Categorical):
    """``P[i1, ..., im]``."""

    indices: tuple[int, ...]


class Function(Categorical):
    """``F(name)``."""

    name: str


class Sequence(Categorical):
    """``first; second``."""

    first: Categorical
    second: Categorical


class Pair(Categorical):
    """``(c1, ..., cn)``."""

    parts: tuple[Categorical, ...]


class Choose(Categorical):
    """``IF(condition, then, orelse)``."""

    condition: Categorical
    then: Categorical
    orelse: Categorical


class With(Categorical):
    """``L(bound, body)``."""

    bound: Categorical
    body: Categorical


class Build(Categorical):
    """``B(size, body)``."""

    size: Categorical
    body: Categorical


def convert(term: Term, context: Context, prune: bool = True) -> Categorical:
    """``C[term] context``."""
    needed = tuple(x for x in context if x in free_variables(term))
    if prune and needed != context and not isinstance(term, (Var, Literal)):
        return Sequence(Prune(tuple(map(context.index, needed))), convert(term, needed))

    def c(part: Term) -> Categorical:
        return convert(part, context, prune)

    match term:
        case Literal(value):
            return Constant(value)
        case Var(name):
            return Pick(context.index(name))
        case Tuple(items):
            return Pair(tuple(map(c, items)))
        case Proj(whole, index):
            return Sequence(c(whole), Pick(index))
        case Let(x, bound, body):
            return With(c(bound), convert(body, (*context, x.name), prune))
        case If(condition, then, orelse):
            return Choose(c(condition), c(then), c(orelse))
        case BuildTerm(size, i, body):
            return Build(c(size), convert(body, (*context, i.name), prune))
        case Op(name, _):
            return Sequence(Pair(tuple(c(part) for part, _ in children(term))), Function(name))
    return Sequence(Pair(tuple(c(part) for part, _ in children(term))), Function(type(term).__name__.lower()))
