"""The shapes of arrays: ``np.ndim(x)``, ``np.shape(x)``, ``np.size(x)``; ``np.reshape``, ``xs.ravel()``: other axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from ...language.terms import Build, Index, Literal, Map, Op, Size, Term, lit, parts, tuple_of, unit
from ...language.types import INT, Array, Product, Type, numbers_of, show
from .arrays import axes, axis_of, counted, digits, product, row, sizes_of, transpose
from .numeric import multiplied, promoted, rank
from .state import Parser, with_lets
from .whole import array, dot


def dimensions(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.ndim(x)``: the type says it."""
    return p.by_type(args[0], lit(number_of_axes(p, node, args[0].type)))


@with_lets
def shape(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.shape(x)``."""
    xs, sizes = p.bound("xs", args[0]), list[Term]()
    for _ in range(number_of_axes(p, node, xs.type)):
        xs = array(p, node, xs)
        sizes.append(Size(xs))
        xs = row(xs)
    return tuple_of(sizes)


@with_lets
def size(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.size(x, axis)``, where the axis is written out."""
    sizes = parts(p.bound("sizes", shape(p, node, args[:1])))
    axis = args[1] if len(args) > 1 else unit()
    return product(sizes or (lit(1),)) if axis == unit() else sizes[axis_of(p, node, axis, len(sizes))]


def number_of_axes(p: Parser, node: ast.AST, of: Type) -> int:
    """Count the axes of the array that numpy makes of a value: 0 for a record that is not a tuple."""
    if isinstance(of, Array):
        return 1 + number_of_axes(p, node, of.element)
    is_tuple = isinstance(of, Product) and not p.is_no_tuple(of)
    items = of.items if is_tuple else p.table.options(of)  # type: ignore[attr-defined]
    if items is None:
        return 0
    found = {number_of_axes(p, node, item) for item in items}
    if len(found) != 1:  # also of None and of an empty tuple, which have one type
        p.on_duals(node, f"the number of axes of {show(of)}", "give an array")
    return found.pop() + is_tuple


def array_attribute(p: Parser, node: ast.Attribute, term: Term, attr: str) -> Term:
    """``size``, ``shape``, ``T``, ``flat`` and ``ndim`` of an array."""
    if attr == "ndim":
        return p.by_type(term, lit(rank(term.type)))
    if attr == "T" or (attr == "mT" and rank(term.type) == 2):
        return transpose(p, node, term)
    if attr == "flat":
        return flattened(p, node, term)
    if attr in ("size", "shape"):
        return p.within("xs", term, lambda xs: tuple_of(axes(xs)) if attr == "shape" else product(axes(xs)))
    if attr == "pop":
        p.error(node, "pop inside an expression is not in the language", "write x = xs.pop() as a statement of its own")
    p.on_duals(node, f"arrays have no {attr} here", "use len, size, shape or T")


def reshape(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.reshape(xs, (n, m))``, ``xs.reshape(n, m)``, where one size may be -1."""
    if len(args) < 2:
        p.error(node, "reshape without a shape", "write xs.reshape(n, m)")
    sizes = [part for size in args[1:] for part in sizes_of(p, node, size)]
    wanted = [None if isinstance(s, Literal) and s.value == -1 else p.coerce(node, s, INT) for s in sizes]
    if wanted.count(None) > 1:
        p.error(node, "two sizes -1 in one shape", "write all sizes but one")
    return p.within("xs", array(p, node, args[0]), lambda xs: in_shape(p, xs, wanted))


def reshaped(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.reshape(xs, shape)``, whose third argument is an order."""
    if len(args) > 2:
        p.error(node, "np.reshape with an order, or with sizes that are not in a tuple", "write np.reshape(xs, (n, m))")
    return reshape(p, node, args)


def flattened(p: Parser, node: ast.AST, xs: Term) -> Term:
    """``np.ravel(xs)``, ``xs.ravel()``, ``xs.flatten()``: the same elements, in C order, along one axis."""
    return p.within("xs", array(p, node, xs), lambda xs: in_shape(p, xs, [None]))


@with_lets
def in_shape(p: Parser, xs: Term, wanted: Sequence[Term | None]) -> Term:
    """Give the elements of an array in a shape; a size that is None follows from the others."""
    present = axes(xs)
    total = product(present)
    given = [size for size in wanted if size is not None]
    others = Op("ifloordiv", (total, product(given)), INT) if given else total
    sizes = [p.bound("size", others if size is None else counted(p, size)) for size in wanted]
    p.bound("n", Op("iequal", (total, product(sizes)), INT))
    return laid_out(p, xs, present, sizes, lit(0))


def laid_out(p: Parser, xs: Term, present: Sequence[Term], sizes: Sequence[Term], place: Term) -> Term:
    """Build an array whose elements follow one another from a place on."""
    if not sizes:
        return element(xs, present, place)
    i = p.fresh("i", INT)
    at: Term = i if place == lit(0) else Op("iadd", (Op("imul", (place, sizes[0]), INT), i), INT)
    return Build(sizes[0], i, laid_out(p, xs, present, sizes[1:], at))


def element(xs: Term, present: Sequence[Term], place: Term) -> Term:
    """Give an element by its place in C order."""
    for index in digits(present, place):
        xs = Index(xs, index)
    return xs


def flat_inner(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.vdot(a, b)``: the sum of the products of all numbers."""
    if rank(a.type) or rank(b.type):
        a, b = (flattened(p, node, x) for x in (a, b))
    return dot(p, node, a, b)


@with_lets
def outer(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.outer(a, b)``, of all numbers of each."""
    a, b = promoted(p, node, [flattened(p, node, x) for x in (a, b)])
    x, y = p.fresh("x", numbers_of(a.type)), p.fresh("y", numbers_of(b.type))
    return Map((x,), Map((y,), multiplied(x, y), (p.bound("b", b),)), (a,))


#: The functions and methods that give an array other axes.
RESHAPING: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = {
    "reshape": reshape,
    **dict.fromkeys(("ravel", "flatten"), lambda p, node, args: flattened(p, node, args[0])),
}
