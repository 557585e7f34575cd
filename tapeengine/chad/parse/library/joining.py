"""numpy's functions that put arrays together and take them apart: concatenate, stack, block, split and their kin.

The arrays are written out, ``np.stack((a, b))``, or they are the elements of a list. Of those written out numpy's own
function does the work where they lie along a later axis; all else is expressed in the language.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence

import numpy

from ...language.kinds import ListOf
from ...language.terms import Build, Concatenate, Elements, Fold, Index, Let, Map, Op, Size, Term, Tuple, lit, parts
from ...language.types import INT, Array, Product, numbers_of, show
from ..expressions.parameters import with_args
from ..expressions.rules import as_name, expression
from ..operations import arrays, numeric, whole
from ..operations.functions import Env
from ..operations.registered import primitive
from ..operations.shapes import flattened
from ..operations.state import Parser, with_lets
from .along import as_array
from .options import keyword
from .reductions import operand, written_axis

#: Puts together arrays that are written out, or the elements of an array.
Written = Callable[[Parser, ast.AST, list[Term]], Term]


def parts_of(p: Parser, node: ast.Call, env: Env, written: Written, listed: Callable[[Term], Term]) -> Term:
    """Put together the parts of the first argument, written out or listed."""
    if not node.args:
        p.error(node, "the arrays are not given", "write np.stack((a, b))")
    term = expression(p, displayed(node.args[0]), env)
    if isinstance(term, Tuple | Elements) and term.items:
        return written(p, node, with_rows(p, node.args[0], term.items))
    if isinstance(term.type, Product):
        return p.within("parts", term, lambda t: written(p, node, list(parts(t))))
    if not isinstance(term.type, Array):
        p.error(node, f"{show(term.type)} has no parts to put together", "write np.stack((a, b))")
    return p.within("parts", whole.some(p, whole.made_array(p, term)), listed)


def with_rows(p: Parser, node: ast.expr, items: Sequence[Term]) -> list[Term]:
    """Give parts that are written out; a run fails where one is a list without rows, of which numpy makes a vector."""
    given = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    if len(given) != len(items) or any(isinstance(e, ast.Starred) for e in given):
        return list(items)
    return [whole.of_numpy(p, e, x) if isinstance(x.type, Array) else x for e, x in zip(given, items, strict=True)]


def displayed(node: ast.expr) -> ast.expr:
    """Give a list of arrays that is written out as a tuple, whose items may have several ranks."""
    if (
        not isinstance(node, ast.List)
        or not node.elts
        or any(isinstance(e, ast.Starred | ast.Tuple) for e in node.elts)
    ):
        return node
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)


def concatenate(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.concatenate(parts, axis)``."""
    axis = written_axis(p, keyword(node, "axis") or ast.Constant(0), env)
    written: Written = lambda p, node, items: joined(p, node, items, axis)  # noqa: E731
    return parts_of(p, node, env, written, lambda xs: flat(p, node, xs, axis))


def joined(p: Parser, node: ast.AST, items: list[Term], axis: int | None) -> Term:
    """Put arrays that are written out one after another along an axis; without one, all their numbers in a row."""
    if axis is None:
        items, axis = [flattened(p, node, item) for item in items], 0
    if len({numeric.rank(item.type) for item in items}) > 1:
        p.error(node, "arrays of different ranks are put together", "give arrays of one rank")
    first, *others = numeric.promoted(p, node, [whole.array(p, node, item) for item in items])
    axis = arrays.counted_axis(p, node, axis, numeric.rank(first.type))
    if axis:
        return primitive(p, node, numpy.concatenate, [Tuple((first, *others))], {"axis": axis})
    for part in others:
        first = same_row(p, first, p.coerce(node, part, first.type), Concatenate(first, part))
    return first


def no_call(p: Parser, node: ast.Call) -> None:
    """Refuse a call ``np.r_(a)``, and ``np.r_[()]``."""
    if not node.args or not hasattr(node.func, "is_indexed"):
        p.error(node, "np.r_ and np.c_ are indexed, not called", "write np.r_[a, b]")


