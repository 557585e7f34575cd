"""``np.linalg.norm(xs, ord, axis)``: norms of vectors of any order that the text shows, and some of matrices."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from ...language.terms import Op, Term, counted, lit
from ...language.types import BOOL, FLOAT
from ..operations import arrays, numeric, whole
from ..operations.functions import Env
from ..operations.state import Parser
from .options import keyword
from .reductions import REDUCTIONS, along, operand, shown, with_axes, written_axes

#: The reductions of absolute values that are norms of vectors, by their orders.
OF_VECTORS = {1: "sum", math.inf: "max", -math.inf: "min"}
#: The same of matrices: the axis along which absolute values are added, counted from the last one, and what follows.
OF_MATRICES = {1: (0, "max"), -1: (0, "min"), math.inf: (1, "max"), -math.inf: (1, "min")}


def norm(p: Parser, node: ast.Call, env: Env) -> Term:
    """Read the order and the axes, and give the norm."""
    p.by_numpy = True
    xs, given = whole.array(p, node, operand(p, node.args[0], env)), keyword(node, "ord")
    axes, order = written_axes(p, keyword(node, "axis"), env), None if given is None else shown(p, given, env)
    n = numeric.rank(xs.type)
    is_of_matrix = order is not None and (n if axes is None else len(axes)) == 2
    if order is None or order == ("fro" if is_of_matrix else 2):
        found = rooted(p, node, xs, axes)
    elif (axes is None and n > 2) or type(order) not in (int, float):
        p.on_duals(node, "a norm of this order", "write it with np.sum, np.max and abs")
    elif is_of_matrix:
        found = of_matrix(p, node, xs, axes or (0, 1), order)
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
    if axes is not None and len(axes) > 1:
        squares = numeric.applied(numeric.square, 1)(p, node, [numeric.of_kind(p, node, xs, FLOAT)])
        total = along(p, node, REDUCTIONS["sum"], squares, axes)
        return numeric.elementwise(p, node, numeric.scalar_op("sqrt"), (total,))
    axis = axes[0] if axes else None
    return arrays.reduced(p, node, lambda p, node, xs: whole.norm(p, node, [xs]), xs, axis)


def sizes(p: Parser, node: ast.AST, xs: Term) -> Term:
    """Give the absolute values as floats."""
    return numeric.applied(numeric.absolute, 1)(p, node, [numeric.of_kind(p, node, xs, FLOAT)])


def of_vector(p: Parser, node: ast.AST, xs: Term, axes: Sequence[int] | None, order: float) -> Term:
    """A norm of absolute values: their sum, largest or smallest one, number beside zero, or root of a sum of powers."""
    which = OF_VECTORS.get(order)
    if which is not None:
        return along(p, node, REDUCTIONS[which], sizes(p, node, xs), axes)
    if order == 0:
        counts = numeric.elementwise(p, node, lambda p, node, x: counted(Op("ne", (x[0], lit(0.0)), BOOL)), (xs,))
        return along(p, node, REDUCTIONS["sum"], numeric.of_kind(p, node, counts, FLOAT), axes)
    powers = numeric.binary(p, node, ast.Pow(), sizes(p, node, xs), lit(float(order)))
    total = along(p, node, REDUCTIONS["sum"], powers, axes)
    return numeric.binary(p, node, ast.Pow(), total, lit(1 / order), opcode="np.power")


def of_matrix(p: Parser, node: ast.AST, xs: Term, axes: Sequence[int], order: float) -> Term:
    """The largest or smallest sum of absolute values of the columns or rows."""
    which = OF_MATRICES.get(order)
    if which is None:
        p.on_duals(node, "a norm of singular values", "write it with np.linalg.svd")
    at, last = which
    n = numeric.rank(xs.type)
    first, second = (arrays.counted_axis(p, node, axis, n) for axis in axes)
    summed, other = (first, second) if at == 0 else (second, first)
    sums = along(p, node, REDUCTIONS["sum"], sizes(p, node, xs), [summed])
    return along(p, node, REDUCTIONS[last], sums, [other - (other > summed)])
