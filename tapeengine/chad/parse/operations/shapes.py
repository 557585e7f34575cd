"""``np.ndim(x)``, ``np.shape(x)`` and ``np.size(x)``: of arrays, tuples, numbers and records."""

from __future__ import annotations

import ast

from ...language.terms import Size, Term, lit, parts, tuple_of, unit
from ...language.types import Array, Product, Type, show
from .arrays import axis_of, product, row
from .state import Parser, with_lets
from .whole import array


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
