"""Differentiate only the element that a reduction or a loop chooses: the smallest of several numbers, for instance.

The place of the element is an integer, which has no derivative. So all elements are computed to find it, and what makes
an element is differentiated at that place alone: the reverse pass of the smallest of n distances passes through one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..language import terms as S
from ..language.sugar import lower_map
from ..language.terms import lit
from ..language.traverse import Names, every_term, free_variables, freshen, map_children, substitute
from ..language.types import BOOL, FLOAT, INT, Product, Type

#: What makes an element is written twice if it has at most so many terms; longer ones would make programs long.
SHORT = 250


def is_short(term: S.Term) -> bool:
    """Tell whether a term may be written twice; a function that calls itself twice may take exponential time."""
    return not any(k > SHORT or isinstance(one, S.Call) for k, one in enumerate(every_term(term)))


def chosen(term: S.Term, names: Names) -> S.Term:
    """Rewrite the reductions and loops in a term that choose an element."""
    term = map_children(term, lambda part: chosen(part, names))
    if isinstance(term, S.Fold) and is_choice(term):
        return element(term, names)
    if isinstance(term, S.For) and term.type == FLOAT and is_short(term.body):
        return last_change(term, names) or term
    return term


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
    if not isinstance(made, S.Build) or not is_short(made.body):
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


def last_change(t: S.For, names: Names) -> S.Term | None:
    """Give what the last step that changed a number made of it; None for steps that do more than keep or replace it."""
    found = replaced(t.body, t.state)
    if found is None or t.state.name in free_variables(found):
        return None
    start, n, place, best = (
        S.Var(names(hint), of)
        for hint, of in (("start", FLOAT), ("n", INT), ("place", INT), ("best", Product((FLOAT, INT))))
    )
    step = S.Let(t.state, S.Proj(best, 0), searching(t.body, t.state, best, t.index))
    last = S.For(n, t.index, best, S.Tuple((start, lit(-1))), step)
    again = S.If(S.Op("lt", (place, lit(0)), BOOL), start, substitute(freshen(found, names), {t.index.name: place}))
    return S.lets([(start, t.init), (n, t.size), (place, S.Proj(last, 1))], again)


def replaced(t: S.Term, state: S.Var) -> S.Term | None:
    """Give the value of a step that does not keep the state, without its conditions; None if there are several."""
    match t:
        case S.Let(var, bound, body):
            inner = replaced(bound if body == var else body, state)
            return inner if body == var or inner is None else S.Let(var, bound, inner)
        case S.If(_, then, orelse):
            kept = [keeps(x, state) for x in (then, orelse)]
            return replaced(then if kept[1] else orelse, state) if any(kept) else None
    return t


def searching(t: S.Term, state: S.Var, best: S.Var, index: S.Var) -> S.Term:
    """Give a step with the place of the value."""
    if keeps(t, state):
        return best
    match t:
        case S.Let(var, bound, body) if body == var:
            return searching(bound, state, best, index)
        case S.Let(var, bound, body):
            return S.Let(var, bound, searching(body, state, best, index))
        case S.If(condition, then, orelse):
            return S.If(condition, searching(then, state, best, index), searching(orelse, state, best, index))
    return S.Tuple((t, index))


def keeps(t: S.Term, state: S.Var) -> bool:
    """Tell whether a term is the state, perhaps under another name."""
    return t == state or (isinstance(t, S.Let) and t.bound == state and t.body == t.var)
