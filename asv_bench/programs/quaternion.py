"""The rotation of a vector by a unit quaternion (DN Table 1, `rotate_vec_by_quat`), and a chain of many rotations."""

from typing import Any

from asv_bench.programs.program import Program


def rotate(xp: Any, vector: Any, quaternion: Any) -> Any:
    """Rotate `vector` by `quaternion`: v + 2 w (u x v) + 2 u x (u x v) with quaternion (u, w)."""
    vx, vy, vz = vector
    ux, uy, uz, w = quaternion
    cx = uy * vz - uz * vy
    cy = uz * vx - ux * vz
    cz = ux * vy - uy * vx
    dx, dy, dz = cx + cx, cy + cy, cz + cz
    return (
        vx + w * dx + (uy * dz - uz * dy),
        vy + w * dy + (uz * dx - ux * dz),
        vz + w * dz + (ux * dy - uy * dx),
    )


def rotate_sum(xp: Any, vector: Any, quaternion: Any, times: int) -> Any:
    """Rotate `times` times and sum the coordinates."""
    for _ in range(times):
        vector = rotate(xp, vector, quaternion)
    x, y, z = vector
    return x + y + z


def inputs(size: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return a vector and a unit quaternion."""
    return (1.0, -2.0, 0.5), (0.1, 0.7, 0.5, 0.5)


def chain_inputs(size: int) -> tuple[tuple[float, ...], tuple[float, ...], int]:
    """Return a vector, a unit quaternion and the number of rotations."""
    vector, quaternion = inputs(size)
    return vector, quaternion, size


PROGRAM = Program("quaternion", rotate, inputs, (1,), operations=lambda size: 30)
CHAIN = Program("rotations", rotate_sum, chain_inputs, (300,), operations=lambda size: 30 * size + 2, active=2)
