"""Make one array where a program makes several: ``[f(x) for x in [g(y) for y in ys]]`` is ``[f(g(y)) for y in ys]``.

Operations on whole arrays make an array each, and a slice is a build over its places. Of a chain of them only the last
array is needed, if nothing else refers to the others: the elements are computed where a map reads them. A map that
reads a build, or a variable that is bound to one and is read nowhere else, becomes one build. No element is computed
twice, and none is computed that the program does not compute.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ...recursion import deep
from ..language import terms as S
from ..language.sugar import lower_map
from ..language.terms import opened
from ..language.traverse import Names, all_names, children, every_term, map_children
from ..language.types import INT, Array
from .choices import chosen

#: Constructors that evaluate all of their parts, each once.
STRICT = (S.Let, S.Op, S.Map, S.Total, S.Tuple, S.Index, S.Size)
#: The number of terms among which the only use of a variable is looked for.
NEAR = 60


@deep()
def fused(module: S.Module) -> S.Module:
    """Fuse the maps of all definitions."""
    return replace(module, definitions={name: of_definition(d) for name, d in module.definitions.items()})


def of_definition(d: S.Definition) -> S.Definition:
    """Fuse the maps of a definition."""
    names = Names(all_names(d.body) | {p.name for p in d.params})
    body = chosen(d.body, names)
    return replace(d, body=Fusing(names, occurrences(body))(body))


def occurrences(term: S.Term) -> tuple[Counter[str], Counter[str]]:
    """Count the uses of each variable, and those of them that ask for its size."""
    uses: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one in every_term(term):
        if isinstance(one, S.Var):
            uses[one.name] += 1
        elif isinstance(one, S.Size) and isinstance(one.array, S.Var):
            sizes[one.array.name] += 1
    return uses, sizes


class Fusing:
    """Fuses the maps of one definition, whose binders are unique.

    `counts`: the uses of each variable, and those of them that ask for its size.
    """

    def __init__(self, names: Names, counts: tuple[Counter[str], Counter[str]]) -> None:
        self.names = names
        self.uses, self.sizes = counts
        self.done: dict[int, S.Term] = {}

    def __call__(self, term: S.Term) -> S.Term:
        """Fuse the maps in a term."""
        if id(term) in self.done:
            return term
        if isinstance(term, S.Let) and isinstance(term.var.of, Array):
            found = self.bound(term)
        else:
            found = map_children(term, self)
            if isinstance(found, S.Map) and not found.is_parallel:
                found = self.map(found)
        self.done[id(found)] = found
        return found

    def bound(self, term: S.Let) -> S.Term:
        """Fuse in a binding of an array: move the build to its use, if its elements are read in one place."""
        bound = self(term.bound)
        name = term.var.name
        if self.uses[name] - self.sizes[name] == 1 and reads_once(term.body, name):
            around, made = self.opened(bound)
            if isinstance(made, S.Build):
                n = S.Var(self.names("n"), INT)
                body = in_place_of(term.body, term.var, n, replace(made, size=n))
                return self(S.lets([*around, (n, made.size)], body))
        body = self(term.body)
        return term if bound is term.bound and body is term.body else S.Let(term.var, bound, body)

    def opened(self, term: S.Term) -> tuple[list[tuple[S.Var, S.Term]], S.Term]:
        """Give the outer bindings of a term and its body, as a build if a rule makes it an array."""
        around, made = opened(term)
        if isinstance(made, S.Map) and not made.is_parallel:
            more, made = opened(lower_map(made, lambda hint, of: S.Var(self.names(hint), of)))
            around += more
        return around, made

    def map(self, t: S.Map) -> S.Term:
        """Fuse a map with the builds that it reads."""
        if all(isinstance(a, S.Var) for a in t.arrays):
            return t
        parts = [self.opened(a) for a in t.arrays]
        if not any(isinstance(made, S.Build) for _, made in parts):
            return t
        around = [pair for own, _ in parts for pair in own]
        i, n = S.Var(self.names("i"), INT), None
        elements: list[tuple[S.Var, S.Term]] = []
        for var, (_, made) in zip(t.vars, parts, strict=True):
            if isinstance(made, S.Build):
                size: S.Term = made.size
                elements += [(made.index, i), (var, made.body)]
            else:
                array = made if isinstance(made, S.Var) else S.Var(self.names("xs"), made.type)
                around += [] if array is made else [(array, made)]
                size = S.Size(array)
                elements += [(var, S.Index(array, i))]
            n = size if n is None else S.Op("iequal" if t.broadcasts else "isame", (n, size), INT)
        assert n is not None
        return S.lets(around, S.Build(n, i, self(S.lets(elements, t.body))))


def reads_once(term: S.Term, name: str) -> bool:
    """Tell whether a map reads a variable where a term is evaluated, and not only perhaps, or later."""
    pending, seen = [term], 0
    while pending and seen < NEAR:
        one, seen = pending.pop(), seen + 1
        if isinstance(one, S.Map) and any(isinstance(a, S.Var) and a.name == name for a in one.arrays):
            return not one.is_parallel
        if isinstance(one, STRICT):
            pending += reversed([child for child, binders in children(one) if not binders or isinstance(one, S.Let)])
    return False


def in_place_of(term: S.Term, var: S.Var, n: S.Var, made: S.Term) -> S.Term:
    """Replace the sizes of an array by a variable, and the array by what makes it."""
    if isinstance(term, S.Size) and term.array == var:
        return n
    if isinstance(term, S.Var):
        return made if term.name == var.name else term
    return map_children(term, lambda child: in_place_of(child, var, n, made))
