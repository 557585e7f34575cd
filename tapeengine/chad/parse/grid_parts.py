"""``grid[i, a:b] = v``, ``grid[:, j] += v``, ``grid[i] = v``: parts of grids, which are changed element by element.

A grid is one array of its elements (`tapeengine.chad.parse.grids`). Loops over the axes of a part change only the
elements of the part, each in constant time; reading a part makes only the part.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from .. import written
from ..terms import Build, For, Index, Op, Proj, Term, Tuple, lit
from ..types import BOOL, INT, Array, numbers_of, show
from .expressions import read_ahead
from .functions import Env
from .grids import cell, counted_from_end, is_within, rows, unless
from .numeric import of_kind, rank
from .outputs import is_exact
from .partial import Change, held_type
from .parts import At, Between, Key, Places, along_first, count, keyed, parts_of
from .state import Parser
from .subscripts import with_axes


def lists_in(p: Parser, parts: Sequence[ast.expr], env: Env) -> int:
    """Give the number of arrays of places among indices; a mask of both axes counts twice."""
    return sum(rank(read_ahead(p, part, env).type) for part in parts if not isinstance(part, ast.Slice))


def with_part(p: Parser, node: ast.Subscript, grid: Term, value: Change, env: Env) -> Term | None:
    """Give a grid with another value in the part that an index names; None if loops cannot name the part."""
    table = rows(p, grid)
    parts = parts_of(p, node.slice, table, env)
    if lists_in(p, parts, env) > 1:
        return None
    p.operated(node, [(node.value, table)])

    def changed(axes: Sequence[Key]) -> Term:
        cells, depth = Proj(grid, 0), sum(not isinstance(key, At) for key in axes)
        new = value(read(p, grid, axes))
        of = held_type(p, node, node.value, numbers_of(cells.type), numbers_of(new.type))
        if rank(new.type) > depth or (is_exact(node) and rank(new.type) != depth):
            p.error(node, f"{show(new.type)} for a part of rank {depth}", "give an array of the part's shape")
        kept = p.convert(cells, Array(of))
        assert kept is not None
        whole = grid if kept is cells else Tuple((kept, *sizes(grid)))
        return p.let(
            "v", of_kind(p, node, new, of), lambda v: p.let("grid", whole, lambda g: stored(p, g, axes, v, depth))
        )

    return keyed(p, node, parts, sizes(grid), [], env, lambda keys: for_both(p, grid, keys, changed))


def part_of(p: Parser, node: ast.Subscript, grid: Term, env: Env) -> Term | None:
    """Give the part of a grid that an index names; None if loops cannot name the part."""
    index = with_axes(p, node.slice, env)
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    lists = lists_in(p, parts, env) if len(parts) <= 2 and all(map(is_written, parts)) else 2
    if lists > 1:
        return None
    if lists or isinstance(index, ast.Tuple):  # which lists do not take
        p.operated(node, [(node.value, rows(p, grid))])
    return keyed(
        p, node, parts, sizes(grid), [], env, lambda keys: for_both(p, grid, keys, lambda axes: read(p, grid, axes))
    )


def is_written(part: ast.expr) -> bool:
    """Tell whether an index is no ``None`` and no ``...``, and the step of a slice a positive number."""
    if isinstance(part, ast.Slice):
        step = getattr(part.step, "value", 0)
        return part.step is None or (type(step) is int and step > 0)
    return not isinstance(part, ast.Constant) or type(part.value) is int


def sizes(grid: Term) -> list[Term]:
    """Give the sizes of both axes."""
    return [Proj(grid, 1), Proj(grid, 2)]


def for_both(p: Parser, grid: Term, keys: Sequence[Key], then: Callable[[Sequence[Key]], Term]) -> Term:
    """Give a key for each of the two axes; a single place that is out of range fails, also if the part is empty."""
    every = [Between(lit(0), n, 1, is_all=True) for n in sizes(grid)]

    def located(done: Sequence[Key], left: Sequence[Key]) -> Term:
        if not left:
            return then(done)
        key, *others = left
        if not isinstance(key, At):
            return located([*done, key], others)
        place = checked(p, key.place, sizes(grid)[len(done)])
        return p.let("at", place, lambda at: located([*done, At(at)], others))

    return located([], [*keys, *every[len(keys) :]])


def at_step(p: Parser, key: Between | Places, k: Term, size: Term) -> Term:
    """Give the place along an axis that is the k-th of a key."""
    if isinstance(key, Places):
        return checked(p, Index(key.indices, k), size)
    step = k if key.step == 1 else Op("imul", (k, lit(key.step)), INT)
    return Op("iadd", (key.low, step), INT)


def checked(p: Parser, at: Term, size: Term) -> Term:
    """Give a place counted from the start; one that is out of range fails."""
    counted = counted_from_end(p, at, size)
    return p.let("at", counted, lambda at: unless(Op("not", (is_within(at, size),), BOOL), at))


def read(p: Parser, grid: Term, keys: Sequence[Key], places: Sequence[Term] = ()) -> Term:
    """Give a part of a grid."""
    if len(places) == 2:
        return Index(Proj(grid, 0), cell(grid, *places))
    key, size = keys[len(places)], Proj(grid, len(places) + 1)
    if isinstance(key, At):
        return read(p, grid, keys, [*places, key.place])
    k = p.fresh("k", INT)
    row = p.let("at", at_step(p, key, k, size), lambda at: read(p, grid, keys, [*places, at]))
    return Build(count(key), k, row)


def stored(p: Parser, grid: Term, keys: Sequence[Key], v: Term, depth: int) -> Term:
    """Give a grid with a value in the part that keys name, which has `depth` axes."""
    n, m = sizes(grid)

    def within(state: Term, places: Sequence[Term], v: Term, depth: int) -> Term:
        if len(places) == 2:
            at = cell(grid, *places)
            return p.let("value", v, lambda v: p.let("place", at, lambda at: changed(state, at, v)))
        key, size = keys[len(places)], (n, m)[len(places)]
        if isinstance(key, At):
            return within(state, [*places, key.place], v, depth)
        k, inner = p.fresh("k", INT), p.fresh("grid", grid.type)
        own, fitting = along_first(p, v, depth, k, count(key))
        at = at_step(p, key, k, size)
        body = p.let("at", at, lambda at: within(inner, [*places, at], own, depth - 1))
        return fitting(For(count(key), k, inner, state, body))

    def changed(state: Term, at: Term, v: Term) -> Term:
        return Tuple((written.replaced(Proj(state, 0), p.fresh("j", INT), at, v), n, m))

    return within(grid, [], v, depth)
