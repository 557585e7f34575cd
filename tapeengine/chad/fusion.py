"""Make one array where a program makes several: ``[f(x) for x in [g(y) for y in ys]]`` is ``[f(g(y)) for y in ys]``.

Operations on whole arrays make an array each, and a slice is a build over its places. Of a chain of them only the last
array is needed, if nothing else refers to the others: the elements are computed where a map reads them. A map that
reads a build, or a variable that is bound to one and is read nowhere else, becomes one build. No element is computed
twice, and none is computed that the program does not compute.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tapeengine.chad.depth import deep
from tapeengine.chad.sugar import lower_map
from tapeengine.chad.terms import (
    Build,
    Definition,
    Index,
    Let,
    Map,
    Module,
    Op,
    Size,
    Term,
    Total,
    Tuple,
    Var,
    lets,
    opened,
)
from tapeengine.chad.traverse import Names, all_names, children, map_children
from tapeengine.chad.types import INT, Array

#: Constructors that evaluate all of their parts, each once.
STRICT = (Let, Op, Map, Total, Tuple, Index, Size)
#: The number of terms among which the only use of a variable is looked for.
NEAR = 60


@deep()
def fused(module: Module) -> Module:
    """Fuse the maps of all definitions."""
    return replace(module, definitions={name: of_definition(d) for name, d in module.definitions.items()})


def of_definition(d: Definition) -> Definition:
    """Fuse the maps of a definition."""
    names = all_names(d.body)
    fusing = Fusing(Names(names | {p.name for p in d.params}), occurrences(d.body))
    return replace(d, body=fusing(d.body))


def occurrences(term: Term) -> tuple[Counter[str], Counter[str]]:
    """Count the uses of each variable, and those of them that ask for its size."""
    uses: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    pending = [term]
    while pending:
        one = pending.pop()
        if isinstance(one, Var):
            uses[one.name] += 1
        elif isinstance(one, Size) and isinstance(one.array, Var):
            sizes[one.array.name] += 1
        pending += [child for child, _ in children(one)]
    return uses, sizes


class Fusing:
    """Fuses the maps of one definition, whose binders are unique.

    Parameters
    ----------
    names : Names
    counts : pair of Counter
        The uses of each variable, and those of them that ask for its size.
    """

    def __init__(self, names: Names, counts: tuple[Counter[str], Counter[str]]) -> None:
        self.names = names
        self.uses, self.sizes = counts
        self.done: dict[int, Term] = {}

    def __call__(self, term: Term) -> Term:
        """Fuse the maps in a term."""
        if id(term) in self.done:
            return term
        if isinstance(term, Let) and isinstance(term.var.of, Array):
            found = self.bound(term)
        else:
            found = map_children(term, self)
            if isinstance(found, Map) and not found.is_parallel:
                found = self.map(found)
        self.done[id(found)] = found
        return found

    def bound(self, term: Let) -> Term:
        """Fuse in a binding of an array: it goes where its elements are read, if that is one place."""
        bound = self(term.bound)
        name = term.var.name
        if self.uses[name] - self.sizes[name] == 1 and reads_once(term.body, name):
            around, made = self.opened(bound)
            if is_open(made):
                assert isinstance(made, Build)
                n = Var(self.names("n"), INT)
                body = in_place_of(term.body, term.var, n, replace(made, size=n))
                return self(lets([*around, (n, made.size)], body))
        body = self(term.body)
        return term if bound is term.bound and body is term.body else Let(term.var, bound, body)

    def opened(self, term: Term) -> tuple[list[tuple[Var, Term]], Term]:
        """Give the outer bindings of a term, and what is inside them, a build if that makes an array by a rule."""
        around, made = opened(term)
        if isinstance(made, Map) and not made.is_parallel:
            more, made = opened(lower_map(made, lambda hint, of: Var(self.names(hint), of)))
            around += more
        return around, made

    def map(self, t: Map) -> Term:
        """Fuse a map with the builds that it reads."""
        if all(isinstance(a, Var) for a in t.arrays):
            return t
        parts = [self.opened(a) for a in t.arrays]
        if not any(map(is_open, (made for _, made in parts))):
            return t
        around = [pair for own, _ in parts for pair in own]
        i, n = Var(self.names("i"), INT), None
        elements: list[tuple[Var, Term]] = []
        for var, (_, made) in zip(t.vars, parts, strict=True):
            if isinstance(made, Build) and is_open(made):
                size: Term = made.size
                elements += [(made.index, i), (var, made.body)]
            else:
                array = made if isinstance(made, Var) else Var(self.names("xs"), made.type)
                around += [] if array is made else [(array, made)]
                size = Size(array)
                elements += [(var, Index(array, i))]
            n = size if n is None else Op("iequal" if t.broadcasts else "isame", (n, size), INT)
        assert n is not None
        return lets(around, Build(n, i, self(lets(elements, t.body))))


def is_open(made: Term) -> bool:
    """Tell whether a term is a build whose elements may be computed elsewhere."""
    return isinstance(made, Build) and not made.is_parallel


def reads_once(term: Term, name: str) -> bool:
    """Tell whether a map reads a variable where a term is evaluated, and not only perhaps, or later."""
    pending, seen = [term], 0
    while pending and seen < NEAR:
        one, seen = pending.pop(), seen + 1
        if isinstance(one, Map) and any(isinstance(a, Var) and a.name == name for a in one.arrays):
            return not one.is_parallel
        if isinstance(one, STRICT):
            pending += reversed([child for child, binders in children(one) if not binders or isinstance(one, Let)])
    return False


def in_place_of(term: Term, var: Var, n: Var, made: Term) -> Term:
    """Replace the sizes of an array by a variable, and the array by what makes it."""
    if isinstance(term, Size) and term.array == var:
        return n
    if isinstance(term, Var):
        return made if term.name == var.name else term
    return map_children(term, lambda child: in_place_of(child, var, n, made))
