"""Refuse lists, or arrays, as arguments of operations that mean something else for them.

A program's `te.Vec` is an array or a list. If all arrays among the operands of an operator or method are lists, Python
joins or repeats them, or raises an error. Where the text shows that a list is meant (``[1.0] + xs``), an array would be
added element by element. The parser records the arguments that reach such operations, and a call with others is
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy import generic

from ...._core.programs.callables import original, traced_class
from ....errors import StructureError
from ...language.kinds import MIXED, NUMBER, Given, Kind, ListOf, Steps, parts_at
from .lists import extended


@dataclass(frozen=True)
class Wanted:
    """An operation that has the program's meaning if at least one of its operands is an array, or if all are lists.

    * `operands`: the operands, which are arguments of the program, or parts of these.
    * `place`: the place of the operation.
    * `of_lists`: whether all are to be lists. None for a method that numpy's numbers have and Python's have not,
      `NUMBER` for an operation on numbers that are to be Python's.
    """

    operands: frozenset[Given]
    place: str
    of_lists: bool | str | None = False


@dataclass(frozen=True)
class Passed:
    """A call of another program, with the kinds of the arguments; its operations may be on this program's arguments."""

    program: Any
    kinds: tuple[tuple[str, Kind], ...]


def through(call: Passed, wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """Give the operations of a called program that are on arguments of the caller, or on lists that it makes."""
    found = []
    kinds = dict(call.kinds)
    for each in wanted:
        operands = [o for operand in each.operands if (o := part(kinds, operand)) != NUMBER]
        of = Given | ListOf if each.of_lists else Given | ListOf | str  # MIXED may be a list
        is_refused = [not isinstance(o, of) or (each.of_lists and is_mixed(o)) for o in operands]
        given = frozenset(o for o in operands if isinstance(o, Given))
        if each.of_lists and (given or any(is_refused)):
            found.append(Wanted(frozenset() if any(is_refused) else given, each.place, each.of_lists))
        elif not each.of_lists and not any(is_refused):
            found.append(Wanted(given, each.place, each.of_lists))
    return tuple(found)


def part(kinds: dict[str, Kind], operand: Given) -> Kind:
    """Give the kind in the caller of an operand in the called program; None if the text does not say."""
    found = [step_by_step(kinds.get(name), steps) for name, steps in operand.places]
    given = [k for k in found if isinstance(k, Given)]
    if given:
        mixed = any(map(is_mixed, given)) or not all(isinstance(k, Given | ListOf) for k in found)
        return Given(frozenset().union(*(k.places for k in given)), mixed)
    are_alike = all(isinstance(k, ListOf) for k in found) or set(found) in ({NUMBER}, {MIXED})
    return found[0] if are_alike else None


def is_mixed(kind: Kind) -> bool:
    """Tell whether the text leaves open whether a part of an argument is meant."""
    return isinstance(kind, Given) and kind.is_mixed


def step_by_step(kind: Kind, steps: Steps) -> Kind:
    """Give the kind of a part of an argument; of lists that the program makes only that of their elements."""
    if isinstance(kind, Given):
        return extended(kind, steps)
    for _ in steps:
        kind = kind.element if isinstance(kind, ListOf) else None
    return kind


def check_lists(wanted: Sequence[Wanted], names: Sequence[str], primals: Sequence[Any]) -> None:
    """Refuse lists where a program uses its arguments as whole arrays, and arrays where it uses them as lists.

    It raises `StructureError` if there is one; the message names the argument and the line.
    """
    values = dict(zip(names, primals, strict=False))
    for each in wanted:
        operands = [
            {original(traced_class(x)) for place in o.places for x in parts_at(values, *place)} for o in each.operands
        ]
        if each.of_lists == NUMBER and not (
            operands and not any(issubclass(x, generic) for of in operands for x in of)
        ):
            what = f"{named(each) or 'a number'} is one of numpy's numbers, which {each.place} uses as one of Python's"
            raise StructureError(f"{what}: give float(x), int(x) or bool(x)")
        if each.of_lists is True and not (operands and set().union(*operands) <= {list}):
            what = f"{named(each) or 'an operand'} is no list, and {each.place} uses it as one"
            raise StructureError(f"{what}: give it as a list, or write the line with numpy's functions")
        if each.of_lists is False and all(of & {list, tuple} for of in operands):
            what = f"{named(each) or 'an operand'} is a list or a tuple, which {each.place} uses as a whole array"
            raise StructureError(f"{what}: give it as numpy.array(...), or write a comprehension")
        if each.of_lists is None and operands and all(of & {float, int, bool} for of in operands):
            what = f"{named(each)} is a number of Python's, which {each.place} uses as one of numpy's"
            raise StructureError(f"{what}: give it as numpy.float64(...), or write float(x), int(x) or bool(x)")


def named(wanted: Wanted) -> str:
    """Name the parts of arguments that a program uses as whole arrays, or as lists."""
    return ", ".join(sorted({written(*place) for operand in wanted.operands for place in operand.places}))


def written(name: str, steps: Steps) -> str:
    """Write a part of an argument as Python does."""
    each = ("i" if step is None else step for step in steps)
    return name + "".join(f".{x}" if isinstance(step, str) else f"[{x}]" for x, step in zip(each, steps, strict=True))
