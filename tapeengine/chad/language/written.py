"""Arrays that differ from another array in one element, recognised by the form of their terms (EC section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from . import target as T
from .sugar import wrapped
from .terms import Build, If, Index, Literal, Op, Proj, Size, Term, Var, lit
from .types import BOOL, INT, Bool, Float, Int, LProduct, LReal, LUnit, Product, Type, remembered


@dataclass(frozen=True)
class Written:
    """An array with one element replaced, if its index is in range."""

    array: Term
    place: Term
    value: Term

    @property
    def is_there(self) -> bool:
        """Whether the index is in range because it is reduced modulo the array's size."""
        return isinstance(self.place, Op)


def replaced(array: Term, j: Var, place: Term, value: Term, old: Term | None = None) -> Build:
    """Give an array with the element at a place replaced, if the place is in range."""
    return Build(Size(array), j, If(Op("eq", (j, place), BOOL), value, Index(array, j) if old is None else old))


def written(t: Build) -> Written | None:
    """Recognise a result of `replaced`; None for any other term."""
    match t.body:
        case If(_, _, Index(array, _)) if not is_flat(array.type.element):  # type: ignore[attr-defined]
            return None
        case If(Op("eq", (i, place)), value, Index(array, k)):
            if not isinstance(k, Var) or not i == k == t.index or not is_fixed(array, k) or t.size != Size(array):
                return None
            if is_fixed(value, k) and (is_fixed(place, k) or is_wrapped(place, array, k)):
                return Written(array, place, value)
    return None


def is_wrapped(place: Term, array: Term, index: Var) -> bool:
    """Tell whether a place is a result of `wrapped` for an array."""
    return place == wrapped(place.args[0], array) and is_fixed(place.args[0], index) if isinstance(place, Op) else False


@remembered
def is_flat(of: Type) -> bool:
    """Tell whether values of a type are numbers and tuples of numbers, or their cotangents."""
    if isinstance(of, Product | LProduct):
        return all(map(is_flat, of.items))
    return isinstance(of, Float | Int | Bool | LReal | LUnit)


def is_fixed(value: Term, index: Var) -> bool:
    """Tell whether a term is a literal, a zero, or a part of a variable other than an index."""
    while isinstance(value, Proj):
        value = value.term
    return isinstance(value, Literal | T.Zero) or (isinstance(value, Var) and value != index)


def has(array: Term, place: Term) -> Term:
    """Tell whether an array has a place."""
    return If(Op("lt", (place, lit(0)), BOOL), lit(False), Op("lt", (place, Size(array)), BOOL))


def without_last(array: Term, i: Var) -> Build:
    """Give an array without its last element."""
    return Build(Op("isub", (Size(array), lit(1)), INT), i, Index(array, i))


def shortened(t: Build) -> Term | None:
    """Recognise a result of `without_last`, and give its array; None for any other term."""
    match t.size, t.body:
        case Op("isub", (Size(array), Literal(1))), Index(of, i) if of == array and i == t.index:
            return array if is_flat(t.body.type) and is_fixed(array, i) else None
    return None
