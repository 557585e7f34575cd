"""``ys[a:b] = v`` and ``ys[mask] = v``: an array with several elements replaced.

The elements come from a number, or one by one from an array of as many. A run with another number of them fails, and
the plain function decides what that means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..terms import Build, If, Index, Let, Op, Scan, Size, Term, Total, Var, counted, lit
from ..terms import Map as Mapped
from ..types import BOOL, INT, Array, Type, numbers_of, show
from .functions import Env
from .state import Parser
from .subscripts import bounds, masked

#: Maps replaced elements to the assigned ones.
Change = Callable[[Term], Term]


def with_slice(p: Parser, node: ast.Subscript, array: Var, index: ast.Slice, value: Change, env: Env) -> Term:
    """Give an array with other elements between two indices."""
    i, j = p.fresh("i", INT), p.fresh("j", INT)

    def changed(low: Term, high: Term) -> Term:
        count = Op("imax", (Op("isub", (high, low), INT), lit(0)), INT)
        old = Build(count, i, Index(array, Op("iadd", (low, i), INT)))
        inside = If(Op("le", (low, j), BOOL), Op("lt", (j, high), BOOL), lit(False))
        place = Op("isub", (j, low), INT)
        return p.let("v", value(old), lambda v: replaced(p, node, array, j, inside, place, v, count))

    return bounds(p, index, Size(array), env, changed)


def with_mask(p: Parser, node: ast.Subscript, array: Var, mask: Term, value: Change) -> Term:
    """Give an array with other elements where a mask of the same size is true."""
    j, m, so_far, x = p.fresh("j", INT), p.fresh("m", BOOL), p.fresh("so_far", INT), p.fresh("x", INT)

    def changed(mask: Term, places: Term) -> Term:
        place = Op("isub", (Index(places, j), lit(1)), INT)
        old = masked(p, array, mask)
        ones = Total(Mapped((m,), counted(m), (mask,)))
        return p.let("v", value(old), lambda v: replaced(p, node, array, j, Index(mask, j), place, v, ones))

    def counts(mask: Term) -> Term:
        """Give for each element how many elements up to it are true."""
        ones = Mapped((m,), counted(m), (mask,))
        same = p.fresh("n", INT)
        sums = Scan(so_far, x, lit(0), Op("iadd", (so_far, x), INT), ones)
        body = p.let("places", sums, lambda places: changed(mask, places))
        return Let(same, Op("iequal", (Size(array), Size(mask)), INT), body)

    return p.let("mask", mask, counts)


def held_type(p: Parser, node: ast.AST, changed: ast.expr, before: Type, new: Type) -> Type:
    """Give the type of the elements of an array that gets others: numpy's arrays keep theirs, and drop fractions."""
    of = p.unify(node, before, new)
    if numbers_of(of) != numbers_of(before) and numbers_of(before) in (INT, BOOL) and not p.as_list(changed):
        what = f"{show(numbers_of(new))} in an array of {show(numbers_of(before))}"
        p.error(node, f"{what}: numpy drops the fraction", "make the array of floats: dtype=float, or np.zeros(n)")
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
