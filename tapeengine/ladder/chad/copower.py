r"""Reverse CHAD with functions whose cotangents are copowers (CHAD sections 2.5, 7.4 and 9.2).

    D[s -> t]1 = D[s]1 -> (D[t]1, D[t]2 -> D[s]2)          D[s -> t]2 = !D[s]1 (x) D[t]2, a list of calls
    D[\x. t] = (\x. let (y, y') = D_{G,x}[t] in (y, \d. snd (split (y' d))),
                \calls. the sum over all (x, d) in calls of let (y, y') = D_{G,x}[t] in fst (split (y' d)))
    D[t s] = let (x, x') = D[t] in let (y, y') = D[s] in let (z, z') = x y in (z, \d. y' (z' d) + x' [(y, d)])

The environment vector is dense (CHAD section 2.2: projections and coprojections of a product). The derivative of a
function has two halves, one for its argument and one for its captured variables. An application needs both, so it
evaluates the function's body twice: exponentially often for nested applications (EC section 9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.chad.terms import Apply, Lambda, Term, Var
from tapeengine.chad.types import Function, Product, Type
from tapeengine.ladder.chad.dense import Dense, Types
from tapeengine.ladder.chad.rules import BACK, EFFECT, Context, D
from tapeengine.ladder.chad.vectors import Vectors, types
from tapeengine.ladder.structure import homomorphic
from tapeengine.ladder.target import Interface, unpack

__all__ = ["Copower", "Functions"]


class Functions(Vectors):
    """The transformation with rules for functions."""

    def type(self, of: Type) -> Type:
        """D[t]1."""
        if isinstance(of, Function):
            return Function(tuple(map(self.type, of.params)), Product((self.type(of.result), BACK)))
        return homomorphic(of, self.type)

    def array(self, term: Term, g: Context) -> Term:
        """D of functions and applications."""
        match term:
            case Lambda(params, body):
                calls = lambda d: self.calls(params, body, d, g)  # noqa: E731
                return self.back(self.argument_half(params, body, g), calls)
            case Apply(function, args):
                (f, *xs), (b, *bs), around = self.pairs((function, *args), g)
                return around(self.apply(f, b, xs, bs, g))
        return super().array(term, g)

    def argument_half(self, params: tuple[Var, ...], body: Term, g: Context) -> Lambda:
        r"""``\x. let (y, y') = D_{G,x}[t] in (y, \d. snd (split (y' d)))``."""
        (y,), (b,), around = self.pairs([body], (*g, *params))
        snd = lambda d: Interface("arguments", (types(params), Apply(b, (d,))), D)  # noqa: E731
        return Lambda(tuple(map(self.var, params)), around(self.back(y, snd)))

    def calls(self, params: tuple[Var, ...], body: Term, logged: Var, g: Context) -> Term:
        r"""``\calls. the sum over all (x, d) in calls``."""
        d = self.fresh("d", D)
        _, (b,), around = self.pairs([body], (*g, *params))
        fst = Interface("captured", (types(params), Apply(b, (d,))), EFFECT)
        once = Lambda((*map(self.var, params), d), around(fst))
        return Interface("calls", (types(g), once, logged), EFFECT)

    def apply(self, f: Var, b: Var, xs: list[Var], bs: list[Var], g: Context) -> Term:
        """``let (z, z') = f x in ...``."""
        call = Apply(f, tuple(xs))
        assert isinstance(call.type, Product)
        z, back, ds = self.fresh("z", call.type.items[0]), self.fresh("b", BACK), [self.fresh("d", D) for _ in xs]

        def effect(d: Var) -> Term:
            logged = Apply(b, (Interface("call", (*xs, d), D),))
            passed = self.all(g, [*(Apply(y, (dy,)) for y, dy in zip(bs, ds, strict=True)), logged])
            return unpack(self.fresh, ds, Interface("ran", (Apply(back, (d,)),), Product((D,) * len(ds))), passed)

        return unpack(self.fresh, (z, back), call, self.back(z, effect))


class Copower(Dense):
    """The step."""

    transformation = Functions
    closed = False

    def calls(self, g: Types, once: Callable[..., Any], logged: tuple[Any, ...]) -> Any:
        """Eliminate a copower."""
        return self.sum(g, tuple(once(*xs, d) for *xs, d in logged))

    def interface(self) -> Mapping[str, Callable[..., Any]]:
        """The operations, including those on copowers."""
        return {
            **super().interface(),
            "call": lambda *call: (call,),
            "calls": self.calls,
            "captured": lambda params, v: v[: len(v) - len(params)],
            "arguments": lambda params, v: v[len(v) - len(params) :],
        }
