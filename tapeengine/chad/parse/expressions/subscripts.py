"""Subscripts: indices, slices and arrays of indices, along one axis or several; parts by place: ``a, *b = xs``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from ...language import terms
from ...language.kinds import ListOf
from ...language.terms import (
    Build,
    Filter,
    Gather,
    If,
    Index,
    Let,
    Literal,
    Map,
    Op,
    Proj,
    Size,
    Term,
    Tuple,
    lit,
    opened,
)
from ...language.types import BOOL, INT, Array, Product, Text, Type, numbers_of, show
from ..analyses.ownership import is_slice
from ..operations.arrays import axes, expanded, product
from ..operations.functions import Env
from ..operations.grids import counted_from_end, is_within
from ..operations.numeric import elementwise, rank
from ..operations.raising import failing
from ..operations.shapes import element
from ..operations.state import Parser, with_lets
from ..operations.whole import array, items_of
from .dicts import at_key
from .rules import as_names, expression, read_ahead


def subscript(p: Parser, node: ast.AST, term: Term, index: ast.expr, env: Env) -> Term:
    """Indexing of arrays and tuples, and slices of arrays."""
    if not p.is_reached(term):
        return failing()
    if isinstance(term.type, Product) and term.type.name == "dict":
        return at_key(p, node, term, index, env, failing())
    if isinstance(term.type, Product) and not p.is_sequence(term.type):
        return of_record(p, node, term, index, env)
    if not isinstance(term.type, Array | Product):
        p.error(node, f"{show(term.type)} cannot be indexed", "index an array or a tuple")
    given = index
    index = written_out(with_axes(p, index, env), term)
    of_axes = isinstance(index, ast.Tuple) or is_new_axis(index)
    if of_axes and isinstance(term.type, Product):
        p.on_duals(node, f"an index of axes, of {show(term.type)}", "index an array of them")
    if isinstance(node, ast.Subscript) and node.slice is given and of_axes:
        p.operated(node, [(node.value, term)])
    if isinstance(index, ast.Tuple):
        return along_axes(p, node, term, index.elts, env)
    if is_new_axis(index):
        return expanded(p, term, 0)
    if isinstance(term.type, Product) and isinstance(p.known(index, env), str):
        return failing()
    if isinstance(term.type, Product):
        return of_tuple(p, node, term, index, env)
    if isinstance(index, ast.Slice):
        return slice_(p, index, term, env)
    position = expression(p, index, env)
    if is_index(p, position.type):
        p.operated(node, [(node.value, term)] if isinstance(node, ast.Subscript) else [])
        return by_items(p, index, position, env, lambda items, env: along_axes(p, node, term, items.elts, env))
    kind = p.kinds.of(index)
    if isinstance(kind, ListOf) and kind.made is tuple:
        p.error(node, "the index is a tuple whose size is not known", "write the indices out: a[i, j]")
    if isinstance(position.type, Array) and isinstance(node, ast.Subscript):
        p.operated(node, [(node.value, term)])
    if position.type == Array(INT):
        return Gather(term, position)
    if is_places(position.type):
        return pairwise(p, node, term, [index], env)
    if numbers_of(position.type) == BOOL and 0 < rank(position.type) <= rank(term.type):
        return masked(p, term, position)
    place = p.coerce(index, position, INT)
    part = opened(term)[1]
    if is_slice(getattr(node, "value", None)) and isinstance(part, Build) and isinstance(part.body, Index):
        return of_slice(p, term, place)
    if isinstance(term, Build | Map | Let) and rank(term.type) > 1:  # a name for the rows, whose sizes must be known
        return p.within("xs", term, lambda xs: Index(xs, place))
    return Index(term, place)


@with_lets
def of_slice(p: Parser, term: Term, place: Term) -> Term:
    """Give an element of a slice, without making the others."""
    outer, part = opened(term)
    assert isinstance(part, Build) and isinstance(part.body, Index)
    p.lets += outer
    size, xs = p.bound("size", part.size), part.body.array
    at = p.bound("k", counted_from_end(p, place, size))
    nowhere = Op("isub", (lit(-1), Size(xs)), INT)
    return Index(xs, If(is_within(at, size), Let(part.index, at, part.body.index), nowhere))


def is_index(p: Parser, of: Type) -> bool:
    """Tell whether a type is that of a tuple of indices."""
    return isinstance(of, Product) and p.is_sequence(of)


def by_items(p: Parser, index: ast.expr, at: Term, env: Env, body: Callable[[ast.Tuple, Env], Term]) -> Term:
    """Write out a tuple of indices in an expression."""

    def written(names: list[ast.expr], env: Env) -> Term:
        return body(ast.copy_location(ast.Tuple(names, ast.Load()), index), env)

    return as_names(p, "at", index, terms.parts(at), env, written)


def is_places(of: Type) -> bool:
    """Tell whether a type is that of places along an axis: integers, or a mask."""
    return of == Array(BOOL) or (isinstance(of, Array) and numbers_of(of) == INT)


def of_record(p: Parser, node: ast.AST, term: Term, index: ast.expr, env: Env) -> Term:
    """Indexing of a record by a method of its own."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    has_slices = any(isinstance(part, ast.Slice) for part in parts)
    found = None if has_slices else p.grammar.special(p, node, "__getitem__", [term, expression(p, index, env)])
    refuse = p.on_duals if isinstance(term.type, Text) else p.error  # by an index that only a run knows
    return found or refuse(node, f"{show(term.type)} cannot be indexed so", "index an array or a tuple")


