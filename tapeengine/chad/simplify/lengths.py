"""Lengths of arrays as terms, derived from the bindings that a pass over a term has visited."""

from __future__ import annotations

from collections.abc import Mapping

from ..language.target import LDense, MapAccum
from ..language.terms import Build, Index, Proj, Replicate, Size, Term, Var

#: A variable, or the element or component of another place.
Place = str | tuple["Place", Term | int]
#: The length of an array, or the array at a place whose length it is.
Length = Term | tuple[str, Place]


class Lengths:
    """Lengths in a normal form, so that equal lengths are equal terms.

    * `values`: the terms that have replaced variables.
    * `indices`: the indices of loops, with the number of steps.
    * `bound`: the bound terms of the variables that remain.
    """

    def __init__(self, values: Mapping[str, Term], indices: Mapping[str, Term]) -> None:
        self.values, self.indices = values, indices
        self.bound: dict[str, Term] = {}

    def has_size(self, place: Place, n: Term) -> bool:
        """Tell whether the array at a place is known to have ``n`` elements."""
        return self.of_place(place) == self.number(n)

    def has_index(self, place: Place, k: Term) -> bool:
        """Tell whether the array at a place is known to have an element at ``k``, the index of a loop."""
        return isinstance(k, Var) and k.name in self.indices and self.has_size(place, self.indices[k.name])

    def known(self, term: Term) -> Term:
        """Give the bound term of a variable if it is known."""
        while isinstance(term, Var):
            found = self.values.get(term.name) or self.bound.get(term.name)
            if found is None:
                break
            term = found
        return term

    def of_place(self, place: Place) -> Length:
        """Give the length of the array at a place."""
        if isinstance(place, str):
            ends = self.values.get(place) or self.bound.get(place)
            return ("size", place) if ends is None else self.of_array(ends, place)
        return ("size", place)

    def number(self, n: Term) -> Length:
        """Give the normal form of a number."""
        n = self.known(n)
        return self.of_array(n.array) if isinstance(n, Size) else n

    def of_array(self, array: Term, name: Place | None = None) -> Length:
        """Give the length of an array, which may have a name."""
        match array:
            case Var(variable):
                return self.of_place(variable)
            case Build(n, _, _) | Replicate(n, _) | LDense(Build(n, _, _)) | Proj(MapAccum(n, _, _, _, _), 1):
                return self.number(n)
        return ("size", name or self.place(array))

    def place(self, term: Term) -> Place:
        """Give the place of a term; a term that is not derived from a variable is its own place."""
        match term:
            case Var(name):
                return name
            case Index(array, k):
                return self.place(array), k
            case Proj(inner, i):
                return self.place(inner), i
        return "", term
