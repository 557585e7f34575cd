"""The adjoint that a person writes by hand for one program, compiled by numba: the floor."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from asv_bench.peers.tool import Derivative, NotExpressible, Tool
from asv_bench.programs.program import Program

__all__ = ["TOOLS"]


def scalar_loop(xs: Any) -> Any:
    """Keep the running values, then walk back."""
    n = len(xs)
    kept, gradient = np.empty(n), np.empty(n)
    acc = 1.0
    for i in range(n):
        kept[i] = acc
        sine = np.sin(xs[i])
        acc = acc * sine + xs[i] if acc > 0 else acc * xs[i] - sine
    ct = 1.0
    for i in range(n - 1, -1, -1):
        sine, cosine = np.sin(xs[i]), np.cos(xs[i])
        if kept[i] > 0:
            gradient[i] = ct * (kept[i] * cosine + 1.0)
            ct = ct * sine
        else:
            gradient[i] = ct * (kept[i] - cosine)
            ct = ct * xs[i]
    return acc, (gradient,)


def dot(xs: Any, ys: Any) -> Any:
    """Return the other factors."""
    return np.dot(xs, ys), (ys.copy(), xs.copy())


def sum_matvec(matrix: Any, vector: Any) -> Any:
    """Return the outer product of ones and the vector, and the sums of the columns."""
    gradient, sums, total = np.empty_like(matrix), np.zeros_like(vector), 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += matrix[i, j] * vector[j]
            gradient[i, j] = vector[j]
            sums[j] += matrix[i, j]
    return total, (gradient, sums)


def index_reads(a: Any) -> Any:
    """Return twice the elements."""
    total, gradient = 0.0, np.empty_like(a)
    for i in range(len(a)):
        total += a[i] * a[i]
        gradient[i] = 2.0 * a[i]
    return total, (gradient,)


def recurrence(start: Any, n: int) -> Any:
    """Run forward into an array, then walk back with two cotangents."""
    x = np.empty(n)
    x[:2] = start
    for t in range(2, n):
        x[t] = 0.6 * np.sin(x[t - 1]) + 0.4 * x[t - 2]
    before, last = 0.0, 1.0
    for t in range(n - 1, 1, -1):
        before, last = 0.4 * last, before + 0.6 * np.cos(x[t - 1]) * last
    return x[n - 1], (np.array([before, last]),)


def particles(px: Any, py: Any, vx: Any, vy: Any, steps: int) -> Any:
    """Keep the positions of every step, then walk back through the steps."""
    n, dt = len(px), 0.01
    xs, ys = np.empty((steps + 1, n)), np.empty((steps + 1, n))
    xs[0], ys[0] = px, py
    u, v = vx.copy(), vy.copy()
    for k in range(steps):
        fx, fy = -xs[k], -ys[k]
        for i in range(n):
            for j in range(i + 1, n):
                dx, dy = xs[k, i] - xs[k, j], ys[k, i] - ys[k, j]
                w = 1.0 / (dx * dx + dy * dy + 0.1)
                fx[i] += dx * w
                fy[i] += dy * w
                fx[j] -= dx * w
                fy[j] -= dy * w
        for i in range(n):
            u[i] += dt * fx[i]
            v[i] += dt * fy[i]
            xs[k + 1, i] = xs[k, i] + dt * u[i]
            ys[k + 1, i] = ys[k, i] + dt * v[i]
    total = np.sum(xs[steps] * ys[steps])
    gx, gy, gu, gv = ys[steps].copy(), xs[steps].copy(), np.zeros(n), np.zeros(n)
    for k in range(steps - 1, -1, -1):
        gu += dt * gx
        gv += dt * gy
        hx, hy = dt * gu, dt * gv
        gx -= hx
        gy -= hy
        for i in range(n):
            for j in range(i + 1, n):
                dx, dy = xs[k, i] - xs[k, j], ys[k, i] - ys[k, j]
                w = 1.0 / (dx * dx + dy * dy + 0.1)
                ax, ay = hx[i] - hx[j], hy[i] - hy[j]
                along = 2.0 * w * w * (ax * dx + ay * dy)
                bx, by = ax * w - along * dx, ay * w - along * dy
                gx[i] += bx
                gy[i] += by
                gx[j] -= bx
                gy[j] -= by
    return total, (gx, gy, gu, gv)


def quaternion(vector: Any, q: Any) -> Any:
    """Return the sum of the rotated vector and its gradients."""
    vx, vy, vz = vector
    ux, uy, uz, w = q
    cx, cy, cz = 2.0 * (uy * vz - uz * vy), 2.0 * (uz * vx - ux * vz), 2.0 * (ux * vy - uy * vx)
    total = vx + vy + vz + w * (cx + cy + cz) + (uy * cz - uz * cy) + (uz * cx - ux * cz) + (ux * cy - uy * cx)
    gx, gy, gz = 2.0 * (w + uz - uy), 2.0 * (w + ux - uz), 2.0 * (w + uy - ux)
    dv = np.array([1.0 + gy * uz - gz * uy, 1.0 + gz * ux - gx * uz, 1.0 + gx * uy - gy * ux])
    du = np.array(
        [
            cy - cz + gz * vy - gy * vz,
            cz - cx + gx * vz - gz * vx,
            cx - cy + gy * vx - gx * vy,
            cx + cy + cz,
        ]
    )
    return total, (dv, du)


def unrolled(x: Any, n: int) -> Any:
    """Keep every state, then walk back."""
    states = np.empty((n + 1, len(x)))
    states[0] = x
    for k in range(n):
        states[k + 1] = np.sin(states[k]) * 1.1 + 0.1 * states[k]
    ct = np.ones(len(x))
    for k in range(n - 1, -1, -1):
        ct = ct * (1.1 * np.cos(states[k]) + 0.1)
    return np.sum(states[n]), (ct,)


BY_HAND: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (scalar_loop, dot, sum_matvec, index_reads, recurrence, particles, quaternion, unrolled)
}


def prepare(program: Program, size: int) -> Derivative:
    """Compile the adjoint that was written for this program."""
    if program.name not in BY_HAND:
        raise NotExpressible("no adjoint written by hand")
    arguments = program.inputs(size)
    primals = [np.array(part) for part in arguments[: program.active]]
    constants = arguments[program.active :] if program.active else ()
    compiled = njit(BY_HAND[program.name])
    return lambda: compiled(*primals, *constants)  # type: ignore[no-any-return]


TOOLS = (Tool("numba by hand", "numba", prepare, rewritten=True),)
