"""What a backpropagator gives back: the forms of the environment cotangent.

The rules of reverse CHAD are the same in every form ("note how the structure is the same", EC 4.2); the forms differ in
how contributions to the variables of the context are put together. A `Form` builds the target terms for that:

===============  ===========================  =========================  ==================================
operation        `Snoc` (CHAD 7.5)            `Vectors` (EC Fig. 2)      `Accumulating` (EC Fig. 6)
===============  ===========================  =========================  ==================================
nothing          zero tuple                   zero of EV                 return ()
both             plus                         plus of EV                 m; n
one              coprojection                 one                        one
scopes           fst, snd                     split                      scope
===============  ===========================  =========================  ==================================

A *computation* with a result is a term of type ``EVM result`` when accumulating, and a pair of a vector and the
result otherwise. A backpropagator's codomain is `Form.effect`: a computation without a result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from tapeengine.chad import target as T
from tapeengine.chad.terms import Build, Index, Let, Op, Proj, Term, Tuple, Var, lit, unit
from tapeengine.chad.traverse import Names
from tapeengine.chad.types import EV, EVM, INT, UNIT, Linear, LProduct, LUnit, Type

__all__ = ["Accumulating", "Context", "Form", "Snoc", "Vectors", "let"]

#: A typing context: the non-discrete variables in scope with the linear types of their cotangents, outermost first.
Context = tuple[tuple[str, Linear], ...]


def let(names: Names, hint: str, bound: Term, body: Callable[[Var], Term]) -> Term:
    """Bind a term to a new variable."""
    var = Var(names(hint), bound.type)
    return Let(var, bound, body(var))


class Form(ABC):
    """How the cotangents of the context are put together.

    Parameters
    ----------
    names : Names
        Supplies the names of bound variables.
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    @abstractmethod
    def effect(self, context: Context) -> Type:
        """Give the type of the codomain of a backpropagator."""

    @abstractmethod
    def nothing(self, context: Context) -> Term:
        """Contribute nothing."""

    @abstractmethod
    def both(self, first: Term, second: Term) -> Term:
        """Contribute what two effects contribute."""

    @abstractmethod
    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        """Contribute a cotangent to one variable."""

    @abstractmethod
    def scopes(
        self,
        slots: Sequence[tuple[str, Linear]],
        effect: Term,
        result: Callable[[list[Term]], Term],
    ) -> Term:
        """Take the cotangents of inner variables out of an effect: a computation with the result made of them."""

    @abstractmethod
    def after(self, slots: Sequence[tuple[str, Linear]], effect: Term, rest: Callable[[list[Term]], Term]) -> Term:
        """Take the cotangents of inner variables out of an effect, and go on with a further effect made of them."""

    @abstractmethod
    def for_each(self, size: Term, index: Var, effect: Term, context: Context) -> Term:
        """Contribute what an effect contributes for each index."""

    @abstractmethod
    def descend(
        self, size: Term, index: Var, state: Var, init: Term, step: Term, context: Context, rest: Callable[[Term], Term]
    ) -> Term:
        """Run a computation from the last index to the first (see `target.Descend`), then an effect of its result."""

    @abstractmethod
    def run(self, context: Context, effect: Term) -> Term:
        """Give the cotangents of the whole context as a linear tuple."""

    def all(self, effects: Sequence[Term], context: Context) -> Term:
        """Contribute what several effects contribute."""
        if not effects:
            return self.nothing(context)
        total = effects[0]
        for effect in effects[1:]:
            total = self.both(total, effect)
        return total


