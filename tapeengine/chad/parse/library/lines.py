"""numpy's numbers of lines along axes: quantiles, medians, averages, spans, areas and norms."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Sequence

from ...language import in_language
from ...language.terms import Map, Op, Term, lit
from ...language.types import FLOAT, INT, Product
from ..expressions.rules import expression
from ..operations import arrays, numeric, whole
from ..operations.functions import Env
from ..operations.shapes import flattened
from ..operations.state import Parser, with_lets
from .along import once, sort
from .options import keyword
from .reductions import REDUCTIONS, along, operand, shown, with_axes, written_axes


def written(p: Parser, node: ast.AST, function: Callable[..., object], *args: Term) -> Term:
    """Apply a function that is written in the language."""
    found: Term = p.grammar.apply_written(p, node, p.program_of(function), list(args))
    return found


def of_line(function: Callable[..., object]) -> arrays.Combine:
    """Make a function of terms of one that is written in the language."""
    return lambda p, node, xs: written(p, node, function, xs)


def lines(p: Parser, node: ast.AST, xs: Term, axes: Sequence[int] | None) -> Term:
    """Give an array whose last axis runs over the elements along some axes of another one, or over all."""
    n = numeric.rank(xs.type)
    chosen = list(range(n)) if axes is None else once(p, node, axes, n)
    if len(chosen) == n:
        return flattened(p, node, xs) if n > 1 else xs
    rest = [k for k in range(n) if k not in chosen]
    xs = arrays.permuted(p, xs, rest + chosen)
    if len(chosen) == 1:
        return xs
    return arrays.inside(p, xs, len(rest), lambda p, xs: flattened(p, node, xs))


def of_lines(p: Parser, node: ast.AST, change: arrays.Combine, xs: Term) -> Term:
    """Reduce the last axis."""
    return arrays.reduced(p, node, change, xs, numeric.rank(xs.type) - 1)


@with_lets
def quantile(p: Parser, node: ast.Call, env: Env, scale: float = 1.0) -> Term:
    """``np.quantile(xs, q, axis)``: one, or an array of them along a new first axis; lines are sorted once."""
    given = [operand(p, a, env) for a in node.args[:2]]
    numeric.no_conditions(p, node, given[:1])
    given[1] = whole.array(p, node, given[1]) if isinstance(given[1].type, Product) else given[1]
    xs, q = (numeric.of_kind(p, node, x, FLOAT) for x in given)
    axes = written_axes(p, keyword(node, "axis"), env)
    ordered = p.bound("ordered", arrays.of_last(p, node, sort, lines(p, node, whole.array(p, node, xs), axes)))

    def at(q: Term) -> Term:
        of_one = of_lines(p, node, lambda p, node, xs: written(p, node, in_language.quantile_of, xs, q), ordered)
        return with_axes(p, node, xs, axes, of_one)

    if scale != 1.0:
        q = numeric.binary(p, node, ast.Div(), q, lit(scale))
    if numeric.rank(q.type) == 0:
        return at(p.bound("q", q))
    if numeric.rank(q.type) > 1:
        p.on_duals(node, "quantiles in several axes", "give a vector of them")
    each = p.fresh("q", FLOAT)
    return Map((each,), at(each), (q,))


def statistic(p: Parser, node: ast.Call, env: Env, function: Callable[..., object]) -> Term:
    """Give a number of each line along axes, by a function that is written in the language."""
    p.by_numpy = True
    xs, axes = whole.array(p, node, operand(p, node.args[0], env)), written_axes(p, keyword(node, "axis"), env)
    own = lines(p, node, xs, axes)
    return with_axes(p, node, xs, axes, of_lines(p, node, of_line(function), own))


@with_lets
def average(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.average(xs, axis, weights)``: weights are a vector for one axis, or an array of the same shape."""
    p.by_numpy = True
    xs, axes = whole.array(p, node, operand(p, node.args[0], env)), written_axes(p, keyword(node, "axis"), env)
    given, n = keyword(node, "weights"), numeric.rank(xs.type)
    if given is None or p.known(given, env) is None:
        return with_axes(p, node, xs, axes, along(p, node, REDUCTIONS["mean"], xs, axes))
    weights = p.bound("w", operand(p, given, env))
    if numeric.rank(weights.type) == n:
        xs = p.bound("xs", xs)
        for sizes in zip(arrays.axes(xs), arrays.axes(weights), strict=True):
            p.bound("n", Op("iequal", sizes, INT))
        products = numeric.binary(p, node, ast.Mult(), xs, weights)
        sums = [along(p, node, REDUCTIONS["sum"], each, axes) for each in (products, weights)]
        return with_axes(p, node, xs, axes, numeric.binary(p, node, ast.Div(), *sums))
    if numeric.rank(weights.type) != 1 or axes is None or len(axes) != 1:
        p.on_duals(node, "weights of another shape", "give a vector of weights for one axis")

    def of_line(p: Parser, node: ast.AST, xs: Term) -> Term:
        return written(p, node, in_language.average_of, xs, weights)

    return with_axes(p, node, xs, axes, of_lines(p, node, of_line, lines(p, node, xs, axes)))


