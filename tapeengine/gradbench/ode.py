"""The evaluation ``ode``: y_0' = x_0 and y_i' = x_i y_(i-1) from 0 to 2, by the fourth-order Runge-Kutta method."""

from functools import partial
from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function, entries


def slope(x: Any, y: Any) -> Any:
    """Return y'."""
    return np.concatenate([x[:1], x[1:] * y[:-1]])


def solution(x: Any, steps: int) -> Any:
    """Return y at 2, starting from zeros."""
    h = 2.0 / steps
    y = onp.zeros(len(x))
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + (h / 2.0) * k1)
        k3 = slope(x, y + (h / 2.0) * k2)
        k4 = slope(x, y + h * k3)
        y = y + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def gradient(x: Any, steps: int) -> Any:
    """Return the derivatives of the last component."""
    y, backpropagator = te.vjp(partial(solution, steps=steps), x)
    last = onp.zeros_like(y)
    last[-1] = 1.0
    return backpropagator(last)[0]


PREPARE = entries("x", "s")
FUNCTIONS = {"primal": Function(PREPARE, solution), "gradient": Function(PREPARE, gradient)}
