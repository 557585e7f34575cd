"""Functions of math and numpy that are expressed by others of the language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy

from ...language.terms import Build, Gather, Index, Op, Size, Term, counted, lit
from ...language.types import BOOL, FLOAT, INT, Array
from ..analyses.single_axes import only_item
from ..operations import arrays, numeric, whole
from ..operations.numeric import wanted
from ..operations.registered import primitive
from ..operations.reshaping import RESHAPING
from ..operations.state import Parser, with_lets

Composed = Callable[["Parser", ast.AST, list[Term]], Term]
VECTOR = Array(FLOAT)


def inner(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.inner(a, b)``: the sums of products along the last axes."""
    wanted(p, node, args, 2)
    is_product = numeric.rank(args[0].type) == 0  # a number times an array
    return whole.dot(p, node, [args[0], args[1] if is_product else arrays.transpose(p, node, args[1])])


def flat_inner(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.vdot(a, b)``: the sum of the products of all numbers."""
    wanted(p, node, args, 2)
    if any(numeric.rank(a.type) for a in args):
        args = [RESHAPING["ravel"](p, node, [a]) for a in args]
    return whole.dot(p, node, args)


def operation(op: ast.operator) -> Composed:
    """``np.add(x, y)``: Python's ``x + y``; ``np.remainder`` is its ``%``, unlike ``math.remainder``."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        wanted(p, node, args, 2)
        return numeric.binary(p, node, op, *args)

    return handle


@with_lets
def differences(p: Parser, node: ast.AST, xs: Term) -> Term:
    """``np.diff(xs)`` of a vector."""
    numeric.no_conditions(p, node, [xs])
    xs, i = p.bound("xs", xs), p.fresh("i", INT)
    size = Op("imax", (Op("isub", (Size(xs), lit(1)), INT), lit(0)), INT)
    ends = Index(xs, Op("iadd", (i, lit(1)), INT)), Index(xs, i)
    return Build(size, i, Op("isub" if ends[1].type == INT else "sub", ends, ends[1].type))


@with_lets
def sort(p: Parser, node: ast.AST, xs: Term) -> Term:
    """``np.sort(xs)`` of a vector: its elements at the indices that sort it, which are discrete."""
    xs = p.bound("xs", xs)
    return Gather(xs, primitive(p, node, numpy.argsort, [whole.numbers(p, node, xs)], {}))


def axes_exchanged(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.swapaxes(xs, i, j)``."""
    wanted(p, node, args, 3)
    order = list(range(numeric.rank(args[0].type)))
    i, j = (arrays.axis_of(p, node, a, len(order)) for a in args[1:])
    order[i], order[j] = j, i
    return arrays.permuted(p, args[0], order)


def with_axis(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.expand_dims(xs, axis)``."""
    wanted(p, node, args, 2)
    xs = whole.array(p, node, args[0])
    return arrays.expanded(p, xs, arrays.axis_of(p, node, args[1], numeric.rank(xs.type) + 1))


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


COMPOSED: Mapping[str, Composed] = MappingProxyType(
    {
        "numpy.add": operation(ast.Add()),
        "numpy.subtract": operation(ast.Sub()),
        "numpy.multiply": operation(ast.Mult()),
        "numpy.remainder": operation(ast.Mod()),
        "numpy.vdot": flat_inner,
        "numpy.inner": inner,
        "numpy.squeeze": squeezed,
        "numpy.expand_dims": with_axis,
        "numpy.swapaxes": axes_exchanged,
    }
)
