"""numpy's functions that move, repeat or choose parts of an array along its axes, for arrays of any rank."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy

from ...language import in_language
from ...language.terms import (
    Build,
    Elements,
    Gather,
    Index,
    Literal,
    Op,
    Replicate,
    Size,
    Term,
    Tuple,
    counted,
    lit,
    parts,
)
from ...language.types import BOOL, FLOAT, INT, Array, Product, Type, numbers_of, show
from ..analyses.single_axes import only_item
from ..expressions.rules import expression
from ..operations import arrays, numeric, shapes, whole
from ..operations.functions import Env
from ..operations.registered import primitive
from ..operations.state import Parser, with_lets
from .options import keyword
from .reductions import shown, written_axes

Change = Callable[[Parser, Term], Term]


def array_at(p: Parser, node: ast.Call, env: Env) -> Term:
    """Give the first argument, a number as an array of one element."""
    return as_array(argument(p, node, node.args[0], env))


def argument(p: Parser, node: ast.Call, given: ast.expr, env: Env) -> Term:
    """Give an argument that is a number or an array; of a tuple numpy makes an array."""
    (found,) = whole.as_numpy(p, [given], [expression(p, given, env)])
    found = whole.array(p, node, found) if isinstance(found.type, Product) else found
    if numbers_of(found.type) not in (FLOAT, INT, BOOL):
        p.on_duals(given, f"an array of {show(found.type)}", "give an array of numbers")
    return found


def as_array(term: Term) -> Term:
    """Give a number as an array of one element."""
    return term if isinstance(term.type, Array) else Elements((term,), term.type)


def along_one(p: Parser, node: ast.Call, xs: Term, change: Change, env: Env) -> Term:
    """Change an array along the axis that a call names; without one, all its numbers in a row."""
    p.by_numpy = True
    axes = written_axes(p, keyword(node, "axis"), env)
    if axes is None:
        return change(p, shapes.flattened(p, node, xs))
    if len(axes) != 1:
        p.on_duals(node, "several axes", "write one axis")
    return arrays.inside(p, xs, arrays.counted_axis(p, node, axes[0], numeric.rank(xs.type)), change)


def bound_index(p: Parser, node: ast.Call, env: Env) -> Term:
    """Give the second argument, integers, as a variable."""
    found = argument(p, node, node.args[1], env)
    of: Type = INT
    for _ in range(numeric.rank(found.type)):
        of = Array(of)
    return p.bound("k", p.coerce(node, found, of))


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


@with_lets
def backwards(p: Parser, xs: Term) -> Term:
    """Give an array from its end."""
    xs, i = p.bound("xs", xs), p.fresh("i", INT)
    last = Op("isub", (Size(xs), lit(1)), INT)
    return Build(Size(xs), i, Index(xs, Op("isub", (last, i), INT)))


def flip(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.flip(xs, axis)``: along all axes, or those that are named."""
    xs = argument(p, node, node.args[0], env)
    n = numeric.rank(xs.type)
    axes = written_axes(p, keyword(node, "axis"), env)
    for axis in range(n) if axes is None else once(p, node, axes, n):
        xs = arrays.inside(p, xs, axis, backwards)
    return xs


def once(p: Parser, node: ast.AST, axes: Sequence[int], n: int) -> list[int]:
    """Give axes as they are counted from the first one, each of which may be named once."""
    found = [arrays.counted_axis(p, node, axis, n) for axis in axes]
    if len(set(found)) < len(found):
        p.error(node, "the same axis twice", "name each axis once")
    return found


