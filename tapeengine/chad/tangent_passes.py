"""The tangent of a program along some of its parameters, as back ends run it: for one tangent, or for a block of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._core.programs.native import Form, Native, is_finite, leaves
from ..primitive import Primitive
from .backends.forms import Forms
from .backends.machine import NotAssembled
from .backends.passes import is_stepwise, of_columns, of_tangent
from .backends.poles import at_poles
from .backends.tiers import COMPILED, native
from .backends.whole.boundary import Boundary
from .backends.whole.many import for_tangents
from .backends.whole.passes import POLES, Functions, WholeTangent, attempted
from .backends.whole.values import NotWhole
from .intermediate.statements import Function
from .lowering.passes import Lowered
from .lowering.values import NotLowered
from .terms import Definition
from .types import Array, Float, Product, Type, numbers_of, rank_of

#: Gives columns of a Jacobian from one on, so many, as the rows of an array; None if these are not finite.
Columns = Callable[[int, int], Any]


class TangentPasses:
    """The tangent of a program along the parameters in some places; the others have tangents of zero.

    Parameters
    ----------
    lower : callable
        Gives the tangent in the intermediate form for rows of equal size, or raises `NotLowered`.
    prefers_loops : callable
        Tells from whether its loops are sequential whether loops run it, rather than numpy.
    """

    def __init__(
        self,
        definition: Definition,
        places: tuple[int, ...],
        lower: Callable[[], Lowered],
        boundary: Boundary,
        primitives: Mapping[str, Primitive],
        prefers_loops: Callable[[bool], bool],
        backend: str | None,
    ) -> None:
        self.definition, self.places, self.backend = definition, places, backend
        self.lower, self.boundary, self.primitives = lower, boundary, primitives
        self.prefers_loops = prefers_loops
        self.classes = boundary.converter.classes

    @functools.cached_property
    def lowered(self) -> Lowered | None:
        """The tangent in the intermediate form; None if there is no such form."""
        try:
            return self.lower()
        except NotLowered:
            return None

    @functools.cached_property
    def entry(self) -> Native | None:
        """The tangent for the core's register machine; None if numpy is faster."""
        if self.lowered is None or self.by_numpy:
            return None
        passes = of_tangent(self.lowered, self.definition, self.places, self.classes)
        return native(passes, self.definition.name, no_backpropagator, self.backend)

    @property
    def by_numpy(self) -> bool:
        """Whether numpy runs the tangent, on whole arrays."""
        assert self.lowered is not None
        steps = is_stepwise(self.lowered.program.functions[self.lowered.main].body)
        return not self.prefers_loops(steps) and self.whole is not None and not self.whole.made.stepwise

    @functools.cached_property
    def whole(self) -> WholeTangent | None:
        """The tangent as whole-array operations; None if the program has no such form."""
        if self.lowered is None:
            return None
        try:
            return WholeTangent(self.definition, self.places, self.lowered, self.boundary, self.primitives)
        except NotWhole:
            return None

    def by_loops(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any] | None:
        """Return value and tangent from loops; None if there are none for these primals."""
        made = None if self.entry is None else self.entry.vjp(*primals, *(tangents[k] for k in self.places))
        found: tuple[Any, Any] | None = None if made is None else made[0]
        return found

    # ------------------------------------------------------------ blocks of tangents

    @functools.cached_property
    def forms(self) -> tuple[Form, Form, Form] | None:
        """The forms of the primals, of those along which there are tangents, and of the value; None without blocks.

        There are blocks where the order of the numbers in leaves is their order in Python's values.
        """
        of, forms = self.definition, Forms(self.classes)
        varied = [of.params[k].of for k in self.places]
        if self.lowered is None or not all(self.is_ordered(t) for t in (*varied, of.result)):
            return None
        try:
            given, along = (tuple(map(forms, types)) for types in ([p.of for p in of.params], varied))
            return Form("tuple", items=given), Form("tuple", items=along), Form("tuple", items=(forms(of.result),))
        except NotAssembled:
            return None

    def is_ordered(self, of: Type) -> bool:
        """Whether values of a type are real numbers, arrays of these, and tuples and records of such values."""
        if isinstance(of, Product):
            return self.classes.get(of.name) is not dict and all(map(self.is_ordered, of.items))
        return isinstance(of, Float) or (isinstance(of, Array) and bool(rank_of(of)) and numbers_of(of) == Float())

    @functools.cached_property
    def blocked(self) -> Function | None:
        """The tangent for a block of tangents in the intermediate form."""
        if self.forms is None or self.lowered is None or len(self.lowered.program.functions) > 1:
            return None
        function, (_, along, value) = self.lowered.program.functions[self.lowered.main], self.forms
        try:
            return for_tangents(function, along.width, function.results[value.width :])
        except NotWhole:
            return None

    @functools.cached_property
    def blocks(self) -> Native | Functions | None:
        """What runs that: loops, or numpy on whole arrays if the steps of the block run at once."""
        if self.blocked is None or self.lowered is None or self.forms is None:
            return None
        if self.by_numpy:
            try:
                made = attempted([self.blocked], self.primitives)
                return None if made.stepwise else made
            except NotWhole:
                return None
        forms = Forms(self.classes)
        passes = of_columns(self.lowered.program, self.blocked, tuple(forms(p.of) for p in self.definition.params))
        is_first = self.backend not in COMPILED  # the machine, which makes arrays in the steps of a block
        return native(passes, self.definition.name, no_backpropagator, self.backend, is_few=is_first)

    def columns(self, primals: tuple[Any, ...], value: Any) -> Columns | None:
        """Give what computes the columns of the Jacobian; None if there are no blocks for these values."""
        if self.blocks is None or self.forms is None:
            return None
        given = leaves(self.forms[0], primals)
        along = leaves(self.forms[1], tuple(primals[k] for k in self.places))
        made = leaves(self.forms[2], (value,))
        if given is None or along is None or made is None:
            return None
        shapes, sizes = list(map(np.shape, along)), [n for x in made for n in np.shape(x)]
        by_leaves = isinstance(self.blocks, Functions)
        return lambda start, count: self.block(
            (*(given if by_leaves else primals), *basis(shapes, start, count), *sizes), count
        )

    def block(self, given: tuple[Any, ...], count: int) -> Any:
        """Run a block of tangents."""
        if isinstance(self.blocks, Functions):
            try:
                found = at_poles("raise", self.blocks["value"])(*given)
            except POLES:
                return None
        else:
            assert self.blocks is not None
            made = self.blocks.vjp(*given)
            found = None if made is None else made[0]
        if found is None or not is_finite(found):
            return None
        return np.concatenate([x.reshape(count, -1) for x in found], axis=1)


def basis(shapes: Sequence[tuple[int, ...]], start: int, count: int) -> list[Any]:
    """Give the unit vectors from one on, so many, as a block for each of some shapes.

    Examples
    --------
    >>> basis([(), (2,)], 1, 2)
    [array([0., 0.]), array([[1., 0.],
           [0., 1.]])]
    """
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    rows = np.eye(count, int(ends[-1]), start)
    return [part.reshape(count, *shape) for part, shape in zip(np.split(rows, ends[:-1], axis=1), shapes, strict=True)]


def no_backpropagator(primals: tuple[Any, ...]) -> Any:
    """Say that a tangent function has none; a run that is referred to Python gives nothing."""
