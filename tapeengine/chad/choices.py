"""Differentiate only the element that a reduction chooses: the smallest of several numbers is the one at its place.

The place is an integer, which has no derivative. So the elements are computed to find it, and what makes the elements
is differentiated at that place alone: the reverse pass of the smallest of n distances passes through one of them.
"""

from __future__ import annotations

from dataclasses import replace

from . import terms as S
from .depth import deep
from .sugar import lower_map
from .terms import lit
from .traverse import Names, all_names, freshen, map_children, size, substitute
from .types import FLOAT, INT, Product

#: The state of a search: the element found, and its place.
STATE = Product((FLOAT, INT))
#: What makes an element is written twice if it has at most so many terms; longer ones would make programs long.
SHORT = 100


@deep()
def chosen(module: S.Module) -> S.Module:
    """Rewrite the reductions of all definitions that choose an element."""
    return replace(module, definitions={name: of_definition(d) for name, d in module.definitions.items()})


def of_definition(d: S.Definition) -> S.Definition:
    """Rewrite the reductions of a definition."""
    choosing = Choosing(Names(all_names(d.body) | {p.name for p in d.params}))
    return replace(d, body=choosing(d.body))


class Choosing:
    """Rewrites the reductions of one definition.

    Parameters
    ----------
    names : Names
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    def __call__(self, term: S.Term) -> S.Term:
        """Rewrite the reductions in a term."""
        term = map_children(term, self)
        return self.element(term) if isinstance(term, S.Fold) and is_choice(term) else term

    def fresh(self, hint: str, of: S.Type) -> S.Var:
        """Make a new variable."""
        return S.Var(self.names(hint), of)

    def element(self, t: S.Fold) -> S.Term:
        """Give the element at the place that a reduction finds."""
        around, made = S.opened(t.array)
        if isinstance(made, S.Map) and not made.is_parallel:
            more, made = S.opened(lower_map(made, self.fresh))
            around += more
        place, xs = self.fresh("place", INT), self.fresh("xs", t.array.type)
        if not isinstance(made, S.Build) or made.is_parallel or size(made.body) > SHORT:
            return S.lets([*around, (xs, made), (place, self.place(t, xs))], S.Index(xs, place))
        n = self.fresh("n", INT)
        found = S.Let(xs, replace(made, size=n), self.place(t, xs))
        again = substitute(freshen(made.body, self.names), {made.index.name: place})
        return S.lets([*around, (n, made.size), (place, found)], again)

    def place(self, t: S.Fold, xs: S.Var) -> S.Term:
        """Give the place of the element that a reduction chooses."""
        k, state, at = self.fresh("k", INT), self.fresh("best", STATE), self.fresh("at", INT)
        assert isinstance(t.body, S.If)
        other = S.Tuple((t.right, at))
        then, orelse = (other if x == t.right else state for x in (t.body.then, t.body.orelse))
        step = S.If(t.body.condition, then, orelse)
        bound = [(at, S.Op("iadd", (k, lit(1)), INT)), (t.left, S.Proj(state, 0)), (t.right, S.Index(xs, at))]
        n = S.Op("isub", (S.Size(xs), lit(1)), INT)
        return S.Proj(S.For(n, k, state, S.Tuple((S.Index(xs, lit(0)), lit(0))), S.lets(bound, step)), 1)


def is_choice(t: S.Fold) -> bool:
    """Tell whether a reduction of numbers gives one of them."""
    if t.type != FLOAT or not isinstance(t.body, S.If):
        return False
    given = {x.name for x in (t.body.then, t.body.orelse) if isinstance(x, S.Var)}
    return given == {t.left.name, t.right.name}
