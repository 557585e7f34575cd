"""Environment cotangents as values: left-nested pairs (CHAD 7.5) and environment vectors (EC Fig. 2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..language import target as T
from ..language.terms import Build, For, Index, Let, Op, Proj, Term, Tuple, Var, lit
from ..language.types import EV, INT, Linear, LProduct, LUnit
from ..reverse.environment import Context, Form, let


class _Writer(Form):
    """The common part of the forms with environment vectors as values: a computation is a pair (vector, result)."""

    @abstractmethod
    def split(self, slot: str, of: Linear, vector: Term) -> tuple[Term, Term]:
        """Give the rest of a vector and the cotangent in its innermost slot."""

    @abstractmethod
    def zero(self, context: Context) -> Linear:
        """Give the type of environment vectors."""

    def nothing(self, context: Context) -> Term:
        return T.Zero(self.zero(context))

    def both(self, first: Term, second: Term) -> Term:
        return T.Plus(first, second)

    def run(self, context: Context, effect: Term) -> Term:
        return self._split_all(context, effect, lambda _, ds: T.LTuple(tuple(ds)))

    def _split_all(
        self, slots: Sequence[tuple[str, Linear]], vector: Term, rest: Callable[[Term, list[Term]], Term]
    ) -> Term:
        def go(remaining: Sequence[tuple[str, Linear]], vector: Term, cotangents: list[Term]) -> Term:
            if not remaining:
                return rest(vector, cotangents)
            *outer, (slot, of) = remaining

            def inner(v: Var) -> Term:
                left, cotangent = self.split(slot, of, v)
                return go(outer, left, [cotangent, *cotangents])

            return let(self.names, "e", self.packed(slot, of, vector), inner)

        return go(list(slots), vector, [])

    def packed(self, slot: str, of: Linear, vector: Term) -> Term:
        """Give the inverse of `split`."""
        return vector

    # let <e, d> = split effect in <e, result>
    def scopes(self, slots: Sequence[tuple[str, Linear]], effect: Term, result: Callable[[list[Term]], Term]) -> Term:
        return self._split_all(slots, effect, lambda e, ds: Tuple((e, result(ds))))

    # let <e, d> = split effect in e + rest
    def after(self, slots: Sequence[tuple[str, Linear]], effect: Term, rest: Callable[[list[Term]], Term]) -> Term:
        return self._split_all(slots, effect, lambda e, ds: T.Plus(e, rest(ds)))

    def for_each(self, size: Term, index: Var, effect: Term, context: Context, is_parallel: bool = False) -> Term:
        state = Var(self.names("e"), self.zero(context))
        return For(size, index, state, self.nothing(context), T.Plus(state, effect))

    def descend(self, context: Context, rest: Callable[[Term], Term], *parts: Any) -> Term:
        size, index, state, init, step, _ = parts
        both = Var(self.names("s"), Tuple((self.nothing(context), init)).type)
        upward = Var(self.names("j"), INT)
        position = Op("isub", (Op("isub", (size, lit(1)), INT), upward), INT)

        def stepped(r: Var) -> Term:
            gave = Proj(r, 1)
            return Tuple((Tuple((T.Plus(Proj(both, 0), Proj(r, 0)), Proj(gave, 0))), Proj(gave, 1)))

        body = Let(index, position, Let(state, Proj(both, 1), let(self.names, "r", step, stepped)))
        loop = T.MapAccum(size, upward, both, Tuple((self.nothing(context), init)), body)

        def finish(r: Var) -> Term:
            k = Var(self.names("k"), INT)
            turned = Op("isub", (Op("isub", (size, lit(1)), INT), k), INT)
            kept = Build(size, k, Index(Proj(r, 1), turned))
            last = Proj(Proj(r, 0), 1)
            result = let(self.names, "r", Tuple((last, kept)), rest)
            return T.Plus(Proj(Proj(r, 0), 0), result)

        return let(self.names, "r", loop, finish)


def pairs_of(context: Context) -> Linear:
    """Give the type of left-nested pairs of the cotangents, or the tangents, of a context."""
    of: Linear = LUnit()
    for _, item in context:
        of = LProduct((of, item))
    return of


class Vectors(_Writer):
    """Environment vectors as values with one, split, zero and plus (EC Fig. 2)."""

    def zero(self, context: Context) -> Linear:
        return EV(context)

    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        return T.EVOne(slot, cotangent, EV(context))

    def packed(self, slot: str, of: Linear, vector: Term) -> Term:
        return T.Split(slot, of, vector)

    def split(self, slot: str, of: Linear, vector: Term) -> tuple[Term, Term]:
        return Proj(vector, 0), Proj(vector, 1)


class Snoc(_Writer):
    """Environment vectors as left-nested linear pairs with projections and coprojections (CHAD 7.5, appendix B.1)."""

    def zero(self, context: Context) -> Linear:
        return pairs_of(context)

    # coproj_i d = <<0, ..., d>, ..., 0>
    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        position = max(i for i, (name, _) in enumerate(context) if name == slot)
        vector: Term = T.LTuple((T.Zero(self.zero(context[:position])), cotangent))
        for _, of in context[position + 1 :]:
            vector = T.LTuple((vector, T.Zero(of)))
        return vector

    def split(self, slot: str, of: Linear, vector: Term) -> tuple[Term, Term]:
        return T.LProj(vector, 0), T.LProj(vector, 1)
