"""Two programs with nested derivatives: gradient descent through a simulation, and through itself.

Both are the classic tests of nested differentiation by Siskind and Pearlmutter. The two differentiation operators are
arguments: ``outer(f, x)`` and ``inner(f, x)`` return the gradient of `f` at the list `x`, as a list.
"""

from collections.abc import Callable
from typing import Any

Gradient = Callable[[Callable[[list[Any]], Any], list[Any]], list[Any]]

PARTICLE = [0.2071918746486116]
SADDLE = [8.246324826140356e-06] * 4


def squared_distance(x: list[Any], y: list[Any]) -> Any:
    """Return the square of the distance between two points."""
    total: Any = 0.0
    for a, b in zip(x, y):
        total = total + (a - b) * (a - b)
    return total


def minimise(f: Callable[[list[Any]], Any], gradient: Callable[[list[Any]], list[Any]], x: list[Any]) -> list[Any]:
    """Descend with a step that doubles after ten gains and halves after a loss, until no move exceeds 1e-5."""
    eta, gains, limit = 1e-5, 0, 1e-10
    value, slope = f(x), gradient(x)
    origin = [0.0] * len(x)
    while squared_distance(slope, origin) > limit:
        if gains == 10:
            eta, gains = 2.0 * eta, 0
        candidate = [a - eta * b for a, b in zip(x, slope)]
        if squared_distance(x, candidate) <= limit:
            return x
        trial = f(candidate)
        if trial < value:
            x, value, slope, gains = candidate, trial, gradient(candidate), gains + 1
        else:
            eta, gains = eta / 2.0, 0
    return x


def potential(charges: list[list[Any]], x: list[Any]) -> Any:
    """Sum 1 / distance over the charges."""
    total = 0.0
    for charge in charges:
        dx, dy = x[0] - charge[0], x[1] - charge[1]
        total = total + 1.0 / (dx * dx + dy * dy) ** 0.5
    return total


def fall(inner: Gradient, w: Any) -> Any:
    """Let a particle fall between two charges and return the square of its landing position."""
    dt = 0.1
    charges = [[10.0, 10.0 - w], [10.0, 0.0]]
    x, v = [0.0, 8.0], [0.75, 0.0]
    while True:
        slope = inner(lambda at: potential(charges, at), x)
        ahead = [a + dt * b for a, b in zip(x, v)]
        if not ahead[1] > 0.0:
            break
        v = [a - dt * b for a, b in zip(v, slope)]
        x = ahead
    landing = -x[1] / v[1]
    return (x[0] + landing * v[0]) ** 2


def particle(outer: Gradient, inner: Gradient) -> list[Any]:
    """Find the control that makes the particle land at the origin; the result is `PARTICLE`."""

    def loss(w: list[Any]) -> Any:
        return fall(inner, w[0])

    return minimise(loss, lambda w: outer(loss, w), [0.0])


def saddle(outer: Gradient, inner: Gradient) -> list[Any]:
    """Minimise over p the maximum over q of |p|^2 - |q|^2; the result is `SADDLE`."""
    start = [1.0, 1.0]

    def value(p: list[Any], q: list[Any]) -> Any:
        return (p[0] * p[0] + p[1] * p[1]) - (q[0] * q[0] + q[1] * q[1])

    def best(p: list[Any]) -> list[Any]:
        def loss(q: list[Any]) -> Any:
            return -value(p, q)

        return minimise(loss, lambda q: inner(loss, q), start)

    def worst(p: list[Any]) -> Any:
        return value(p, best(p))

    p = minimise(worst, lambda p: outer(worst, p), start)
    return p + best(p)
