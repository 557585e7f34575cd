"""Quaternions, rotations, particles: the programs of DN section 13 and others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from programs.program import Program


@dataclass(frozen=True)
class Quaternion:
    a: Any
    i: Any
    j: Any
    k: Any

    def __mul__(self, q: Quaternion) -> Quaternion:
        return Quaternion(
            self.a * q.a - self.i * q.i - self.j * q.j - self.k * q.k,
            self.a * q.i + self.i * q.a + self.j * q.k - self.k * q.j,
            self.a * q.j - self.i * q.k + self.j * q.a + self.k * q.i,
            self.a * q.k + self.i * q.j - self.j * q.i + self.k * q.a,
        )

    def conjugate(self) -> Quaternion:
        return Quaternion(self.a, -self.i, -self.j, -self.k)

    def rotate(self, v: Any) -> Any:
        w = self * Quaternion(0.0, *v) * self.conjugate()
        return w.i, w.j, w.k


def rotation(m: Any, q: Quaternion, v: Any) -> Any:
    return q.rotate(v)


def many_rotations(m: Any, q: Quaternion, v: Any) -> Any:
    """Three hundred rotations in sequence."""
    for _ in range(300):
        v = q.rotate(v)
    return v


def rotation_columns(q: Quaternion, v: Any) -> list[list[float]]:
    """The derivative with respect to the vector is the rotation matrix; that for q follows from the product rule."""
    matrix = [q.rotate(e) for e in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    by_vector = [[matrix[column][row] for column in range(3)] for row in range(3)]
    units = [Quaternion(*[float(i == j) for j in range(4)]) for i in range(4)]
    pure = Quaternion(0.0, *v)
    by_q = []
    for e in units:
        one, two = e * pure * q.conjugate(), q * pure * e.conjugate()
        by_q.append([one.i + two.i, one.j + two.j, one.k + two.k])
    return [[*[by_q[c][row] for c in range(4)], *by_vector[row]] for row in range(3)]


def force(p: Any, q: Any) -> Any:
    dx, dy = p[0] - q[0], p[1] - q[1]
    scale = 1.0 / (dx * dx + dy * dy + 0.1)
    return dx * scale, dy * scale


def particles(m: Any, positions: Any, velocities: Any, steps: int = 12) -> Any:
    """Pairwise forces d / (|d|^2 + 0.1) in a harmonic well, symplectic Euler."""
    dt = 0.01
    for _ in range(steps):
        accelerations = []
        for i, p in enumerate(positions):
            ax, ay = -p[0], -p[1]
            for j, q in enumerate(positions):
                if i != j:
                    fx, fy = force(p, q)
                    ax, ay = ax + fx, ay + fy
            accelerations.append((ax, ay))
        velocities = [(v[0] + dt * a[0], v[1] + dt * a[1]) for v, a in zip(velocities, accelerations, strict=True)]
        positions = [(p[0] + dt * v[0], p[1] + dt * v[1]) for p, v in zip(positions, velocities, strict=True)]
    return positions


def triangle_area(m: Any, a: Any, b: Any, c: Any) -> Any:
    x, y, z = m.dist(a, b), m.dist(b, c), m.dist(c, a)
    s = (x + y + z) / 2.0
    return m.sqrt(s * (s - x) * (s - y) * (s - z))


def triangle_by_hand(a: Any, b: Any, c: Any) -> list[list[float]]:
    """Half the cross product, for a counterclockwise triangle."""
    corners = [a, b, c]
    return [
        [
            slope
            for k in range(3)
            for slope in (
                0.5 * (corners[(k + 1) % 3][1] - corners[(k + 2) % 3][1]),
                0.5 * (corners[(k + 2) % 3][0] - corners[(k + 1) % 3][0]),
            )
        ]
    ]


def polar(m: Any, x: Any, y: Any) -> Any:
    return m.hypot(x, y), m.atan2(y, x)


def polar_by_hand(x: float, y: float) -> list[list[float]]:
    r2 = x * x + y * y
    return [[x / math.sqrt(r2), y / math.sqrt(r2)], [-y / r2, x / r2]]


def closest_point(m: Any, points: Any, p: Any) -> Any:
    return min(points, key=lambda q: m.dist(p, q))


ANGLE = 0.3
UNIT = Quaternion(math.cos(ANGLE), 0.6 * math.sin(ANGLE), 0.0, 0.8 * math.sin(ANGLE))
POSITIONS = [(0.0, 0.1), (0.5, -0.2), (1.0, 0.3), (1.5, 0.7)]
VELOCITIES = [(1.0, 0.0), (0.0, 1.0), (-0.5, 0.2), (0.1, -0.3)]

PROGRAMS = (
    Program("quaternion rotation", rotation, (Quaternion(0.9, 0.1, -0.4, 0.2), (1.0, -2.0, 0.5)), rotation_columns),
    Program("300 rotations", many_rotations, (UNIT, (1.0, -2.0, 0.5)), step=2.0**-16),
    Program("particles", particles, (POSITIONS, VELOCITIES)),
    Program("triangle", triangle_area, ((0.0, 0.0), (3.0, 0.5), (1.0, 2.0)), triangle_by_hand),
    Program("polar coordinates", polar, (-0.8, 1.7), polar_by_hand),
    Program("closest point", closest_point, (POSITIONS, (0.6, 0.0))),
)
