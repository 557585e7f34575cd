"""The forms of the environment cotangent, which is the result of a backpropagator.

The rules of reverse CHAD are the same in every form ("note how the structure is the same", EC 4.2); the forms differ in
how they combine contributions to the variables of the context. A `Form` builds the target terms for that:

===============  ===========================  =========================  ==================================
operation        `Snoc` (CHAD 7.5)            `Vectors` (EC Fig. 2)      `Form` (EC Fig. 6)
===============  ===========================  =========================  ==================================
nothing          zero tuple                   zero of EV                 return ()
both             plus                         plus of EV                 m; n
one              coprojection                 one                        one
scopes           fst, snd                     split                      scope
===============  ===========================  =========================  ==================================

A *computation* with a result is a term of type ``EVM result`` when accumulating, and a pair of a vector and the
result otherwise. An *effect*, which a backpropagator gives, is a computation without a result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..language import target as T
from ..language.terms import Let, Proj, Term, Var, unit
from ..language.traverse import Names, derivative_name
from ..language.types import Linear

#: A typing context: the non-discrete variables in scope with the linear types of their cotangents, outermost first.
Context = tuple[tuple[str, Linear], ...]


def let(names: Names, hint: str, bound: Term, body: Callable[[Var], Term]) -> Term:
    """Bind a term to a new variable."""
    var = Var(names(hint), bound.type)
    return Let(var, bound, body(var))


class Form:
    """How the cotangents of the context are combined: here, in the environment vector monad (EC 4.2 and 5).

    This is the form that runs. The others are subclasses.

    `names`: supplies the names of bound variables.
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    def nothing(self, context: Context) -> Term:
        """Contribute nothing."""
        return T.Return(unit())

    def both(self, first: Term, second: Term) -> Term:
        """Combine two effects."""
        return T.Then(first, second)

    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        """Contribute a cotangent to one variable."""
        return T.One(slot, cotangent)

    # do <<(), d1>, d2> <- scope (scope effect); return result
    def scopes(self, slots: Sequence[tuple[str, Linear]], effect: Term, result: Callable[[list[Term]], Term]) -> Term:
        """Extract the cotangents of inner variables from an effect, as a computation whose result is made of them."""
        return self.after(slots, effect, lambda ds: T.Return(result(ds)))

    def after(self, slots: Sequence[tuple[str, Linear]], effect: Term, rest: Callable[[list[Term]], Term]) -> Term:
        """Extract the cotangents of inner variables from an effect, and continue with an effect made of them."""
        if not slots:
            return T.Then(effect, rest([]))
        for slot, of in slots:
            effect = T.Scope(slot, of, effect)
        got = Var(self.names(derivative_name(slots[-1][0])), effect.type.result)  # type: ignore[attr-defined]
        value: Term = got
        cotangents: list[Term] = []
        for _ in slots:
            cotangents.insert(0, Proj(value, 1))
            value = Proj(value, 0)
        return T.Bind(got, effect, rest(cotangents))

    def for_each(self, size: Term, index: Var, effect: Term, context: Context, is_parallel: bool = False) -> Term:
        """Repeat an effect for each index."""
        return T.ForEach(size, index, effect, is_parallel)

    def descend(self, context: Context, rest: Callable[[Term], Term], *parts: Any) -> Term:
        """Run a computation from the last index to the first (see `target.Descend`), then an effect of its result."""
        loop = T.Descend(*parts)
        got = Var(self.names("r"), loop.type.result)  # type: ignore[attr-defined]
        return T.Bind(got, loop, rest(got))

    def run(self, context: Context, effect: Term) -> Term:
        """Give the cotangents of the whole context as a linear tuple."""
        return T.Run(context, effect)

    def all(self, effects: Sequence[Term], context: Context) -> Term:
        """Combine several effects."""
        return functools.reduce(self.both, effects) if effects else self.nothing(context)
