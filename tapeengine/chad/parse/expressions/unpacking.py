"""``a, b = xs`` and ``a, *rest = xs``: the parts of an array or a tuple by their places."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...language.terms import Build, If, Index, Op, Size, Term, Tuple, lit, parts
from ...language.types import BOOL, INT, Array, Product
from ..operations.raising import failing
from ..operations.state import Parser
from ..operations.whole import items_of


def parts_of(p: Parser, node: ast.AST, elts: Sequence[ast.expr], term: Term) -> Term | None:
    """Give the parts of a variable for each of several targets, as a tuple; None for what has no such parts.

    A run fails where an array has another number of elements.
    """
    stars = [k for k, e in enumerate(elts) if isinstance(e, ast.Starred)]
    before, after = (stars[0], len(elts) - stars[0] - 1) if stars else (len(elts), 0)
    if isinstance(term.type, Product):
        count = len(term.type.items)
        if not stars or count < before + after:
            return None
        items = parts(term)
        if count == before + after:
            p.error(node, "no parts are left for a target with *", "leave it out")
        rest = items_of(p, node, items[before : count - after])
        return Tuple((*items[:before], rest, *items[count - after :]))
    if not isinstance(term.type, Array):
        return None
    fits = Op("le" if stars else "eq", (lit(before + after), Size(term)), BOOL)
    first = tuple(Index(term, lit(k)) for k in range(before))
    last = tuple(Index(term, lit(k - after)) for k in range(after))
    middle = (between(p, term, before, after),) if stars else ()
    whole = Tuple((*first, *middle, *last))
    return If(fits, whole, failing(whole.type))


def between(p: Parser, xs: Term, before: int, after: int) -> Term:
    """Give the elements of an array but the first and the last ones."""
    i = p.fresh("i", INT)
    size = Op("isub", (Size(xs), lit(before + after)), INT)
    return Build(size, i, Index(xs, Op("iadd", (i, lit(before)), INT)))
