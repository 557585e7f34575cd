r"""Reverse CHAD (CHAD section 7; EC Fig. 2, Fig. 6 and Fig. 8): each term becomes its value and its backpropagator.

    G |- D_G[t] : (D[t]1, D[t]2 -> EV G)            EV G has a cotangent for each variable of G
    D[x] = (x, \d. one x d)                          D[r] = (r, \d. none)
    D[let x = t in s] = let (x, x') = D[t] in let (y, y') = D_{G,x}[s] in (y, \d. take dx out of y' d; x' dx)
    D[(t, s)] = let (x, x') = D[t] in let (y, y') = D[s] in ((x, y), \d. x' (lfst d) and y' (lsnd d))
    D[fst t] = let (x, x') = D[t] in (fst x, \d. x' <d, 0>)                     likewise snd
    D[inl t] = let (x, x') = D[t] in (inl x, \d. x' (lcastl d))                 likewise inr
    D[case r of inl x -> s; ...] = let (z, z') = D[r] in
                  case z of inl x -> let (y, y') = D_{G,x}[s] in (y, \d. take dx out of y' d; z' (linl dx)); ...
    D[if r then s else t] = let (b, _) = D[r] in if b then D[s] else D[t]
    D[op(t1, ..., tn)] = let (x1, x1') = D[t1] in ... in (op(x1..), \d. x1' (d1 op(x..)(d)) and ... xn' (dn op(x..)(d)))
    D[f(t1, ..., tn)] = ... let (z, z') = Df(x1, ..., xn) in (z, \d. let (d1, ..., dn) = z' d in x1' d1 and ... xn' dn)

    a definition f(x1, ..., xn) = t becomes Df(x1, ..., xn) = let (y, y') = D_{x1..xn}[t] in (y, \d. run (y' d))

The forms differ in how they construct environment vectors: each defines "none", "and", "one" and "take dx out".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from tapeengine.chad.terms import (
    Apply,
    Branch,
    Call,
    Case,
    Definition,
    If,
    Inject,
    Let,
    Literal,
    Module,
    Op,
    Proj,
    Term,
    Tuple,
    Var,
)
from tapeengine.chad.types import Function, Named, Product, Sum, Type
from tapeengine.ladder.operations import ROWS
from tapeengine.ladder.target import Fresh, Interface, LinearLambda, Partial, Static, unpack

__all__ = ["BACK", "EFFECT", "Chad", "Context", "D", "operation"]

D, EFFECT = Named("d"), Named("EV")
BACK = Function((D,), EFFECT)
Context = tuple[Var, ...]


def operation(name: str, *args: Term | Type | int) -> Interface:
    """An operation on cotangents; its type and place arguments are static."""
    known = (a if isinstance(a, Term) else Static(a, str(a) if isinstance(a, int) else "") for a in args)
    return Interface(name, tuple(known), D)


class Chad(ABC):
    """D_G."""

    def __init__(self, types: Mapping[str, Sum]) -> None:
        self.types = types
        self.fresh = Fresh()

    @abstractmethod
    def none(self, g: Context) -> Term:
        """No contribution."""

    @abstractmethod
    def both(self, g: Context, one: Term, other: Term) -> Term:
        """The contributions of both."""

    @abstractmethod
    def one(self, g: Context, x: Var, d: Term) -> Term:
        """A contribution to one variable."""

    @abstractmethod
    def take(self, g: Context, x: Var, effect: Term, rest: Callable[[Term], Term]) -> Term:
        """Take the cotangent dx out of an effect over (G, x), and add the effect ``rest(dx)``."""

    @abstractmethod
    def run(self, g: Context, effect: Term) -> Term:
        """The cotangents of all variables, as a tuple."""

    @abstractmethod
    def each(self, g: Context, effects: Term) -> Term:
        """The contributions of all effects in an array."""

    def all(self, g: Context, effects: Sequence[Term]) -> Term:
        """The contributions of all effects."""
        if not effects:
            return self.none(g)
        total = effects[0]
        for effect in effects[1:]:
            total = self.both(g, total, effect)
        return total

    def back(self, primal: Term, effect: Callable[[Var], Term]) -> Tuple:
        r"""``(primal, \d. effect)``."""
        d = self.fresh("d", D)
        return Tuple((primal, Interface("new", (LinearLambda((d,), effect(d)),), BACK)))

    def pairs(self, terms: Sequence[Term], g: Context) -> tuple[list[Var], list[Var], Callable[[Term], Term]]:
        """Variables for ``(x1, x1') = D[t1]``, ..., and a function that binds them around a body."""
        xs = [self.fresh("x", self.type(term.type)) for term in terms]
        bs = [self.fresh("b", BACK) for _ in terms]

        def around(body: Term) -> Term:
            for x, b, term in reversed(list(zip(xs, bs, terms, strict=True))):
                body = unpack(self.fresh, (x, b), self.term(term, g), body)
            return body

        return xs, bs, around

    def inner(self, x: Var, term: Term, g: Context, rest: Callable[[Term], Term]) -> Term:
        r"""``let (y, y') = D_{G,x}[term] in (y, \d. take dx out of y' d; rest dx)``."""
        (y,), (b,), around = self.pairs([term], (*g, x))
        return around(self.back(y, lambda d: self.take(g, x, Apply(b, (d,)), rest)))

    def type(self, of: Type) -> Type:
        """D[t]1, which is t if t contains no functions."""
        return of

    def term(self, term: Term, g: Context) -> Term:
        """D_G[term]."""
        match term:
            case Var():
                return self.back(term, lambda d: self.one(g, term, d))
            case Literal():
                return self.back(term, lambda d: self.none(g))
            case Let(x, bound, body):
                (y,), (b,), around = self.pairs([bound], g)
                return around(Let(self.var(x), y, self.inner(x, body, g, lambda dx: Apply(b, (dx,)))))
            case Tuple(items):
                xs, bs, around = self.pairs(items, g)
                return around(self.back(Tuple(tuple(xs)), lambda d: self.parts(term.type, bs, d, g)))
            case Proj(whole, k):
                (x,), (b,), around = self.pairs([whole], g)
                return around(self.back(Proj(x, k), lambda d: Apply(b, (operation("hot", whole.type, k, d),))))
            case Inject(k, payload, of):
                (x,), (b,), around = self.pairs([payload], g)
                return around(self.back(Inject(k, x, of), lambda d: Apply(b, (operation("cast", of, k, d),))))
            case Case(subject, branches):
                (z,), (b,), around = self.pairs([subject], g)
                return around(Case(z, tuple(self.branch(k, branch, b, g) for k, branch in enumerate(branches))))
            case If(condition, then, orelse):
                (x,), _, around = self.pairs([condition], g)
                return around(If(x, self.term(then, g), self.term(orelse, g)))
            case Op(op, args, of):
                xs, bs, around = self.pairs(args, g)
                return around(self.back(Op(op, tuple(xs), of), lambda d: self.partials(op, xs, bs, d, g)))
            case Call(name, args, of):
                xs, bs, around = self.pairs(args, g)
                return around(self.called(Call(name, tuple(xs), Product((self.type(of), BACK))), bs, g))
        return self.array(term, g)

    def parts(self, of: Type, backs: Sequence[Var], d: Var, g: Context) -> Term:
        """``x1' (lfst d) and x2' (lsnd d)``."""
        return self.all(g, [Apply(b, (operation("part", of, k, d),)) for k, b in enumerate(backs)])

    def partials(self, op: str, xs: Sequence[Var], backs: Sequence[Var], d: Var, g: Context) -> Term:
        """``x1' (d1 op(x..)(d)) and ...``; none for a discrete operation."""
        real = backs if op in ROWS else ()
        return self.all(g, [Apply(b, (Partial(op, k, tuple(xs), d),)) for k, b in enumerate(real)])

    def branch(self, k: int, branch: Branch, b: Var, g: Context) -> Branch:
        """One branch of a case."""
        body = self.inner(branch.var, branch.body, g, lambda dx: Apply(b, (operation("inject", k, dx),)))
        return Branch(self.var(branch.var), body)

    def called(self, call: Call, backs: Sequence[Var], g: Context) -> Term:
        """The value and the backpropagator of a call, given those of the arguments."""
        assert isinstance(call.of, Product)
        z, back, ds = self.fresh("z", call.of.items[0]), self.fresh("b", BACK), [self.fresh("d", D) for _ in backs]
        passed = self.all(g, [Apply(b, (d,)) for b, d in zip(backs, ds, strict=True)])
        whole = Product((D,) * len(ds))
        effect = lambda d: unpack(self.fresh, ds, Interface("ran", (Apply(back, (d,)),), whole), passed)  # noqa: E731
        return unpack(self.fresh, (z, back), call, self.back(z, effect))

    def array(self, term: Term, g: Context) -> Term:
        """D of the operations on arrays."""
        raise ValueError(f"{type(term).__name__} is not in the source language of this step")

    def var(self, x: Var) -> Var:
        """A binder with its transformed type."""
        return Var(x.name, self.type(x.of))

    def module(self, module: Module) -> Module:
        """Df for each definition f."""
        turned = {}
        for name, f in module.definitions.items():
            (y,), (b,), around = self.pairs([f.body], f.params)
            run = lambda d, b=b, g=f.params: self.run(g, Apply(b, (d,)))  # noqa: E731
            body = around(self.back(y, run))
            turned[name] = Definition(name, tuple(map(self.var, f.params)), body.type, body)
        return Module(module.main, turned, module.types)
