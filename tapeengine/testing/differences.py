"""Directional derivatives from values alone: a grid of central differences of fourth order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..primitive.spaces import Space, VectorSpace, children
from .derivative import Derivative

#: Step lengths, beginning with the most likely ones; the best step counts.
STEPS = tuple(10.0 ** (k / 2) for k in (-4, -5, -3, -6, -2, -7, -1, -8, 0, -9, 1, -10, 2, 3, 4))
_STENCIL = ((1.0, 8 / 12), (-1.0, -8 / 12), (2.0, -1 / 12), (-2.0, 1 / 12))


def direction(space: VectorSpace, point: Any, generator: np.random.Generator) -> Any:
    """Return a random tangent, scaled down where the point is small, so that short steps do not change signs."""
    if isinstance(space, Space):
        if space.is_discrete:
            return None
        size: Any = np.abs(point)
        return (space.random(generator) * np.where((size > 0) & (size < 1), size, 1.0)).astype(space.dtype)[()]
    split = children(point)
    assert split is not None
    return space.rebuild([direction(s, p, generator) for s, p in zip(space.spaces, split[1], strict=True)])


def central_difference(derivative: Derivative, tangent: Any, step: float) -> Any:
    """Return ``(8 f(x+h) - 8 f(x-h) - f(x+2h) + f(x-2h)) / 12h`` along `tangent`, with ``h = step``."""
    space, out_space = derivative.space, derivative.out_space
    total = out_space.zeros()
    for offset, weight in _STENCIL:
        moved = space.translate(derivative.point, space.scale(tangent, offset * step))
        total = out_space.add(total, out_space.scale(derivative.evaluate(moved), weight / step))
    return total


def difference_error(derivative: Derivative, tangent: Any, measure: Callable[[Any], float], enough: float) -> float:
    """Return the minimum of `measure(difference)` over the steps, or the first value of at most `enough`.

    A step that leaves the function's domain (an exception, or a non-finite result) does not count; if no step is
    possible, the result is infinite.
    """
    best = float("inf")
    for step in STEPS:
        try:
            with np.errstate(all="ignore"):
                error = measure(central_difference(derivative, tangent, step))
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue
        best = min(error, best) if error == error else best
        if best <= enough:
            break
    return best
