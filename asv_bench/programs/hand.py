"""ADBench's hand tracking: 26 angles move 22 bones, and the skin follows.

In the simple form each measured point belongs to a vertex of the skin; in the complicated form, to a point in a
triangle of the skin, which is part of the problem.
"""

from typing import Any

import numpy as np

from asv_bench.programs import adbench_data
from asv_bench.programs.program import Program

BONES = 22


def pose(xp: Any, theta: Any) -> Any:
    """Distribute the angles over a (25, 3) array: rotation, scale, translation and one row for each bone."""
    rows = xp.zeros((25, 3))
    rows[0] = theta[0:3]
    rows[1] = 1.0
    rows[2] = theta[3:6]
    for finger in range(5):
        first, row = 6 + 4 * finger, 5 + 4 * finger
        rows[row, 0:2] = theta[first : first + 2]
        rows[row + 1, 0] = theta[first + 2]
        rows[row + 2, 0] = theta[first + 3]
    return rows


def pose_functional(xp: Any, theta: Any) -> Any:
    """Distribute the angles with one gather, for tools that refuse item assignment."""
    source = np.full((25, 3), 27)
    source[0], source[1], source[2] = (0, 1, 2), 26, (3, 4, 5)
    for finger in range(5):
        first, row = 6 + 4 * finger, 5 + 4 * finger
        source[row, 0:2] = first, first + 1
        source[row + 1, 0] = first + 2
        source[row + 2, 0] = first + 3
    return xp.concatenate([theta, xp.asarray(np.array([1.0, 0.0]))])[source]


def bone_rotations(xp: Any, angles: Any) -> Any:
    """Return Rz Ry Rx for rows (tx, tz, ty) as (n, 4, 4), each matrix filled by item assignment."""
    count = angles.shape[0]
    sine, cosine = xp.sin(angles), xp.cos(angles)
    rx, ry, rz = (xp.zeros((count, 4, 4)) for _ in range(3))
    for matrix, (a, b), column in ((rx, (2, 1), 0), (rz, (1, 0), 1), (ry, (0, 2), 2)):
        matrix[:, range(4), range(4)] = 1.0
        matrix[:, a, a] = cosine[:, column]
        matrix[:, b, b] = cosine[:, column]
        if column == 2:
            a, b = b, a
        matrix[:, a, b] = sine[:, column]
        matrix[:, b, a] = -sine[:, column]
    return rz @ ry @ rx


def bone_rotations_functional(xp: Any, angles: Any) -> Any:
    """Return the same rotations from stacked entries, for tools that refuse item assignment."""
    sine, cosine = xp.sin(angles), xp.cos(angles)
    one, zero = xp.asarray(np.ones(angles.shape[0])), xp.asarray(np.zeros(angles.shape[0]))

    def matrix(entries: list[Any]) -> Any:
        return xp.stack(entries, axis=1).reshape((-1, 4, 4))

    sx, sz, sy = sine[:, 0], sine[:, 1], sine[:, 2]
    cx, cz, cy = cosine[:, 0], cosine[:, 1], cosine[:, 2]
    rx = matrix([one, zero, zero, zero, zero, cx, -sx, zero, zero, sx, cx, zero, zero, zero, zero, one])
    ry = matrix([cy, zero, sy, zero, zero, one, zero, zero, -sy, zero, cy, zero, zero, zero, zero, one])
    rz = matrix([cz, -sz, zero, zero, sz, cz, zero, zero, zero, zero, one, zero, zero, zero, zero, one])
    return rz @ ry @ rx


def global_rotation(xp: Any, r: Any) -> Any:
    """Return the matrix of an angle-axis vector, the identity where its norm is below 1e-4."""
    squared = xp.sum(r * r)
    return xp.asarray(np.eye(3)) if squared < 1e-8 else turned(xp, r, xp.sqrt(squared))


def global_rotation_functional(xp: Any, r: Any) -> Any:
    """Return the same matrix without a branch, for tools that refuse branches on values."""
    squared = xp.sum(r * r)
    still = squared < 1e-8
    return xp.where(still, xp.asarray(np.eye(3)), turned(xp, r, xp.sqrt(xp.where(still, 1.0, squared))))


