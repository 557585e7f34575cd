"""``x in xs``: comparisons with each element."""

from __future__ import annotations

import ast

from tapeengine.chad.parse import numeric
from tapeengine.chad.parse.state import Parser
from tapeengine.chad.terms import If, Map, Op, Proj, Term, Total, counted, lit
from tapeengine.chad.types import BOOL, Array, Product, show

__all__ = ["membership"]


def membership(p: Parser, node: ast.Compare, x: Term, options: list[Term] | Term) -> Term:
    """``x in options``, ``x not in options``: of items written out, of a tuple, of an array."""
    found = p.let("x", x, lambda x: contained(p, node, x, options))
    return Op("not", (found,), BOOL) if isinstance(node.ops[0], ast.NotIn) else found


def contained(p: Parser, node: ast.AST, x: Term, options: list[Term] | Term) -> Term:
    """Tell whether a value is one of several."""
    if isinstance(options, list):
        found: Term = lit(False)
        for option in reversed(options):
            found = If(equal(p, node, x, option), lit(True), found)
        return found
    if isinstance(options.type, Product):
        count = len(options.type.items)
        return p.let("t", options, lambda t: contained(p, node, x, [Proj(t, i) for i in range(count)]))
    if not isinstance(options.type, Array):
        p.error(node, f"in on {show(options.type)}", "use a tuple or an array of numbers")
    y = p.fresh("y", options.type.element)
    count_of = Total(Map((y,), counted(equal(p, node, x, y)), (options,)))
    return Op("lt", (lit(0), count_of), BOOL)


def equal(p: Parser, node: ast.AST, x: Term, y: Term) -> Term:
    """``x == y`` of numbers."""
    if isinstance(x.type, Array) or isinstance(y.type, Array):
        p.error(node, "in of arrays", "compare numbers")
    return numeric.comparison(p, node, "eq", x, y)
