"""The tangent of a program along some of its parameters, as back ends run it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.programs.native import Form, Native, are_alike, run
from ...primitive import Primitive
from ..backends.forms import Forms
from ..backends.passes import Passes, is_stepwise, of_tangent
from ..backends.tiers import Others, compiling, for_few, is_installed, may_assemble, native, no_backpropagator
from ..backends.whole.boundary import Boundary
from ..backends.whole.passes import WholeTangent
from ..backends.whole.values import NotWhole
from ..language.terms import Definition
from ..language.types import Product
from ..lowering.passes import Lowered
from ..lowering.values import NotLowered


@dataclass(eq=False)
class TangentPasses:
    """The tangent of a program along the parameters in some places; the others have tangents of zero.

    * `lower`: gives the tangent in the intermediate form, for rows of equal size or of any sizes, or raises
      `NotLowered`.
    * `prefers_loops`: tells from whether its loops are sequential whether loops run it, rather than numpy.
    * `makes_arrays`: whether the machine runs loops that make arrays.
    """

    definition: Definition
    places: tuple[int, ...]
    lower: Callable[[bool], Lowered]
    boundary: Boundary
    primitives: Mapping[str, Primitive]
    prefers_loops: Callable[[bool], bool]
    backend: str | None
    makes_arrays: bool

    @functools.cached_property
    def lowered(self) -> Lowered | None:
        """The tangent in the intermediate form; None if there is no such form."""
        try:
            return self.lower(True)
        except NotLowered:
            return None

    @functools.cached_property
    def entry(self) -> Native | None:
        """The tangent for the core's register machine; None if numpy is faster."""
        if self.lowered is None or self.by_numpy:
            return None
        passes = of_tangent(self.lowered, self.definition, self.places, self.boundary.classes)
        makes_arrays = self.makes_arrays and not is_installed()
        return native(passes, self.definition.name, no_backpropagator, self.backend, makes_arrays=makes_arrays)

    @functools.cached_property
    def few(self) -> Native | None:
        """The tangent in loops for few numbers, where numpy is faster for many; None if it calls primitives."""
        if self.lowered is None or self.primitives or not self.by_numpy or self.whole is None:
            return None
        passes = of_tangent(self.lowered, self.definition, self.places, self.boundary.classes)
        return for_few(passes, self.definition.name, no_backpropagator, self.backend, self.whole.made)

    @functools.cached_property
    def ways(self) -> tuple[Native | None, Native | None, None, Callable[..., Any]]:
        """What runs the tangent in loops, on any numbers or on few."""
        return self.entry, self.few, None, no_backpropagator

    @property
    def has_loops(self) -> bool:
        """Whether loops run the tangent."""
        return self.ways[0] is not None or self.ways[1] is not None

    @property
    def by_numpy(self) -> bool:
        """Whether numpy runs the tangent, on whole arrays."""
        assert self.lowered is not None
        steps = is_stepwise(self.lowered.program.functions[self.lowered.main].body)
        return not self.prefers_loops(steps) and self.whole is not None

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
        """Return value and tangent from loops; None if there are none, or tangents are not as their primals."""
        along = tuple(tangents[k] for k in self.places)
        if not self.has_loops or not self.is_along(primals, along):
            return None
        made = run(self.ways, None, (*primals, *along))
        found: tuple[Any, Any] | None = None if made is None else made[0]
        return found

    @functools.cached_property
    def varied(self) -> Form | None:
        """The form of the tangents; None if they have none."""
        of = Product(tuple(self.definition.params[k].of for k in self.places))
        return Forms(self.boundary.classes, self.boundary.types).find(of)

    def is_along(self, primals: Sequence[Any], tangents: tuple[Any, ...]) -> bool:
        """Tell whether tangents have the classes and sizes of their primals: loops go through the primals' sizes."""
        return self.varied is not None and are_alike(self.varied, tuple(primals[k] for k in self.places), tangents)

    @functools.cached_property
    def others(self) -> Others:
        """The tangent on references, which is compiled once dual numbers have taken as long as that takes."""
        of, types, varied = self.definition, self.boundary.types, self.varied

        def lower() -> Passes | None:
            classes = self.boundary.classes
            return of_tangent(self.lower(False), of, self.places, classes, types) if varied else None

        is_assembled = may_assemble(types, not self.makes_arrays, self.backend)
        steps = compiling(lower, of.name, no_backpropagator, self.backend, is_assembled)
        return Others(steps, forms=() if varied is None else (varied,))

    def by_references(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any] | None:
        """Return value and tangent from native code; None if there is none, or tangents are not as their primals."""
        native, along = self.others.ready(), tuple(tangents[k] for k in self.places)
        if native is None or not self.is_along(primals, along):
            return None
        made = native.vjp(*primals, *along)
        return None if made is None else made[0]
