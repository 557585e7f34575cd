"""numpy's reductions: ``np.sum(xs, axis=, keepdims=, where=, initial=)`` and the like, as functions and methods.

An element that `where` leaves out is replaced by the number that changes nothing. An initial value is combined with
the result, as numpy does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...language.terms import Fold, If, Op, Size, Term, counted, lit
from ...language.types import BOOL, FLOAT, INT, Array, numbers_of, show
from ..expressions.rules import expression
from ..names.texts import MISSING
from ..operations import arrays, numeric, whole
from ..operations.functions import Env
from ..operations.state import Parser, with_lets
from ..operations.whole import array, element, numbers
from .options import keyword, of_wider

#: Reduces all elements of an array, or those along an axis.
Combine = Callable[[Parser, ast.AST, Term, int | None], Term]
#: The arguments by name that all reductions take.
KEYWORDS = ("axis", "keepdims", "where", "initial")


@dataclass(frozen=True)
class Reduction:
    """A reduction.

    * `neutral`: the number that changes nothing; without one, the initial value stands for elements that are left out.
    * `join`: combines two numbers, one of which is the initial value.
    """

    combine: Combine
    neutral: int | None = None
    join: numeric.Scalar | None = None


def written_axis(p: Parser, node: ast.expr | None, env: Env) -> int | None:
    """Give the axis that a call names; None for all."""
    found = written_axes(p, node, env)
    if found is not None and len(found) != 1:
        p.error(node or p.tree, "several axes", "write one axis")
    return found[0] if found else None


def written_axes(p: Parser, node: ast.expr | None, env: Env) -> Sequence[int] | None:
    """Give the axes that a call names; None for all."""
    if node is None:
        return None
    found = shown(p, node, env)
    axes = list(found) if isinstance(found, tuple) else [found]
    if not all(type(axis) is int for axis in axes) and found is not None:
        p.on_duals(node, "an axis is a number written out", "write axis=0 or axis=1")
    return None if found is None else axes


def shown(p: Parser, node: ast.expr, env: Env) -> Any:
    """Give a value that the text shows, such as an axis; otherwise MISSING."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        pass
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = shown(p, node.operand, env)
        return -value if type(value) in (int, float) else MISSING
    return p.known(node, env)


def operand(p: Parser, given: ast.expr, env: Env) -> Term:
    """Give an argument of a function of numpy, which makes an array of a list."""
    return whole.as_numpy(p, [given], [expression(p, given, env)])[0]


def method_of(made: Reduction, default: int | None = None) -> Callable[[Parser, ast.Call, Term, Env], Term]:
    """``xs.sum(axis)`` and the like, with the axis that is meant where none is named."""
    return lambda p, node, receiver, env: reduced(p, node, made, array(p, node, receiver), default, env)


def reduced(p: Parser, node: ast.Call, made: Reduction, xs: Term, default: int | None, env: Env) -> Term:
    """Reduce an array as the arguments of a call say."""
    p.by_numpy = True
    axes = written_axes(p, keyword(node, "axis") or ast.Constant(default), env)
    dtype, xs = keyword(node, "dtype"), of_wider(p, node, xs, env)
    if dtype is not None and made is REDUCTIONS["mean"] and numbers_of(xs.type) != FLOAT:
        p.on_duals(dtype, "a mean of whole numbers as one", "write dtype=float")
    initial = keyword(node, "initial")
    start = None if initial is None else started(p, node, made, xs, expression(p, initial, env))
    where = keyword(node, "where")
    if where is not None and not (isinstance(where, ast.Constant) and where.value is True):
        result = masked(p, node, made, xs, expression(p, where, env), start, axes)
    else:
        result = along(p, node, made, xs, axes)
    if start is not None:
        result = joined(p, node, made, xs, start, result)
    return with_axes(p, node, xs, axes, result)


def with_axes(p: Parser, node: ast.Call, xs: Term, axes: Sequence[int] | None, result: Term) -> Term:
    """Keep the axes if a call says so."""
    keeps = keyword(node, "keepdims")
    if keeps is None:
        return result
    if not isinstance(keeps, ast.Constant) or not isinstance(keeps.value, bool):
        p.error(keeps, "keepdims is True or False written out", "write keepdims=True")
    n = numeric.rank(xs.type)
    if not keeps.value:
        return result
    for axis in [0] * n if axes is None else sorted(axis % n for axis in axes):
        result = arrays.expanded(p, result, axis)
    return result


