"""Symbolic values of variables while a program is written: arrays along the loops along which they vary.

An `Axis` is a loop whose steps run at once, or a dimension of an array. A value is stored in a variable of the written
program, with one dimension for each axis along which it varies. Sums of indices, and products that may be summed before
they are computed, remain symbolic until an array is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ....errors import UnsupportedError
from ...intermediate.operations import REAL, WHOLE, Scalar

_levels = itertools.count()


class NotWhole(UnsupportedError):
    """A function needs something that this back end lacks."""


class Axis:
    """A loop whose steps run at once, or a dimension of an array.

    * `level`: inner axes have larger levels; dimensions are in this order by default.
    * `steps`: the name of the array of the numbers of steps, if they vary along other axes; ``count`` is the largest.
    """

    __slots__ = ("count", "level", "steps")

    def __init__(self, count: str, steps: str = "") -> None:
        self.count = count
        self.level = next(_levels)
        self.steps = steps

    def __repr__(self) -> str:
        return f"<{self.count}:{self.level}>"


@dataclass(frozen=True)
class Number:
    """Scalars along axes, in a variable with one dimension for each axis, in this order; or a literal."""

    text: str
    axes: tuple[Axis, ...] = ()
    kind: Scalar = REAL


@dataclass(frozen=True)
class Affine:
    """A sum of indices of loops and a loop-invariant integer."""

    terms: tuple[Axis, ...]
    offset: str = "0"
    kind: Scalar = WHOLE

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The loops."""
        return self.terms


@dataclass(frozen=True)
class Product:
    """A product of numbers that is not materialised yet."""

    factors: tuple[Number, ...]
    kind: Scalar = REAL

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes of the factors."""
        return union(*(f.axes for f in self.factors))


Value = Number | Affine | Product


@dataclass(eq=False)
class Array:
    """An array that does not change: its elements along the axes of its dimensions, and of loops."""

    content: Value
    dims: tuple[Axis, ...]


@dataclass(eq=False)
class Local:
    """An array that the program makes; its elements are initially zero.

    * `around`: the loops around its creation.
    * `masks`: the number of masks at its creation.
    * `content`: None stands for zeros.
    * `part`: for each dimension of which only the first elements are non-zero, the axis of these in the content.
    * `owned`: whether the content is a separate array with all dimensions, which may be changed in place.
    """

    name: str
    dims: tuple[Axis, ...]
    around: tuple[Axis, ...]
    masks: int
    kind: Scalar
    content: Value | None = None
    owned: bool = False
    grows: bool = False
    block: object = None
    part: dict[Axis, Axis] = field(default_factory=dict)


@dataclass(eq=False)
class View:
    """A row of a local array that may be written to, or one that is read once."""

    local: Local | Array
    indices: tuple[Value, ...]


@dataclass(eq=False)
class Site:
    """The values that the steps of a loop, or a branch, pass to the reverse pass.

    * `axes`: the loop; none for a branch.
    * `fields`: one for a loop, two for a branch.
    * `frames`: for a branch of the written program, the frames of its two sides.
    """

    axes: tuple[Axis, ...]
    fields: Sequence[Mapping[str, object]]
    frames: list[object] = field(default_factory=list)


def union(*parts: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Give all axes, the outer ones first."""
    return tuple(sorted({a for axes in parts for a in axes}, key=lambda a: a.level))


def axes_of(x: object) -> tuple[Axis, ...]:
    """Give the axes along which a value varies, without its own dimensions."""
    if isinstance(x, Array):
        return tuple(a for a in x.content.axes if a not in x.dims)
    return x.axes if isinstance(x, Number | Affine | Product) else ()


def renamed(x: object, to: Mapping[Axis, Axis]) -> object:
    """Give a value along other loops with the same numbers of steps."""
    match x:
        case Number(text, axes, kind):
            return Number(text, tuple(to.get(a, a) for a in axes), kind) if any(a in to for a in axes) else x
        case Affine(terms, offset):
            return Affine(tuple(to.get(a, a) for a in terms), offset)
        case Product(factors):
            return Product(tuple(renamed(f, to) for f in factors))  # type: ignore[misc]
        case Array(content, dims):
            return Array(renamed(content, to), dims)  # type: ignore[arg-type]
        case Site(axes, fields, frames):
            found = [{n: renamed(v, to) for n, v in each.items()} for each in fields]
            return Site(tuple(to.get(a, a) for a in axes), found, frames)
        case View() | Local():
            raise NotWhole("an array that is passed on before it is complete")
    return x