def turned(xp: Any, r: Any, angle: Any) -> Any:
    """Return the matrix of a rotation by `angle` about the vector `r` of that length."""
    x, y, z = r[0] / angle, r[1] / angle, r[2] / angle
    s, c = xp.sin(angle), xp.cos(angle)
    t = 1.0 - c
    return xp.stack(
        [
            xp.stack([x * x * t + c, x * y * t - z * s, x * z * t + y * s]),
            xp.stack([x * y * t + z * s, y * y * t + c, y * z * t - x * s]),
            xp.stack([x * z * t - y * s, y * z * t + x * s, z * z * t + c]),
        ]
    )


def skin(xp: Any, rows: Any, rotations: Any, turn: Any, data: dict[str, Any], vertices: Any) -> Any:
    """Return the positions of these vertices of the skin, as (3, number of vertices); `turn` is the global rotation."""
    relatives = data["base_relatives"] @ rotations
    absolutes: list[Any] = []
    for i, parent in enumerate(data["parents"]):
        absolutes.append(relatives[i] if parent == -1 else absolutes[parent] @ relatives[i])
    transforms = xp.stack(absolutes) @ data["inverse_base_absolutes"]
    moved = transforms @ data["base_positions"][vertices].T
    positions = xp.sum(moved * data["weights"][vertices].T[:, None, :], axis=0)[:3]
    return (turn * rows[1]) @ positions + rows[2][:, None]


def errors(xp: Any, rows: Any, rotations: Any, data: dict[str, Any], turn: Any = None) -> Any:
    """Return the distance vectors from the skin to the points, as one long vector."""
    turn = global_rotation(xp, rows[0]) if turn is None else turn
    positions = skin(xp, rows, rotations, turn, data, data["corr"])
    return (data["points"].T - positions).T.reshape(-1)


def errors_complicated(xp: Any, us: Any, rows: Any, rotations: Any, data: dict[str, Any], turn: Any) -> Any:
    """Return the distance vectors from points in triangles to the measured points; `us` (N, 2) weighs the corners."""
    corners = data["triangles"][data["corr"]]
    first, second, third = (skin(xp, rows, rotations, turn, data, corners[:, i]) for i in range(3))
    u, v = us[:, 0], us[:, 1]
    positions = u * first + v * second + (1.0 - u - v) * third
    return (data["points"].T - positions).T.reshape(-1)


def hand(xp: Any, theta: Any, data: dict[str, Any]) -> Any:
    """Return the errors (3N,) for the 26 angles `theta`."""
    rows = pose(xp, theta)
    return errors(xp, rows, bone_rotations(xp, rows[3:]), data)


def hand_functional(xp: Any, theta: Any, data: dict[str, Any]) -> Any:
    """Return the errors without item assignment."""
    rows = pose_functional(xp, theta)
    return errors(xp, rows, bone_rotations_functional(xp, rows[3:]), data, global_rotation_functional(xp, rows[0]))


def hand_complicated(xp: Any, us: Any, theta: Any, data: dict[str, Any]) -> Any:
    """Return the errors (3N,) for the weights `us` (N, 2) of the corners and the 26 angles `theta`."""
    rows = pose(xp, theta)
    return errors_complicated(xp, us, rows, bone_rotations(xp, rows[3:]), data, global_rotation(xp, rows[0]))


def complicated_functional(xp: Any, us: Any, theta: Any, data: dict[str, Any]) -> Any:
    """Return the errors of the complicated form without item assignment."""
    rows = pose_functional(xp, theta)
    turn = global_rotation_functional(xp, rows[0])
    return errors_complicated(xp, us, rows, bone_rotations_functional(xp, rows[3:]), data, turn)


def inputs(size: int) -> tuple[Any, dict[str, Any]]:
    """Return the angles, and the data of a hand with `size` points."""
    data = adbench_data.hand(size)
    return data["theta"], data


def complicated_inputs(size: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return weights and angles, and the data of a hand with `size` points on triangles."""
    data = adbench_data.hand(size, complicated=True)
    return data["us"], data["theta"], data


PROGRAM = Program("hand", hand, inputs, (100,), "arrays", functional=hand_functional, active=1)
COMPLICATED = Program(
    "hand_complicated",
    hand_complicated,
    complicated_inputs,
    (100,),
    "arrays",
    functional=complicated_functional,
    active=2,
)
