"""The zero-cotangent rule: a linear map sends zero to zero, elementwise, even where a partial is infinite or NaN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..primitive import Sample
from ..primitive.spaces import Space, space_of
from .case import Case
from .checks import check_zero
from .derivative import Derivative

_SINGULAR = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def zero_messages(case: Case, position: int, elementwise: bool, generator: np.random.Generator) -> Iterator[str]:
    """Check zeros at the sample and, for an elementwise operation, also at common singularities."""
    messages = list(check_zero(case.derivative(position), generator))
    if not messages and elementwise:
        for value in _SINGULAR:
            for target in case.differentiated():
                messages += _at_singular(case, position, target, value, generator)
    yield from messages[:1]


def is_elementwise(cases: Sequence[Case], generator: np.random.Generator) -> bool:
    """Whether no sample shows that an element of an argument affects other elements of the value than its own."""
    return all(_acts_on_its_own(case.derivative(p), generator) for case in cases for p in case.differentiated())


def _acts_on_its_own(derivative: Derivative, generator: np.random.Generator) -> bool:
    space, out_space = derivative.space, derivative.out_space
    if not isinstance(space, Space) or not isinstance(out_space, Space):
        return False
    try:
        if np.broadcast_shapes(space.shape, out_space.shape) != out_space.shape:
            return False
        first = np.arange(space.size).reshape(space.shape) < space.size // 2
        return all(_stays_within(derivative, half, space.random(generator)) for half in (first, ~first))
    except Exception:  # shapes do not broadcast, or the rule fails in another check
        return False


def _stays_within(derivative: Derivative, half: Any, t: Any) -> bool:
    """Whether a tangent that is zero on some elements gives a tangent that is zero there."""
    spread = derivative.jvp(np.where(half, t, np.zeros_like(t))[()])
    return bool(np.all(np.where(half, 0, spread) == 0))


def _at_singular(case: Case, position: int, target: int, value: float, generator: np.random.Generator) -> list[str]:
    """The messages with the argument `target` filled with `value`; none if the primal refuses that value."""
    space = space_of(case.args[target])
    if not isinstance(space, Space):
        return []
    filled = np.full(space.shape, value, dtype=space.dtype)[()]
    args = (*case.args[:target], filled, *case.args[target + 1 :])
    try:
        moved = Case(case.primitive, 0, Sample(args, case.sample.static), 0)
    except Exception:  # outside the primal's domain, where it may raise any error
        return []
    name = case.name(target)
    return [f"at {name} = {value}: {message}" for message in check_zero(moved.derivative(position), generator)]
