"""``ys[a:b] = v`` and ``ys[mask] = v``: an array with several elements replaced.

The elements come from a number, or one by one from an array of as many. A run with another number of them fails, and
the plain function decides what that means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...language.terms import Build, If, Index, Let, Op, Scan, Size, Term, Total, Var, counted, lit
from ...language.terms import Map as Mapped
from ...language.types import BOOL, INT, Array, Type, numbers_of, show
from ..expressions.subscripts import bounds, masked
from ..operations.functions import Env
from ..operations.state import Parser, with_lets

#: Maps replaced elements to the assigned ones.
Change = Callable[[Term], Term]


@with_lets
def with_slice(p: Parser, node: ast.Subscript, array: Var, index: ast.Slice, value: Change, env: Env) -> Term:
    """Give an array with other elements between two indices."""
    i, j = p.fresh("i", INT), p.fresh("j", INT)
    low, high = bounds(p, index, Size(array), env)
    count = Op("imax", (Op("isub", (high, low), INT), lit(0)), INT)
    v = p.bound("v", value(Build(count, i, Index(array, Op("iadd", (low, i), INT)))))
    inside = If(Op("le", (low, j), BOOL), Op("lt", (j, high), BOOL), lit(False))
    return replaced(p, node, array, j, inside, Op("isub", (j, low), INT), v, count)


@with_lets
def with_mask(p: Parser, node: ast.Subscript, array: Var, mask: Term, value: Change) -> Term:
    """Give an array with other elements where a mask of the same size is true."""
    j, m, so_far, x = p.fresh("j", INT), p.fresh("m", BOOL), p.fresh("so_far", INT), p.fresh("x", INT)
    mask = p.bound("mask", mask)
    ones = Mapped((m,), counted(m), (mask,))
    p.bound("n", Op("iequal", (Size(array), Size(mask)), INT))
    places = p.bound("places", Scan(so_far, x, lit(0), Op("iadd", (so_far, x), INT), ones))  # one more than each place
    v = p.bound("v", value(masked(p, array, mask)))
    place = Op("isub", (Index(places, j), lit(1)), INT)
    return replaced(p, node, array, j, Index(mask, j), place, v, Total(ones))


def held_type(p: Parser, node: ast.AST, changed: ast.expr, before: Type, new: Type) -> Type:
    """Give the type of the elements of an array that gets others: numpy's arrays keep theirs, and drop fractions."""
    of = p.unify(node, before, new)
    if numbers_of(of) != numbers_of(before) and numbers_of(before) in (INT, BOOL) and not p.as_list(changed):
        what = f"{show(numbers_of(new))} in an array of {show(numbers_of(before))}"
        p.error(node, f"{what}: numpy drops the fraction", "make the array of floats: dtype=float, or np.zeros(n)")
    p.mixes = p.mixes or numbers_of(of) != numbers_of(before)
    return of


def replaced(p: Parser, node: ast.Subscript, array: Var, j: Var, test: Term, place: Term, v: Term, n: Term) -> Term:
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
