"""The dual-numbers frontend: numpy's protocols and methods for traced scalars and arrays."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .._core.arrays.functions import offered
from .._core.tape.above import ABOVE
from .ended import OfEnded
from .foreign import as_object_for_operators, as_plain, check_series, given_by, no_place_for_derivatives, replaced

__all__ = ["offered"]


def _methods() -> Mapping[str, Callable[..., Any]]:
    from .methods import METHODS

    return METHODS


ABOVE.as_plain, ABOVE.check_series = as_plain, check_series
ABOVE.given = partial(replaced, given_by)
ABOVE.of_ended = OfEnded()
ABOVE.as_object_for_operators = as_object_for_operators
ABOVE.no_place_for_derivatives = no_place_for_derivatives
ABOVE.methods = _methods