@with_lets
def trapezoid(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.trapezoid(ys, x, dx, axis)``, where the places are a vector."""
    p.by_numpy = True
    ys = whole.array(p, node, operand(p, node.args[0], env))
    given, dx = keyword(node, "x"), keyword(node, "dx")
    axes = written_axes(p, keyword(node, "axis") or ast.Constant(-1), env) or ()
    if given is not None and p.known(given, env) is None:
        given = None
    width = lit(1.0) if dx is None else expression(p, dx, env)
    at = p.bound("x", width if given is None else operand(p, given, env))
    if len(axes) != 1 or numeric.rank(at.type) != (given is not None):
        p.on_duals(node, "places or distances in several axes", "give a vector of places")
    function = in_language.area if given is None else in_language.area_between

    def of_line(p: Parser, node: ast.AST, ys: Term) -> Term:
        return written(p, node, function, ys, at)

    return of_lines(p, node, of_line, lines(p, node, ys, axes))


#: The reductions of absolute values that are norms of vectors, by their orders.
OF_VECTORS = {1: "sum", math.inf: "max", -math.inf: "min"}


def norm(p: Parser, node: ast.Call, env: Env) -> Term:
    """Read the order and the axes, and give the norm."""
    p.by_numpy = True
    xs, given = whole.array(p, node, operand(p, node.args[0], env)), keyword(node, "ord")
    axes, order = written_axes(p, keyword(node, "axis"), env), None if given is None else shown(p, given, env)
    n = numeric.rank(xs.type)
    count = n if axes is None else len(axes)
    if order is None or (count, order) in ((1, 2), (2, "fro")):
        found = rooted(p, node, xs, axes)
    elif count != 1 or type(order) not in (int, float):
        p.on_duals(node, "a norm of this order", "write it with np.sum, np.max and abs")
    else:
        found = of_vector(p, node, xs, axes, order)
    return with_axes(p, node, xs, axes, found)


def vector_norm(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.linalg.vector_norm(xs, axis=, ord=)``: without an axis, of all numbers as one vector."""
    if keyword(node, "axis") is None:
        p.on_duals(node, "np.linalg.vector_norm without an axis", "write np.linalg.norm(np.ravel(xs))")
    return norm(p, node, env)


def rooted(p: Parser, node: ast.AST, xs: Term, axes: Sequence[int] | None) -> Term:
    """The root of the sum of squares of all elements, or along axes."""
    squares = numeric.applied(numeric.square, 1)(p, node, [numeric.of_kind(p, node, xs, FLOAT)])
    total = along(p, node, REDUCTIONS["sum"], squares, axes)
    return numeric.elementwise(p, node, functools.partial(numeric.scalar_op, name="sqrt"), (total,))


def sizes(p: Parser, node: ast.AST, xs: Term) -> Term:
    """Give the absolute values as floats."""
    return numeric.applied(numeric.absolute, 1)(p, node, [numeric.of_kind(p, node, xs, FLOAT)])


def of_vector(p: Parser, node: ast.AST, xs: Term, axes: Sequence[int] | None, order: float) -> Term:
    """A norm of absolute values: their sum, largest or smallest one, number beside zero, or root of a sum of powers."""
    which = OF_VECTORS.get(order)
    if which is not None:
        return along(p, node, REDUCTIONS[which], sizes(p, node, xs), axes)
    if order == 0:
        counts = numeric.comparison(p, node, "ne", sizes(p, node, xs), lit(0.0))
        return along(p, node, REDUCTIONS["sum"], numeric.of_kind(p, node, counts, FLOAT), axes)
    powers = numeric.binary(p, node, ast.Pow(), sizes(p, node, xs), lit(float(order)))
    total = along(p, node, REDUCTIONS["sum"], powers, axes)
    return numeric.binary(p, node, ast.Pow(), total, lit(1 / order), opcode="np.power")
