"""``grid[i, a:b] = v``, ``grid[:, j] += v``, ``grid[i] = v``: parts of grids, which are changed element by element.

A grid is one array of its elements (`tapeengine.chad.parse.operations.grids`). Loops over the axes of a part change
only the elements of the part, each in constant time; reading a part makes only the part.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ...language import written
from ...language.nodes import every_node
from ...language.terms import Build, For, Index, Op, Proj, Size, Term, Tuple, lit
from ...language.types import BOOL, INT, Array, Product, numbers_of
from ..analyses.rectangles import changed_part, reason
from ..expressions.rules import read_ahead
from ..expressions.subscripts import with_axes
from ..operations.functions import Env
from ..operations.grids import cell, counted_from_end, is_within, rows, unless
from ..operations.numeric import rank
from ..operations.state import Parser, with_lets
from .parts import At, Between, Change, Key, Store, along_first, count, depth_of, keyed, parts_of, stepped, stored_value


def is_named(p: Parser, parts: Sequence[ast.expr], env: Env) -> bool:
    """Tell whether loops over the axes name a part: none of its indices is a mask of both, or a tuple."""
    of = [read_ahead(p, part, env).type for part in parts if not isinstance(part, ast.Slice)]
    return not any(isinstance(each, Product) or each == Array(Array(BOOL)) for each in of)


def with_part(p: Parser, node: ast.Subscript, grid: Term, value: Change, env: Env) -> Term | None:
    """Give a grid with another value in the part that an index names; None if loops cannot name the part."""
    table = rows(p, grid)
    parts = parts_of(p, node.slice, table, env)
    if not is_named(p, parts, env):
        return None
    is_own = hasattr(node, "is_own_row") and p.is_list(node.value)
    is_one = len(parts) == 1 and not isinstance(parts[0], ast.Slice)
    is_row = is_own or (is_one and is_list_for(p, node) and p.as_list(node.value))
    if not is_row:
        p.operated(node, [(node.value, table)])
    elif not is_own and (why := shared_row(p, node.value)):
        p.error(node, f"a list becomes a row of {ast.unparse(node.value)}, and {why}", "copy it: list(...)")
    return with_named_part(p, node, grid, value, parts, env, is_row)


def is_list_for(p: Parser, node: ast.Subscript) -> bool:
    """Tell whether a list is assigned to an element of a list."""
    values = [s.value for s in every_node(p.tree) if isinstance(s, ast.Assign) and node in s.targets]
    return bool(values) and p.joins(node.value) and p.as_list(values[0])


def shared_row(p: Parser, whole: ast.expr) -> str | None:
    """Say why a list that becomes a row may be in two places, if anything but assignments of whole rows changes one."""
    name = ast.unparse(whole)
    nodes = every_node(p.tree)
    bound = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if [*bound, *(getattr(n, "arg", "") for n in nodes)].count(name) > 1:
        return f"{name} is assigned elsewhere, or changed by a call"
    changes = [n for n in nodes if changed_part(n) == name]
    if all(isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) for n in changes):
        return None
    return reason(p.changes, name, [name], p.is_copy, lambda _: True)


@with_lets
def with_named_part(
    p: Parser, node: ast.Subscript, grid: Term, value: Change, parts: Sequence[ast.expr], env: Env, is_row: bool
) -> Term:
    """Give a grid with another value in a part that indices name, or a list of lists with another list as a row."""
    axes = for_both(p, grid, keyed(p, node, parts, sizes(grid), env))
    cells, depth = Proj(grid, 0), depth_of(axes, 2)

    def as_row(old: Term) -> Term:
        new = value(old)
        if rank(new.type) != 1:
            p.error(node, "a row of a list becomes another kind of value", "give a list of as many elements")
        return p.element_of(node, new, p.unify(node, old.type, new.type))

    old, change = read(p, grid, axes), as_row if is_row else value
    new, store = stored_value(p, node, change, old, numbers_of(cells.type), depth, env)
    kept = p.convert(cells, Array(numbers_of(new.type)))
    assert kept is not None
    v = p.bound("v", new)
    if is_row:  # which is not broadcast
        p.bound("n", Op("iequal", (Size(v), Proj(grid, 2)), INT))
    whole = p.bound("grid", grid if kept is cells else Tuple((kept, *sizes(grid))))
    return stored(p, whole, whole, axes, v, depth, store)


def part_of(p: Parser, node: ast.Subscript, grid: Term, env: Env) -> Term | None:
    """Give the part of a grid that an index names; None if loops cannot name the part."""
    index = with_axes(p, node.slice, env)
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) > 2 or not all(map(is_written, parts)) or not is_named(p, parts, env):
        return None
    is_place = len(parts) == 1 and not isinstance(index, ast.Slice) and not rank(read_ahead(p, index, env).type)
    if not is_place and not isinstance(index, ast.Slice):  # which lists do not take
        p.operated(node, [(node.value, rows(p, grid))])
    made: Term = p.scoped(lambda: read(p, grid, for_both(p, grid, keyed(p, node, parts, sizes(grid), env))))
    return made


def is_written(part: ast.expr) -> bool:
    """Tell whether an index is neither ``None`` nor ``...``, and the step of a slice is a positive number."""
    if isinstance(part, ast.Slice):
        step = getattr(part.step, "value", 0)
        return part.step is None or (type(step) is int and step > 0)
    return not isinstance(part, ast.Constant) or type(part.value) is int


def sizes(grid: Term) -> list[Term]:
    """Give the sizes of both axes."""
    return [Proj(grid, 1), Proj(grid, 2)]


def for_both(p: Parser, grid: Term, keys: Sequence[Key]) -> Sequence[Key]:
    """Give a key for each of the two axes; a single place that is out of range fails, also if the part is empty."""
    found: list[Key] = []
    for n, key in itertools.zip_longest(sizes(grid), keys):
        key = key or Between(lit(0), n, 1, is_all=True)
        found.append(At(p.bound("at", checked(p, key.place, n))) if isinstance(key, At) else key)
    return found


def along(p: Parser, grid: Term, keys: Sequence[Key], k: Term) -> Sequence[Key]:
    """Bind the keys of the k-th part along the first axis of a part."""
    first = next(i for i, key in enumerate(keys) if not isinstance(key, At))
    key = keys[first]
    if not isinstance(key, Between):
        return stepped(p, keys, k, lambda axis, at: checked(p, at, sizes(grid)[axis]))
    at = Op("iadd", (key.low, k if key.step == 1 else Op("imul", (k, lit(key.step)), INT)), INT)
    return [*keys[:first], At(p.bound("at", at)), *keys[first + 1 :]]


def checked(p: Parser, at: Term, size: Term) -> Term:
    """Give a place counted from the start; one that is out of range fails."""
    counted = counted_from_end(p, at, size)
    return p.within("at", counted, lambda at: unless(Op("not", (is_within(at, size),), BOOL), at))


def read(p: Parser, grid: Term, keys: Sequence[Key]) -> Term:
    """Give a part of a grid."""
    places = [key.place for key in keys if isinstance(key, At)]
    if len(places) == 2:
        return Index(Proj(grid, 0), cell(grid, *places))
    k = p.fresh("k", INT)
    return Build(count(p, keys), k, p.scoped(lambda: read(p, grid, along(p, grid, keys, k))))


@with_lets
def stored(p: Parser, grid: Term, state: Term, keys: Sequence[Key], v: Term, depth: int, store: Store) -> Term:
    """Give a new state of a grid, with a value in the part of `depth` axes that the keys select."""
    places = [key.place for key in keys if isinstance(key, At)]
    if len(places) == 2:
        at, cells = p.bound("place", cell(grid, *places)), Proj(state, 0)
        new = p.bound("value", store(Index(cells, at), v))
        return Tuple((written.replaced(cells, p.fresh("j", INT), at, new), *sizes(grid)))
    k, inner, size = p.fresh("k", INT), p.fresh("grid", grid.type), count(p, keys)
    own = along_first(p, v, depth, k, size)
    step = p.scoped(lambda: stored(p, grid, inner, along(p, grid, keys, k), own, depth - 1, store))
    return For(size, k, inner, state, step)
