"""Run a program that calls itself by the text of its intermediate form, where the register machine is asked for.

The machine has no functions. The text does the operations of native code in their order, so the bits are the same.
Where it raises an error, as at a pole, or a number is not finite, the caller runs the program on dual numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import StructureError
from ..intermediate.text import compiled
from ..language.depth import with_room
from ..language.kinds import with_kinds
from ..language.terms import Definition
from ..ordinary import check_trees, holds_traced
from .convert import VALUE, Converter
from .passes import Passes


class ByText:
    """Both passes of a program on Python values.

    * `again`: runs the program on dual numbers.
    """

    def __init__(
        self, passes: Passes, definition: Definition, converter: Converter, again: Callable[[Sequence[Any]], Any]
    ) -> None:
        self.run = compiled(passes.program, passes.program.primitives)
        self.definition, self.converter, self.again = definition, converter, again

    def vjp(self, *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
        """Run the program; None where it has to run on dual numbers."""
        each = [(p.of, x, p.name) for p, x in zip(self.definition.params, primals, strict=True)]
        if self.converter.types:
            check_trees(primals)
        try:
            flat = [with_room(self.converter.flat, of, x, f"the argument {name}") for of, x, name in each]
        except StructureError:
            return None
        found = self.finite("forward", [leaf for leaves in flat for leaf in leaves])
        if found is None:
            return None
        *results, kept = found
        of = self.definition.result
        value = with_room(lambda: with_kinds(self.definition.kind, self.converter.restored(of, iter(results)), {}))

        def backpropagator(cotangent: Any) -> tuple[Any, ...]:
            if not holds_traced(cotangent):
                given = with_room(self.converter.cotangent, of, cotangent, value, VALUE)
                found = self.finite("reverse", [kept, *given])
                if found is not None:
                    return with_room(self.outward, primals, found)  # type: ignore[no-any-return]
            return self.again(primals)[1](cotangent)  # type: ignore[no-any-return]

        return value, backpropagator

    def outward(self, primals: Sequence[Any], found: Sequence[Any]) -> tuple[Any, ...]:
        """Give the cotangents of the arguments that have some leaves."""
        leaves, params = iter(found), self.definition.params
        return tuple([self.converter.given(p.of, leaves, x) for p, x in zip(params, primals, strict=True)])

    def finite(self, name: str, given: Sequence[Any]) -> list[Any] | None:
        """Run a pass; None at a pole."""
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                found = with_room(self.run[name], *given)
        except (ArithmeticError, ValueError, IndexError):
            return None
        results = found[:-1] if name == "forward" else found
        return [plain(x) for x in results] + list(found[len(results) :]) if with_room(is_finite, results) else None


def plain(x: Any) -> Any:
    """Give a number of numpy's as Python's."""
    return x.item() if isinstance(x, np.generic) else x


def is_finite(x: Any) -> bool:
    """Tell whether all numbers of leaves are finite."""
    return all(map(is_finite, x)) if isinstance(x, tuple | list) else x is None or math.isfinite(x)