class Accumulating(Form):
    """The environment vector monad with mutable accumulation (EC 4.2 and 5): the form that users get."""

    def effect(self, context: Context) -> Type:
        return EVM(UNIT)

    def nothing(self, context: Context) -> Term:
        return T.Return(unit())

    def both(self, first: Term, second: Term) -> Term:
        return T.Then(first, second)

    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        return T.One(slot, cotangent)

    # do <<(), d1>, d2> <- scope (scope effect); return result
    def scopes(self, slots: Sequence[tuple[str, Linear]], effect: Term, result: Callable[[list[Term]], Term]) -> Term:
        return self.after(slots, effect, lambda ds: T.Return(result(ds)))

    def after(self, slots: Sequence[tuple[str, Linear]], effect: Term, rest: Callable[[list[Term]], Term]) -> Term:
        if not slots:
            return T.Then(effect, rest([]))
        for slot, of in slots:
            effect = T.Scope(slot, of, effect)
        assert isinstance(effect.type, EVM)
        got = Var(self.names("d_" + slots[-1][0]), effect.type.result)
        value: Term = got
        cotangents: list[Term] = []
        for _ in slots:
            cotangents.insert(0, Proj(value, 1))
            value = Proj(value, 0)
        return T.Bind(got, effect, rest(cotangents))

    def for_each(self, size: Term, index: Var, effect: Term, context: Context) -> Term:
        return T.ForEach(size, index, effect)

    def descend(
        self, size: Term, index: Var, state: Var, init: Term, step: Term, context: Context, rest: Callable[[Term], Term]
    ) -> Term:
        loop = T.Descend(size, index, state, init, step)
        assert isinstance(loop.type, EVM)
        got = Var(self.names("r"), loop.type.result)
        return T.Bind(got, loop, rest(got))

    def run(self, context: Context, effect: Term) -> Term:
        return T.Run(context, effect)


class _Writer(Form):
    """What the two forms that pass environment vectors as values share: a computation is a pair (vector, result)."""

    @abstractmethod
    def split(self, slot: str, of: Linear, vector: Term) -> tuple[Term, Term]:
        """Give the rest of a vector and the cotangent in its innermost slot."""

    @abstractmethod
    def zero(self, context: Context) -> Linear:
        """Give the type of environment vectors."""

    def effect(self, context: Context) -> Type:
        return self.zero(context)

    def nothing(self, context: Context) -> Term:
        return T.Zero(self.zero(context))

    def both(self, first: Term, second: Term) -> Term:
        return T.Plus(first, second)

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
        """Give what `split` takes apart."""
        return vector

    # let <e, d> = split effect in <e, result>
    def scopes(self, slots: Sequence[tuple[str, Linear]], effect: Term, result: Callable[[list[Term]], Term]) -> Term:
        return self._split_all(slots, effect, lambda e, ds: Tuple((e, result(ds))))

    # let <e, d> = split effect in e + rest
    def after(self, slots: Sequence[tuple[str, Linear]], effect: Term, rest: Callable[[list[Term]], Term]) -> Term:
        return self._split_all(slots, effect, lambda e, ds: T.Plus(e, rest(ds)))

    def for_each(self, size: Term, index: Var, effect: Term, context: Context) -> Term:
        from tapeengine.chad.terms import For

        state = Var(self.names("e"), self.zero(context))
        return For(size, index, state, self.nothing(context), T.Plus(state, effect))

    def descend(
        self, size: Term, index: Var, state: Var, init: Term, step: Term, context: Context, rest: Callable[[Term], Term]
    ) -> Term:
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

    def run(self, context: Context, effect: Term) -> Term:
        return self._split_all(context, effect, lambda _, ds: T.LTuple(tuple(ds)))


class Snoc(_Writer):
    """Environment vectors as left-nested linear pairs with projections and coprojections (CHAD 7.5, appendix B.1)."""

    def zero(self, context: Context) -> Linear:
        of: Linear = LUnit()
        for _, item in context:
            of = LProduct((of, item))
        return of

    # coproj_i d = <<0, ..., d>, ..., 0>
    def one(self, slot: str, cotangent: Term, context: Context) -> Term:
        position = max(i for i, (name, _) in enumerate(context) if name == slot)
        vector: Term = T.LTuple((T.Zero(self.zero(context[:position])), cotangent))
        for _, of in context[position + 1 :]:
            vector = T.LTuple((vector, T.Zero(of)))
        return vector

    def split(self, slot: str, of: Linear, vector: Term) -> tuple[Term, Term]:
        return T.LProj(vector, 0), T.LProj(vector, 1)

    def run(self, context: Context, effect: Term) -> Term:
        return self._split_all(context, effect, lambda _, ds: T.LTuple(tuple(ds)))
