"""GradBench's two programs with nested derivatives, reverse over reverse (by Siskind and Pearlmutter)."""

from collections.abc import Callable
from typing import Any

import pytest

Vector = list[Any]


def norm(m: Any, xs: Vector) -> Any:
    return m.sqrt(sum(x * x for x in xs))


def minimise(m: Any, f: Callable[[Vector], Any], g: Callable[[Vector], Vector], x: Vector) -> Vector:
    """Gradient descent with an adaptive step size; norms and comparisons look at values."""
    eta, i = 1e-5, 0
    fx, gx = f(x), g(x)
    while norm(m, gx) > 1e-5:
        if i == 10:
            eta, i = eta * 2, 0
            continue
        moved = [a - eta * b for a, b in zip(x, gx, strict=True)]
        if norm(m, [a - b for a, b in zip(x, moved, strict=True)]) <= 1e-5:
            break
        f_moved = f(moved)
        if f_moved < fx:
            x, fx, gx, i = moved, f_moved, g(moved), i + 1
        else:
            eta, i = eta / 2, 0
    return x


def flight(core: Any, w: Vector, potential: Callable[[Vector, Any], Any]) -> Any:
    """The square of the particle's landing position; the force is the inner derivative."""
    x, v, dt = [0.0, 8.0], [0.75, 0.0], 0.1
    force = core.grad(lambda p: potential(p, w[0]))
    ahead = [a + dt * b for a, b in zip(x, v, strict=True)]
    while ahead[1] > 0:
        v = [b - dt * f for b, f in zip(v, force(x), strict=True)]
        x = ahead
        ahead = [a + dt * b for a, b in zip(x, v, strict=True)]
    t = -x[1] / v[1]
    return (x[0] + t * v[0]) ** 2


def particle(core: Any) -> Vector:
    def potential(p: Vector, w: Any) -> Any:
        charges = ([10.0, 10.0 - w], [10.0, 0.0])
        return sum(1.0 / norm(core.math, [a - b for a, b in zip(p, c, strict=True)]) for c in charges)

    def loss(w: Vector) -> Any:
        return flight(core, w, potential)

    return minimise(core.math, loss, core.grad(loss), [0.0])


def saddle(core: Any) -> Vector:
    def f(p: Vector, q: Vector) -> Any:
        return (p[0] * p[0] + p[1] * p[1]) - (q[0] * q[0] + q[1] * q[1])

    def best_reply(p: Vector) -> Vector:
        reply = lambda q: -f(p, q)  # noqa: E731
        return minimise(core.math, reply, core.grad(reply), [1.0, 1.0])

    outer = lambda p: f(p, best_reply(p))  # noqa: E731
    p = minimise(core.math, outer, core.grad(outer), [1.0, 1.0])
    return [*p, *best_reply(p)]


def test_particle(cores: Any) -> None:
    compiled, _ = cores
    assert particle(compiled) == pytest.approx([0.2071918746486116], rel=1e-9)


def test_one_flight_of_the_particle_has_the_same_bits_in_both_cores(cores: Any) -> None:
    slopes = []
    for core in cores:

        def potential(p: Vector, w: Any, m: Any = core.math) -> Any:
            return 1.0 / norm(m, [p[0] - 10.0, p[1] - 10.0 + w]) + 1.0 / norm(m, [p[0] - 10.0, p[1]])

        slopes.append(core.grad(lambda w, core=core, potential=potential: flight(core, w, potential))([0.2]))
    assert repr(slopes[0]) == repr(slopes[1])


def test_saddle(cores: Any) -> None:
    compiled, _ = cores
    assert saddle(compiled) == pytest.approx([8.246324826140356e-06] * 4, rel=1e-9)
