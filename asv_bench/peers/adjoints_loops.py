"""Adjoints written by hand for the loops; each function returns the value and a gradient for each argument.

They use only what numba compiles, with arrays instead of lists of floats.
"""

from typing import Any

import numpy as np

from asv_bench.programs.many_outputs import SWEEPS


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


def rotations(vector: Any, quaternion: Any, times: int) -> Any:
    """Keep the vectors, then walk back; a rotation is v + 2 w (u x v) + 2 u x (u x v)."""
    ux, uy, uz, w = quaternion
    kept = np.empty((times + 1, 3))
    kept[0] = vector
    for k in range(times):
        vx, vy, vz = kept[k]
        dx, dy, dz = 2.0 * (uy * vz - uz * vy), 2.0 * (uz * vx - ux * vz), 2.0 * (ux * vy - uy * vx)
        kept[k + 1, 0] = vx + w * dx + (uy * dz - uz * dy)
        kept[k + 1, 1] = vy + w * dy + (uz * dx - ux * dz)
        kept[k + 1, 2] = vz + w * dz + (ux * dy - uy * dx)
    gv, gq = np.ones(3), np.zeros(4)
    for k in range(times - 1, -1, -1):
        vx, vy, vz = kept[k]
        gx, gy, gz = gv
        dx, dy, dz = 2.0 * (uy * vz - uz * vy), 2.0 * (uz * vx - ux * vz), 2.0 * (ux * vy - uy * vx)
        hx, hy, hz = 2.0 * (w * gx + gy * uz - gz * uy), 2.0 * (w * gy + gz * ux - gx * uz), 0.0
        hz = 2.0 * (w * gz + gx * uy - gy * ux)
        gq[0] += dy * gz - dz * gy + vy * hz - vz * hy
        gq[1] += dz * gx - dx * gz + vz * hx - vx * hz
        gq[2] += dx * gy - dy * gx + vx * hy - vy * hx
        gq[3] += gx * dx + gy * dy + gz * dz
        gv[0] += hy * uz - hz * uy
        gv[1] += hz * ux - hx * uz
        gv[2] += hx * uy - hy * ux
    return np.sum(kept[times]), (gv, gq)


def particles_friction(start: Any, steps: int) -> Any:
    """Walk back with the transposed step, which is the same for every step and axis."""
    state, dt = start.copy(), 0.05
    for _ in range(steps):
        force = -0.5 * state[:, 0] - 0.2 * state[:, 1]
        state[:, 0] += dt * state[:, 1]
        state[:, 1] += dt * force
    gradient, total = np.zeros_like(start), 0.0
    for i in range(len(start)):
        total += state[i, 0, 0] * state[i, 0, 1]
        gradient[i, 0, 0], gradient[i, 0, 1] = state[i, 0, 1], state[i, 0, 0]
    for _ in range(steps):
        position = gradient[:, 0] - dt * 0.5 * gradient[:, 1]
        gradient[:, 1] = gradient[:, 1] + dt * (gradient[:, 0] - 0.2 * gradient[:, 1])
        gradient[:, 0] = position
    return total, (gradient,)


def many_outputs(xs: Any, outputs: int) -> Any:
    """Keep the values that each move reads, then walk back."""
    n = len(xs)
    state, kept, seen = xs.copy(), np.empty((outputs, SWEEPS, n)), np.empty((outputs, 2))
    total = 0.0
    for k in range(outputs):
        for s in range(SWEEPS):
            for i in range(n):
                kept[k, s, i] = state[(i + 1) % n]
                state[i] += 0.01 * (np.sin(kept[k, s, i]) - state[i])
        seen[k, 0], seen[k, 1] = state[k % n], state[(3 * k + 1) % n]
        total += seen[k, 0] * seen[k, 1]
    ct = np.zeros(n)
    for k in range(outputs - 1, -1, -1):
        ct[k % n] += seen[k, 1]
        ct[(3 * k + 1) % n] += seen[k, 0]
        for s in range(SWEEPS - 1, -1, -1):
            for i in range(n - 1, -1, -1):
                moved = 0.01 * ct[i]
                ct[i] *= 0.99
                ct[(i + 1) % n] += moved * np.cos(kept[k, s, i])
    return total, (ct,)


def ode(x: Any, steps: int) -> Any:
    """Keep the stages of every step, then walk back; y' is linear in y, with a source in its first component."""
    n, h = len(x), 2.0 / steps
    shares, weights = np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0])
    at, y, k = np.empty((steps, 4, n)), np.zeros(n), np.zeros(n)
    for step in range(steps):
        ahead = y.copy()
        for stage in range(4):
            at[step, stage] = y + shares[stage] * h * k if stage else y
            k[0] = x[0]
            k[1:] = x[1:] * at[step, stage, :-1]
            ahead += h / 6.0 * weights[stage] * k
        y = ahead
    ct, gradient = np.zeros(n), np.zeros(n)
    ct[n - 1] = 1.0
    for step in range(steps - 1, -1, -1):
        back, later = ct.copy(), np.zeros(n)
        for stage in range(3, -1, -1):
            to_k = h / 6.0 * weights[stage] * ct + later
            gradient[0] += to_k[0]
            gradient[1:] += to_k[1:] * at[step, stage, :-1]
            to_y = np.zeros(n)
            to_y[:-1] = to_k[1:] * x[1:]
            back += to_y
            later = shares[stage] * h * to_y
        ct = back
    return y[n - 1], (gradient,)


def llsq(x: Any, n: int) -> Any:
    """Add residual times power for each point."""
    total, gradient = 0.0, np.zeros(len(x))
    for i in range(n):
        t = -1.0 + i * 2.0 / (n - 1)
        residual, power = np.sign(t), 1.0
        for j in range(len(x)):
            residual -= x[j] * power
            power *= t
        total += residual * residual
        power = 1.0
        for j in range(len(x)):
            gradient[j] -= residual * power
            power *= t
    return 0.5 * total, (gradient,)


LOOPS = {
    f.__name__: f
    for f in (
        scalar_loop,
        dot,
        sum_matvec,
        index_reads,
        recurrence,
        particles,
        quaternion,
        unrolled,
        rotations,
        particles_friction,
        many_outputs,
        ode,
        llsq,
    )
}
