"""numpy's functions that repeat arrays along further axes: broadcast_to, meshgrid, and ``outer`` of ufuncs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ...language.terms import Map, Op, Replicate, Size, Term, Tuple, parts
from ...language.types import INT, Array, Product
from ..analyses.single_axes import only_item
from ..expressions.rules import expression
from ..operations import arrays, numeric
from ..operations.functions import Env
from ..operations.state import Parser, with_lets
from .along import as_array, inside
from .options import keyword
from .reductions import operand


def broadcast_to(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.broadcast_to(xs, shape)``."""
    return in_shape(p, node, operand(p, node.args[0], env), expression(p, node.args[1], env))


@with_lets
def in_shape(p: Parser, node: ast.AST, xs: Term, shape: Term) -> Term:
    """Give an array in a shape; a run fails where an axis has another size, which the text does not show to be one."""
    shape = shape if isinstance(shape, Tuple) else p.bound("shape", shape)
    given = parts(shape) if isinstance(shape.type, Product) else [shape]
    sizes = [p.bound("n", arrays.counted(p, p.coerce(node, size, INT))) for size in given]
    xs = p.bound("xs", xs)
    own, single = arrays.axes(xs), p.single_axes.of(xs)
    if len(own) > len(sizes):
        p.error(node, "a shape of fewer axes than the array", "give a size for each axis")
    for k, size in enumerate(own):
        if k not in single:
            p.bound("n", Op("iequal", (size, sizes[len(sizes) - len(own) + k]), INT))
    return spread(p, xs, sizes, single)


def spread(p: Parser, xs: Term, sizes: Sequence[Term], single: frozenset[int]) -> Term:
    """Repeat an array along leading axes, and along its own of one element."""
    if not sizes:
        return xs
    if len(sizes) > numeric.rank(xs.type):
        return Replicate(sizes[0], spread(p, xs, sizes[1:], single))
    assert isinstance(xs.type, Array)
    inner = frozenset(axis - 1 for axis in single if axis)
    if 0 in single:
        return Replicate(sizes[0], spread(p, only_item(xs), sizes[1:], inner))
    row = p.fresh("row", xs.type.element)
    return Map((row,), spread(p, row, sizes[1:], inner), (xs,))


@with_lets
def broadcast_arrays(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.broadcast_arrays(xs, ys)``."""
    given = [p.bound("xs", operand(p, a, env)) for a in node.args]
    each = range(len(given))
    return Tuple(tuple(numeric.elementwise(p, node, lambda p, node, xs, k=k: xs[k], given) for k in each))


@with_lets
def meshgrid(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.meshgrid(x, y, ...)``: each vector along its own axis, of which the first two are exchanged."""
    given = [p.bound("x", as_array(operand(p, a, env))) for a in node.args]
    indexing = keyword(node, "indexing")
    order = p.known(indexing, env) if indexing is not None else "xy"
    if order not in ("xy", "ij") or any(numeric.rank(x.type) != 1 for x in given):
        p.on_duals(node, "a grid of something other than vectors", "give vectors")
    order = [1, 0, *range(2, len(given))] if order == "xy" and len(given) > 1 else list(range(len(given)))
    return Tuple(tuple(along_axis(p, x, [given[j] for j in order], order.index(k)) for k, x in enumerate(given)))


def along_axis(p: Parser, x: Term, axes: Sequence[Term], axis: int) -> Term:
    """Give a grid of the sizes of vectors, that is one of them along an axis."""

    def repeated(term: Term, vectors: Sequence[Term]) -> Term:
        for vector in reversed(vectors):
            term = Replicate(Size(vector), term)
        return term

    assert isinstance(x.type, Array)
    each = p.fresh("x", x.type.element)
    return repeated(Map((each,), repeated(each, axes[axis + 1 :]), (x,)), axes[:axis])


def outer(combine: Callable[[Parser, ast.AST, list[Term]], Term]) -> Callable[[Parser, ast.Call, Env], Term]:
    """``np.add.outer(xs, ys)`` and the like: each element of the first array with the whole second one."""

    @with_lets
    def handle(p: Parser, node: ast.Call, env: Env) -> Term:
        p.by_numpy = True
        xs, ys = operand(p, node.args[0], env), p.bound("ys", operand(p, node.args[1], env))
        return inside(p, xs, numeric.rank(xs.type), lambda p, x: combine(p, node, [x, ys]))

    return handle
