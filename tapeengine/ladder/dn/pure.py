r"""Dual-numbers transformations without a monad (DN Fig. 6): homomorphic except for scalars.

    D[(s, t)] = (D[s], D[t])     D[s -> t] = D[s] -> D[t]     D[Z] = Z     D[s | t] = D[s] | D[t]     D[T] = DT
    D[x] = x      D[(s, t)] = (D[s], D[t])      D[\x. t] = \x. D[t]      D[s t] = D[s] D[t]
    D[let x = s in t] = let x = D[s] in D[t]    D[letrec f x = s in f t] = letrec f x = D[s] in f D[t]
    D[in_i(t)] = in_i(D[t])      D[case s of in_i(x) -> t_i] = case D[s] of in_i(x) -> D[t_i]
    D[op(t1, ..., tn)] = op(fst D[t1], ..., fst D[tn])    where op gives no real number

Each step defines D on R, on constants and on real operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...chad.language import terms as S
from ...chad.language.traverse import rebuild
from ...chad.language.types import FLOAT, Float, Function, Named, Product, Sum, Type
from ..operations import ROWS
from ..source import Fork
from ..structure import homomorphic
from ..target import Fresh, unpack

#: D of these terms is the same term of D of their parts.
HOMOMORPHIC = (S.Var, S.Let, S.Tuple, S.Proj, Fork, S.Lambda, S.Apply, S.Call, S.Inject, S.Case, S.Branch, S.If)


class Duals:
    """D on types and binders; `scalar` is D of a real number."""

    scalar: Type

    def __init__(self) -> None:
        self.fresh = Fresh()

    def type(self, of: Type) -> Type:
        """D on types."""
        match of:
            case Float():
                return self.scalar
            case Named(name):
                return Named("D" + name)
            case Function(params, result):
                return Function(tuple(map(self.type, params)), self.type(result))
        return homomorphic(of, self.type)

    def var(self, var: S.Var) -> S.Var:
        """A binder with its transformed type."""
        return S.Var(var.name, self.type(var.of))


class Pure(Duals, ABC):
    """The homomorphic part."""

    @abstractmethod
    def constant(self, primal: S.Term) -> S.Term:
        """D of a real number that does not depend on the input."""

    @abstractmethod
    def operation(self, op: str, primals: Sequence[S.Var], derivatives: Sequence[S.Var]) -> S.Term:
        """D of a real operation, given the primal and the derivative of each argument."""

    def term(self, term: S.Term) -> S.Term:
        """D on terms."""
        match term:
            case S.Literal():
                return self.constant(term) if term.of == FLOAT else term
            case S.Op(op, args, of) if op in ROWS:
                return self.real(op, args)
            case S.Op(op, args, of):
                plain = S.Op(op, tuple(self.primal(arg) for arg in args), of)
                return self.constant(plain) if of == FLOAT else plain
        if isinstance(term, HOMOMORPHIC):
            return rebuild(term, lambda part, _: self.term(part), self.type)
        raise ValueError(f"{type(term).__name__} is not in the source language of the dual-numbers paper")

    def primal(self, term: S.Term) -> S.Term:
        """The plain value of an argument of a discrete operation."""
        return S.Proj(self.term(term), 0) if term.type == FLOAT else self.term(term)

    def real(self, op: str, args: Sequence[S.Term]) -> S.Term:
        """``let (x1, d1) = D[t1] in ... let (xn, dn) = D[tn] in`` the operation."""
        assert isinstance(self.scalar, Product)
        primals = [self.fresh("x", FLOAT) for _ in args]
        derivatives = [self.fresh("d", self.scalar.items[1]) for _ in args]
        body = self.operation(op, primals, derivatives)
        for x, d, arg in reversed(list(zip(primals, derivatives, args, strict=True))):
            body = unpack(self.fresh, (x, d), self.term(arg), body)
        return body

    def module(self, module: S.Module) -> S.Module:
        """D on all definitions."""
        turned = {
            name: S.Definition(name, tuple(map(self.var, d.params)), self.type(d.result), self.term(d.body))
            for name, d in module.definitions.items()
        }
        return S.Module(module.main, turned)


def sum_type(of: Type) -> Sum | Named:
    """A type as an argument of `Inject`."""
    assert isinstance(of, (Sum, Named))
    return of
