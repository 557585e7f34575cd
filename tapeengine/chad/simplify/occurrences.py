"""Count the uses of each variable, and record where they are; inlining depends on this."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ..language import target as T
from ..language import terms as S
from ..language.terms import Lambda, Let, Proj, Term, Tuple, Var
from ..language.traverse import children

#: Constructors whose bodies may run more than once for one evaluation of the term.
REPEATED = (
    S.Lambda, S.Build, S.Map, S.Fold, S.Scan, S.Filter, S.For, S.While,
    T.LLambda, T.CopowerFold, T.ForEach, T.Descend, T.MapAccum, T.WhileAccum,
)  # fmt: skip
#: Loops over an index.
INDEXED = (S.Build, S.For, T.ForEach, T.Descend, T.MapAccum)


class Later(Term, gives=lambda t: t.function.type):
    """A function that is not rewritten yet, because it may still be applied."""

    function: Lambda


@dataclass
class Use:
    """How a variable is used.

    * `count`: the number of occurrences.
    * `whole`: the number of occurrences that are not under a projection.
    * `repeated`: whether an occurrence is inside a repeated term, and the binding is outside it.
    * `parts`: the uses of each projection.
    """

    count: int = 0
    whole: int = 0
    repeated: bool = False
    parts: dict[int, Use] = field(default_factory=dict)

    def inlinable(self, bound: Term) -> bool:
        """Tell whether the bound term can replace the variable without additional work at run time."""
        if self.count == 0:
            return True
        return self.count == 1 and (not self.repeated or is_value(bound))

    def part(self, i: int) -> Use:
        """Give the use of a component."""
        own = self.parts.get(i, Use())
        return Use(own.count + self.whole, self.whole, own.repeated or (self.whole > 0 and self.repeated), {})


def is_value(term: Term) -> bool:
    """Tell whether evaluating a term does no work: a function, or a tuple of functions."""
    return isinstance(term, Lambda | Later | T.LLambda) or (isinstance(term, Tuple) and all(map(is_value, term.items)))


class Occurrences:
    """Counts uses in a term, but not in the bound term of a dead let; visits each subterm once.

    * `ones`: the number of contributions to each slot.
    * `bound`: the variables bound in live terms, with the number of repeated terms around the binding.
    * `indices`: the indices of loops, which are never negative, with the number of steps.
    * `visited`: the number of visited subterms.
    """

    def __init__(self, term: Term) -> None:
        self.uses: dict[str, Use] = defaultdict(Use)
        self.ones: Counter[str] = Counter()
        self.bound: dict[str, int] = {}
        self.indices: dict[str, Term] = {}
        self.visited = 0
        self._visit(term, 0, None)

    def _visit(self, term: Term, level: int, demand: Use | None) -> None:
        """Count the uses in a term, of which perhaps only some components are used."""
        lets = []
        while isinstance(term, Let):
            self.bound[term.var.name] = level
            lets.append(term)
            term = term.body
        self._count(term, level, demand)
        for let in reversed(lets):
            use = self.uses.get(let.var.name)
            if use is not None:
                self._visit(let.bound, level, use)

    def _count(self, term: Term, level: int, demand: Use | None) -> None:
        self.visited += 1
        match term:
            case Var(name):
                self._note(name, None, level)
                return
            case Proj(Var(name), i):
                self._note(name, i, level)
                return
            case Tuple(items) | T.LTuple(items) if demand is not None and not demand.whole:
                for i, item in enumerate(items):
                    if i in demand.parts:
                        self._visit(item, level, None)
                return
            case T.One(slot):
                self.ones[slot] += 1
        if isinstance(term, INDEXED):
            self.indices[term.index.name] = term.size
        self._children(term, level)

    def _children(self, term: Term, level: int) -> None:
        repeats = isinstance(term, REPEATED)
        for child, binders in children(term):
            inner = level + 1 if repeats and (binders or isinstance(term, Lambda)) else level
            for binder in binders:
                self.bound[binder.name] = inner
            self._visit(child, inner, None)

    def _note(self, name: str, part: int | None, level: int) -> None:
        use = self.uses[name]
        repeated = level > self.bound.get(name, 0)
        use.count += 1
        use.repeated = use.repeated or repeated
        if part is None:
            use.whole += 1
            return
        own = use.parts.setdefault(part, Use())
        own.count += 1
        own.repeated = own.repeated or repeated
