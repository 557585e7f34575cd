r"""Additions of the papers' source languages to the terms of the language.

s * t                                      the parallel pair (DN section 12)
fold (\t. e) acc v                         from the left: t = (the accumulator, an element) (WN Fig. 12)
nTimes n s f    = f (f (... f s))          n times (WN Fig. 16, 17)
ccl 0 s f = s   ccl n s f = ccl (n - 1) (f (n - 1, s)) f        (WN Fig. 18, 19)
let (x1, ..., xn) = s in t                 (WN Fig. 24)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..chad.terms import Binds, Term, Var
from ..chad.types import Product, Type


@dataclass(frozen=True)
class Fork(Term):
    """``left * right``, in parallel."""

    left: Term
    right: Term

    def _type(self) -> Type:
        return Product((self.left.type, self.right.type))


@dataclass(frozen=True)
class FoldLeft(Term):
    r"""``fold (\pair. body) init array``."""

    BINDS: ClassVar[Binds] = {"body": ("pair",)}
    pair: Var
    body: Term
    init: Term
    array: Term

    def _type(self) -> Type:
        return self.init.type


@dataclass(frozen=True)
class NTimes(Term):
    """``nTimes size init function``; the function is a definition with one parameter."""

    function: str
    size: Term
    init: Term

    def _type(self) -> Type:
        return self.init.type


@dataclass(frozen=True)
class Ccl(Term):
    """``ccl size init function``; the function is a definition of the index and the state."""

    function: str
    size: Term
    init: Term

    def _type(self) -> Type:
        return self.init.type


@dataclass(frozen=True)
class LetTuple(Term):
    """``let (vars) = bound in body``."""

    BINDS: ClassVar[Binds] = {"body": ("vars",)}
    vars: tuple[Var, ...]
    bound: Term
    body: Term

    def _type(self) -> Type:
        return self.body.type
