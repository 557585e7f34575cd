"""numpy's statistics of lines, written in the language: quantiles, medians, averages, spans and areas along axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ...language import in_language
from ...language.terms import Map, Op, Term, lit
from ...language.types import FLOAT, INT
from ..expressions.rules import expression
from ..operations import arrays, numeric, whole
from ..operations.functions import Env
from ..operations.reshaping import RESHAPING
from ..operations.state import Parser, with_lets
from .along import inside, once
from .composed import sort
from .options import keyword
from .reductions import REDUCTIONS, along, operand, with_axes, written_axes


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
    if axes is None or len(axes) == n == 1:
        return RESHAPING["ravel"](p, node, [xs]) if n != 1 else xs
    chosen = once(p, node, axes, n)
    rest = [k for k in range(n) if k not in chosen]
    xs = arrays.permuted(p, xs, rest + chosen)
    if len(chosen) == 1:
        return xs
    return inside(p, xs, len(rest), lambda p, xs: RESHAPING["ravel"](p, node, [xs]))


def of_lines(p: Parser, node: ast.AST, change: arrays.Combine, xs: Term) -> Term:
    """Reduce the last axis."""
    return arrays.reduced(p, node, change, xs, numeric.rank(xs.type) - 1)


@with_lets
def quantile(p: Parser, node: ast.Call, env: Env, scale: float = 1.0) -> Term:
    """``np.quantile(xs, q, axis)``: one, or an array of them along a new first axis; lines are sorted once."""
    xs, q = (numeric.of_kind(p, node, operand(p, a, env), FLOAT) for a in node.args[:2])
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


def percentile(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.percentile(xs, q, axis)``."""
    return quantile(p, node, env, 100.0)


def statistic(function: Callable[..., object]) -> Callable[[Parser, ast.Call, Env], Term]:
    """Make the form of a number of a line, along axes."""

    def handle(p: Parser, node: ast.Call, env: Env) -> Term:
        p.by_numpy = True
        xs, axes = whole.array(p, node, operand(p, node.args[0], env)), written_axes(p, keyword(node, "axis"), env)
        own = lines(p, node, xs, axes)
        return with_axes(p, node, xs, axes, of_lines(p, node, of_line(function), own))

    return handle


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
    axes = written_axes(p, keyword(node, "axis") or ast.Constant(-1), env) or (-1,)
    if given is not None and p.known(given, env) is None:
        given = None
    width = p.bound("dx", lit(1.0) if dx is None else expression(p, dx, env)) if given is None else None
    places = None if given is None else p.bound("x", operand(p, given, env))
    if len(axes) != 1 or numeric.rank((width or places).type) != (0 if places is None else 1):  # type: ignore[union-attr]
        p.on_duals(node, "places or distances in several axes", "give a vector of places")

    def of_line(p: Parser, node: ast.AST, ys: Term) -> Term:
        if places is None:
            return written(p, node, in_language.area, ys, width)
        return written(p, node, in_language.area_between, ys, places)

    return of_lines(p, node, of_line, lines(p, node, ys, axes))
