"""The evaluation ``particle``: the control that makes a charged particle land at the origin.

The acceleration is a gradient (the inner one), and gradient descent with the outer gradient finds the control.
"""

from functools import partial
from typing import Any

from .descent import GRADIENTS, Gradient, minimise
from .functions import Function

STEP = 0.1


def potential(charges: list[list[Any]], x: list[Any]) -> Any:
    """Return the sum of 1 / distance to the charges."""
    return sum(1.0 / ((x[0] - a) ** 2 + (x[1] - b) ** 2) ** 0.5 for a, b in charges)


def landing(inner: Gradient, w: list[Any]) -> Any:
    """Move the particle by Euler's method until it crosses the axis; return the square of the position there."""
    charges = [[10.0, 10.0 - w[0]], [10.0, 0.0]]
    x: list[Any] = [0.0, 8.0]
    v: list[Any] = [0.75, 0.0]
    ahead = [a + STEP * b for a, b in zip(x, v, strict=True)]
    while ahead[1] > 0.0:
        slope = inner(partial(potential, charges), x)
        x, v = ahead, [a - STEP * b for a, b in zip(v, slope, strict=True)]
        ahead = [a + STEP * b for a, b in zip(x, v, strict=True)]
    return (x[0] - x[1] / v[1] * v[0]) ** 2


def control(outer: Gradient, inner: Gradient, w: float) -> float:
    """Return the control found by a search from `w`."""
    return float(minimise(partial(landing, inner), outer, [w])[0])


def prepare(given: dict[str, Any]) -> tuple[float]:
    """The start of the search."""
    return (float(given["w"]),)


FUNCTIONS = {
    outer + inner: Function(prepare, partial(control, GRADIENTS[outer], GRADIENTS[inner]))
    for outer in "rf"
    for inner in "rf"
}
