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
    """A unit tangent of each element changes nothing but what the pattern says depends on it, by the jvp rule.

    A pattern combines the sets of traced arguments, so it is called with those of one argument and with those of all.
    """
    derivative = case.derivative(position)
    space = derivative.space
    outputs = case.out if isinstance(case.out, tuple) else (case.out,)
    if case.primitive.pattern is None or not isinstance(space, Space) or space.is_complex or space.size > MOST:
        return
    if any(np.iscomplexobj(part) for part in (*outputs, *case.args)):
        return
    together = tuple(case.differentiated())
    allowed = np.logical_and.reduce([_allowed(engine, case, position, traced) for traced in {(position,), together}])
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


def _allowed(engine: Engine, case: Case, position: int, traced: tuple[int, ...]) -> Any:
    """What each element of the value depends on in one of the traced arguments, by the pattern."""

    def program(*primals: Any) -> Any:
        given = dict(zip(traced, primals, strict=True))
        return case.primitive(*(given.get(k, arg) for k, arg in enumerate(case.args)), **case.static)

    found = engine.dependencies(program, *(np.array(case.args[k], copy=True) for k in traced))
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.starts))
    allowed = np.zeros(found.shape, bool)
    allowed[rows, found.inputs] = True
    start = sum(np.size(case.args[k]) for k in traced if k < position)
    return allowed[:, start : start + np.size(case.args[position])]
