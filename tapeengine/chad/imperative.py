"""The small imperative form between terms and program text: what a back end has to print, and nothing else.

A function is a list of statements over named values. A value is a scalar, or an array whose dimensions carry the names
of *axes*; where two operands meet, dimensions of one axis are aligned and missing ones are broadcast. An axis is an
index of a build, map or loop that has been turned into whole-array operations, so that no statement says how dimensions
are inserted or transposed: that is left to the back end.

Statements: `Assign` (call an operation; allocation is the operation ``zeros``), `Set` and `Add` (give a variable
another value), `Store` (write one element), `AddAt` (accumulate into a part of an array), `Unpack` (take a box apart),
`Call` (of a definition that is recursive), `Loop` and `Branch`. A `Call`, `Loop` or `Branch` of a forward pass *keeps*
values, which the call, loop or branch of the reverse pass takes up again: they are the residuals between the two passes
(EC section 3: a backpropagator's captured variables).

Values of kind "box" and "list" have no axes. A box is a tuple of leaves, or None; a list holds boxes and lists. They
stand for what has no form as scalars and arrays: members of recursive sum types (their first leaf is the number of the
option) and arrays of such members. The cotangent of a box is a tuple of the cotangents of its leaves or None, which is
zero; that of a list is a list of cotangents, each of which may be None, or None (EC 4.1: sparse cotangents). Within
the cotangent of a box that of a float is a float, of an array an array or None, of what is discrete None. A scalar
program has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "Add",
    "AddAt",
    "Assign",
    "Branch",
    "Call",
    "Carried",
    "Const",
    "Function",
    "Joined",
    "Loop",
    "Operand",
    "Ref",
    "Set",
    "Statement",
    "Store",
    "Unpack",
    "renamed",
]


@dataclass(frozen=True, slots=True)
class Ref:
    """A use of a variable: its name and, in the order of its dimensions, the axes they stand for here.

    Attributes
    ----------
    name : str
    axes : tuple of str
    kind : {"float", "int", "bool", "box", "list"}
    """

    name: str
    axes: tuple[str, ...] = ()
    kind: str = "float"


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    value: float | int | bool

    @property
    def axes(self) -> tuple[str, ...]:
        """No axes: a literal is a scalar."""
        return ()

    @property
    def kind(self) -> str:
        """The name of the literal's type."""
        return type(self.value).__name__


Operand = Ref | Const


def renamed(x: Operand, axes: Sequence[str], to: Sequence[str]) -> Operand:
    """Rename the axes of an operand, each to the one at the same place.

    Examples
    --------
    >>> renamed(Ref("x", ("b", "a")), ("a", "b"), ("i", "j")).axes
    ('j', 'i')
    """
    if not isinstance(x, Ref) or axes == to:
        return x
    name = dict(zip(axes, to, strict=True))
    return Ref(x.name, tuple(name[a] for a in x.axes), x.kind)


@dataclass(frozen=True, slots=True)
class Assign:
    """``out = op(args)``.

    Attributes
    ----------
    out : Ref
    op : str
        A scalar operation of `tapeengine.chad.primitives`, applied elementwise, or one of those that
        `tapeengine.chad.generate.expressions` has a method ``op_<name>`` for.
    args : tuple of Operand
    params : tuple
        Static parameters: dimensions as numbers or names of axes.
    """

    out: Ref
    op: str
    args: tuple[Operand, ...]
    params: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Set:
    """``out = value`` for a variable that changes."""

    out: Ref
    value: Operand


@dataclass(frozen=True, slots=True)
class Add:
    """``out += value``: accumulation into a variable (EC Fig. 6: one)."""

    out: Ref
    value: Operand


@dataclass(frozen=True, slots=True)
class AddAt:
    """Accumulates into the part of an array that the operation ``op`` reads with ``args`` (EC section 7: BOne)."""

    out: Ref
    op: str
    args: tuple[Operand, ...]
    params: tuple[object, ...]
    value: Operand


