"""Functions of math and numpy that are expressed by others of the language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import numpy

from ...language.terms import Build, Gather, Index, Op, Size, Term, counted, lit
from ...language.types import BOOL, FLOAT, INT, Array
from ..analyses.single_axes import only_item
from ..operations import arrays, numeric, whole
from ..operations.registered import primitive
from ..operations.shapes import flattened
from ..operations.state import Parser, with_lets

Composed = Callable[["Parser", ast.AST, list[Term]], Term]
VECTOR = Array(FLOAT)


def inner(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.inner(a, b)``: the sums of products along the last axes."""
    is_product = numeric.rank(a.type) == 0  # a number times an array
    return whole.dot(p, node, a, b if is_product else arrays.transpose(p, node, b))


def flat_inner(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.vdot(a, b)``: the sum of the products of all numbers."""
    if numeric.rank(a.type) or numeric.rank(b.type):
        a, b = (flattened(p, node, x) for x in (a, b))
    return whole.dot(p, node, a, b)


def operation(op: ast.operator) -> Composed:
    """``np.add(x, y)``: Python's ``x + y``; ``np.remainder`` is its ``%``, unlike ``math.remainder``."""
    return numeric.of(2, lambda p, node, a, b: numeric.binary(p, node, op, a, b))


@with_lets
def differences(p: Parser, node: ast.AST, xs: Term) -> Term:
    """``np.diff(xs)`` of a vector."""
    numeric.no_conditions(p, node, [xs])
    xs, i = p.bound("xs", xs), p.fresh("i", INT)
    size = Op("imax", (Op("isub", (Size(xs), lit(1)), INT), lit(0)), INT)
    ends = Index(xs, Op("iadd", (i, lit(1)), INT)), Index(xs, i)
    return Build(size, i, Op("isub" if ends[1].type == INT else "sub", ends, ends[1].type))


@with_lets
def spaced(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.linspace(a, b, n, endpoint)``, where the endpoint is written out."""
    args = [*args, lit(50)] if len(args) == 2 else args
    is_open = args[3:4] == [lit(False)]
    numeric.wanted(p, node, args[:3] if is_open or args[3:4] == [lit(True)] else args, 3)
    a, b = (p.bound(name, p.coerce(node, x, FLOAT)) for name, x in zip("ab", args, strict=False))
    n, i = p.bound("n", arrays.counted(p, p.coerce(node, args[2], INT))), p.fresh("i", INT)
    steps = Op("real", (Op("imax", (Op("isub", (n, lit(0 if is_open else 1)), INT), lit(1)), INT),), FLOAT)
    place, length = Op("real", (i,), FLOAT), Op("sub", (b, a))
    at = (place, Op("div", (length, steps))) if is_open else (Op("div", (place, steps)), length)
    return Build(n, i, Op("add", (a, Op("mul", at))))


@with_lets
def sort(p: Parser, node: ast.AST, xs: Term) -> Term:
    """``np.sort(xs)`` of a vector: its elements at the indices that sort it, which are discrete."""
    xs = p.bound("xs", xs)
    return Gather(xs, primitive(p, node, numpy.argsort, [whole.numbers(p, node, xs)], {}))


def axes_exchanged(p: Parser, node: ast.AST, xs: Term, *axes: Term) -> Term:
    """``np.swapaxes(xs, i, j)``."""
    order = list(range(numeric.rank(xs.type)))
    i, j = (arrays.axis_of(p, node, axis, len(order)) for axis in axes)
    order[i], order[j] = j, i
    return arrays.permuted(p, xs, order)


def with_axis(p: Parser, node: ast.AST, xs: Term, axis: Term) -> Term:
    """``np.expand_dims(xs, axis)``."""
    xs = whole.array(p, node, xs)
    return arrays.expanded(p, xs, arrays.axis_of(p, node, axis, numeric.rank(xs.type) + 1))


@with_lets
def squeezed(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.squeeze(xs, axis)``: a run fails where the axis has more elements, or another one has one element."""
    n = numeric.rank(args[0].type)
    if n == 0:
        p.on_duals(node, "np.squeeze of a number", "leave it out")
    single = p.single_axes.of(args[0]) if len(args) == 1 else {arrays.axis_of(p, node, args[1], n)}
    if len(single) == n:
        p.error(node, "an array of no axes", "read the number by its index")

    def within(xs: Term, axis: int) -> Term:
        if not isinstance(xs.type, Array):
            return xs
        if axis in single:
            return p.within("row", only_item(xs), lambda row: within(row, axis + 1))
        return p.of_each(xs, lambda row: within(row, axis + 1))

    xs = p.bound("xs", args[0])
    for axis, size in enumerate(arrays.axes(xs)):
        if len(args) == 1 or axis in single:
            is_one = Op("eq" if axis in single else "ne", (size, lit(1)), BOOL)
            p.bound("n", Op("iequal", (counted(is_one), lit(1)), INT))
    return within(xs, 0)


COMPOSED: Mapping[str, Composed] = {
    "numpy.add": operation(ast.Add()),
    "numpy.subtract": operation(ast.Sub()),
    "numpy.multiply": operation(ast.Mult()),
    "numpy.remainder": operation(ast.Mod()),
    "numpy.vdot": numeric.of(2, flat_inner),
    "numpy.inner": numeric.of(2, inner),
    "numpy.linspace": spaced,
    "numpy.squeeze": squeezed,
    "numpy.expand_dims": numeric.of(2, with_axis),
    "numpy.swapaxes": numeric.of(3, axes_exchanged),
}