def of_tuple(p: Parser, node: ast.AST, term: Term, index: ast.expr, env: Env) -> Term:
    """Indexing of a tuple: by numbers that are written out, otherwise as an array of its items."""
    assert isinstance(term.type, Product)
    count = len(term.type.items)
    ends = [index.lower, index.upper, index.step] if isinstance(index, ast.Slice) else [index]
    given = [None if end is None else expression(p, end, env) for end in ends]
    if any(end is not None and not (isinstance(end, Literal) and end.type == INT) for end in given):
        return subscript(p, node, array(p, node, term), index, env)
    if isinstance(index, ast.Slice):
        places = slice(*(int(end.value) if isinstance(end, Literal) else None for end in given))
        return p.within("t", term, lambda t: terms.tuple_of(terms.parts(t)[places]))
    assert isinstance(given[0], Literal)
    place = int(given[0].value)
    return Proj(term, range(count)[place]) if place in range(-count, count) else failing()


def with_axes(p: Parser, index: ast.expr, env: Env) -> ast.expr:
    """Write ``np.newaxis`` as None."""
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([with_axes(p, part, env) for part in index.elts], ast.Load()), index)
    is_axis = isinstance(index, ast.Attribute) and index.attr == "newaxis" and p.static(index, env) is None
    return ast.copy_location(ast.Constant(None), index) if is_axis else index


