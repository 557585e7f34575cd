"""``grid[i][j] = v`` and ``grid[i, j] = v``: a rectangle of numbers is one array, row after row, and its two sizes.

Changing an element is changing one element of the one array, in constant time; whatever asks for rows gets rows
made of it. `tapeengine.chad.parse.analyses.rectangles` says which variables are grids.
"""

from __future__ import annotations

import ast

from ...language.terms import (
    Build,
    Elements,
    If,
    Index,
    Let,
    Literal,
    Map,
    Op,
    Proj,
    Replicate,
    Size,
    Term,
    Total,
    Tuple,
    Var,
    counted,
    lit,
    opened,
)
from ...language.traverse import free_variables
from ...language.types import BOOL, INT, Array, show
from .raising import failing
from .state import Parser, with_lets

Lets = list[tuple[Var, Term]]


@with_lets
def made(p: Parser, node: ast.AST, term: Term) -> Term:
    """Make a grid of rows; rows of different sizes fail."""
    of = term.type
    if not isinstance(of, Array) or not isinstance(of.element, Array) or isinstance(of.element.element, Array):
        p.error(node, f"elements of rows are changed here, and this is {show(of)}", "make rows of numbers")
    inner = of.element

    outer, table = opened(term)
    written = regular(p, table)
    p.lets += outer
    if written is None:
        return uneven(p, p.bound("rows", table), inner)
    more, n, m, i, j, cell = written
    p.lets += more
    n, m = p.bound("rows", n), p.bound("columns", m)
    k = p.fresh("k", INT)
    body = Let(i, Op("ifloordiv", (k, m), INT), Let(j, Op("imod", (k, m), INT), cell))
    return Tuple((Build(Op("imul", (n, m), INT), k, body), n, m))


def regular(p: Parser, table: Term) -> tuple[Lets, Term, Term, Var, Var, Term] | None:
    """Give the sizes of rows that are made by a rule, and the rule: bindings, two sizes, two indices, an element."""
    if isinstance(table, Elements):
        return listed(p, table)
    outer = ruled(p, table)
    if outer is None:
        return None
    n, i, line = outer
    own, line = opened(line)
    inner = ruled(p, line)
    if inner is None or any(i.name in free_variables(t) for t in (inner[0], *(bound for _, bound in own))):
        return None
    return own, n, inner[0], i, inner[1], inner[2]


def listed(p: Parser, table: Elements) -> tuple[Lets, Term, Term, Var, Var, Term] | None:
    """Give the same for rows that are written out."""
    lines = [line for line in table.items if isinstance(line, Elements)]
    if len(lines) < len(table.items) or len({len(line.items) for line in lines}) != 1:
        return None
    columns, i, j = lit(len(lines[0].items)), p.fresh("i", INT), p.fresh("j", INT)
    every = Elements(tuple(x for line in lines for x in line.items), lines[0].of)
    flat = p.fresh("cells", every.type)
    place = Op("iadd", (Op("imul", (i, columns), INT), j), INT)
    return [(flat, every)], lit(len(lines)), columns, i, j, Index(flat, place)


def ruled(p: Parser, term: Term) -> tuple[Term, Var, Term] | None:
    """Give the size of an array, an index, and its element there."""
    match term:
        case Build(size, index, body):
            return size, index, body
        case Replicate(size, body):
            return size, p.fresh("i", INT), body
        case Elements(items):
            j = p.fresh("j", INT)
            return lit(len(items)), j, Index(term, j)
    return None


@with_lets
def uneven(p: Parser, xs: Term, of: Array) -> Term:
    """Make a grid of rows whose sizes are known only in a run."""
    n, k, r = Size(xs), p.fresh("k", INT), p.fresh("row", of)
    m = p.bound("columns", If(Op("eq", (n, lit(0)), BOOL), lit(0), Size(Index(xs, lit(0)))))
    others = Total(Map((r,), counted(Op("ne", (Size(r), m), BOOL)), (xs,)))
    cell = Index(Index(xs, Op("ifloordiv", (k, m), INT)), Op("imod", (k, m), INT))
    return Tuple((Build(unless(Op("lt", (lit(0), others), BOOL), Op("imul", (n, m), INT)), k, cell), n, m))


def unless(fails: Term, size: Term) -> Term:
    """Give a size, which fails on a condition; an array of this size is one that a program may change in place."""
    return If(fails, failing(INT), size)


def rows(p: Parser, grid: Term) -> Term:
    """Give the rows of a grid."""
    i, j = p.fresh("i", INT), p.fresh("j", INT)
    return Build(Proj(grid, 1), i, Build(Proj(grid, 2), j, Index(Proj(grid, 0), cell(grid, i, j))))


def cell(grid: Term, i: Term, j: Term) -> Term:
    """Give the place in the one array of an element whose indices are in range."""
    return Op("iadd", (Op("imul", (i, Proj(grid, 2)), INT), j), INT)


def element(p: Parser, grid: Term, i: Term, j: Term) -> Term:
    """Give one element."""
    return Index(Proj(grid, 0), place_of(p, grid, i, j))


@with_lets
def place_of(p: Parser, grid: Term, i: Term, j: Term) -> Term:
    """Give the place of an element in the one array; out of range if one of its indices is."""
    n, m = Proj(grid, 1), Proj(grid, 2)
    j, i = p.bound("j", counted_from_end(p, j, m)), p.bound("i", counted_from_end(p, i, n))
    nowhere = Op("isub", (lit(-1), Op("imul", (n, m), INT)), INT)
    return If(both([is_within(i, n), is_within(j, m)]), cell(grid, i, j), nowhere)


def counted_from_end(p: Parser, i: Term, size: Term) -> Term:
    """Count a negative index from the end."""
    if isinstance(i, Literal):
        return Op("iadd", (i, size), INT) if i.value < 0 else i
    return p.within("k", i, lambda k: If(Op("lt", (k, lit(0)), BOOL), Op("iadd", (k, size), INT), k))


def is_within(i: Term, size: Term) -> Term:
    """Tell whether there is an index."""
    below = Op("lt", (i, size), BOOL)
    return below if isinstance(i, Literal) else both([Op("le", (lit(0), i), BOOL), below])


def both(tests: list[Term]) -> Term:
    """All of several tests, from the left."""
    result = tests[-1]
    for test in reversed(tests[:-1]):
        result = If(test, result, lit(False))
    return result
