"""ADBench's bundle adjustment: the errors of all observations at once, with gathers of cameras and points."""

from typing import Any

from asv_bench.programs import adbench_data
from asv_bench.programs.program import Program


def cross(xp: Any, a: Any, b: Any) -> Any:
    """Return the cross products of the rows of two arrays."""
    return xp.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        axis=1,
    )


def rotated(xp: Any, rotation: Any, x: Any) -> Any:
    """Rotate the rows of `x` by angle-axis vectors (Rodrigues), to first order where the angle is zero."""
    squared = xp.sum(rotation * rotation, axis=1)[:, None]
    still = squared == 0.0
    angle = xp.sqrt(xp.where(still, 1.0, squared))
    axis = rotation / angle
    sine, cosine = xp.sin(angle), xp.cos(angle)
    along = xp.sum(axis * x, axis=1)[:, None] * (1.0 - cosine)
    turned = x * cosine + cross(xp, axis, x) * sine + axis * along
    return xp.where(still, x + cross(xp, rotation, x), turned)


def ba(xp: Any, cams: Any, points: Any, w: Any, obs: Any, feats: Any) -> tuple[Any, Any]:
    """Return the reprojection errors (p, 2) and the weight errors (p,)."""
    camera = cams[obs[:, 0]]
    y = rotated(xp, camera[:, 0:3], points[obs[:, 1]] - camera[:, 3:6])
    p = y[:, :2] / y[:, 2:]
    s = xp.sum(p * p, axis=1)[:, None]
    p = p * (1.0 + camera[:, 9:10] * s + camera[:, 10:11] * s * s)
    error = w[:, None] * (camera[:, 6:7] * p + camera[:, 7:9] - feats)
    return error, 1.0 - w * w


def ba_sum(xp: Any, cams: Any, points: Any, w: Any, obs: Any, feats: Any) -> Any:
    """Return half the sum of the squares of all errors."""
    error, weight_error = ba(xp, cams, points, w, obs, feats)
    return 0.5 * (xp.sum(error * error) + xp.sum(weight_error * weight_error))


def inputs(size: int) -> tuple[Any, ...]:
    """Return 49 cameras and 7776 points seen in `size` observations."""
    data = adbench_data.ba(observations=size)
    return data["cams"], data["X"], data["w"], data["obs"], data["feats"]


PROGRAM = Program("ba", ba, inputs, (31843,), "arrays", active=3)
SUM = Program("ba_sum", ba_sum, inputs, (31843,), "arrays", active=3)
