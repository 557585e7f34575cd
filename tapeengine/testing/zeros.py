"""The zero-cotangent rule: a linear map sends zero to zero, elementwise, also where a partial is infinite or NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeengine.primitive import Sample
from tapeengine.spaces import Space, space_of
from tapeengine.testing.case import Case
from tapeengine.testing.checks import check_zero
from tapeengine.testing.derivative import Derivative

__all__ = ["zero_messages"]

_SINGULAR = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def zero_messages(case: Case, position: int, generator: np.random.Generator) -> Iterator[str]:
    """Check zeros at the sample and, for an operation on elements, also where functions usually have singularities."""
    derivative = case.derivative(position)
    messages = list(check_zero(derivative, generator))
    if not messages and _is_elementwise(derivative, generator):
        for value in _SINGULAR:
            for target in case.differentiated():
                messages += _at_singular(case, position, target, value, generator)
    yield from dict.fromkeys(messages[:1])


def _is_elementwise(derivative: Derivative, generator: np.random.Generator) -> bool:
    """Whether an argument has the shape of the value, and each half of it acts on the same half of the value only."""
    if not isinstance(derivative.space, Space) or not isinstance(derivative.out_space, Space):
        return False
    if derivative.space.shape != derivative.out_space.shape:
        return False
    first = np.arange(derivative.space.size).reshape(derivative.space.shape) < derivative.space.size // 2
    t = derivative.space.random(generator)
    return all(_acts_within(derivative, np.where(half, t, np.zeros_like(t))[()], half) for half in (first, ~first))


def _acts_within(derivative: Derivative, t: Any, half: Any) -> bool:
    assert derivative.jvp is not None
    return bool(np.all(np.where(half, 0, derivative.jvp(t)) == 0))


def _at_singular(case: Case, position: int, target: int, value: float, generator: np.random.Generator) -> list[str]:
    """The messages with the argument `target` filled with `value`; none where the primal refuses it."""
    space = space_of(case.args[target])
    if not isinstance(space, Space):
        return []
    filled = np.full(space.shape, value, dtype=space.dtype)[()]
    args = (*case.args[:target], filled, *case.args[target + 1 :])
    try:
        moved = Case(case.primitive, 0, Sample(args, case.sample.static), 0)
    except Exception:  # outside the domain of the primal, which may say so by any error
        return []
    name = case.name(target)
    return [f"at {name} = {value}: {message}" for message in check_zero(moved.derivative(position), generator)]
