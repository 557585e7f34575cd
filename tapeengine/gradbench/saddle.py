"""The evaluation ``saddle``: min over p of max over q of |p|^2 - |q|^2, by nested gradient descent."""

from functools import partial
from typing import Any

from .descent import GRADIENTS, Gradient, minimise, squared
from .functions import Function


def against(p: list[Any], q: list[Any]) -> Any:
    """Return the objective that the inner search minimises."""
    return squared(q) - squared(p)


def best(inner: Gradient, start: list[float], p: list[Any]) -> list[Any]:
    """Return the best q for a p."""
    return minimise(partial(against, p), inner, start)


def worst(inner: Gradient, start: list[float], p: list[Any]) -> Any:
    """Return the largest value for a p."""
    return -against(p, best(inner, start, p))


def saddle_point(outer: Gradient, inner: Gradient, start: list[float]) -> list[Any]:
    """Return p and q, concatenated; both searches start at `start`."""
    p = minimise(partial(worst, inner, start), outer, start)
    return p + best(inner, start, p)


def prepare(given: dict[str, Any]) -> tuple[list[float]]:
    """The start of the searches."""
    return ([float(x) for x in given["start"]],)


FUNCTIONS = {
    outer + inner: Function(prepare, partial(saddle_point, GRADIENTS[outer], GRADIENTS[inner]))
    for outer in "rf"
    for inner in "rf"
}
