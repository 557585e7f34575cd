"""Primitives of the registry as functions that a run calls with the GIL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...primitive import Primitive
from ..intermediate.operations import REAL, TRUTH, WHOLE
from ..intermediate.running import on_arrays
from ..intermediate.statements import ArrayOf, Registered, Type
from .poles import at_poles

#: numpy's types for the elements of arrays.
DTYPES: Mapping[Type, np.dtype[Any]] = {REAL: np.dtype(float), WHOLE: np.dtype(np.int64), TRUTH: np.dtype(bool)}


def referring(table: Mapping[str, Primitive], s: Registered) -> Callable[[list[Any]], list[Any] | None]:
    """Give a function of leaves that calls a primitive, or one of its rules; None where Python must run the program.

    It must where numpy warns, and where an array of the result does not have the elements that the program expects.
    """
    run = on_arrays(table, s)
    if s.name == table[s.name].name:  # and no C function
        run = at_poles("raise", run)
    types = [v.type for v in s.outs]

    def called(leaves: Sequence[Any]) -> list[Any] | None:
        try:
            found = [expected(x, of) for x, of in zip(run(leaves), types, strict=True)]
        except FloatingPointError:
            return None
        return None if any(x is None for x in found) else found

    return called


def expected(x: Any, of: Type) -> Any:
    """Give a number as it is, and an array with the elements of a type, in C order; None for what is not of a type."""
    if not isinstance(of, ArrayOf):
        return x if of != WHOLE or -(2**63) <= x < 2**63 else None
    dtype = DTYPES[of.element]
    if x.ndim != of.rank or x.dtype != dtype:
        return None
    return np.ascontiguousarray(x, dtype)
