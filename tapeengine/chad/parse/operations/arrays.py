"""numpy's functions on whole arrays, expressed by constructors of the language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from ...language.terms import Build, Elements, Index, Literal, Map, Op, Replicate, Size, Term, Total, Tuple, lit, parts
from ...language.types import FLOAT, INT, Array, Product, numbers_of, show
from .numeric import elementwise, multiplied, promoted, rank, same_sizes, shown, total_of
from .registered import primitive
from .state import Parser, with_lets


def inside(p: Parser, xs: Term, axis: int, change: Callable[[Parser, Term], Term]) -> Term:
    """Change the parts of an array from an axis on."""
    if axis == 0:
        return change(p, xs)
    return p.of_each(xs, lambda row: inside(p, row, axis - 1, change))


def axes(xs: Term) -> list[Term]:
    """Give the sizes of an array along its axes."""
    sizes: list[Term] = []
    while isinstance(xs.type, Array):
        sizes.append(Size(xs))
        xs = row(xs)
    return sizes


def product(sizes: Sequence[Term]) -> Term:
    """Give the product of sizes."""
    total = sizes[0]
    for size in sizes[1:]:
        total = Op("imul", (total, size), INT)
    return total


def digits(sizes: Sequence[Term], k: Term) -> list[Term]:
    """Give an index along each axis for a place in C order."""
    places: list[Term] = []
    for size in reversed(sizes[1:]):
        places.append(Op("imod", (k, size), INT))
        k = Op("ifloordiv", (k, size), INT)
    return [k, *reversed(places)]


def row(xs: Term) -> Term:
    """A row of a matrix, of which only the size is used."""
    return Index(xs, lit(0), measured=True)


def transpose(p: Parser, node: ast.AST, term: Term) -> Term:
    """``xs.T``: the axes in the opposite order."""
    return permuted(p, term, list(reversed(range(rank(term.type)))))


def permuted(p: Parser, term: Term, order: list[int]) -> Term:
    """Give an array with its axes in another order, by exchanges of neighbours."""
    for k in range(len(order) - 1):
        if order[k] > order[k + 1]:
            before = [*order[:k], order[k + 1], order[k], *order[k + 2 :]]
            return exchanged(p, permuted(p, term, before), k)
    return term


@with_lets
def exchanged(p: Parser, term: Term, axis: int) -> Term:
    """Give an array with an axis and the one after it exchanged."""
    if axis:
        return p.of_each(term, lambda row: exchanged(p, row, axis - 1))
    xs, i, j = p.bound("xs", term), p.fresh("i", INT), p.fresh("j", INT)
    return Build(Size(row(xs)), j, Build(Size(xs), i, Index(Index(xs, i), j)))


#: Maps a vector to a number or to another vector.
Combine = Callable[["Parser", ast.AST, Term], Term]


def counted_axis(p: Parser, node: ast.AST, axis: int, n: int) -> int:
    """Give an axis as numpy counts it from the first one."""
    if not -n <= axis < n:
        p.on_duals(node, f"axis {axis} of an array of rank {n}", "give an axis that there is")
    return axis % n


def axis_of(p: Parser, node: ast.AST, term: Term, n: int) -> int:
    """Give an axis that is written out."""
    if not isinstance(term, Literal) or term.type != INT:
        p.error(node, "an axis is a number written out", "write 0 or 1")
    return counted_axis(p, node, int(term.value), n)


def along(p: Parser, node: ast.AST, change: Combine, xs: Term, axis: int) -> Term:
    """Apply a function of vectors along one axis."""
    n = rank(xs.type)
    axis = counted_axis(p, node, axis, n)
    to_end = [k for k in range(n) if k != axis] + [axis]
    changed = of_last(p, node, change, permuted(p, xs, to_end))
    return permuted(p, changed, [to_end.index(k) for k in range(n)])


def of_last(p: Parser, node: ast.AST, change: Combine, xs: Term) -> Term:
    """Apply a function of vectors along the last axis."""
    return inside(p, xs, rank(xs.type) - 1, lambda p, row: change(p, node, row))


def reduced(p: Parser, node: ast.AST, combine: Combine, xs: Term, axis: int | None) -> Term:
    """Reduce all elements of an array, or those along one axis; results of rows are combined as elements are."""
    n = rank(xs.type)
    axis = None if axis is None else counted_axis(p, node, axis, n)
    if n == 1:
        return combine(p, node, xs)
    if axis == 0:
        return reduced(p, node, combine, exchanged(p, xs, 0), 1)
    rows = p.of_each(xs, lambda row: reduced(p, node, combine, row, None if axis is None else axis - 1))
    return combine(p, node, rows) if axis is None else rows


def expanded(p: Parser, term: Term, axis: int) -> Term:
    """Give an array with an additional axis of size one."""
    return inside(p, term, axis, lambda p, row: Elements((row,), row.type))


def summed(p: Parser, node: ast.AST, term: Term, axis: int | None = None) -> Term:
    """``np.sum``: of all elements, or along one axis."""
    if not isinstance(term.type, Array):
        p.error(node, f"sum of {show(term.type)}", "sum an array or a comprehension of numbers")
    n = rank(term.type)
    in_pairs = axis is None or counted_axis(p, node, axis, n) == n - 1  # numpy adds whole rows along other axes
    return reduced(p, node, lambda p, node, xs: Total(xs, in_pairs=in_pairs), term, axis)


@with_lets
def mean(p: Parser, node: ast.AST, term: Term, axis: int | None) -> Term:
    """``np.mean``: the sum over the number of elements."""
    n = rank(term.type)
    if axis is not None or n == 1:
        along = 0 if axis is None else counted_axis(p, node, axis, n)
        return reduced(p, node, lambda p, node, xs: mean_of_vector(p, node, xs, along == n - 1), term, axis)
    xs = p.bound("xs", term)
    one = elementwise(p, node, lambda p, node, _: lit(1.0), (xs,))
    return Op("div", (p.coerce(node, summed(p, node, xs), FLOAT, is_operand=True), summed(p, node, one)))


@with_lets
def mean_of_vector(p: Parser, node: ast.AST, xs: Term, in_pairs: bool) -> Term:
    """``np.mean`` of a vector."""
    xs = p.bound("xs", xs)
    return Op(
        "div", (p.coerce(node, Total(xs, in_pairs=in_pairs), FLOAT, is_operand=True), Op("real", (Size(xs),), FLOAT))
    )


def dot(p: Parser, left: Term, right: Term, in_pairs: bool = True) -> Term:
    """The inner product of two vectors of one kind of numbers; of columns in order."""
    x, y = p.fresh("x", numbers_of(left.type)), p.fresh("y", numbers_of(left.type))
    return total_of(p, Map((x, y), multiplied(x, y), (left, right)), in_pairs)


@with_lets
def matmul(p: Parser, node: ast.AST, left: Term, right: Term, by_rows: bool = True) -> Term:
    """``left @ right`` of vectors and matrices."""
    p.by_numpy = True
    for t in (left, right):
        if rank(t.type) not in (1, 2):
            p.error(node, f"@ on {show(t.type)}", "multiply vectors and matrices, or use np.einsum")
    left, right = promoted(p, node, (left, right))
    if rank(left.type) == 1 and rank(right.type) == 1:
        return dot(p, left, right)
    if rank(right.type) == 1:
        row_ = p.fresh("row", right.type)
        hidden, (left, right) = shown(p, (left, right), 2)
        p.lets += [*hidden, *same_sizes(p, (left, right), (frozenset(), frozenset()), 2)]
        return Map((row_,), dot(p, row_, p.bound("v", right), by_rows), (left,))
    if rank(left.type) == 1:
        return matmul(p, node, transpose(p, node, right), left, by_rows=False)
    of_floats = FLOAT == numbers_of(left.type) == numbers_of(right.type)
    p.products += [node] * of_floats
    if p.by_blas and of_floats:
        return primitive(p, node, np.matmul, [left, right], {})
    a, b = p.bound("a", left), p.bound("b", right)
    i, j, k = p.fresh("i", INT), p.fresh("j", INT), p.fresh("k", INT)
    n = p.bound("n", Op("iequal", (Size(b), Size(row(a))), INT))
    entry = total_of(p, Build(n, k, multiplied(Index(Index(a, i), k), Index(Index(b, k), j))))
    return Build(Size(a), i, Build(Size(row(b)), j, entry))


def counted(p: Parser, n: Term) -> Term:
    """A number of elements, which numpy refuses below zero."""
    if isinstance(n, Size) or (isinstance(n, Literal) and n.value >= 0):
        return n
    return p.within("n", n, lambda n: Op("iequal", (n, Op("imax", (n, lit(0)), INT)), INT))


def sizes_of(p: Parser, node: ast.AST, shape: Term) -> Sequence[Term]:
    """Give the sizes of a shape: a number, a tuple, or a list whose text shows how many there are."""
    if isinstance(shape, Elements):
        return shape.items
    if isinstance(shape.type, Array):
        p.on_duals(node, "a shape in an array, or in a list that is made elsewhere", "write the sizes as a tuple")
    return parts(shape) if isinstance(shape.type, Product) else [shape]


@with_lets
def filled(p: Parser, node: ast.AST, shape: Term, value: Term) -> Term:
    """``np.full(shape, value)``."""
    shape = shape if isinstance(shape, Tuple | Elements) else p.bound("shape", shape)
    for size in reversed(sizes_of(p, node, shape)):
        value = Replicate(counted(p, p.coerce(node, size, INT)), value)
    return value
