"""Gradients written by hand for the programs of native code, on whole numpy arrays."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np


def k_means(points: Any, centres: Any) -> Any:
    """Assign each point to its nearest centre by the expanded square."""
    distances = np.einsum("kd,kd->k", centres, centres) - 2.0 * points @ centres.T
    nearest = np.argmin(distances, axis=1)
    off = points - centres[nearest]
    to_centres = np.stack([np.bincount(nearest, off[:, j], len(centres)) for j in range(points.shape[1])], axis=1)
    return np.sum(off * off), (2.0 * off, -2.0 * to_centres)


def mixture(points: Any, means: Any, weights: Any) -> Any:
    """Weigh the differences with the responsibilities."""
    squares = np.einsum("nd,nd->n", points, points)[:, None] + np.einsum("kd,kd->k", means, means)
    scores = weights - 0.5 * (squares - 2.0 * points @ means.T)
    largest = scores.max(axis=1)
    shares = np.exp(scores - largest[:, None])
    norm = shares.sum(axis=1)
    shares /= norm[:, None]
    by_mean = shares.sum(axis=0)
    return np.sum(largest + np.log(norm)), (
        shares @ means - points,
        shares.T @ points - by_mean[:, None] * means,
        by_mean,
    )


def factors(u: Any, v: Any, rows: Any, columns: Any, ratings: Any) -> Any:
    """Add the errors times the other factors."""
    a, b = u[rows], v[columns]
    error = ratings - np.einsum("nk,nk->n", a, b)
    twice = -2.0 * error[:, None]
    to_u, to_v = np.zeros_like(u), np.zeros_like(v)
    np.add.at(to_u, rows, twice * b)
    np.add.at(to_v, columns, twice * a)
    return error @ error, (to_u, to_v, 2.0 * error)


def recurrent(w: Any, u: Any, xs: Any, h0: Any) -> Any:
    """Keep the states, then walk back; the products with all inputs are one product."""
    n = len(xs)
    states = np.empty((n + 1, len(h0)))
    states[0] = h0
    given = xs @ u.T
    for t in range(n):
        states[t + 1] = np.tanh(w @ states[t] + given[t])
    back = np.empty((n, len(h0)))
    d = 2.0 * states[n]
    for t in range(n - 1, -1, -1):
        back[t] = d * (1.0 - states[t + 1] ** 2)
        d = w.T @ back[t]
    return states[n] @ states[n], (back.T @ states[:n], back.T @ xs, back @ u, d)


def bundle(cameras: Any, points: Any, seen: Any, camera: Any, point: Any) -> Any:
    """Walk back through the projection, all observations at once."""
    c, moved = cameras[camera], points[point] - cameras[camera, 3:6]
    axis = c[:, :3]
    square = np.einsum("ni,ni->n", axis, axis)
    angle = np.sqrt(square)
    cosine, plain = np.cos(angle), np.sin(angle)
    sine, rest = plain / angle, (1.0 - cosine) / square
    dot, cross = np.einsum("ni,ni->n", axis, moved), np.cross(axis, moved)
    turned = moved * cosine[:, None] + cross * sine[:, None] + axis * (dot * rest)[:, None]
    flat = turned[:, :2] / turned[:, 2:]
    r = np.einsum("ni,ni->n", flat, flat)
    bent = 1.0 + c[:, 7] * r + c[:, 8] * r * r
    error = flat * (c[:, 6] * bent)[:, None] - seen
    to_scale = 2.0 * np.einsum("ni,ni->n", error, flat)
    to_r = to_scale * c[:, 6] * (c[:, 7] + 2.0 * c[:, 8] * r)
    to_flat = 2.0 * (error * (c[:, 6] * bent)[:, None] + flat * to_r[:, None])
    to_turned = np.empty_like(turned)
    to_turned[:, :2] = to_flat / turned[:, 2:]
    to_turned[:, 2] = -np.einsum("ni,ni->n", to_turned[:, :2], flat)
    along = np.einsum("ni,ni->n", to_turned, axis)
    to_moved = to_turned * cosine[:, None] + np.cross(to_turned, axis) * sine[:, None] + axis * (along * rest)[:, None]
    by_angle = (
        -plain * np.einsum("ni,ni->n", to_turned, moved)
        + (cosine - sine) / angle * np.einsum("ni,ni->n", to_turned, cross)
        + along * dot * (plain / square - 2.0 * (1.0 - cosine) / (square * angle))
    )
    to_cameras, to_points = np.zeros_like(cameras), np.zeros_like(points)
    each = np.empty_like(c)
    each[:, :3] = (
        np.cross(moved, to_turned) * sine[:, None]
        + to_turned * (dot * rest)[:, None]
        + moved * (along * rest)[:, None]
        + axis * (by_angle / angle)[:, None]
    )
    each[:, 3:6] = -to_moved
    each[:, 6] = to_scale * bent
    each[:, 7] = to_scale * c[:, 6] * r
    each[:, 8] = each[:, 7] * r
    np.add.at(to_cameras, camera, each)
    np.add.at(to_points, point, to_moved)
    return np.sum(error * error), (to_cameras, to_points, -2.0 * error)


def kalman(f: Any, q: Any, r: float, observed: Any) -> Any:
    """Keep the predictions, then walk back through gain, update and prediction."""
    n, x, p = len(q), np.zeros(len(q)), np.eye(len(q))
    noise, kept, total = np.diag(q), [], 0.0
    for y in observed:
        before = x, p
        x, p = f @ x, f @ p @ f.T + noise
        s, e = p[0, 0] + r, y - x[0]
        total -= 0.5 * (np.log(s) + e * e / s)
        gain = p[:, 0] / s
        kept.append((*before, x, p, s, e, gain))
        x, p = x + gain * e, p - np.outer(gain, p[0])
    to_f, to_q, to_r, to_observed = np.zeros_like(f), np.zeros(n), 0.0, np.zeros_like(observed)
    dx, dp = np.zeros(n), np.zeros((n, n))
    for t in range(len(observed) - 1, -1, -1):
        x0, p0, x, p, s, e, gain = kept[t]
        to_gain = dx * e - dp @ p[0]
        de = dx @ gain - e / s
        ds = -0.5 / s + 0.5 * e * e / (s * s) - to_gain @ gain / s
        back = dp.copy()
        back[0] -= gain @ dp
        back[:, 0] += to_gain / s
        back[0, 0] += ds
        to_r += ds
        to_observed[t] = de
        dx = dx.copy()
        dx[0] -= de
        to_q += np.diag(back)
        to_f += np.outer(dx, x0) + back @ f @ p0.T + back.T @ f @ p0
        dx, dp = f.T @ dx, f.T @ back @ f
    return total, (to_f, to_q, to_r, to_observed)


BY_HAND: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {f.__name__: f for f in (k_means, mixture, factors, recurrent, bundle, kalman)}
)
