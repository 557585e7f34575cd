"""How often, and where, each variable is used: what inlining depends on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tapeengine.chad import target as T
from tapeengine.chad import terms as S
from tapeengine.chad.terms import Lambda, Proj, Term, Tuple, Var
from tapeengine.chad.traverse import children

__all__ = ["Use", "occurrences"]

#: Constructors whose bodies may run more than once for one evaluation of the term.
REPEATED = (
    S.Lambda, S.Build, S.Map, S.Fold, S.Scan, S.Filter, S.For, S.While,
    T.LLambda, T.CopowerFold, T.ForEach, T.Descend, T.MapAccum, T.WhileAccum,
)  # fmt: skip


@dataclass
class Use:
    """How a variable is used.

    Attributes
    ----------
    count : int
        Occurrences.
    whole : int
        Occurrences not under a projection.
    repeated : bool
        Whether one is inside something that runs more than once where the variable is bound outside of it.
    parts : mapping of int to Use
        Occurrences of each projection.
    """

    count: int = 0
    whole: int = 0
    repeated: bool = False
    parts: dict[int, Use] = field(default_factory=dict)

    def inlinable(self, bound: Term) -> bool:
        """Tell whether what the variable is bound to may be put in its place without more work at run time."""
        if self.count == 0:
            return True
        return self.count == 1 and (not self.repeated or is_value(bound))

    def part(self, i: int) -> Use:
        """Give the use of a component."""
        own = self.parts.get(i, Use())
        return Use(own.count + self.whole, self.whole, own.repeated or (self.whole > 0 and self.repeated), {})


def is_value(term: Term) -> bool:
    """Tell whether evaluating a term does no work: a function, or a tuple of functions."""
    return isinstance(term, Lambda) or (isinstance(term, Tuple) and all(map(is_value, term.items)))


def occurrences(term: Term) -> dict[str, Use]:
    """Give the use of every variable in a term, by name.

    Examples
    --------
    >>> from tapeengine.chad.terms import Op
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> occurrences(Op("mul", (x, x)))["x"].count
    2
    """
    uses: dict[str, Use] = defaultdict(Use)
    _count(term, 0, {}, uses)
    return uses


def _count(term: Term, level: int, bound_at: dict[str, int], uses: dict[str, Use]) -> None:
    if isinstance(term, Var):
        _note(term.name, None, level, bound_at, uses)
        return
    if isinstance(term, Proj) and isinstance(term.term, Var):
        _note(term.term.name, term.index, level, bound_at, uses)
        return
    repeats = isinstance(term, REPEATED)
    for child, binders in children(term):
        inner = level + 1 if repeats and (binders or isinstance(term, Lambda)) else level
        for binder in binders:
            bound_at[binder.name] = inner
        _count(child, inner, bound_at, uses)


def _note(name: str, part: int | None, level: int, bound_at: dict[str, int], uses: dict[str, Use]) -> None:
    use = uses[name]
    use.count += 1
    repeated = level > bound_at.get(name, 0)
    use.repeated = use.repeated or repeated
    if part is None:
        use.whole += 1
    else:
        own = use.parts.setdefault(part, Use())
        own.count += 1
        own.repeated = own.repeated or repeated
