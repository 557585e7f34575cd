"""The pattern of a primitive: it holds every element that a tangent can reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine import Engine
from ..primitive.spaces import Space
from .case import Case
from .checks import ROUNDINGS

#: The most elements of an argument that are tried one by one.
MOST = 64


def pattern_messages(engine: Engine, case: Case, position: int) -> Iterator[str]:
    """A unit tangent of each element changes nothing but what the pattern says depends on it, by the jvp rule."""
    derivative = case.derivative(position)
    space = derivative.space
    outputs = case.out if isinstance(case.out, tuple) else (case.out,)
    if case.primitive.pattern is None or not isinstance(space, Space) or space.is_complex or space.size > MOST:
        return
    if any(np.iscomplexobj(part) for part in (*outputs, *case.args)):
        return
    allowed = _allowed(engine, case, position)
    for k in range(space.size):
        tangent = np.zeros(space.size, space.dtype)
        tangent[k] = 1
        moved = derivative.jvp(tangent.reshape(space.shape) if space.shape else float(tangent[0]))
        parts = moved if isinstance(moved, tuple) else (moved,)
        sizes = np.concatenate([np.abs(np.ravel(part)) for part in parts if part is not None])
        reached = sizes > ROUNDINGS * derivative.epsilon * sizes.max(initial=0.0)
        if reached.size != len(allowed):
            return
        wrong = np.flatnonzero(reached & ~allowed[:, k])
        if wrong.size:
            yield f"element {k} reaches element {wrong[0]} of the value, which the pattern leaves out"
            return


def _allowed(engine: Engine, case: Case, position: int) -> Any:
    """What each element of the value depends on, by the pattern."""
    before, after = case.args[:position], case.args[position + 1 :]
    found = engine.dependencies(
        lambda x: case.primitive(*before, x, *after, **case.static), np.array(case.args[position], copy=True)
    )
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.starts))
    allowed = np.zeros(found.shape, bool)
    allowed[rows, found.inputs] = True
    return allowed
