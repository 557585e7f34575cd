"""``np.reshape``, ``xs.ravel()`` and ``xs.flatten()``: the same elements, in C order, in another number of axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ...language.terms import Build, Index, Literal, Map, Op, Term, lit, tuple_of
from ...language.types import INT, numbers_of
from .arrays import axes, counted, digits, product, sizes_of, transpose
from .numeric import multiplied, promoted, rank, wanted
from .state import Parser, with_lets
from .whole import array


def array_attribute(p: Parser, node: ast.Attribute, term: Term, attr: str) -> Term:
    """``size``, ``shape``, ``T``, ``flat`` and ``ndim`` of an array."""
    if attr == "ndim":
        return p.by_type(term, lit(rank(term.type)))
    if attr == "T" or (attr == "mT" and rank(term.type) == 2):
        return transpose(p, node, term)
    if attr == "flat":
        return flattened(p, node, [term])
    if attr in ("size", "shape"):
        return p.within("xs", term, lambda xs: _shape(xs, attr))
    if attr == "pop":
        p.error(node, "pop inside an expression is not in the language", "write x = xs.pop() as a statement of its own")
    p.on_duals(node, f"arrays have no {attr} here", "use len, size, shape or T")


def _shape(xs: Term, attr: str) -> Term:
    return tuple_of(axes(xs)) if attr == "shape" else product(axes(xs))


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


def flattened(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.ravel(xs)``, ``xs.ravel()``, ``xs.flatten()``."""
    return p.within("xs", array(p, node, args[0]), lambda xs: in_shape(p, xs, [None]))


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


RESHAPING: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = MappingProxyType(
    {"reshape": reshape, "ravel": flattened, "flatten": flattened}
)


@with_lets
def outer(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.outer(a, b)``, of all numbers of each."""
    wanted(p, node, args, 2)
    a, b = promoted(p, node, [RESHAPING["ravel"](p, node, [arg]) for arg in args])
    x, y = p.fresh("x", numbers_of(a.type)), p.fresh("y", numbers_of(b.type))
    return Map((x,), Map((y,), multiplied(x, y), (p.bound("b", b),)), (a,))
