"""``x in xs``, ``xs.index(x)`` and ``xs.count(x)``: comparisons with each element."""

from __future__ import annotations

import ast

from ...language.terms import For, If, Index, Literal, Map, Op, Proj, Size, Term, Total, Tuple, counted, lit, parts
from ...language.types import BOOL, FLOAT, INT, NEVER, UNIT, Array, Closure, Fixed, Product, Text, show
from . import numeric
from .raising import failing
from .state import Parser, with_lets


def membership(p: Parser, node: ast.Compare, x: Term, options: list[Term] | Term) -> Term:
    """``x in options``, ``x not in options``: of items written out, of a tuple, of an array."""
    found = p.within("x", no_nan(p, x), lambda x: contained(p, node, x, options))
    return Op("not", (found,), BOOL) if isinstance(node.ops[0], ast.NotIn) else found


def contained(p: Parser, node: ast.AST, x: Term, options: list[Term] | Term) -> Term:
    """Tell whether a value is one of several."""
    if isinstance(options, list):
        found: Term = lit(False)
        for option in reversed(options):
            found = If(equal(p, node, x, option), lit(True), found)
        return found
    if (own := p.grammar.special(p, node, "__contains__", [options, x])) is not None:
        return p.coerce(node, own, BOOL)
    if isinstance(options.type, Product) and not isinstance(options.type, Text) and p.is_sequence(options.type):
        return p.within("t", options, lambda t: contained(p, node, x, list(parts(t))))
    if not isinstance(options.type, Array):
        p.error(node, f"in on {show(options.type)}", "use a tuple or an array of numbers")
    return Op("lt", (lit(0), count_of(p, node, [options, x])), BOOL)


def count_of(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``xs.count(x)``."""
    xs, x = args[0], no_nan(p, args[1])
    y = p.fresh("y", xs.type.element)  # type: ignore[attr-defined]
    return Total(Map((y,), counted(equal(p, node, x, y)), (xs,)))


@with_lets
def index_of(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``xs.index(x)``: the first place; a run fails if there is none."""
    xs, x = p.bound("xs", args[0]), p.bound("x", no_nan(p, args[1]))
    k, found = p.fresh("k", INT), p.fresh("found", INT)
    is_first = If(Op("lt", (found, lit(0)), BOOL), equal(p, node, x, Index(xs, k)), lit(False))
    i = p.bound("i", For(Size(xs), k, found, lit(-1), If(is_first, k, found)))
    return If(Op("lt", (i, lit(0)), BOOL), failing(INT), i)


def no_nan(p: Parser, x: Term) -> Term:
    """A value to look for; a run fails where it is NaN, which lists contain only as the same object."""
    if x.type != FLOAT or isinstance(x, Literal):
        return x
    return p.within("x", x, lambda x: If(Op("isnan", (x,), BOOL), failing(FLOAT), x))


def equal(p: Parser, node: ast.AST, x: Term, y: Term) -> Term:
    """``x == y`` of numbers, of what the parser knows, and of tuples of these; values of different kinds differ."""
    if isinstance(x.type, Array) or isinstance(y.type, Array):
        p.error(node, "in of arrays", "compare numbers")
    x, y = as_number(x), as_number(y)
    if UNIT in (x.type, y.type) and not any(map(p.table.options, (x.type, y.type))):
        return p.by_type(Tuple((x, y)), lit(x.type == y.type))
    if NEVER in (x.type, y.type) or not (isinstance(x.type, Product) or isinstance(y.type, Product)):
        return numeric.comparison(p, node, "eq", x, y)
    if isinstance(x.type, Fixed | Closure) or isinstance(y.type, Fixed | Closure):
        return lit(is_same(p, node, x, y))
    if isinstance(x.type, Product) and isinstance(y.type, Product):
        return p.within("a", x, lambda a: p.within("b", y, lambda b: equal_parts(p, node, a, b)))
    if p.table.options(x.type) is not None or p.table.options(y.type) is not None:
        p.error(node, f"comparison of {show(x.type)} and {show(y.type)}", "compare numbers")
    return lit(False)


def as_number(x: Term) -> Term:
    """Give the number that a member of an enumeration of integers is; any other value itself."""
    return lit(int(x.type.value)) if isinstance(x.type, Fixed) and isinstance(x.type.value, int) else x


def is_same(p: Parser, node: ast.AST, x: Term, y: Term) -> bool:
    """Tell whether two values, one of which the parser knows, are equal."""
    if isinstance(x.type, Closure) and isinstance(y.type, Closure):
        p.error(node, "comparison of local functions", "compare a number or a text that says which one it is")
    return isinstance(x.type, Fixed) and isinstance(y.type, Fixed) and bool(x.type.value == y.type.value)


def equal_parts(p: Parser, node: ast.AST, x: Term, y: Term) -> Term:
    """``x == y`` of two tuples: all their parts are equal."""
    assert isinstance(x.type, Product) and isinstance(y.type, Product)
    if not (p.is_compared(x.type) and p.is_compared(y.type)):
        p.on_duals(node, f"comparison of {show(x.type)} and {show(y.type)}", "compare their fields")
    count = len(x.type.items)
    if count != len(y.type.items):
        return lit(False)
    found: Term = lit(True)
    for k in reversed(range(count)):
        found = If(equal(p, node, Proj(x, k), Proj(y, k)), found, lit(False))
    return found
