"""Iterables as arrays of their elements."""

from __future__ import annotations

import ast
import itertools

from ..terms import Build, Term
from ..types import INT, Array
from .expressions import expression
from .functions import Env
from .state import Parser
from .whole import array

#: Iterators of Python, whose elements are read as those of a loop.
LAZY = (range, zip, enumerate, reversed, itertools.pairwise, itertools.product, itertools.combinations)


def elements_of(p: Parser, node: ast.expr, env: Env) -> Term:
    """Give the elements of an iterable as an array."""
    if not isinstance(node, ast.Call) or p.static(node.func, env) not in LAZY:
        found = expression(p, node, env)
        return found if isinstance(found.type, Array) else array(p, node, found)
    over = p.grammar.iteration(p, node, env)
    i = p.fresh("i", INT)
    made: Term = over.around(Build(over.size, i, over.item(i)))
    return made