def along(p: Parser, node: ast.AST, made: Reduction, xs: Term, axes: Sequence[int] | None) -> Term:
    """Reduce along axes, one after the other; a mean is a sum divided once, to have numpy's last bit."""
    if axes is None or len(axes) == 1:
        return made.combine(p, node, xs, axes[0] if axes else None)
    n = numeric.rank(xs.type)
    order = sorted((arrays.counted_axis(p, node, axis, n) for axis in axes), reverse=True)
    if not order or len(set(order)) < len(order):
        p.error(node, "no axis, or the same axis twice", "name each axis once")
    if made is REDUCTIONS["mean"]:
        return quotient(p, node, xs, numeric.elementwise(p, node, lambda p, node, _: lit(1), (xs,)), axes)
    for axis in order:
        xs = made.combine(p, node, xs, axis)
    return xs


def started(p: Parser, node: ast.AST, made: Reduction, xs: Term, start: Term) -> Term:
    """Give the initial value as a number of the array's kind."""
    if made.join is None:
        p.error(node, "this reduction has no initial value", "leave it out")
    of = numbers_of((xs if made.neutral is None else numbers(p, node, xs)).type)
    if start.type not in (INT, BOOL, of):
        p.error(node, f"{show(start.type)} as the initial value of an array of {show(of)}", "give one of its numbers")
    return numeric.of_kind(p, node, start, of)


def joined(p: Parser, node: ast.AST, made: Reduction, xs: Term, start: Term, result: Term) -> Term:
    """Combine a result with the initial value, which is the result of a vector without elements."""
    assert made.join is not None
    whole_ = numeric.elementwise(p, node, made.join, (start, result))
    if isinstance(result.type, Array) or made.neutral is not None:
        return whole_
    return p.within("xs", xs, lambda xs: If(Op("eq", (Size(xs), lit(0)), BOOL), start, whole_))


@with_lets
def masked(
    p: Parser, node: ast.AST, made: Reduction, xs: Term, where: Term, start: Term | None, axes: Sequence[int] | None
) -> Term:
    """Reduce the elements where a condition holds."""
    if numbers_of(where.type) != BOOL or numeric.rank(where.type) > numeric.rank(xs.type):
        p.error(node, f"where={show(where.type)}", "give an array of conditions with at most the axes of the array")
    neutral = start if made.neutral is None else lit(made.neutral)
    if neutral is None:
        p.error(node, "where= without an initial value", "write initial=, which is the result where nothing is left")
    xs, where = numbers(p, node, xs) if made.neutral is not None else xs, p.bound("where", where)
    left = numeric.elementwise(p, node, whole.chosen, (where, xs, neutral))
    if made is not REDUCTIONS["mean"]:
        return along(p, node, made, left, axes)
    ones = numeric.elementwise(p, node, lambda p, node, each: counted(each[1]), (xs, where))
    return quotient(p, node, left, ones, axes)


def quotient(p: Parser, node: ast.AST, xs: Term, ones: Term, axes: Sequence[int] | None) -> Term:
    """A mean: a sum over the number of the summands."""
    total, count = (along(p, node, REDUCTIONS["sum"], each, axes) for each in (xs, ones))
    return numeric.binary(p, node, ast.Div(), total, count)


def of_numbers(reduce: Combine) -> Combine:
    """``np.sum``, ``np.mean``: bools are counted."""
    return lambda p, node, xs, axis: reduce(p, node, numbers(p, node, xs), axis)


def product(p: Parser, node: ast.AST, xs: Term, axis: int | None) -> Term:
    """``np.prod``."""
    xs = numbers(p, node, xs)
    return arrays.reduced(p, node, lambda p, node, xs: whole.product(p, node, [xs]), xs, axis)


def folded(choose: Callable[..., Term], which: str) -> Combine:
    """The largest or smallest of all elements, or of those along an axis: Python's ``max`` or numpy's."""

    def combine(p: Parser, node: ast.AST, xs: Term) -> Term:
        left, right = p.fresh("a", element(xs)), p.fresh("b", element(xs))
        return Fold(left, right, choose(p, node, which, left, right), xs)

    return lambda p, node, xs, axis: arrays.reduced(p, node, combine, xs, axis)


def larger(which: str) -> numeric.Scalar:
    """``np.maximum(a, b)``, ``np.minimum(a, b)`` of elements."""
    return lambda p, node, xs: numeric.larger(p, node, which, *xs)


#: Reductions of whole arrays, by the names of functions and methods.
REDUCTIONS: Mapping[str, Reduction] = {
    "sum": Reduction(of_numbers(arrays.summed), 0, lambda p, node, xs: numeric.added(*xs)),
    "prod": Reduction(product, 1, lambda p, node, xs: numeric.multiplied(*xs)),
    "mean": Reduction(of_numbers(arrays.mean), 0),
    "max": Reduction(folded(numeric.larger, "maximum"), None, larger("maximum")),
    "min": Reduction(folded(numeric.larger, "minimum"), None, larger("minimum")),
}
