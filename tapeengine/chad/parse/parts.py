"""``a[:, 0] = v``, ``a[1:, ::2] += v``, ``a[[0, 2]] = v``: an array of which a part is replaced, with broadcasting.

An index is a key for each axis. The replaced array is built key by key; a run whose sizes do not fit fails, and the
plain function decides what that means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import written
from ..sugar import wrapped
from ..terms import Build, Filter, For, If, Index, Let, Literal, Map, Op, Size, Term, lit
from ..types import BOOL, INT, Array, Type, numbers_of, show
from . import arrays, numeric
from .expressions import expression, read_ahead
from .functions import Env
from .numeric import rank
from .outputs import is_exact
from .partial import Change, held_type
from .single_axes import only_item
from .state import Parser
from .subscripts import along_axes, bounds, is_new_axis, with_axes, written_out


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
    """An array of places along an axis."""

    indices: Term


Key = At | Between | Places
Keys = Sequence[Key]


def parts_of(p: Parser, index: ast.expr, array: Term, env: Env) -> list[ast.expr]:
    """Give the index along each axis that is written."""
    index = written_out(with_axes(p, index, env), array)
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if any(is_new_axis(part) for part in parts):
        p.error(index, "an assignment to a new axis", "leave None out, and give the value an axis")
    if len(parts) > rank(array.type):
        p.error(index, f"{len(parts)} indices of an array of rank {rank(array.type)}", "write one for each axis")
    return parts


def with_parts(p: Parser, node: ast.Subscript, array: Term, value: Change, env: Env) -> Term:
    """Give an array with another value in the part that an index names."""
    parts = parts_of(p, node.slice, array, env)
    p.operated(node, [(node.value, array)])
    mask = typed(p, parts[0], env) if len(parts) == 1 else None
    if mask is not None and numbers_of(mask) == BOOL and rank(mask) > 1:
        return with_mask(p, node, array, expression(p, parts[0], env), value)

    def replaced(keys: Keys) -> Term:
        old = along_axes(p, node, array, parts, env)
        new = value(old)
        of = held_type(p, node, node.value, numbers_of(array.type), numbers_of(new.type))
        if is_exact(node) and rank(new.type) != rank(old.type):
            p.error(node, f"{show(new.type)} as the output", "give an array of the shape of the result")
        return p.let("v", numeric.of_kind(p, node, new, of), lambda v: changed(p, node, array, keys, v))

    return keyed(p, node, parts, sizes_of(array), [], env, replaced)


def sizes_of(array: Term) -> list[Term]:
    """Give the sizes of the axes of an array."""
    lines = [array]
    while rank(lines[-1].type) > 1:
        lines.append(arrays.row(lines[-1]))
    return list(map(Size, lines))


def typed(p: Parser, part: ast.expr, env: Env) -> Type | None:
    """Give the type of an index; None for a slice."""
    return None if isinstance(part, ast.Slice) else read_ahead(p, part, env).type


def with_mask(p: Parser, node: ast.Subscript, array: Term, mask: Term, value: Change) -> Term:
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


def keyed(
    p: Parser,
    node: ast.AST,
    parts: Sequence[ast.expr],
    sizes: Sequence[Term],
    keys: list[Key],
    env: Env,
    then: Callable[[Keys], Term],
) -> Term:
    """Evaluate the keys of an index of axes of some sizes."""
    if not parts:
        return then(keys)
    first, rest, n = parts[0], parts[1:], sizes[0]

    def more(key: Key) -> Term:
        return keyed(p, node, rest, sizes[1:], [*keys, key], env, then)

    if isinstance(first, ast.Slice):
        step = 1 if first.step is None else expression(p, first.step, env)
        if not isinstance(step, int):
            if not isinstance(step, Literal) or step.type != INT or step.value < 1:
                p.error(node, "a step that is not a positive number written out", "write a loop over the indices")
            step = int(step.value)
        is_all = first.lower is first.upper is first.step is None
        ends = ast.copy_location(ast.Slice(first.lower, first.upper), first)

        def between(low: Term, high: Term) -> Term:
            return p.let("high", high, lambda high: more(Between(low, high, step, is_all)))

        return bounds(p, ends, n, env, between)
    given = expression(p, first, env)
    if given.type == Array(BOOL):
        j, k = p.fresh("j", INT), p.fresh("k", INT)

        def places(mask: Term) -> Term:
            size = Op("iequal", (n, Size(mask)), INT)
            found = Filter(k, Index(mask, k), Build(size, j, j))
            return p.let("places", found, lambda found: more(Places(found)))

        return p.let("mask", given, places)
    if given.type == Array(INT):
        return p.let("places", given, lambda found: more(Places(found)))
    return p.let("at", p.coerce(first, given, INT), lambda at: more(At(at)))


def changed(p: Parser, node: ast.AST, array: Term, keys: Keys, v: Term) -> Term:
    """Give an array with a value in the part that keys name."""
    several = sum(isinstance(key, Places) for key in keys) > 1
    if several and any(isinstance(key, Between) for key in keys):
        p.error(node, "a slice beside several arrays of indices", "write a loop over the indices")
    depth = rank(array.type) - sum(isinstance(key, At) for key in keys)
    depth -= max(0, sum(isinstance(key, Places) for key in keys) - 1)
    if rank(v.type) > depth:
        p.error(node, f"{show(v.type)} for a part of rank {depth}", "give an array of the part's shape")
    return p.let("xs", array, lambda xs: part(p, node, xs, keys, v, depth))


def part(p: Parser, node: ast.AST, xs: Term, keys: Keys, v: Term, depth: int) -> Term:
    """Give an array, which is a variable, with a value in a part that has `depth` axes."""
    if not keys:
        return filled(p, xs, v)
    key, rest = keys[0], keys[1:]
    if isinstance(key, At):
        return placed(p, xs, key.place, lambda row: part(p, node, row, rest, v, depth))
    if isinstance(key, Places):
        return at_places(p, node, xs, keys, v, depth)
    j = p.fresh("j", INT)
    distance = Op("isub", (j, key.low), INT)
    own, checked = along_first(p, v, depth, divided(distance, key.step), count(key))
    row = p.let("row", Index(xs, j), lambda row: part(p, node, row, rest, own, depth - 1))
    if not key.is_all:
        inside: Term = If(Op("le", (key.low, j), BOOL), Op("lt", (j, key.high), BOOL), lit(False))
        if key.step > 1:
            inside = If(inside, Op("eq", (Op("imod", (distance, lit(key.step)), INT), lit(0)), BOOL), lit(False))
        row = If(inside, row, Index(xs, j))
    return checked(Build(Size(xs), j, row))


def count(key: Between | Places) -> Term:
    """Give the number of places that a key names."""
    if isinstance(key, Places):
        return Size(key.indices)
    length = Op("imax", (Op("isub", (key.high, key.low), INT), lit(0)), INT)
    return length if key.step == 1 else divided(Op("iadd", (length, lit(key.step - 1)), INT), key.step)


def divided(distance: Term, step: int) -> Term:
    """Give the number of whole steps in a distance."""
    return distance if step == 1 else Op("ifloordiv", (distance, lit(step)), INT)


def along_first(p: Parser, v: Term, depth: int, at: Term, count: Term) -> tuple[Term, Callable[[Term], Term]]:
    """Give the part of a value for one place along its first axis, and what checks the number of these."""
    if rank(v.type) < depth:
        return v, lambda made: made
    if 0 in p.single_axes.of(v):
        return only_item(v), lambda made: made
    return Index(v, at), lambda made: Let(p.fresh("n", INT), Op("iequal", (Size(v), count), INT), made)


def at_places(p: Parser, node: ast.AST, xs: Term, keys: Keys, v: Term, depth: int) -> Term:
    """Give an array with a value at places one after the other, so that the last of equal ones counts."""
    lists = [key.indices for key in keys if isinstance(key, Places)]
    size = lists[0]
    count: Term = Size(size)
    for other in lists[1:]:
        count = Op("iequal", (count, Size(other)), INT)
    k, state = p.fresh("k", INT), p.fresh("state", xs.type)
    own, checked = along_first(p, v, depth, k, Size(size))

    def each(xs: Term, keys: Keys) -> Term:
        if not keys or isinstance(keys[0], Between):
            return part(p, node, xs, keys, own, depth - 1)
        key = keys[0]
        at = Index(key.indices, k) if isinstance(key, Places) else key.place
        return p.let("at", at, lambda at: placed(p, xs, at, lambda row: each(row, keys[1:])))

    return checked(For(count, k, state, xs, each(state, keys)))


def placed(p: Parser, xs: Term, at: Term, change: Change) -> Term:
    """Give an array with another element at a place; a place that is not there fails."""

    def with_row(row: Term) -> Term:
        return p.let("new", change(row), lambda new: replaced(p, xs, at, new))

    return p.let("row", Index(xs, at), with_row)


def replaced(p: Parser, array: Term, at: Term, new: Term) -> Term:
    """Give an array with the element at an index in range replaced."""
    j = p.fresh("j", INT)
    old = p.convert(Index(array, j), new.type)
    assert old is not None
    if isinstance(at, Literal) and at.value >= 0:
        return written.replaced(array, j, at, new, old)
    if written.is_flat(new.type):
        return written.replaced(array, j, wrapped(at, array), new, old)
    return p.let("place", wrapped(at, array), lambda k: written.replaced(array, j, k, new, old))


def filled(p: Parser, xs: Term, v: Term) -> Term:
    """Give an array of the same shape with the elements of a value, which is broadcast."""
    if not isinstance(xs.type, Array):
        return v
    row = p.fresh("row", xs.type.element)
    if rank(v.type) < rank(xs.type):
        return Map((row,), filled(p, row, v), (xs,))
    if 0 in p.single_axes.of(v):
        return p.let("v", only_item(v), lambda v: Map((row,), filled(p, row, v), (xs,)))
    assert isinstance(v.type, Array)
    own = p.fresh("v", v.type.element)
    p.single_axes[own.name] = frozenset(axis - 1 for axis in p.single_axes.of(v) if axis)
    return Map((row, own), filled(p, row, own), (xs, v), broadcasts=True)
