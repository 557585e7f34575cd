r"""The monadic transformation that all steps after the naive one share (DN Fig. 8).

    D[R] = (R, (ID, B))      B is the type of backpropagators, R -o Staged c
    D[s -> t] = D[s] -> S -> (D[t], S)       S is the state of the monad that generates ids
    D[x] i = (x, i)
    D[(s, t)] i = let (x, i') = D[s] i in let (y, i'') = D[t] i' in ((x, y), i'')        likewise for the other terms
    D[r] i = let (n, i') = genID i in ((r, (n, \z. 0)), i')
    D[op(t1, ..., tn)] i = let ((x1, d1), i1) = D[t1] i in ... in let (n, i') = genID in
                           in ((op(x1, ..., xn), (n, \z. SCall d1 (d1 op(x..)(z)) + ... + SCall dn (...))), i')
    D[s * t] i = fork (\i. D[s] i) (\i. D[t] i) i

The rules are written with genID (section 12.3); if S is the integers, ``genID i = (i, i + 1)``. Each step defines 0, +,
SCall, genID and fork.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...chad.language import terms as S
from ...chad.language.types import FLOAT, Function, Named, Product, Type
from ..operations import ROWS
from ..source import Fork
from ..target import COTANGENT, Interface, LinearLambda, Partial, linear, unpack
from .pure import Duals, sum_type

ID, STATE = Named("ID"), Named("S")


class Monadic(Duals):
    """D, with an explicit state."""

    back: Type = linear(COTANGENT)

    @property
    def link(self) -> Type:
        """What a real number has beside its value."""
        return Product((ID, self.back))

    @property
    def scalar(self) -> Product:  # type: ignore[override]
        """D[R]."""
        return Product((FLOAT, self.link))

    def backpropagator(self, op: str, primals: Sequence[S.Var], links: Sequence[S.Var]) -> S.Term:
        """The backpropagator of an operation; for a constant there are no links."""
        z = self.fresh("z", FLOAT)
        xs = tuple(primals)
        calls = [Interface("SCall", (d, Partial(op, which, xs, z)), COTANGENT) for which, d in enumerate(links)]
        return LinearLambda((z,), Interface("+", tuple(calls), COTANGENT) if calls else Interface("0", (), COTANGENT))

    def identify(self, primal: S.Term, back: S.Term, state: S.Term) -> S.Term:
        """``let (n, i') = genID i in ((primal, (n, back)), i')``."""
        n, after = self.fresh("n", ID), self.fresh("i", STATE)
        pair = S.Tuple((S.Tuple((primal, S.Tuple((n, back)))), after))
        return unpack(self.fresh, (n, after), Interface("genID", (state,), Product((ID, STATE))), pair)

    def type(self, of: Type) -> Type:
        """D on types."""
        if isinstance(of, Function):
            return Function((*map(self.type, of.params), STATE), Product((self.type(of.result), STATE)))
        return super().type(of)

    def bind(self, term: S.Term, state: S.Term, then: Callable[[S.Term, S.Term], S.Term]) -> S.Term:
        """``let (x, i') = D[term] i`` in ``then(x, i')``."""
        if isinstance(term, S.Var):
            return then(self.var(term), state)
        x, after = self.fresh("y", self.type(term.type)), self.fresh("i", STATE)
        return unpack(self.fresh, (x, after), self.term(term, state), then(x, after))

    def binds(self, terms: Sequence[S.Term], state: S.Term, then: Callable[[list[S.Term], S.Term], S.Term]) -> S.Term:
        """`bind` for several terms, from left to right."""
        if not terms:
            return then([], state)
        return self.bind(
            terms[0], state, lambda x, i: self.binds(terms[1:], i, lambda rest, last: then([x, *rest], last))
        )

    def lambda_(self, params: Sequence[S.Var], body: S.Term) -> S.Lambda:
        r"""``\(x, i). D[body] i``."""
        state = self.fresh("i", STATE)
        return S.Lambda((*map(self.var, params), state), self.term(body, state))

    def term(self, term: S.Term, state: S.Term) -> S.Term:
        """``D[term] i``: a term of type (D[type], S)."""
        match term:
            case S.Var():
                return S.Tuple((self.var(term), state))
            case S.Let(var, bound, body):
                after = self.fresh("i", STATE)
                return unpack(self.fresh, (self.var(var), after), self.term(bound, state), self.term(body, after))
            case S.Tuple(items):
                return self.binds(items, state, lambda xs, i: S.Tuple((S.Tuple(tuple(xs)), i)))
            case S.Proj(whole, index):
                return self.bind(whole, state, lambda x, i: S.Tuple((S.Proj(x, index), i)))
            case S.Inject(index, payload, of):
                return self.bind(payload, state, lambda x, i: S.Tuple((S.Inject(index, x, sum_type(self.type(of))), i)))
            case S.Lambda(params, body):
                return S.Tuple((self.lambda_(params, body), state))
            case S.Apply(function, args):
                return self.binds((function, *args), state, lambda xs, i: S.Apply(xs[0], (*xs[1:], i)))
            case S.Call(name, args, of):
                result = Product((self.type(of), STATE))
                return self.binds(args, state, lambda xs, i: S.Call(name, (*xs, i), result))
            case Fork(left, right):
                result = Product((self.type(term.type), STATE))
                return Interface("fork", (self.lambda_((), left), self.lambda_((), right), state), result)
            case _:
                return self.choice_or_scalar(term, state)

    def choice_or_scalar(self, term: S.Term, state: S.Term) -> S.Term:
        """The rest of the terms."""
        match term:
            case S.Case(subject, branches):

                def turned(x: S.Term, i: S.Term) -> S.Term:
                    return S.Case(x, tuple(S.Branch(self.var(b.var), self.term(b.body, i)) for b in branches))

                return self.bind(subject, state, turned)
            case S.If(condition, then, orelse):
                return self.bind(condition, state, lambda x, i: S.If(x, self.term(then, i), self.term(orelse, i)))
            case S.Literal():
                return self.constant(term, state) if term.of == FLOAT else S.Tuple((term, state))
            case S.Op(op, args, _) if op in ROWS:
                return self.binds(args, state, lambda duals, i: self.real(op, duals, i))
            case S.Op(_, args):
                return self.binds(args, state, lambda duals, i: self.discrete(term, args, duals, i))
        raise ValueError(f"{type(term).__name__} is not in the source language of the dual-numbers paper")

    def constant(self, primal: S.Term, state: S.Term) -> S.Term:
        """D[r]."""
        return self.identify(primal, self.backpropagator("", (), ()), state)

    def discrete(self, term: S.Op, args: Sequence[S.Term], duals: Sequence[S.Term], state: S.Term) -> S.Term:
        """D of an operation whose result is not real, or is real but depends on no real."""
        primals = tuple(S.Proj(d, 0) if a.type == FLOAT else d for a, d in zip(args, duals, strict=True))
        plain = S.Op(term.op, primals, term.of)
        return self.constant(plain, state) if term.of == FLOAT else S.Tuple((plain, state))

    def real(self, op: str, duals: Sequence[S.Term], state: S.Term) -> S.Term:
        """D[op]."""
        xs = [self.fresh("x", FLOAT) for _ in duals]
        ds = [self.fresh("d", self.link) for _ in duals]
        body = self.identify(S.Op(op, tuple(xs)), self.backpropagator(op, xs, ds), state)
        for x, d, dual in reversed(list(zip(xs, ds, duals, strict=True))):
            body = S.Let(x, S.Proj(dual, 0), S.Let(d, S.Proj(dual, 1), body))
        return body

    def module(self, module: S.Module) -> S.Module:
        """D on all definitions, which take the state after their parameters."""
        turned = {}
        for name, d in module.definitions.items():
            function = self.lambda_(d.params, d.body)
            turned[name] = S.Definition(name, function.params, function.body.type, function.body)
        return S.Module(module.main, turned)
