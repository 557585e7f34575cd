"""Axes of arrays that are known to have one element, which numpy stretches to the size of the other operand's axis."""

from __future__ import annotations

from ...language.terms import Build, Elements, If, Index, Let, Map, Proj, Replicate, Size, Term, Tuple, Var, lets, lit
from ...language.types import Array

NONE = frozenset[int]()


class SingleAxes(dict[str, frozenset[int]]):
    """The axes of size one of variables by name, and of parts of arguments by path: ``p.1`` is the second part of p.

    `places`: the indices of slices of one place, whose only item raises an IndexError where the slice is empty.
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: set[str] = set()

    def note(self, name: str, term: Term) -> None:
        """Record the axes of what a variable stands for, and those of its parts."""
        self[name] = self.of(term)
        for k, item in enumerate(term.items if isinstance(term, Tuple) else ()):
            self.note(f"{name}.{k}", item)

    def of(self, term: Term) -> frozenset[int]:
        """Give the axes of an array that are known to be of size one, as ``[:, None]`` and ``keepdims`` make."""
        match term:
            case Var() | Proj():
                return self.get(path_to(term), NONE)
            case Elements((first, *others)):
                return self.around(not others, first).intersection(*(self.around(False, item) for item in others))
            case Build(size, index, body):
                return self.around(index.name in self.places or self.is_one(size), body)
            case Replicate(size, item):
                return self.around(self.is_one(size), item)
            case Map(_, body, arrays):
                singles = [0 in self.of(a) for a in arrays]
                return self.around(any(singles) if term.broadcasts else all(singles), body)
            case Let(var, bound, body):
                self.setdefault(var.name, self.of(bound))
                return self.of(body)
            case If(_, then, orelse):
                return self.of(then) & self.of(orelse)
            case Index(array):
                return frozenset(axis - 1 for axis in self.of(array) if axis)
        return NONE

    def around(self, is_one: bool, item: Term) -> frozenset[int]:
        """Give the axes of size one of an array with this item."""
        inner = frozenset(axis + 1 for axis in self.of(item)) if isinstance(item.type, Array) else NONE
        return inner | {0} if is_one else inner

    def is_one(self, size: Term) -> bool:
        """Tell whether a size is known to be one."""
        return size == lit(1) or (isinstance(size, Size) and 0 in self.of(size.array))


def only_item(term: Term) -> Term:
    """Give the item of an array of one item; of an array that is made here, without making it."""
    match term:
        case Elements((item,)) | Replicate(_, item):
            return item
        case Map(variables, body, arrays):
            return lets(zip(variables, map(only_item, arrays), strict=True), body)
        case Build(_, index, body):
            return Let(index, lit(0), body)
        case Let(var, bound, body):
            return Let(var, bound, only_item(body))
    return Index(term, lit(0))


def path_to(term: Term) -> str:
    """Give a variable's name, and the numbers of the components that are taken of it; empty for other terms."""
    if isinstance(term, Proj):
        start = path_to(term.term)
        return start and f"{start}.{term.index}"
    return term.name if isinstance(term, Var) else ""
