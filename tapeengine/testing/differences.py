"""Directional derivatives from values alone: a grid of central differences of fourth order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeengine.spaces import VectorSpace

__all__ = ["STEPS", "central_difference", "difference_error"]

#: Step lengths from where truncation dominates to where rounding does; the best of them is believed.
STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 11))
_STENCIL = ((1.0, 8 / 12), (-1.0, -8 / 12), (2.0, -1 / 12), (-2.0, 1 / 12))


def central_difference(
    evaluate: Callable[[Any], Any], space: VectorSpace, out_space: VectorSpace, point: Any, tangent: Any, step: float
) -> Any:
    """Return ``(8 f(x+h) - 8 f(x-h) - f(x+2h) + f(x-2h)) / 12h`` along `tangent`, with ``h = step``."""
    total = out_space.zeros()
    for offset, weight in _STENCIL:
        moved = space.translate(point, space.scale(tangent, offset * step))
        total = out_space.add(total, out_space.scale(evaluate(moved), weight / step))
    return total


def difference_error(
    evaluate: Callable[[Any], Any],
    space: VectorSpace,
    out_space: VectorSpace,
    point: Any,
    tangent: Any,
    measure: Callable[[Any], float],
) -> float:
    """Return the least of `measure(difference)` over the grid of steps; infinite where no step can be taken.

    A step that leaves the function's domain (an exception, or a result that is not finite) does not count.
    """
    best = np.inf
    for step in STEPS:
        try:
            with np.errstate(all="ignore"):
                error = measure(central_difference(evaluate, space, out_space, point, tangent, step))
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue
        if error < best:
            best = error
    return float(best)
