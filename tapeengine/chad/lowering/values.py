"""The symbolic values of terms during lowering.

Terms are evaluated symbolically. Parts known during lowering (tuples, functions, options of sums, zeros, one-hots) are
values here and cost nothing at run time; scalars, arrays and boxes are operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...errors import UnsupportedError
from ..intermediate.statements import Const, Operand, Var
from ..terms import Term
from ..types import Type
from .blocks import Block


class NotLowered(UnsupportedError):
    """A term has no intermediate form."""


class Uneven(NotLowered):
    """A loop carries rows of equal size into rows of different sizes; the next attempt uses references throughout."""

    def __init__(self, state: str) -> None:
        super().__init__(f"the rows of {state} change their sizes")
        self.state = state


Env = dict[str, "Value"]


@dataclass(frozen=True)
class Tup:
    """A tuple of values or cotangents; for a cotangent of a sum, one per option, all but one of them zero."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Zero:
    """The zero of any linear type; ``like`` is its primal, if that is known."""

    like: Value | None = None


ZERO = Zero()


@dataclass(frozen=True)
class Part:
    """The part of an array after some indices; it occurs only in `Rows`, which determines how many are missing."""

    array: Var
    indices: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Rows:
    """An array in memory: its size, and the pattern of its elements, with a `Part` for each leaf that varies.

    ``size`` is None inside an array whose rows have different sizes; each row then has its own size.
    """

    size: Operand | None
    element: Value


@dataclass(frozen=True)
class Pull:
    """An array whose elements are computed when they are read."""

    size: Operand
    at: Callable[[Operand], Value]


@dataclass(frozen=True)
class Items:
    """An array given by its items, of a type."""

    items: tuple[Value, ...]
    of: Type


@dataclass(frozen=True)
class Member:
    """A member of a sum that is not recursive: the number of its option, and the payloads of the possible options."""

    tag: Value
    options: tuple[Value | None, ...]


@dataclass(frozen=True)
class Single:
    """The cotangent of an array that has one entry."""

    index: Operand
    value: Value


@dataclass(frozen=True)
class Scattered:
    """The cotangent of an array with entries at indices."""

    indices: Value
    values: Value


@dataclass(frozen=True)
class Bag:
    """The sum of several cotangents of one array; ``like`` is that array, if it is known."""

    parts: tuple[Value, ...]
    like: Value | None = None


@dataclass(frozen=True, eq=False)
class Owed:
    """The cotangent of an array argument of a call, which adds it to arrays that it is given.

    ``settle`` gives the call these arrays, made like the argument; it may be called once, by the first user.
    """

    like: Value
    settle: Callable[[Rows | None], Rows]


@dataclass(frozen=True)
class Nullable:
    """The cotangent of an array in a box, each array of which may be null; ``element`` is as in `Rows`."""

    element: Value


@dataclass(frozen=True, eq=False)
class Closure:
    """A function: its parameters, its body, and its environment."""

    params: tuple[str, ...]
    body: Term
    env: Env


@dataclass(frozen=True, eq=False)
class Back:
    """The backpropagator or the derivative of a call: a function of values."""

    run: Callable[[Value], Value]


@dataclass(frozen=True, eq=False)
class Steps:
    """In `Rows`: a function that each step of a loop made; its captured values are in the step's frame."""

    block: Block
    value: Value


@dataclass(frozen=True, eq=False)
class Taken:
    """A function that a block of a forward pass made: a branch, or step ``index`` of a loop."""

    block: Block
    value: Value
    index: Operand | None = None


@dataclass(frozen=True, eq=False)
class Either:
    """One of two functions, by the branch that was taken."""

    condition: Operand
    then: Taken
    orelse: Taken


@dataclass(frozen=True, eq=False)
class Delayed:
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
