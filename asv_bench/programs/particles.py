"""Particles that move in the plane, on lists of scalars.

`particles` has pairwise forces. `particles_friction` is from the parallel paper (DN section 13): each particle moves
independently, so all four can run in parallel.
"""

from typing import Any

from asv_bench.programs.program import Program


def particles(xp: Any, px: list[Any], py: list[Any], vx: list[Any], vy: list[Any], steps: int) -> Any:
    """Move by symplectic Euler steps of 0.01 in a harmonic well, with forces d / (|d|^2 + 0.1) between all pairs."""
    dt, count = 0.01, len(px)
    px, py, vx, vy = list(px), list(py), list(vx), list(vy)
    for _ in range(steps):
        fx = [-x for x in px]
        fy = [-y for y in py]
        for i in range(count):
            for j in range(i + 1, count):
                dx = px[i] - px[j]
                dy = py[i] - py[j]
                w = 1.0 / (dx * dx + dy * dy + 0.1)
                gx = dx * w
                gy = dy * w
                fx[i] = fx[i] + gx
                fy[i] = fy[i] + gy
                fx[j] = fx[j] - gx
                fy[j] = fy[j] - gy
        for i in range(count):
            vx[i] = vx[i] + dt * fx[i]
            vy[i] = vy[i] + dt * fy[i]
            px[i] = px[i] + dt * vx[i]
            py[i] = py[i] + dt * vy[i]
    total = 0.0
    for x, y in zip(px, py):
        total = total + x * y
    return total


def friction_path(position: Any, velocity: Any, steps: int, dt: float = 0.05) -> Any:
    """Move one particle by p'' = -0.5 p - 0.2 p' and return its last position."""
    (x, y), (u, v) = position, velocity
    for _ in range(steps):
        ax = -0.5 * x - 0.2 * u
        ay = -0.5 * y - 0.2 * v
        x = x + dt * u
        y = y + dt * v
        u = u + dt * ax
        v = v + dt * ay
    return x, y


def particles_friction(xp: Any, start: list[Any], steps: int) -> Any:
    """Sum x y over the last positions of independent particles."""
    total = 0.0
    for position, velocity in start:
        x, y = friction_path(position, velocity, steps)
        total = total + x * y
    return total


def inputs(size: int) -> tuple[list[float], list[float], list[float], list[float], int]:
    """Return the positions and velocities of four particles, and the number of steps."""
    return [0.5, -0.4, 0.3, -0.6], [0.2, 0.6, -0.7, -0.1], [0.1, 0.0, -0.2, 0.3], [0.0, 0.2, 0.1, -0.1], size


def friction_inputs(size: int) -> tuple[list[Any], int]:
    """Return four particles that start at ((i/2, 0.1), (1, 1)) for i = 1 .. 4, and the number of steps."""
    return [((i / 2, 0.1), (1.0, 1.0)) for i in range(1, 5)], size


PROGRAM = Program("particles", particles, inputs, (10, 100, 1000), operations=lambda size: 118 * size + 8, active=4)
FRICTION = Program(
    "particles_friction",
    particles_friction,
    friction_inputs,
    (1000,),
    operations=lambda size: 56 * size + 8,
    active=1,
    known={1000: 0.0010676233512900827},
)