@with_lets
def rot90(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.rot90(xs, k, axes)``: a quarter turn is an exchange of axes and a flip."""
    xs = argument(p, node, node.args[0], env)
    n = numeric.rank(xs.type)
    turns = shown(p, keyword(node, "k") or ast.Constant(1), env)
    axes = once(p, node, written_axes(p, keyword(node, "axes") or ast.Constant((0, 1)), env) or (), n)  # type: ignore[arg-type]
    if type(turns) is not int or len(axes) != 2:
        p.on_duals(node, "turns that are not written out", "write np.rot90(xs, 1)")
    flips = {0: (), 1: (1,), 2: (0, 1), 3: (0,)}[turns % 4]
    for k in flips:
        xs = arrays.inside(p, xs, axes[k], backwards)
    order = list(range(n))
    if turns % 2:
        order[axes[0]], order[axes[1]] = axes[1], axes[0]
    return arrays.permuted(p, xs, order)


@with_lets
def roll(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.roll(xs, k, axis)``; without an axis, of all numbers in a row."""
    xs = p.bound("xs", whole.array(p, node, argument(p, node, node.args[0], env)))
    k = expression(p, node.args[1], env)
    if k.type != INT:
        p.on_duals(node, "several shifts, or one that is no integer", "roll along one axis after the other")
    k = p.bound("k", k)

    @with_lets
    def rolled(p: Parser, xs: Term) -> Term:
        xs, i = p.bound("xs", xs), p.fresh("i", INT)
        return Build(Size(xs), i, Index(xs, Op("imod", (Op("isub", (i, k), INT), Size(xs)), INT)))

    made = along_one(p, node, xs, rolled, env)
    if numeric.rank(made.type) == numeric.rank(xs.type):
        return made
    return p.within("xs", made, lambda flat: shapes.in_shape(p, flat, arrays.axes(xs)))


@with_lets
def repeat(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.repeat(xs, n, axis)``: each element as often, or each by its own number."""
    xs, n = array_at(p, node, env), bound_index(p, node, env)
    if numeric.rank(n.type) > 1:
        p.error(node, f"the numbers of repetitions are a {show(n.type)}", "give a number, or one for each element")

    @with_lets
    def repeated(p: Parser, xs: Term) -> Term:
        if isinstance(n.type, Array):
            return p.grammar.apply_written(p, node, p.program_of(in_language.repeated), [xs, n])
        xs, i = p.bound("xs", xs), p.fresh("i", INT)
        return Build(Op("imul", (Size(xs), times), INT), i, Index(xs, Op("ifloordiv", (i, times), INT)))

    times = n if isinstance(n.type, Array) else p.bound("n", arrays.counted(p, n))
    return along_one(p, node, xs, repeated, env)


@with_lets
def take(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.take(xs, indices, axis)``."""
    mode = keyword(node, "mode")
    if mode is not None and p.known(mode, env) != "raise":
        p.on_duals(mode, "indices out of range", "write mode='raise'")
    xs, indices = array_at(p, node, env), bound_index(p, node, env)
    return along_one(p, node, xs, lambda p, xs: p.within("xs", xs, lambda xs: at(p, xs, indices)), env)


def at(p: Parser, xs: Term, indices: Term) -> Term:
    """Give the elements at indices, in their shape."""
    if numeric.rank(indices.type) < 2:
        return Gather(xs, indices) if isinstance(indices.type, Array) else Index(xs, indices)
    return p.of_each(indices, lambda k: at(p, xs, k), "k")


@with_lets
def tile(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.tile(xs, reps)``, where the text shows how many axes are repeated."""
    xs, found = array_at(p, node, env), expression(p, node.args[1], env)
    if not isinstance(found.type, Array):
        given = list(parts(found)) if isinstance(found.type, Product) else [found]
    elif isinstance(found, Elements):
        given = list(found.items)
    else:
        p.on_duals(node, "a number of axes that a run decides", "write np.tile(xs, (n, m))")
    reps = [p.bound("n", arrays.counted(p, p.coerce(node, x, INT))) for x in given]
    while numeric.rank(xs.type) < len(reps):
        xs = arrays.expanded(p, xs, 0)
    for axis, n in enumerate(reps, numeric.rank(xs.type) - len(reps)):
        if not (isinstance(n, Literal) and n.value == 1):
            xs = arrays.inside(p, xs, axis, lambda p, xs, n=n: numeric.repeated(p, xs, n))  # type: ignore[misc]
    return xs


def broadcast_to(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.broadcast_to(xs, shape)``."""
    return in_shape(p, node, argument(p, node, node.args[0], env), expression(p, node.args[1], env))


@with_lets
def in_shape(p: Parser, node: ast.AST, xs: Term, shape: Term) -> Term:
    """Give an array in a shape; a run fails where an axis has another size, which the text does not show to be one."""
    shape = shape if isinstance(shape, Tuple | Elements) else p.bound("shape", shape)
    sizes = [p.bound("n", arrays.counted(p, p.coerce(node, size, INT))) for size in arrays.sizes_of(p, node, shape)]
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
    inner = frozenset(axis - 1 for axis in single if axis)
    if 0 in single:
        return Replicate(sizes[0], spread(p, only_item(xs), sizes[1:], inner))
    return p.of_each(xs, lambda row: spread(p, row, sizes[1:], inner))


@with_lets
def outer(p: Parser, node: ast.Call, env: Env, combine: Callable[[Parser, ast.AST, list[Term]], Term]) -> Term:
    """``np.add.outer(xs, ys)`` and the like: each element of the first array with the whole second one."""
    p.by_numpy = True
    xs, ys = argument(p, node, node.args[0], env), p.bound("ys", argument(p, node, node.args[1], env))
    return arrays.inside(p, xs, numeric.rank(xs.type), lambda p, x: combine(p, node, [x, ys]))
