"""Typed programs at arrays that belong to a trace and depend on none of its inputs, as other programs make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp


@te.program
def swapped(x: te.Vec) -> te.Vec:
    a = np.zeros(2)
    a[0] = x[1]
    a[1] = x[0]
    return a


@te.program
def doubled(x: te.Vec) -> te.Vec:
    return x * 2.0


def changed(x: Any) -> Any:
    y = doubled(tnp.ones(2))
    y[0] = x[0]
    return y * x


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "of a program": (lambda x: doubled(swapped(x)), lambda x: 2.0 * x[::-1]),
    "of ones": (lambda x: doubled(tnp.ones(2)) * x, lambda x: 2.0 * x),
    "written to": (changed, lambda x: np.stack([x[0] * x[0], 2.0 * x[1]])),
}

WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "call": lambda f, x: f(x),
    "checkpoint": lambda f, x: te.checkpoint(f)(x),
    "iterate": lambda f, x: te.iterate(f, 1, x, checkpoints=1),
    "fork": lambda f, x: te.fork(lambda: f(x), lambda: 0.0)[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_constants(name: str, way: str) -> None:
    program, plain = FUNCTIONS[name]
    x, t = np.array([1.5, -0.5]), np.array([1.0, 2.0])

    def outcome(f: Callable[[Any], Any]) -> list[Any]:
        def total(x: Any) -> Any:
            return np.sum(f(x) ** 3)

        return [*te.jvp(total, (x,), (t,)), te.grad(total)(x), te.hessian(total)(x)]

    for found, expected in zip(outcome(lambda x: WAYS[way](program, x)), outcome(plain), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
