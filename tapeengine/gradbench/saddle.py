"""The evaluation ``saddle``: min over p of max over q of |p|^2 - |q|^2, both by gradient descent, one in the other."""

from functools import partial
from typing import Any

from tapeengine.gradbench.descent import GRADIENTS, Gradient, minimise, squared
from tapeengine.gradbench.functions import Function

__all__ = ["FUNCTIONS", "saddle_point"]


def against(p: list[Any], q: list[Any]) -> Any:
    """Return what the inner search makes small."""
    return squared(q) - squared(p)


def best(inner: Gradient, start: list[float], p: list[Any]) -> list[Any]:
    """Return the q that answers a p."""
    return minimise(partial(against, p), inner, start)


def worst(inner: Gradient, start: list[float], p: list[Any]) -> Any:
    """Return the largest value for a p."""
    return -against(p, best(inner, start, p))


def saddle_point(outer: Gradient, inner: Gradient, start: list[float]) -> list[Any]:
    """Return p and q, one after the other; both searches begin at `start`."""
    p = minimise(partial(worst, inner, start), outer, start)
    return p + best(inner, start, p)


def prepare(given: dict[str, Any]) -> tuple[list[float]]:
    """Where the searches begin."""
    return ([float(x) for x in given["start"]],)


FUNCTIONS = {
    outer + inner: Function(prepare, partial(saddle_point, GRADIENTS[outer], GRADIENTS[inner]))
    for outer in "rf"
    for inner in "rf"
}
