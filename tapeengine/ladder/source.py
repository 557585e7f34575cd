r"""Additions of the papers' source languages to the terms of the language.

s * t                                      the parallel pair (DN section 12)
fold (\t. e) acc v                         from the left: t = (the accumulator, an element) (WN Fig. 12)
nTimes n s f    = f (f (... f s))          n times (WN Fig. 16, 17)
ccl 0 s f = s   ccl n s f = ccl (n - 1) (f (n - 1, s)) f        (WN Fig. 18, 19)
let (x1, ..., xn) = s in t                 (WN Fig. 24)
"""

from __future__ import annotations

from ..chad.language.terms import Term, Var
from ..chad.language.types import Product


class Fork(Term, gives=lambda t: Product((t.left.type, t.right.type))):
    """``left * right``, in parallel."""

    left: Term
    right: Term


class FoldLeft(Term, binds={"body": ("pair",)}, gives=lambda t: t.init.type):
    r"""``fold (\pair. body) init array``."""

    pair: Var
    body: Term
    init: Term
    array: Term


class NTimes(Term, gives=lambda t: t.init.type):
    """``nTimes size init function``; the function is a definition with one parameter."""

    function: str
    size: Term
    init: Term


class Ccl(Term, gives=lambda t: t.init.type):
    """``ccl size init function``; the function is a definition of the index and the state."""

    function: str
    size: Term
    init: Term


class LetTuple(Term, binds={"body": ("vars",)}, gives=lambda t: t.body.type):
    """``let (vars) = bound in body``."""

    vars: tuple[Var, ...]
    bound: Term
    body: Term
