"""The evaluation ``ht``: 26 angles move a hand of 22 bones, and its skin is compared with measured points.

A measured point belongs to a vertex of the skin; in the complicated form, to a point in a triangle, given by two
weights `us`. The Jacobian uses forward mode: there are few angles and many errors. The weights of a point affect only
its own error, so two tangents give the derivatives with respect to all of them.
"""

from typing import Any, NamedTuple

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function


class Hand(NamedTuple):
    """The bones, the skin, and the measured points."""

    parents: list[int]
    relatives: Any  # (bones, 4, 4)
    inverses: Any  # (bones, 4, 4)
    base: Any  # (vertices, 4)
    weights: Any  # (vertices, bones)
    triangles: Any  # (triangles, 3)
    places: Any  # (N,): vertices, or triangles in the complicated form
    points: Any  # (N, 3)
    mirrored: bool


def bone_angles(theta: Any) -> Any:
    """Return the angles (bones, 3) of all bones, about x, z and y in this order; five fingers of four bones each."""
    angles = np.zeros((22, 3))
    for finger in range(5):
        first, bone = 6 + 4 * finger, 2 + 4 * finger
        angles[bone, 0:2] = theta[first : first + 2]
        angles[bone + 1 : bone + 3, 0] = theta[first + 2 : first + 4]
    return angles


def rotations(angles: Any) -> Any:
    """Return the rotations Rz Ry Rx as (bones, 4, 4)."""
    sine, cosine = np.sin(angles), np.cos(angles)
    product = onp.eye(4)
    # the plane of rotation for each column of angles, in order of application
    for column, (a, b) in ((1, (0, 1)), (2, (2, 0)), (0, (1, 2))):
        turn = np.zeros((len(angles), 4, 4)) + onp.eye(4)
        turn[:, a, a] = turn[:, b, b] = cosine[:, column]
        turn[:, a, b], turn[:, b, a] = -sine[:, column], sine[:, column]
        product = product @ turn
    return product


def global_rotation(r: Any) -> Any:
    """Return the matrix of an angle-axis vector (Rodrigues); the identity where its norm is below 1e-4."""
    squared = np.sum(r * r)
    if squared < 1e-8:
        return onp.eye(3)
    angle = np.sqrt(squared)
    x, y, z = r / angle
    zero = 0.0 * x
    across = np.stack([zero, -z, y, z, zero, -x, -y, x, zero]).reshape((3, 3))
    axis = r / angle
    return np.cos(angle) * onp.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * np.outer(axis, axis)


def transforms(theta: Any, hand: Hand) -> Any:
    """Return the transform (bones, 4, 4) of the skin by each bone."""
    relatives = hand.relatives @ rotations(bone_angles(theta))
    absolutes: list[Any] = []
    for relative, parent in zip(relatives, hand.parents, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    return np.stack(absolutes) @ hand.inverses


def skin(theta: Any, hand: Hand, moved_by: Any, vertices: Any) -> Any:
    """Return the positions of vertices, as (3, number of vertices)."""
    moved = moved_by @ hand.base[vertices].T
    positions = np.sum(moved * hand.weights[vertices].T[:, None, :], axis=0)[:3]
    if hand.mirrored:
        positions = positions * onp.array([[-1.0], [1.0], [1.0]])
    return global_rotation(theta[0:3]) @ positions + theta[3:6, None]


def errors(us: Any, theta: Any, hand: Hand) -> Any:
    """Return the concatenated vectors from the skin to the points; `us` (N, 2), or (0,) in the simple form."""
    moved_by = transforms(theta, hand)
    if us.size == 0:
        return (hand.points.T - skin(theta, hand, moved_by, hand.places)).T.reshape(-1)
    first, second, third = (skin(theta, hand, moved_by, corners) for corners in hand.triangles[hand.places].T)
    u, v = us[:, 0], us[:, 1]
    return (hand.points.T - (u * first + v * second + (1.0 - u - v) * third)).T.reshape(-1)


def jacobian(us: Any, theta: Any, hand: Hand) -> Any:
    """Return the derivatives (3 N, 26), in the complicated form after two columns for each point's weights."""
    by_theta = te.jacfwd(lambda angles: errors(us, angles, hand))(theta)
    if us.size == 0:
        return by_theta
    columns = []
    for weight in range(2):
        tangent = onp.zeros_like(us)
        tangent[:, weight] = 1.0
        columns.append(te.jvp(lambda weights: errors(weights, theta, hand), (us,), (tangent,))[1])
    return onp.concatenate([onp.stack(columns, axis=1), by_theta], axis=1)


def prepare(given: dict[str, Any]) -> tuple[Any, ...]:
    """The weights, the angles and the hand."""
    data, model = given["data"], given["data"]["model"]
    hand = Hand(
        parents=[int(parent) for parent in model["parents"]],
        relatives=onp.array(model["base_relatives"], dtype=float),
        inverses=onp.array(model["inverse_base_absolutes"], dtype=float),
        base=onp.array(model["base_positions"], dtype=float),
        weights=onp.array(model["weights"], dtype=float),
        triangles=onp.array(model["triangles"], dtype=int),
        places=onp.array(data["correspondences"], dtype=int),
        points=onp.array(data["points"], dtype=float),
        mirrored=bool(model["is_mirrored"]),
    )
    us = onp.array(given["us"], dtype=float)
    return us.reshape((-1, 2)) if us.size else us, onp.array(given["theta"], dtype=float), hand


FUNCTIONS = {"objective": Function(prepare, errors), "jacobian": Function(prepare, jacobian)}
