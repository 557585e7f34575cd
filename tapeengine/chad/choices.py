"""Differentiate only the element that a reduction chooses: the smallest of several numbers is the one at its place.

The place is an integer, which has no derivative. So the elements are computed to find it, and what makes the elements
is differentiated at that place alone: the reverse pass of the smallest of n distances passes through one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import terms as S
from .sugar import lower_map
from .terms import lit
from .traverse import Names, freshen, map_children, size, substitute
from .types import FLOAT, INT, Product, Type

#: What makes an element is written twice if it has at most so many terms; longer ones would make programs long.
SHORT = 100


def chosen(term: S.Term, names: Names) -> S.Term:
    """Rewrite the reductions in a term that choose an element."""
    term = map_children(term, lambda part: chosen(part, names))
    return element(term, names) if isinstance(term, S.Fold) and is_choice(term) else term


def is_choice(t: S.Fold) -> bool:
    """Tell whether a reduction of numbers gives one of them."""
    if t.type != FLOAT or not isinstance(t.body, S.If):
        return False
    given = {x.name for x in (t.body.then, t.body.orelse) if isinstance(x, S.Var)}
    return given == {t.left.name, t.right.name}


def element(t: S.Fold, names: Names) -> S.Term:
    """Give the element at the place that a reduction finds."""

    def fresh(hint: str, of: Type) -> S.Var:
        return S.Var(names(hint), of)

    around, made = S.opened(t.array)
    if isinstance(made, S.Map) and not made.is_parallel:
        more, made = S.opened(lower_map(made, fresh))
        around += more
    place, xs = fresh("place", INT), fresh("xs", t.array.type)
    found = place_in(xs, t, fresh)
    if not isinstance(made, S.Build) or made.is_parallel or size(made.body) > SHORT:
        return S.lets([*around, (xs, made), (place, found)], S.Index(xs, place))
    n = fresh("n", INT)
    again = substitute(freshen(made.body, names), {made.index.name: place})
    return S.lets([*around, (n, made.size), (place, S.Let(xs, replace(made, size=n), found))], again)


def place_in(xs: S.Var, t: S.Fold, fresh: Callable[[str, Type], S.Var]) -> S.Term:
    """Give the place of the element that a reduction chooses, by a loop with the element so far and its place."""
    k, best, at = fresh("k", INT), fresh("best", Product((FLOAT, INT))), fresh("at", INT)
    assert isinstance(t.body, S.If)
    following = S.Tuple((t.right, at))
    then, orelse = (following if x == t.right else best for x in (t.body.then, t.body.orelse))
    bound = [(at, S.Op("iadd", (k, lit(1)), INT)), (t.left, S.Proj(best, 0)), (t.right, S.Index(xs, at))]
    step = S.lets(bound, S.If(t.body.condition, then, orelse))
    n = S.Op("isub", (S.Size(xs), lit(1)), INT)
    return S.Proj(S.For(n, k, best, S.Tuple((S.Index(xs, lit(0)), lit(0))), step), 1)