def written_out(index: ast.expr, term: Term) -> ast.expr:
    """Give an index with a slice for each axis that ``...`` stands for."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    dots = [k for k, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is Ellipsis]
    if not dots:
        return index
    count = rank(term.type) - sum(not is_new_axis(part) for part in parts) + 1
    every = [ast.copy_location(ast.Slice(), index) for _ in range(count)]
    return ast.copy_location(ast.Tuple([*parts[: dots[0]], *every, *parts[dots[0] + 1 :]], ast.Load()), index)


@with_lets
def masked(p: Parser, xs: Term, mask: Term) -> Term:
    """``xs[xs > 0]``: the elements where a mask is true, which has the sizes of the first axes."""
    p.by_numpy = True
    xs, mask = p.bound("xs", xs), p.bound("mask", mask)
    i, j, k = (p.fresh(name, INT) for name in "ijk")
    sizes = axes(mask)
    places = Filter(k, element(mask, sizes, k), Build(product(sizes), j, j))
    for size, wanted in zip(axes(xs), sizes, strict=False):
        p.bound("n", Op("iequal", (size, wanted), INT))
    return Gather(xs, places) if len(sizes) == 1 else Map((i,), element(xs, sizes, i), (places,))


def is_new_axis(part: ast.expr) -> bool:
    """Tell whether an index makes an axis of size one."""
    return isinstance(part, ast.Constant) and part.value is None


def along_axes(p: Parser, node: ast.AST, term: Term, parts: Sequence[ast.expr], env: Env) -> Term:
    """``xs[i, j]``: an index for each axis; indices after a slice apply to each of its elements."""
    if not parts:
        p.error(node, f"the empty index () of {show(term.type)}", "leave it out: an array of no axes is a number")
    slices = [part for part in parts if isinstance(part, ast.Slice)]
    plain = [part for part in parts if part not in slices and not is_new_axis(part)]
    chosen = [part for part in plain if is_places(read_ahead(p, part, env).type)]
    first, *rest = parts
    if chosen and is_apart(part in plain for part in parts):
        return pairwise(p, node, term, parts, env)
    if first in plain and (len(chosen) > 1 or rank(read_ahead(p, first, env).type) > 1):
        return pairwise(p, node, term, parts, env)
    if is_new_axis(first):
        return expanded(p, along_axes(p, node, term, rest, env) if rest else term, 0)
    term = subscript(p, node, term, first, env)
    if not rest:
        return term
    if first not in slices and first not in chosen:
        return along_axes(p, node, term, rest, env)
    if all(isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None for part in rest):
        return term
    return p.of_each(term, lambda row: along_axes(p, node, row, rest, env))


def is_apart(places: Iterable[bool]) -> bool:
    """Tell whether a slice stands between places, so that the axes of arrays of these are the first."""
    return "0" in "".join("01"[each] for each in places).strip("0")


@with_lets
def pairwise(p: Parser, node: ast.AST, term: Term, parts: Sequence[ast.expr], env: Env) -> Term:
    """``xs[rows, columns]``: arrays of indices are taken together, with broadcasting; their axes are the first."""
    kept = [k for k, part in enumerate(parts) if not is_new_axis(part)]
    chosen = [k for k in kept if not isinstance(parts[k], ast.Slice)]
    xs = p.bound("xs", term)

    def at(names: Sequence[ast.expr], env: Env) -> Term:
        named = dict(zip(chosen, names, strict=True))
        return along_axes(p, node, xs, [named.get(k, part) for k, part in enumerate(parts)], env)

    sizes = dict(zip(kept, axes(xs), strict=False))
    given = [(k, expression(p, parts[k], env)) for k in chosen]
    indices = [true_places(p, index, sizes[k]) if index.type == Array(BOOL) else index for k, index in given]
    return elementwise(p, node, lambda p, node, each: as_names(p, "at", node, each, env, at), indices)


@with_lets
def true_places(p: Parser, mask: Term, size: Term) -> Term:
    """Give the places where a mask of a size is true."""
    j, k, mask = p.fresh("j", INT), p.fresh("k", INT), p.bound("mask", mask)
    return Filter(k, Index(mask, k), Build(Op("iequal", (size, Size(mask)), INT), j, j))


@with_lets
def slice_(p: Parser, node: ast.Slice, xs: Term, env: Env) -> Term:
    """``xs[a:b:c]``: a build over the indices from a to b, clipped as Python does."""
    xs, step = p.bound("xs", xs), step_of(p, node, env)
    if step < 0:
        return backwards(p, node, xs, step, env)
    low, high = bounds(p, node, Size(xs), env)
    i, start_at_0 = p.fresh("i", INT), isinstance(low, Literal) and low.value == 0
    size = high if start_at_0 else Op("imax", (Op("isub", (high, low), INT), lit(0)), INT)
    if is_place(node):
        p.single_axes.places.add(i.name)
    at: Term = i if step == 1 else Op("imul", (lit(step), i), INT)
    at = at if start_at_0 else Op("iadd", (low, at), INT)
    return Build(divided_up(size, step), i, Index(xs, at))


def is_place(node: ast.Slice) -> bool:
    """Tell whether a slice is one place by its text: ``[:1]``, ``[2:3]``, ``[-1:]``."""
    low = ast.unparse(node.lower) if node.lower else "0"
    high = ast.unparse(node.upper) if node.upper else ""
    return (low.isdigit() and high == str(int(low) + 1)) or (low, high) == ("-1", "")


def bounds(p: Parser, node: ast.Slice, n: Term, env: Env) -> tuple[Term, Term]:
    """Give the ends of a slice of an axis of a size, clipped as Python does; the first is bound."""
    low = p.bound("low", _bound(p, node.lower, lit(0), n, (lit(0), n), env))
    return low, _bound(p, node.upper, n, n, (lit(0), n), env)


@with_lets
def backwards(p: Parser, node: ast.Slice, xs: Term, step: int, env: Env) -> Term:
    """``xs[a:b:-c]``: from a down to above b."""
    n, last = Size(xs), Op("isub", (Size(xs), lit(1)), INT)
    start = p.bound("start", _bound(p, node.lower, last, n, (lit(-1), last), env))
    stop = _bound(p, node.upper, lit(-1), n, (lit(-1), last), env)
    size, i = Op("imax", (Op("isub", (start, stop), INT), lit(0)), INT), p.fresh("i", INT)
    at = i if step == -1 else Op("imul", (lit(-step), i), INT)
    return Build(divided_up(size, -step), i, Index(xs, Op("isub", (start, at), INT)))


def step_of(p: Parser, node: ast.Slice, env: Env) -> int:
    """Give the step of a slice."""
    step = lit(1) if node.step is None else expression(p, node.step, env)
    if not isinstance(step, Literal) or step.type != INT or step.value == 0:
        advice = "write [xs[i] for i in range(...)] with the index computed"
        p.error(node, "the step of a slice is a number written out, not 0", advice)
    return int(step.value)


def divided_up(size: Term, step: int) -> Term:
    """Give the number of steps, rounded up."""
    if step == 1:
        return size
    return Op("ifloordiv", (Op("iadd", (size, lit(step - 1)), INT), lit(step)), INT)


@with_lets
def _bound(p: Parser, part: ast.expr | None, default: Term, n: Term, limits: tuple[Term, Term], env: Env) -> Term:
    """Give one end of a slice: a negative one counts from the end; it is then clipped to limits."""
    if part is None:
        return default
    low, high = limits
    at = p.coerce(part, expression(p, part, env), INT)
    if isinstance(at, Literal):
        if at.value < 0:
            return Op("imax", (Op("isub", (n, lit(-at.value)), INT), low), INT)
        return at if at.value == 0 and low == lit(0) else Op("imin", (at, high), INT)
    at = p.bound("at", at)
    from_end = If(Op("lt", (at, lit(0)), BOOL), Op("imax", (Op("iadd", (at, n), INT), low), INT), at)
    return Op("imin", (from_end, high), INT)


def parts_of(p: Parser, node: ast.AST, elts: Sequence[ast.expr], term: Term) -> Term | None:
    """Give the parts of a variable for each of several targets, as a tuple; None for what has no such parts.

    A run fails where an array has another number of elements.
    """
    stars = [k for k, e in enumerate(elts) if isinstance(e, ast.Starred)]
    before, after = (stars[0], len(elts) - stars[0] - 1) if stars else (len(elts), 0)
    if isinstance(term.type, Product):
        count = len(term.type.items)
        if not stars or count < before + after:
            return None
        items = terms.parts(term)
        if count == before + after:
            p.error(node, "no parts are left for a target with *", "leave it out")
        rest = items_of(p, node, items[before : count - after])
        return Tuple((*items[:before], rest, *items[count - after :]))
    if not isinstance(term.type, Array):
        return None
    fits = Op("le" if stars else "eq", (lit(before + after), Size(term)), BOOL)
    first = tuple(Index(term, lit(k)) for k in range(before))
    last = tuple(Index(term, lit(k - after)) for k in range(after))
    middle = (between(p, term, before, after),) if stars else ()
    whole = Tuple((*first, *middle, *last))
    return If(fits, whole, failing(whole.type))


def between(p: Parser, xs: Term, before: int, after: int) -> Term:
    """Give the elements of an array but the first and the last ones."""
    i = p.fresh("i", INT)
    size = Op("isub", (Size(xs), lit(before + after)), INT)
    return Build(size, i, Index(xs, Op("iadd", (i, lit(before)), INT)))
