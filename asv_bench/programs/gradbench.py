"""Programs modelled on the public benchmark GradBench: det, ode, kmeans, lse and llsq.

The definitions are GradBench's (github.com/gradbench/gradbench); the code is this project's. See also `nested`.
"""

from typing import Any

import numpy as np

from asv_bench.programs import draws
from asv_bench.programs.program import Program


def determinant(xp: Any, rows: list[list[Any]]) -> Any:
    """Expand the determinant by minors along the first row, recursively."""
    if len(rows) == 1:
        return rows[0][0]
    total, sign = 0.0, 1.0
    for j, entry in enumerate(rows[0]):
        minor = [row[:j] + row[j + 1 :] for row in rows[1:]]
        total = total + sign * entry * determinant(xp, minor)
        sign = -sign
    return total


def slope(x: list[Any], y: list[Any]) -> list[Any]:
    """Return y' with y_0' = x_0 and y_i' = x_i y_{i-1}."""
    return [x[0]] + [x[i] * y[i - 1] for i in range(1, len(x))]


def ode(xp: Any, x: list[Any], steps: int) -> Any:
    """Solve y' = slope(x, y) from 0 to 2 by the fourth-order Runge-Kutta method, and return the last component."""
    h = 2.0 / steps
    y: list[Any] = [0.0] * len(x)
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, [a + 0.5 * h * b for a, b in zip(y, k1)])
        k3 = slope(x, [a + 0.5 * h * b for a, b in zip(y, k2)])
        k4 = slope(x, [a + h * b for a, b in zip(y, k3)])
        y = [a + h / 6.0 * (b + 2.0 * c + 2.0 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y[-1]


def kmeans(xp: Any, points: Any, centroids: Any) -> Any:
    """Sum over the points the squared distance to the nearest centroid."""
    difference = points[:, None, :] - centroids[None, :, :]
    return xp.sum(xp.min(xp.sum(difference * difference, axis=2), axis=1))


def lse(xp: Any, x: Any) -> Any:
    """Return the logarithm of the sum of exponentials, shifted by the largest."""
    largest = xp.max(x)
    return largest + xp.log(xp.sum(xp.exp(x - largest)))


def llsq(xp: Any, x: list[Any], n: int) -> Any:
    """Return half the squared distance between a polynomial and the sign of t, at `n` points t in [-1, 1]."""
    total = 0.0
    for i in range(n):
        t = -1.0 + i * 2.0 / (n - 1)
        residual = (t > 0.0) - (t < 0.0)
        power = 1.0
        for coefficient in x:
            residual = residual - coefficient * power
            power = power * t
        total = total + residual * residual
    return 0.5 * total


def det_inputs(size: int) -> tuple[list[list[float]]]:
    """Draw a square matrix."""
    return ([draws.scalars(size, seed=30 + i) for i in range(size)],)


def ode_inputs(size: int) -> tuple[list[float], int]:
    """Draw ten coefficients, and take `size` steps."""
    return draws.scalars(10, seed=7, low=0.5, high=1.5), size


def kmeans_inputs(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw `size` points and ten centroids in eight dimensions."""
    return draws.array(31, size, 8), draws.array(32, 10, 8)


def lse_inputs(size: int) -> tuple[np.ndarray]:
    """Draw an array of `size` elements."""
    return (draws.array(33, size),)


def llsq_inputs(size: int) -> tuple[list[float], int]:
    """Draw sixteen coefficients, and take `size` points."""
    return draws.scalars(16, seed=8), size


DET = Program("det", determinant, det_inputs, (6,), operations=lambda size: 0)
ODE = Program("ode", ode, ode_inputs, (100,), active=1, operations=lambda size: 170 * size)
KMEANS = Program("kmeans", kmeans, kmeans_inputs, (1000,), "arrays")
LSE = Program("lse", lse, lse_inputs, (1000, 1_000_000), "arrays", operations=lambda size: 3 * size)
LLSQ = Program("llsq", llsq, llsq_inputs, (1000,), active=1, operations=lambda size: 50 * size)
