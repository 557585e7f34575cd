"""The evaluation ``ba``: errors of a bundle adjustment, and their Jacobian as a sparse matrix by rows.

An error depends only on one camera, one point and one weight. If these are gathered for each observation, one reverse
pass for each of the two coordinates gives all of their derivatives at once.
"""

from functools import partial
from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function

SHOWN = 30  # entries in the output, which also has the last one


def cross(a: Any, b: Any) -> Any:
    """Return the cross products of rows."""
    x, y, z = (a[:, [1, 2, 0][i]] * b[:, [2, 0, 1][i]] - a[:, [2, 0, 1][i]] * b[:, [1, 2, 0][i]] for i in range(3))
    return np.stack([x, y, z], axis=1)


def rotated(rotation: Any, x: Any) -> Any:
    """Rotate rows by angle-axis vectors (Rodrigues); to first order where the angle is zero."""
    squared = np.sum(rotation * rotation, axis=1)[:, None]
    still = squared == 0.0
    angle = np.sqrt(np.where(still, 1.0, squared))
    axis = rotation / angle
    cosine = np.cos(angle)
    turned = x * cosine + cross(axis, x) * np.sin(angle) + axis * (np.sum(axis * x, axis=1)[:, None] * (1.0 - cosine))
    return np.where(still, x + cross(rotation, x), turned)


def reprojection(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """Return the weighted errors (p, 2); camera (p, 11), point (p, 3), weight (p,), feature (p, 2)."""
    moved = rotated(camera[:, 0:3], point - camera[:, 3:6])
    projected = moved[:, :2] / moved[:, 2:]
    square = np.sum(projected * projected, axis=1)[:, None]
    distorted = projected * (1.0 + camera[:, 9:10] * square + camera[:, 10:11] * square * square)
    return weight[:, None] * (camera[:, 6:7] * distorted + camera[:, 7:9] - feature)


def weight_error(weight: Any) -> Any:
    """Return 1 - w^2."""
    return 1.0 - weight * weight


def prepare(given: dict[str, Any]) -> tuple[Any, ...]:
    """The input's camera, point, weight and feature, repeated, and the pairs of camera and point."""
    n, m, p = given["n"], given["m"], given["p"]
    observation = onp.arange(p)
    return (
        onp.tile(given["cam"], (n, 1)).astype(float),
        onp.tile(given["x"], (m, 1)).astype(float),
        onp.full(p, float(given["w"])),
        onp.tile(given["feat"], (p, 1)).astype(float),
        observation % n,
        observation % m,
    )


def objective(cameras: Any, points: Any, weights: Any, features: Any, seen_by: Any, seen: Any) -> tuple[Any, Any]:
    """Return the errors of reprojection (p, 2) and of the weights (p,)."""
    return reprojection(cameras[seen_by], points[seen], weights, features), weight_error(weights)


def jacobian(cameras: Any, points: Any, weights: Any, features: Any, seen_by: Any, seen: Any) -> tuple[Any, Any, Any]:
    """Return starts of rows, columns and values: two rows for each observation, then one for each weight."""
    p = len(weights)
    primals = cameras[seen_by], points[seen], weights
    _, backpropagator = te.vjp(partial(reprojection, feature=features), *primals)
    _, of_weight = te.vjp(weight_error, weights)
    values = onp.empty((p, 2, 15))
    for coordinate in range(2):
        cotangent = onp.zeros((p, 2))
        cotangent[:, coordinate] = 1.0
        values[:, coordinate, :11], values[:, coordinate, 11:14], values[:, coordinate, 14] = backpropagator(cotangent)
    rows = onp.concatenate([onp.arange(2 * p + 1) * 15, 30 * p + onp.arange(1, p + 1)])
    columns, last = block_columns(len(cameras), len(points), seen_by, seen)
    every = onp.concatenate([onp.repeat(columns, 2, axis=0).reshape(-1), last])
    return rows, every, onp.concatenate([values.reshape(-1), of_weight(onp.ones(p))[0]])


def block_columns(n: int, m: int, seen_by: Any, seen: Any) -> tuple[Any, Any]:
    """Return the columns (p, 15) of each observation's camera, point and weight, and those of the weights."""
    of_weight = 11 * n + 3 * m + onp.arange(len(seen))
    of_camera = 11 * seen_by[:, None] + onp.arange(11)
    of_point = 11 * n + 3 * seen[:, None] + onp.arange(3)
    return onp.concatenate([of_camera, of_point, of_weight[:, None]], axis=1), of_weight


def shown(found: Any) -> list[Any]:
    """The first entries and the last one."""
    return [*found[:SHOWN].tolist(), found[-1].item()]


def errors_shown(found: tuple[Any, Any]) -> dict[str, Any]:
    """The first error of each kind, since all are equal, and their number."""
    error, of_weight = found
    return {
        "reproj_error": {"elements": error[0].tolist(), "repeated": len(error)},
        "w_err": {"element": of_weight[0].item(), "repeated": len(of_weight)},
    }


def matrix_shown(found: tuple[Any, Any, Any]) -> dict[str, Any]:
    """The matrix's three arrays, abbreviated."""
    return dict(zip(("rows", "cols", "vals"), map(shown, found), strict=True))


FUNCTIONS = {
    "objective": Function(prepare, objective, errors_shown),
    "jacobian": Function(prepare, jacobian, matrix_shown),
}
