"""Jacobians of array programs by rows: 200 rows in blocks, relative to resolving a single row."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.numpy as tnp
from asv_bench.measure import interleaved

WEIGHTS = np.random.default_rng(0).normal(size=(200, 300)) / 17.0


def recurrence(x: Any) -> Any:
    """40 states of 5 numbers, all of them results."""
    states = []
    for _ in range(40):
        x = tnp.sin(x) * 0.9 + 0.1 * x[::-1]
        states.append(x)
    return tnp.stack(states)


def layers(x: Any) -> Any:
    """200 numbers of 300, through ten elementwise layers."""
    y = tnp.tanh(WEIGHTS @ x)
    for _ in range(10):
        y = tnp.sin(y) * y + 0.5 * y
    return y


def matrices(x: Any) -> Any:
    """Products of matrices of 15 x 20, of which 200 numbers are the result."""
    w = tnp.reshape(x, (15, 20))
    for _ in range(5):
        w = tnp.tanh(w @ w.T @ w * 0.01)
    return tnp.reshape(w[:10], (-1,))


PROGRAMS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "recurrence": (recurrence, 5),
    "layers": (layers, 300),
    "matrices": (matrices, 300),
}


class ArrayRows:
    """Measure the time of a Jacobian by rows, without the recording, relative to that of one resolve."""

    param_names = ("program",)
    params = (tuple(PROGRAMS),)
    unit = "resolves of 200"

    def track_resolves(self, name: str) -> float:
        """Interleave recording, one resolve and the Jacobian."""
        program, size = PROGRAMS[name]
        x = np.linspace(-1.0, 1.0, size)
        value, backpropagator = te.vjp(program, x)
        one = np.zeros_like(value)
        one.flat[3] = 1.0
        jacobian = te.jacrev(program)
        measured = {
            "record": lambda: te.vjp(program, x),
            "resolve": lambda: backpropagator(one),
            "jacobian": lambda: jacobian(x),
        }
        times = interleaved(measured, rounds=9)
        return (times["jacobian"] - times["record"]) / times["resolve"]
