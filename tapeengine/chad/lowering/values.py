"""The symbolic values of terms during lowering.

Terms are evaluated symbolically. Parts known during lowering (tuples, functions, options of sums, zeros, one-hots) are
values here and cost nothing at run time; scalars, arrays and boxes are operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import dataclass_transform

from ...errors import UnsupportedError
from ..intermediate.statements import Const, Operand, Var
from ..language.terms import Term
from ..language.types import Type
from .blocks import Block


class NotLowered(UnsupportedError):
    """A term has no intermediate form."""


class Uneven(NotLowered):
    """A loop carries rows of equal size into rows of different sizes; the next attempt uses references throughout."""

    def __init__(self, state: str) -> None:
        super().__init__(f"the rows of {state} change their sizes")
        self.state = state


Env = dict[str, "Value"]


@dataclass_transform(frozen_default=True)
class Symbol:
    """Base class of values other than operands; each of its subclasses becomes a frozen dataclass."""

    def __init_subclass__(cls, eq: bool = True) -> None:
        dataclass(frozen=True, eq=eq)(cls)


class Tup(Symbol):
    """A tuple of values or cotangents; for a cotangent of a sum, one per option, all but one of them zero."""

    items: tuple[Value, ...]


class Changed(Tup):
    """A tuple that is made from another one, or from a zero, by a change of the parts in some places."""

    places: tuple[int, ...]
    is_of_zero: bool


class Zero(Symbol):
    """The zero of any linear type; ``like`` is its primal, if that is known."""

    like: Value | None = None


ZERO = Zero()


class Part(Symbol):
    """The part of an array after some indices; it occurs only in `Rows`, which determines how many are missing."""

    array: Var
    indices: tuple[Operand, ...] = ()


class Rows(Symbol):
    """An array in memory: its size, and the pattern of its elements, with a `Part` for each leaf that varies.

    ``size`` is None inside an array whose rows have different sizes; each row then has its own size.
    """

    size: Operand | None
    element: Value


class Pull(Symbol):
    """An array whose elements are computed when they are read."""

    size: Operand
    at: Callable[[Operand], Value]


class Items(Symbol):
    """An array given by its items, of a type."""

    items: tuple[Value, ...]
    of: Type


class Member(Symbol):
    """A member of a sum that is not recursive: the number of its option, and the payloads of the possible options."""

    tag: Value
    options: tuple[Value | None, ...]


class Single(Symbol):
    """The cotangent of an array that has one entry."""

    index: Operand
    value: Value


class Scattered(Symbol):
    """The cotangent of an array with entries at indices."""

    indices: Value
    values: Value


class Bag(Symbol):
    """The sum of several cotangents of one array; ``like`` is that array, if it is known."""

    parts: tuple[Value, ...]
    like: Value | None = None


class Owed(Symbol, eq=False):
    """The cotangent of an array argument of a call, which adds it to arrays that it is given.

    ``settle`` gives the call these arrays, made like the argument; it may be called once, by the first user.
    """

    like: Value
    settle: Callable[[Rows | None], Rows]


class Nullable(Symbol):
    """The cotangent of an array in a box, each array of which may be null; ``element`` is as in `Rows`."""

    element: Value


class Closure(Symbol, eq=False):
    """A function: its parameters, its body, and its environment."""

    params: tuple[str, ...]
    body: Term
    env: Env


class Back(Symbol, eq=False):
    """The backpropagator or the derivative of a call: a function of values."""

    run: Callable[[Value], Value]


class Steps(Symbol, eq=False):
    """In `Rows`: a function that each step of a loop made; its captured values are in the step's frame."""

    block: Block
    value: Value


class Taken(Symbol, eq=False):
    """A function that a block of a forward pass made: a branch, or step ``index`` of a loop."""

    block: Block
    value: Value
    index: Operand | None = None


class Either(Symbol, eq=False):
    """One of two functions, by the branch that was taken; of members of a sum with the options that each `lacks`."""

    condition: Operand
    then: Taken
    orelse: Taken
    lacks: tuple[frozenset[int], ...] = ()


class Delayed(Symbol, eq=False):
    """A computation that accumulates when it is run."""

    run: Callable[[], Value]


Value = (
    Var | Const | Tup | Zero | Part | Rows | Pull | Items | Member | Single | Scattered | Bag | Closure | Back | Taken
    | Either | Steps | Delayed | Owed | Nullable
)  # fmt: skip
ARRAYS = (Rows, Pull, Items)
FUNCTIONS = (Closure, Back, Taken, Either)


def inside(value: Value) -> tuple[Value, ...]:
    """Give the parts of a tuple or a member, and the elements of stored rows; nothing for any other value."""
    match value:
        case Tup(items):
            return items
        case Member(tag, options):
            return (tag, *(x for x in options if x is not None))
        case Rows(_, element):
            return (element,)
    return ()


def rebuilt(value: Tup | Member | Rows, f: Callable[[Value], Value]) -> Value:
    """Apply a function to the parts of a value."""
    match value:
        case Tup(items):
            return Tup(tuple(map(f, items)))
        case Member(tag, options):
            return Member(f(tag), tuple(None if x is None else f(x) for x in options))
    return Rows(value.size, f(value.element))