@dataclass(frozen=True, slots=True)
class Store:
    """``out[index] = value``."""

    out: Ref
    index: Operand
    value: Operand


@dataclass(frozen=True, slots=True)
class Unpack:
    """``out, ... = value``: take a box apart.

    Attributes
    ----------
    outs : tuple of Ref
        One for each leaf.
    value : Operand
    is_cotangent : bool
        Whether ``value`` is the cotangent of a box. Where that is None, floats become 0.0 and all else None.
    """

    outs: tuple[Ref, ...]
    value: Operand
    is_cotangent: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Call the forward or the reverse pass of a recursive definition.

    The forward pass is called with the leaves of all arguments; it gives the leaves of its result, ``outs``, and its
    residuals, ``kept``, as one value. The reverse pass is called with ``kept``, with a cotangent ``args`` for each
    active leaf of the result, and with an accumulator ``into`` for each active parameter that is an array or a list,
    to which it adds in place; it gives a cotangent ``outs`` for each active parameter that is a float or a box.

    Attributes
    ----------
    name : str
        The definition.
    outs : tuple of Ref
    args : tuple of Operand
    kept : str
    into : tuple of Ref
    backwards : bool
        Whether this is a call of the reverse pass.
    """

    name: str
    outs: tuple[Ref, ...]
    args: tuple[Operand, ...]
    kept: str
    into: tuple[Ref, ...] = ()
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """What a loop carries: ``var`` in its body, ``init`` before it, ``last`` after each step, ``out`` at the end."""

    var: Ref
    init: Operand
    last: Operand
    out: Ref


@dataclass(frozen=True, slots=True)
class Joined:
    """A variable that both branches of a conditional give a value."""

    out: Ref
    then: Operand
    orelse: Operand


@dataclass
class Loop:
    """A counted loop, or a loop while a condition holds.

    Attributes
    ----------
    body : list of statements
    index : Ref, optional
        Runs from 0 to ``count - 1``, or down to 0 in a reverse pass.
    count : Operand, optional
        None for a loop with a condition.
    test : list of statements
        What computes the condition.
    condition : Operand, optional
    carried : list of Carried
    collected : list of pairs of an array and the operand that each step appends to it
    kept : str
        The list of what the steps keep; empty if there is none.
    keeps : list of Ref
        What each step keeps.
    backwards : bool
        Whether this loop belongs to a reverse pass and goes through ``kept`` from its end.
    """

    body: list[Statement]
    index: Ref | None = None
    count: Operand | None = None
    test: list[Statement] = field(default_factory=list)
    condition: Operand | None = None
    carried: list[Carried] = field(default_factory=list)
    collected: list[tuple[Ref, Operand]] = field(default_factory=list)
    kept: str = ""
    keeps: list[Ref] = field(default_factory=list)
    backwards: bool = False


@dataclass
class Branch:
    """A conditional statement.

    Attributes
    ----------
    condition : Operand
    then, orelse : list of statements
    joined : list of Joined
    kept : str
        The tuple of what the branch taken keeps; empty if there is none.
    keeps : pair of lists of Ref
    backwards : bool
        Whether this branch belongs to a reverse pass and unpacks ``kept``.
    """

    condition: Operand
    then: list[Statement]
    orelse: list[Statement]
    joined: list[Joined] = field(default_factory=list)
    kept: str = ""
    keeps: tuple[list[Ref], list[Ref]] = field(default_factory=lambda: ([], []))
    backwards: bool = False


Statement = Assign | Set | Add | AddAt | Store | Unpack | Call | Loop | Branch


@dataclass
class Function:
    """A function of the generated program.

    Attributes
    ----------
    name : str
    params : list of Ref
    body : list of statements
    results : list of Operand
    is_inner : bool
        Whether it is a pass of a recursive definition, which a `Call` calls.
    """

    name: str
    params: list[Ref]
    body: list[Statement]
    results: list[Operand]
    is_inner: bool = False
