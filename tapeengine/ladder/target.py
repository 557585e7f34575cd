"""Additions of the ladder's target languages to the terms of the language (DN Fig. 5).

    s, t ::= ... | lambda-underlined (z : tau). b      a linear function
    b    ::= ... | d_i op (x1, ..., xn) (b)            a partial derivative
           | 0 | b + b' | SCall d b | genID i | ...    operations of an interface

An interface is a set of named operations. Several steps produce the same terms and differ only in their definitions of
0, + and SCall.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ..chad.language.terms import Lambda, Let, Proj, Term, Tuple, Var
from ..chad.language.types import FLOAT, Function, Named, Type

#: The monoid c, the codomain of backpropagators.
COTANGENT = Named("c")


class LinearLambda(Lambda):
    """A linear function; it is evaluated like other functions."""


class Partial(Term, gives=lambda t: FLOAT):
    """``d_which op (operands) (cotangent)``."""

    op: str
    which: int
    operands: tuple[Term, ...]
    cotangent: Term


class Interface(Term, gives=lambda t: t.of):
    """A call of an operation that the step defines, such as 0, + or SCall."""

    name: str
    args: tuple[Term, ...]
    of: Type


class Fresh:
    """Makes variables with unique names that no Python program can contain: a name, a prime and a number."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, name: str, of: Type) -> Var:
        """A variable with an unused name."""
        return Var(f"{name}'{next(self._numbers)}", of)


def linear(result: Type = COTANGENT) -> Function:
    """The type of a backpropagator, R -o c."""
    return Function((FLOAT,), result)


def unpack(fresh: Fresh, variables: Sequence[Var], bound: Term, body: Term) -> Term:
    """``let (x1, ..., xn) = bound in body``, with projections."""
    if isinstance(bound, Tuple):
        for variable, item in reversed(list(zip(variables, bound.items, strict=True))):
            body = Let(variable, item, body)
        return body
    whole = fresh("p", bound.type)
    for index, variable in reversed(list(enumerate(variables))):
        body = Let(variable, Proj(whole, index), body)
    return Let(whole, bound, body)
