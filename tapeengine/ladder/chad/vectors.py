"""Environment vectors as values (EC section 2, Fig. 2).

    none = 0 : EV G        v and w = v + w        one x d = one_x d : EV G
    take dx out of v; m = let (e, dx) = split v in e + m        split : EV (G, x) -> EV G * D[x]2

Each backpropagator returns its own vector, and vectors are added where parts of a term meet.
"""

from __future__ import annotations

from collections.abc import Callable

from tapeengine.chad.terms import Term, Var
from tapeengine.chad.types import Product
from tapeengine.ladder.chad.arrays import Arrays
from tapeengine.ladder.chad.rules import EFFECT, Context, D
from tapeengine.ladder.target import Interface, Static, unpack

__all__ = ["Vectors"]


def types(g: Context) -> Static:
    """The context as a static argument for operations on vectors."""
    return Static(tuple(x.of for x in g))


class Vectors(Arrays):
    """The transformation."""

    def none(self, g: Context) -> Term:
        """0."""
        return Interface("0", (types(g),), EFFECT)

    def both(self, g: Context, one: Term, other: Term) -> Term:
        """+."""
        return Interface("+", (types(g), one, other), EFFECT)

    def one(self, g: Context, x: Var, d: Term) -> Term:
        """One-hot."""
        return Interface("one", (types(g), Static([y.name for y in g].index(x.name), x.name), d), EFFECT)

    def take(self, g: Context, x: Var, effect: Term, rest: Callable[[Term], Term]) -> Term:
        """Split."""
        e, dx = self.fresh("e", EFFECT), self.fresh("d" + x.name, D)
        split = Interface("split", (types((*g, x)), effect), Product((EFFECT, D)))
        return unpack(self.fresh, (e, dx), split, self.both(g, e, rest(dx)))

    def run(self, g: Context, effect: Term) -> Term:
        """The components."""
        return Interface("run", (types(g), effect), D)

    def each(self, g: Context, effects: Term) -> Term:
        """The sum."""
        return Interface("sum", (types(g), effects), EFFECT)
