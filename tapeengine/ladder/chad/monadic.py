"""Environment vectors in a monad (EC section 4.2, Fig. 6).

    EVM G t: a computation that may add to the cotangents of G, and returns a t
    none = return ()        m and n = m; n        one x d : EVM G 1
    take dx out of m; n = do dx <- scope m; n     scope : EVM (G, x) 1 -> EVM G (D[x]2)

There is one vector, which is passed from computation to computation, so no vectors are added where parts of a term
meet. The monad says when something is added, but not how the vector is stored, so the next step can use an array.
"""

from __future__ import annotations

from collections.abc import Callable

from tapeengine.chad.terms import Term, Var
from tapeengine.ladder.chad.arrays import Arrays
from tapeengine.ladder.chad.rules import EFFECT, Context, D
from tapeengine.ladder.target import Interface, LinearLambda, Static

__all__ = ["Monadic"]


class Monadic(Arrays):
    """The transformation."""

    def none(self, g: Context) -> Term:
        """Return."""
        return Interface("return", (), EFFECT)

    def both(self, g: Context, one: Term, other: Term) -> Term:
        """Run one after the other."""
        return Interface(";", (one, other), EFFECT)

    def one(self, g: Context, x: Var, d: Term) -> Term:
        """Add to the cotangent of x."""
        return Interface("one", (Static(x.of), Static([y.name for y in g].index(x.name), x.name), d), EFFECT)

    def take(self, g: Context, x: Var, effect: Term, rest: Callable[[Term], Term]) -> Term:
        """Open a scope, and bind its cotangent."""
        dx = self.fresh("d" + x.name, D)
        scope = Interface("scope", (Static(x.of), Static(len(g), x.name), effect), EFFECT)
        return Interface("do", (scope, LinearLambda((dx,), rest(dx))), EFFECT)

    def run(self, g: Context, effect: Term) -> Term:
        """The handler of the monad."""
        return Interface("run", (Static(tuple(x.of for x in g)), effect), D)

    def each(self, g: Context, effects: Term) -> Term:
        """Run all computations in order."""
        return Interface("sequence", (effects,), EFFECT)
