"""Types that depend on themselves: what a recursive function gives, the state of a fold."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from ...language.terms import Term, Var
from ...language.types import NEVER, Type
from ..operations.state import Parser
from .closures import is_function

Read = TypeVar("Read")


def settled(p: Parser, node: ast.AST, guess: Type, read: Callable[[Type], tuple[Type, Read]]) -> tuple[Type, Read]:
    """Read something with wider and wider types until its type is the one that was assumed.

    Functions are refused: each reading makes functions of its own, and so their types would grow forever.
    """
    while True:
        found, term = read(guess)
        wider = found if guess == NEVER else p.unify(node, guess, found)
        if wider == guess:
            return guess, term
        if guess != NEVER and is_function(wider):
            p.error(node, "each step makes another function", "give what the function captures instead")
        guess = wider


def settled_step(p: Parser, node: ast.AST, first: Term, step: Callable[[Var], Term]) -> tuple[Type, Var, Term]:
    """Give the type of the state of a fold, its variable and a step: `step` gives the state after it."""

    def read(of: Type) -> tuple[Type, tuple[Var, Term]]:
        state = p.fresh("state", of)
        after = step(state)
        return after.type, (state, after)

    of, (state, after) = settled(p, node, first.type, read)
    return of, state, after
