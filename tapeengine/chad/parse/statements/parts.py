"""``a[:, 0] = v``, ``a[1:, ::2] += v``, ``a[[0, 2]] = v``: an array of which a part is replaced, with broadcasting.

Elements of a vector, ``ys[a:b] = v`` and ``ys[mask] = v``, come from a number, or one by one from an array of as many.
Otherwise an index is a key for each axis, and the replaced array is built key by key. A run whose sizes do not fit
fails, and the plain function decides what that means.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...language import written
from ...language.sugar import wrapped
from ...language.terms import Build, For, If, Index, Let, Literal, Map, Op, Scan, Size, Term, Total, Var, counted, lit
from ...language.types import BOOL, INT, MANY, Array, Type, numbers_of, show
from ..analyses.outputs import is_exact
from ..analyses.single_axes import only_item
from ..expressions.rules import expression, read_ahead
from ..expressions.subscripts import (
    along_axes,
    bounds,
    divided_up,
    is_apart,
    is_new_axis,
    is_places,
    masked,
    step_of,
    true_places,
    with_axes,
    written_out,
)
from ..operations import arrays, numeric
from ..operations.functions import Env
from ..operations.numeric import rank
from ..operations.state import Parser, with_lets


@dataclass(frozen=True)
class At:
    """One place along an axis."""

    place: Term


@dataclass(frozen=True)
class Between:
    """The places from one to another, in steps; `is_all` says that these are all of an axis."""

    low: Term
    high: Term
    step: int
    is_all: bool


@dataclass(frozen=True)
class Places:
    """An array of places along an axis; the items of all such arrays are taken together, with broadcasting."""

    indices: Term


Key = At | Between | Places
Keys = Sequence[Key]
#: Maps replaced elements to the assigned ones.
Change = Callable[[Term], Term]
#: Gives what stands in the place of a part from that part and a value.
Store = Callable[[Term, Term], Term]


def parts_of(p: Parser, index: ast.expr, array: Term, env: Env) -> list[ast.expr]:
    """Give the index along each axis that is written."""
    index = written_out(with_axes(p, index, env), array)
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if any(is_new_axis(part) for part in parts):
        p.error(index, "an assignment to a new axis", "leave None out, and give the value an axis")
    if len(parts) > rank(array.type):
        p.error(index, f"{len(parts)} indices of an array of rank {rank(array.type)}", "write one for each axis")
    return parts


@with_lets
def with_parts(p: Parser, node: ast.Subscript, array: Term, value: Change, env: Env, is_list: bool = False) -> Term:
    """Give an array, or a list, with another value in the part that an index names."""
    parts = parts_of(p, node.slice, array, env)
    if not (is_list and p.as_list(node.value)):
        p.operated(node, [(node.value, array)])
    if len(parts) == 1 and not isinstance(parts[0], ast.Slice):
        mask = read_ahead(p, parts[0], env)
        if numbers_of(mask.type) == BOOL and rank(mask.type) > 1:
            return with_mask_of_axes(p, node, array, mask, value)
    keys = keyed(p, node, parts, arrays.axes(array), env)
    old, depth = along_axes(p, node, array, parts, env), depth_of(keys, rank(array.type))
    new, store = stored_value(p, node, value, old, numbers_of(array.type), depth, env)
    if is_list and (not rank(new.type) or p.single_axes.of(new)):
        p.error(node, "a part of a list gets one value", "give a list of as many elements, or write a loop")
    if hasattr(node, "one_by_one") and rank(array.type) == 1 and 0 < rank(new.type) < depth:  # numpy is wrong there
        p.error(node, "a value that is broadcast over the indices", "give np.broadcast_to(value, index.shape)")
    is_first = rank_of_places(keys) and is_apart(not isinstance(key, Between) for key in keys)
    v, xs = p.bound("v", new), p.bound("xs", array)
    return (at_places if is_first else part)(p, xs, keys, v, depth, store)


def stored_value(
    p: Parser, node: ast.Subscript, value: Change, old: Term, of: Type, depth: int, env: Env
) -> tuple[Term, Store]:
    """Give the value for a part of `depth` axes of an array of numbers of a type, and what stores it."""
    new, store = value(old), functools.partial(filled, p)
    of = held_type(p, node, node.value, of, numbers_of(new.type))
    if rank(new.type) > depth or (is_exact(node) and rank(new.type) != depth):
        p.error(node, f"{show(new.type)} for a part of rank {depth}", "give an array of the shape of the result")
    if op := getattr(node, "one_by_one", None):
        new, store = expression(p, op[1], env), functools.partial(numeric.binary, p, node, op[0])
    return numeric.of_kind(p, node, new, of), store


def depth_of(keys: Keys, axes: int) -> int:
    """Give the number of axes of a part of an array."""
    return axes + rank_of_places(keys) - sum(not isinstance(key, Between) for key in keys)


def rank_of_places(keys: Keys) -> int:
    """Give the number of axes that arrays of places make; 0 where there are none."""
    return max((rank(key.indices.type) for key in keys if isinstance(key, Places)), default=0)


def with_mask_of_axes(p: Parser, node: ast.Subscript, array: Term, mask: Term, value: Change) -> Term:
    """Give an array with other numbers where a mask of the same shape is true."""

    def chosen(p: Parser, node_: ast.AST, xs: Sequence[Term]) -> Term:
        new = value(xs[1])
        if isinstance(new.type, Array):
            p.error(node, "an array for the places of a mask of several axes", "use np.where")
        of = held_type(p, node, node.value, xs[1].type, new.type)
        return If(xs[0], numeric.of_kind(p, node, new, of), xs[1])

    if rank(mask.type) != rank(array.type):
        p.error(node, f"a mask of type {show(mask.type)}", "give a mask of the shape of the array")
    return numeric.elementwise(p, node, chosen, (mask, array))


def keyed(p: Parser, node: ast.AST, parts: Sequence[ast.expr], sizes: Sequence[Term], env: Env) -> Keys:
    """Evaluate and bind the keys of an index of axes of some sizes."""
    keys: list[Key] = []
    for part, n in zip(parts, sizes, strict=False):
        if isinstance(part, ast.Slice):
            step = step_of(p, part, env)
            if step < 1:
                p.error(node, "a negative step of a part that changes", "write a loop over the indices")
            low, high = bounds(p, part, n, env)
            keys.append(Between(low, p.bound("high", high), step, part.lower is part.upper is part.step is None))
            continue
        given = expression(p, part, env)
        if is_places(given.type):
            places = true_places(p, given, n) if given.type == Array(BOOL) else given
            keys.append(Places(p.bound("places", places)))
        else:
            keys.append(At(p.bound("at", p.coerce(part, given, INT))))
    return keys


@with_lets
def part(p: Parser, xs: Term, keys: Keys, v: Term, depth: int, store: Store) -> Term:
    """Give an array, which is a variable, with a value in a part that has `depth` axes."""
    if not keys:
        return store(xs, v)
    key, rest = keys[0], keys[1:]
    if isinstance(key, At):
        return placed(p, xs, key.place, lambda row: part(p, row, rest, v, depth, store))
    if isinstance(key, Places):
        return at_places(p, xs, keys, v, depth, store)
    j = p.fresh("j", INT)
    distance = Op("isub", (j, key.low), INT)
    own = along_first(p, v, depth, divided_up(distance, key.step), count(p, keys))
    row = p.within("row", Index(xs, j), lambda row: part(p, row, rest, own, depth - 1, store))
    if not key.is_all:
        inside: Term = If(Op("le", (key.low, j), BOOL), Op("lt", (j, key.high), BOOL), lit(False))
        if key.step > 1:
            inside = If(inside, Op("eq", (Op("imod", (distance, lit(key.step)), INT), lit(0)), BOOL), lit(False))
        row = If(inside, row, Index(xs, j))
    return Build(Size(xs), j, row)


def count(p: Parser, keys: Keys) -> Term:
    """Give the number of places that the first key names, or arrays of places along the first axis that they make."""
    key = next(key for key in keys if not isinstance(key, At))
    if isinstance(key, Between):
        return divided_up(Op("imax", (Op("isub", (key.high, key.low), INT), lit(0)), INT), key.step)
    sizes: list[Term] = [Size(key.indices) for key in outermost(keys) if 0 not in p.single_axes.of(key.indices)]
    return functools.reduce(lambda n, m: Op("iequal", (n, m), INT), sizes or [lit(1)])


def outermost(keys: Keys) -> list[Places]:
    """Give the arrays of places that have the first axis that they make together."""
    top = rank_of_places(keys)
    return [key for key in keys if isinstance(key, Places) and rank(key.indices.type) == top]


def along_first(p: Parser, v: Term, depth: int, at: Term, count: Term) -> Term:
    """Give the part of a value for one place along its first axis; the number of these is compared around it."""
    if rank(v.type) < depth:
        return v
    if 0 in p.single_axes.of(v):
        return only_item(v)
    p.bound("n", Op("iequal", (Size(v), count), INT))
    return Index(v, at)


@with_lets
def at_places(p: Parser, xs: Term, keys: Keys, v: Term, depth: int, store: Store) -> Term:
    """Give an array with a value at places one after the other, so that the last of equal ones counts."""
    k, state, size = p.fresh("k", INT), p.fresh("state", xs.type), count(p, outermost(keys))
    own = along_first(p, v, depth, k, size)

    def step() -> Term:
        following = stepped(p, keys, k, lambda axis, at: at)
        return (at_places if rank_of_places(following) else part)(p, state, following, own, depth - 1, store)

    return For(size, k, state, xs, p.scoped(step))


def stepped(p: Parser, keys: Keys, k: Term, checked: Callable[[int, Term], Term]) -> Keys:
    """Bind the keys of the k-th places along the first axis that arrays of places make."""
    every, done = outermost(keys), list[Key]()
    for axis, key in enumerate(keys):
        if key not in every:
            done.append(key)
            continue
        item = only_item(key.indices) if 0 in p.single_axes.of(key.indices) else Index(key.indices, k)
        is_one = not isinstance(item.type, Array)
        done.append(At(p.bound("at", checked(axis, item))) if is_one else Places(p.bound("places", item)))
    return done


@with_lets
def placed(p: Parser, xs: Term, at: Term, change: Change) -> Term:
    """Give an array with another element at a place; a place that is not there fails."""
    row = p.bound("row", Index(xs, at))
    return replaced(p, xs, at, p.bound("new", change(row)))


def replaced(p: Parser, array: Term, at: Term, new: Term) -> Term:
    """Give an array with the element at an index in range replaced."""
    j = p.fresh("j", INT)
    old = p.convert(Index(array, j), new.type)
    assert old is not None
    if isinstance(at, Literal) and at.value >= 0:
        return written.replaced(array, j, at, new, old)
    if written.is_flat(new.type):
        return written.replaced(array, j, wrapped(at, array), new, old)
    return p.within("place", wrapped(at, array), lambda k: written.replaced(array, j, k, new, old))


def filled(p: Parser, xs: Term, v: Term) -> Term:
    """Give an array of the same shape with the elements of a value, which is broadcast."""
    if not isinstance(xs.type, Array):
        return v
    row = p.fresh("row", xs.type.element)
    if rank(v.type) < rank(xs.type):
        return Map((row,), filled(p, row, v), (xs,))
    if 0 in p.single_axes.of(v):
        return p.within("v", only_item(v), lambda v: Map((row,), filled(p, row, v), (xs,)))
    assert isinstance(v.type, Array)
    own = p.fresh("v", v.type.element)
    p.single_axes[own.name] = frozenset(axis - 1 for axis in p.single_axes.of(v) if axis)
    return Map((row, own), filled(p, row, own), (xs, v), broadcasts=True)


@with_lets
def with_slice(p: Parser, node: ast.Subscript, array: Var, index: ast.Slice, value: Change, env: Env) -> Term:
    """Give an array with other elements between two indices."""
    i, j = p.fresh("i", INT), p.fresh("j", INT)
    low, high = bounds(p, index, Size(array), env)
    count = Op("imax", (Op("isub", (high, low), INT), lit(0)), INT)
    v = p.bound("v", value(Build(count, i, Index(array, Op("iadd", (low, i), INT)))))
    inside = If(Op("le", (low, j), BOOL), Op("lt", (j, high), BOOL), lit(False))
    return where_passing(p, node, array, j, inside, Op("isub", (j, low), INT), v, count)


@with_lets
def with_mask(p: Parser, node: ast.Subscript, array: Var, mask: Term, value: Change) -> Term:
    """Give an array with other elements where a mask of the same size is true."""
    j, m, so_far, x = p.fresh("j", INT), p.fresh("m", BOOL), p.fresh("so_far", INT), p.fresh("x", INT)
    mask = p.bound("mask", mask)
    ones = Map((m,), counted(m), (mask,))
    p.bound("n", Op("iequal", (Size(array), Size(mask)), INT))
    places = p.bound("places", Scan(so_far, x, lit(0), Op("iadd", (so_far, x), INT), ones))  # one more than each place
    v = p.bound("v", value(masked(p, array, mask)))
    place = Op("isub", (Index(places, j), lit(1)), INT)
    return where_passing(p, node, array, j, Index(mask, j), place, v, Total(ones))


def held_type(p: Parser, node: ast.AST, changed: ast.expr, before: Type, new: Type) -> Type:
    """Give the type of the elements of an array that gets others: numpy's arrays keep theirs, and drop fractions."""
    of = p.unify(node, before, new)
    if numbers_of(of) != numbers_of(before) and numbers_of(before) in (INT, BOOL) and not p.as_list(changed):
        what = f"{show(numbers_of(new))} in an array of {show(numbers_of(before))}"
        p.error(node, f"{what}: numpy drops the fraction", "make the array of floats: dtype=float, or np.zeros(n)")
    if numbers_of(of) != numbers_of(before):  # the elements that stay are integers in Python
        p.mixes, p.chooses = True, p.chooses | MANY
    return of


def where_passing(
    p: Parser, node: ast.Subscript, array: Var, j: Var, test: Term, place: Term, v: Term, n: Term
) -> Term:
    """Give an array whose elements that pass a test are a number, or those of another array at their places."""
    if not isinstance(v.type, Array) and p.is_list(node.value):
        p.error(node, "a number for several elements of a list", "write np.array(...) of the list, or [v] * n")
    assert isinstance(array.type, Array)
    new = Index(v, place) if isinstance(v.type, Array) else v
    of = held_type(p, node, node.value, array.type.element, new.type)
    made = Build(Size(array), j, If(test, p.coerce(node, new, of), p.coerce(node, Index(array, j), of)))
    if not isinstance(v.type, Array):
        return made
    return Let(p.fresh("n", INT), Op("iequal", (Size(v), n), INT), made)
