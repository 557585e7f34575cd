"""How many elements arrays have, as terms: what a pass over a term knows of the variables that it has bound."""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine.chad.target import LDense, MapAccum
from tapeengine.chad.terms import Build, Index, Proj, Replicate, Size, Term, Var

__all__ = ["Lengths", "Place"]

#: A variable, or what is at an index or is a component of a place.
Place = str | tuple["Place", Term | int]
#: The length of an array, or the array at a place whose length it is.
Length = Term | tuple[str, Place]


class Lengths:
    """Lengths in a form in which equal ones are the same.

    Parameters
    ----------
    values : mapping of str to Term
        What stands for variables that are gone.
    indices : mapping of str to Term
        The indices of loops, and how many there are.

    Attributes
    ----------
    bound : dict of str to Term
        What the variables that stay are bound to.
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
        """Give what a variable is bound to, as far as that is known."""
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
        """Give a number in the form of lengths."""
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
        """Give the place of a term; what is no variable's is its own."""
        match term:
            case Var(name):
                return name
            case Index(array, k):
                return self.place(array), k
            case Proj(inner, i):
                return self.place(inner), i
        return "", term
