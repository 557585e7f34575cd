"""BOG-style AD in continuation-passing style (WN section 11, Fig. 25).

    R[e] d b s : the value of s, where R has bound all free variables of s

    R[x] d b s               = let x* = d in s
    R[let x = e1 in e2] d (b1, b2) s = R[e2] d b2 (R[e1] x* b1 s)            likewise the other rules of Fig. 24
    R[if p et ef] d (bp, b) s        = if bp (R[et] d b s) (R[ef] d b s)

There are no sets of bindings, so no tuple of all variables that the branches bind. But the continuation of a
conditional occurs twice: a program with a sequence of n conditionals has a reverse pass of size 2^n. The figure has the
continuation inside `sumbuild`; this module keeps the rule of Fig. 24, because the bindings of the rest of the program
must not be added once for each element.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...chad.language.terms import Branch, Case, Let, Term
from ..source import LetTuple
from .bog import Bog, Chosen
from .bog_forward import BAG


class Continuation(Bog):
    """F and R."""

    def choice(self, subject: Term, branches: Sequence[Chosen], d: Term, bag: Term, body: Term) -> Term:
        """R of a conditional: the continuation in each branch."""
        first, second = self.several("b", 2)
        options = []
        for k, (x, inner) in enumerate(branches):
            own, (of,) = self.fresh("b", BAG), self.several("d", 1)
            rest = Let(of, self.injected(k, x), self.reverse(subject, of, first, body))
            options.append(Branch(own, self.reverse(inner, d, own, rest)))
        return LetTuple((first, second), bag, Case(second, tuple(options)))
