"""The tangent of a program along some of its parameters, as back ends run it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.programs.native import Form, Native, are_alike, run
from ..backends.forms import Forms
from ..backends.passes import Passes, of_tangent
from ..backends.tiers import Others, compiling, is_installed, may_assemble, native, no_backpropagator
from ..language.terms import Definition
from ..language.types import Product, Sum
from ..lowering.passes import Lowered
from ..lowering.values import NotLowered


@dataclass(eq=False)
class TangentPasses:
    """The tangent of a program along the parameters in some places; the others have tangents of zero.

    * `lower`: gives the tangent in the intermediate form, for rows of equal size or of any sizes, or raises
      `NotLowered`.
    * `multiplies`: whether the program multiplies matrices. Dual numbers do that for many numbers, by numpy.
    * `by_numpy`: whether the program is written with numpy's operations.
    """

    definition: Definition
    places: tuple[int, ...]
    lower: Callable[[bool], Lowered]
    classes: Mapping[str, type]
    types: Mapping[str, Sum]
    multiplies: bool
    by_numpy: bool
    backend: str | None

    @functools.cached_property
    def lowered(self) -> Lowered | None:
        """The tangent in the intermediate form; None if there is no such form."""
        try:
            return self.lower(True)
        except NotLowered:
            return None

    @functools.cached_property
    def entry(self) -> Native | None:
        """The tangent in loops; None if there are none."""
        if self.lowered is None:
            return None
        passes = of_tangent(self.lowered, self.definition, self.places, self.classes)
        makes_arrays = self.by_numpy == is_installed()
        return native(passes, self.definition.name, no_backpropagator, self.backend, self.multiplies, makes_arrays)

    @functools.cached_property
    def ways(self) -> tuple[Native | None, Native | None, None, Callable[..., Any]]:
        """What runs the tangent in loops, on any numbers or on few."""
        every, few = (None, self.entry) if self.multiplies else (self.entry, None)
        return every, few, None, no_backpropagator

    def by_loops(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any] | None:
        """Return value and tangent from loops; None if there are none, or tangents are not as their primals."""
        along = tuple(tangents[k] for k in self.places)
        if self.entry is None or not self.is_along(primals, along):
            return None
        made = run(self.ways, None, (*primals, *along))
        found: tuple[Any, Any] | None = None if made is None else made[0]
        return found

    @functools.cached_property
    def varied(self) -> Form | None:
        """The form of the tangents; None if they have none."""
        of = Product(tuple(self.definition.params[k].of for k in self.places))
        return Forms(self.classes, self.types).find(of)

    def is_along(self, primals: Sequence[Any], tangents: tuple[Any, ...]) -> bool:
        """Tell whether tangents have the classes and sizes of their primals: loops go through the primals' sizes."""
        return self.varied is not None and are_alike(self.varied, tuple(primals[k] for k in self.places), tangents)

    @functools.cached_property
    def others(self) -> Others:
        """The tangent on references, which is compiled once dual numbers have taken as long as that takes."""
        of, types, varied = self.definition, self.types, self.varied

        def lower() -> Passes | None:
            return of_tangent(self.lower(False), of, self.places, self.classes, types) if varied else None

        is_assembled = may_assemble(types, self.by_numpy, self.backend)
        steps = compiling(lower, of.name, no_backpropagator, self.backend, is_assembled)
        return Others(steps, forms=() if varied is None else (varied,))

    def by_references(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any] | None:
        """Return value and tangent from native code; None if there is none, or tangents are not as their primals."""
        native, along = self.others.ready(), tuple(tangents[k] for k in self.places)
        if native is None or not self.is_along(primals, along):
            return None
        made = native.vjp(*primals, *along)
        return None if made is None else made[0]
