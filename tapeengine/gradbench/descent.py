"""Gradient descent as defined by the evaluations ``particle`` and ``saddle``, and gradients in both modes."""

from collections.abc import Callable
from typing import Any

import tapeengine as te

Point = list[Any]
Gradient = Callable[[Callable[[Point], Any], Point], Point]


def minimise(f: Callable[[Point], Any], gradient: Gradient, x: Point) -> Point:
    """Descend with a step that doubles after ten gains and halves after a loss, until no move exceeds 1e-5."""
    step, gains, limit = 1e-5, 0, 1e-10
    value, slope = f(x), gradient(f, x)
    while squared(slope) > limit:
        if gains == 10:
            step, gains = 2.0 * step, 0
        move = [step * s for s in slope]
        if squared(move) <= limit:
            break
        candidate = [a - b for a, b in zip(x, move, strict=True)]
        reached = f(candidate)
        if reached < value:
            x, value, slope, gains = candidate, reached, gradient(f, candidate), gains + 1
        else:
            step, gains = step / 2.0, 0
    return x


def squared(x: Point) -> Any:
    """Return the squared norm."""
    return sum(a * a for a in x)


def reverse(f: Callable[[Point], Any], x: Point) -> Point:
    """Return the gradient, computed in reverse mode."""
    return te.grad(f)(x)  # type: ignore[no-any-return]


def forward(f: Callable[[Point], Any], x: Point) -> Point:
    """Return the gradient, computed in forward mode direction by direction."""
    directions = [[float(i == j) for j in range(len(x))] for i in range(len(x))]
    return [te.jvp(f, (x,), (direction,))[1] for direction in directions]


GRADIENTS: dict[str, Gradient] = {"r": reverse, "f": forward}