def rows(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.r_[a, b]``: numbers and arrays one after another along the first axis."""
    no_call(p, node)
    given = [expression(p, a, env) for a in node.args]
    return joined(p, node, [x if numeric.rank(x.type) else Elements((x,), x.type) for x in given], 0)


def columns(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.c_[a, b]``."""
    no_call(p, node)
    return column_stack(p, with_args(node, [ast.copy_location(ast.Tuple(node.args, ast.Load()), node)]), env)


def same_row(p: Parser, a: Term, b: Term, made: Term) -> Term:
    """Combine two arrays; a run fails where their rows differ in size."""
    if numeric.rank(a.type) < 2:
        return made
    return Let(p.fresh("n", INT), Op("iequal", (Size(arrays.row(a)), Size(arrays.row(b))), INT), made)


def flat(p: Parser, node: ast.AST, xs: Term, axis: int | None) -> Term:
    """Put the elements of an array one after another along one of their axes."""
    of = whole.element(xs)
    n = numeric.rank(of)
    if n == 0:
        p.error(node, f"{show(of)} cannot be put together", "give a list of arrays")
    if axis is None:
        xs, of, n, axis = mapped(p, xs, lambda x: flattened(p, node, x)), Array(numbers_of(of)), 1, 0
    axis = arrays.counted_axis(p, node, axis, n)
    if n == 1:
        return whole.in_a_row(p, xs)
    order = [axis, *(k for k in range(n) if k != axis)]
    a, b = p.fresh("a", of), p.fresh("b", of)
    one = Fold(a, b, same_row(p, a, b, Concatenate(a, b)), mapped(p, xs, lambda x: arrays.permuted(p, x, order)))
    return arrays.permuted(p, one, [order.index(k) for k in range(n)])


def mapped(p: Parser, xs: Term, change: Callable[[Term], Term]) -> Term:
    """Change each element."""
    x = p.fresh("x", whole.element(xs))
    made = change(x)
    return xs if made is x else Map((x,), made, (xs,))


def stack(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.stack(parts, axis)``: along a new axis."""
    axis = one_axis(p, keyword(node, "axis") or ast.Constant(0), env)

    def piled(xs: Term) -> Term:
        n = numeric.rank(xs.type)
        at = arrays.counted_axis(p, node, axis, n)
        order = [*range(1, at + 1), 0, *range(at + 1, n)]
        return arrays.permuted(p, whole.rectangle(p, xs), order)

    def written(p: Parser, node: ast.AST, items: list[Term]) -> Term:
        return primitive(p, node, numpy.stack, [Tuple(tuple(numeric.promoted(p, node, items)))], {"axis": axis})

    return parts_of(p, node, env, written, piled)


def hstack(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.hstack(parts)``: vectors in a row, matrices side by side."""

    def written(p: Parser, node: ast.AST, items: list[Term]) -> Term:
        items = [as_array(item) for item in items]
        return joined(p, node, items, 1 if numeric.rank(items[0].type) > 1 else 0)

    return parts_of(p, node, env, written, lambda xs: flat(p, node, xs, 1 if numeric.rank(xs.type) > 2 else 0))


def vstack(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.vstack(parts)``: vectors as rows, and the rows of matrices."""

    def listed(xs: Term) -> Term:
        return whole.rectangle(p, xs) if numeric.rank(xs.type) == 2 else flat(p, node, xs, 0)

    return parts_of(p, node, env, stacked_rows, listed)


def stacked_rows(p: Parser, node: ast.AST, items: list[Term]) -> Term:
    """Put vectors that are written out, and the rows of matrices, below one another."""
    items = [as_array(item) for item in items]
    if all(numeric.rank(item.type) == 1 for item in items):
        items = numeric.promoted(p, node, items)
        return whole.of_one_size(p, Elements(tuple(items), items[0].type))
    as_rows = [Elements((item,), item.type) if numeric.rank(item.type) == 1 else item for item in items]
    return joined(p, node, as_rows, 0)


def column_stack(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.column_stack(parts)``: vectors as columns, matrices side by side."""

    def written(p: Parser, node: ast.AST, items: list[Term]) -> Term:
        items = [as_array(item) for item in items]
        if all(numeric.rank(item.type) == 1 for item in items):
            return arrays.transpose(p, node, stacked_rows(p, node, items))
        as_columns = [arrays.expanded(p, item, 1) if numeric.rank(item.type) == 1 else item for item in items]
        return joined(p, node, as_columns, 1)

    def listed(xs: Term) -> Term:
        if numeric.rank(xs.type) == 2:
            return arrays.transpose(p, node, whole.rectangle(p, xs))
        return flat(p, node, xs, 1)

    return parts_of(p, node, env, written, listed)


def block(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.block([[a, b], [c, d]])``, written out: matrices side by side, and below one another."""
    rows = node.args[0].elts if node.args and isinstance(node.args[0], ast.List) else []
    if not rows or not all(isinstance(row, ast.List) and row.elts for row in rows):
        p.error(node, "np.block takes a list of lists of matrices, written out", "write np.block([[a, b], [c, d]])")
    written = [row.elts for row in rows if isinstance(row, ast.List)]
    found = [[expression(p, part, env) for part in row] for row in written]
    for part, term in zip(itertools.chain(*written), itertools.chain(*found), strict=True):
        p.operated(node, [(part, term)])  # a list would be a further level of the blocks
    if any(numeric.rank(part.type) != 2 for row in found for part in row):
        p.error(node, "np.block of parts that are no matrices", "write np.hstack or np.vstack")
    return joined(p, node, [joined(p, node, row, 1) if len(row) > 1 else row[0] for row in found], 0)


def append(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.append(xs, values, axis)``; without an axis, the numbers of both in a row."""
    numeric.wanted(p, node, node.args[:2], 2)
    axis = written_axis(p, keyword(node, "axis"), env)
    items = [operand(p, a, env) for a in node.args[:2]]
    return joined(p, node, items if axis is not None else [as_array(item) for item in items], axis)


def one_axis(p: Parser, node: ast.expr, env: Env) -> int:
    """Give the axis that is written out, which may not be None."""
    axis = written_axis(p, node, env)
    if axis is None:
        p.error(node, "the axis None", "write the axis as a number")
    return axis


@with_lets
def split(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.split(xs, n, axis)``, ``np.split(xs, (i, j))``: equal parts, or those between places written out."""
    numeric.wanted(p, node, node.args[:2], 2)
    xs = expression(p, node.args[0], env)
    if not isinstance(xs.type, Array) or isinstance(p.kinds.of(node.args[0]), ListOf):
        p.error(node, "np.split of something other than an array", "give an array")
    n = numeric.rank(xs.type)
    axis = arrays.counted_axis(p, node, one_axis(p, keyword(node, "axis") or ast.Constant(0), env), n)
    order = [axis, *(k for k in range(n) if k != axis)]
    back = [order.index(k) for k in range(n)]
    xs = p.bound("xs", arrays.permuted(p, xs, order))
    if isinstance(node.args[1], ast.List | ast.Tuple):
        return between(p, node, xs, node.args[1].elts, back, env)
    return mapped(p, equal_parts(p, xs, expression(p, node.args[1], env)), lambda x: arrays.permuted(p, x, back))


@with_lets
def equal_parts(p: Parser, xs: Term, count: Term) -> Term:
    """Give an array of parts of one size; a run fails where there is a rest."""
    i, j, n = p.fresh("i", INT), p.fresh("j", INT), p.bound("n", count)
    p.bound("n", Op("iequal", (n, Op("imax", (n, lit(1)), INT)), INT))
    m = p.bound("m", Op("ifloordiv", (Size(xs), n), INT))
    p.bound("n", Op("iequal", (Size(xs), Op("imul", (n, m), INT)), INT))
    return Build(n, i, Build(m, j, Index(xs, Op("iadd", (Op("imul", (i, m), INT), j), INT))))


def between(p: Parser, node: ast.AST, xs: Term, places: Sequence[ast.expr], back: list[int], env: Env) -> Term:
    """Give a list of the parts of an array between places."""
    ends = [None, *places, None]

    def sliced(named: ast.expr, env: Env) -> Term:
        slices = [ast.Slice(low, high) for low, high in itertools.pairwise(ends)]
        parts = [ast.copy_location(ast.Subscript(named, ast.copy_location(s, node), ast.Load()), node) for s in slices]
        return whole.items_of(p, node, [arrays.permuted(p, expression(p, part, env), back) for part in parts])

    return as_name(p, "xs", node, xs, env, sliced)
