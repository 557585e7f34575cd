"""The programs of native code as written for JAX: whole arrays, `vmap`, `scan`, `segment_sum`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)


def regression(w: Any, xs: Any, ys: Any) -> Any:
    return jnp.sum(jnp.log(1.0 + jnp.exp(-ys * (xs @ w))))


def k_means(points: Any, centres: Any) -> Any:
    return jnp.sum(jnp.min(jnp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2), axis=1))


def mixture(points: Any, means: Any, weights: Any) -> Any:
    distances = jnp.sum((points[:, None, :] - means[None, :, :]) ** 2, axis=2)
    return jnp.sum(jax.scipy.special.logsumexp(weights - 0.5 * distances, axis=1))


def factors(u: Any, v: Any, rows: Any, columns: Any, ratings: Any) -> Any:
    return jnp.sum((ratings - jnp.sum(u[rows] * v[columns], axis=1)) ** 2)


def rays(directions: Any, centres: Any, radii: Any) -> Any:
    b = directions @ centres.T
    inside = b * b - (jnp.sum(centres * centres, axis=1) - radii**2)
    t = b - jnp.sqrt(jnp.where(inside > 0.0, inside, 1.0))
    return jnp.sum(jnp.min(jnp.where((inside > 0.0) & (t > 0.0), t, 100.0), axis=1, initial=100.0))


def spline(at: Any, knots: Any) -> Any:
    i = jnp.floor(at).astype(int)
    t = at - i
    s = 1.0 - t
    value = (
        s * s * s * knots[i]
        + (3.0 * t * t * t - 6.0 * t * t + 4.0) * knots[i + 1]
        + (3.0 * s * s * s - 6.0 * s * s + 4.0) * knots[i + 2]
        + t * t * t * knots[i + 3]
    ) / 6.0
    return jnp.sum(value * value)


def bundle(cameras: Any, points: Any, seen: Any, camera: Any, point: Any) -> Any:
    def residual(c: Any, p: Any, s: Any) -> Any:
        moved = p - c[3:6]
        axis = c[:3]
        angle = jnp.sqrt(jnp.sum(axis * axis))
        along = axis * (jnp.dot(axis, moved) * (1.0 - jnp.cos(angle)) / (angle * angle))
        turned = moved * jnp.cos(angle) + jnp.cross(axis, moved) * (jnp.sin(angle) / angle) + along
        flat = turned[:2] / turned[2]
        r = jnp.sum(flat * flat)
        return jnp.sum((flat * (c[6] * (1.0 + c[7] * r + c[8] * r * r)) - s) ** 2)

    return jnp.sum(jax.vmap(residual)(cameras[camera], points[point], seen))


def decisions(features: Any, feature: Any, threshold: Any, leaves: Any, ys: Any) -> Any:
    inner = len(threshold)

    def leaf(row: Any) -> Any:
        def step(at: Any, _: None) -> tuple[Any, None]:
            return jnp.where(row[feature[at]] < threshold[at], 2 * at + 1, 2 * at + 2), None

        return lax.scan(step, 0, None, length=inner.bit_length())[0] - inner

    return jnp.sum((leaves[jax.vmap(leaf)(features)] - ys) ** 2)


def csr(values: Any, columns: Any, starts: Any, x: Any) -> Any:
    n = len(starts) - 1
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=len(values))
    return jnp.sum(jax.ops.segment_sum(values * x[columns], rows, n, indices_are_sorted=True) ** 2)


def convolution(signal: Any, kernel: Any) -> Any:
    return jnp.sum(jnp.correlate(signal, kernel, mode="valid") ** 2)


def attention(q: Any, k: Any, v: Any) -> Any:
    return jnp.sum((jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[1]), axis=1) @ v) ** 2)


def messages(nodes: Any, source: Any, target: Any, w: Any) -> Any:
    received = jax.ops.segment_sum(jnp.tanh(nodes[source] @ w.T), target, len(nodes))
    return jnp.sum((nodes + received) ** 2)


def mixed(beta: Any, effects: Any, spread: Any, xs: Any, group: Any, ys: Any) -> Any:
    misfit = jnp.sum((ys - effects[group] - xs @ beta) ** 2)
    return -0.5 * (misfit + jnp.sum(effects**2) / spread**2) - len(effects) * jnp.log(spread)


def recurrent(w: Any, u: Any, xs: Any, h0: Any) -> Any:
    last, _ = lax.scan(lambda h, x: (jnp.tanh(w @ h + u @ x), None), h0, xs)
    return jnp.sum(last * last)


def rk4(x: Any, y: Any, a: Any, b: Any, steps: int) -> Any:
    def slope(z: Any) -> Any:
        return jnp.stack([z[0] * (a - z[1]), z[1] * (z[0] - b)])

    def step(z: Any, _: None) -> tuple[Any, None]:
        k1 = slope(z)
        k2 = slope(z + 0.005 * k1)
        k3 = slope(z + 0.005 * k2)
        k4 = slope(z + 0.01 * k3)
        return z + 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    last, _ = lax.scan(step, jnp.stack([x, y]), None, length=steps)
    return last[0] * last[1]


def kalman(f: Any, q: Any, r: Any, observed: Any) -> Any:
    def step(state: Any, y: Any) -> tuple[Any, Any]:
        x, p = state
        x, p = f @ x, f @ p @ f.T + jnp.diag(q)
        s, e = p[0, 0] + r, y - x[0]
        gain = p[:, 0] / s
        return (x + gain * e, p - jnp.outer(gain, p[0])), -0.5 * (jnp.log(s) + e * e / s)

    n = len(q)
    return jnp.sum(lax.scan(step, (jnp.zeros(n), jnp.eye(n)), observed)[1])


def edit(a: Any, b: Any, gap: Any) -> Any:
    costs = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2)

    def row(before: Any, given: Any) -> tuple[Any, None]:
        first, cost = given

        def cell(left: Any, x: Any) -> tuple[Any, Any]:
            found = jnp.minimum(x, left + gap)
            return found, found

        _, rest = lax.scan(cell, first, jnp.minimum(before[:-1] + cost, before[1:] + gap))
        return jnp.concatenate([first[None], rest]), None

    start = gap * jnp.arange(len(b) + 1)
    return lax.scan(row, start, (gap * jnp.arange(1, len(a) + 1), costs))[0][-1]


def newton(targets: Any) -> Any:
    def solve(a: Any) -> Any:
        def step(x: Any, _: None) -> tuple[Any, None]:
            f = x * x * x + x - a
            return jnp.where(jnp.abs(f) < 1e-12, x, x - f / (3.0 * x * x + 1.0)), None

        return lax.scan(step, a, None, length=50)[0]

    return jnp.sum(jax.vmap(solve)(targets))


def prefix(xs: Any, w: Any) -> Any:
    return jnp.sum(w * jnp.cumsum(xs) ** 2)


def asian(start: Any, rate: Any, volatility: Any, strike: Any, normals: Any) -> Any:
    dt = 1.0 / normals.shape[1]
    steps = (rate - 0.5 * volatility**2) * dt + volatility * jnp.sqrt(dt) * normals
    prices = start * jnp.exp(jnp.cumsum(steps, axis=1))
    return jnp.exp(-rate) * jnp.mean(jnp.maximum(jnp.mean(prices, axis=1) - strike, 0.0))


def lstm(w: Any, u: Any, b: Any, xs: Any) -> Any:
    n = len(b) // 4

    def step(state: Any, x: Any) -> tuple[Any, None]:
        h, c = state
        z = b + w @ x + u @ h
        forget, take, give = jax.nn.sigmoid(z[: 3 * n]).reshape(3, n)
        c = forget * c + take * jnp.tanh(z[3 * n :])
        return (give * jnp.tanh(c), c), None

    (h, _), _ = lax.scan(step, (jnp.zeros(n), jnp.zeros(n)), xs)
    return jnp.sum(h * h)


def heat(u0: Any, steps: int, k: Any) -> Any:
    def step(u: Any, _: None) -> tuple[Any, None]:
        around = jnp.pad(u, 1)
        return u + k * (around[2:] - 2.0 * u + around[:-2]), None

    return jnp.sum(lax.scan(step, u0, None, length=steps)[0] ** 2)


def hidden(first: Any, moves: Any, emits: Any, seen: Any) -> Any:
    def step(alpha: Any, s: Any) -> tuple[Any, Any]:
        norm = jnp.sum(alpha)
        return (alpha / norm) @ moves * emits[:, s], jnp.log(norm)

    last, logs = lax.scan(step, first * emits[:, seen[0]], seen[1:])
    return jnp.sum(logs) + jnp.log(jnp.sum(last))


def expression(at: Any) -> Any:
    """A tree of lists, which tracing unrolls; every second level has products."""

    def value(at: Any) -> tuple[Any, int]:
        if not isinstance(at, list):
            return at, 0
        (left, depth), (right, _) = map(value, at)
        return (left * jnp.sin(right) if (depth + 1) % 2 == 0 else left + right), depth + 1

    return value(at)[0]


def chain(angles: Any, lengths: Any) -> Any:
    turned = jnp.cumsum(angles)
    return jnp.sum(lengths * jnp.cos(turned)) ** 2 + jnp.sum(lengths * jnp.sin(turned)) ** 2


def scalars(x: Any, n: int) -> Any:
    step = lambda acc, _: (jnp.where(acc < 1.0, acc * jnp.sin(x) + x, acc * 0.5), None)  # noqa: E731
    return lax.scan(step, 0.0, None, length=n)[0]


def horner(x: Any, coefficients: Any) -> Any:
    return lax.scan(lambda total, c: (total * x + c, None), 0.0, coefficients)[0]


def linear(x: Any, a: Any, b: Any) -> Any:
    return lax.scan(lambda x, given: (given[0] * x + given[1], None), x, (a, b))[0]


PROGRAMS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        f.__name__: f
        for f in (
            *(regression, k_means, mixture, factors, rays, spline, bundle, decisions, csr, convolution, attention),
            *(messages, mixed, recurrent, rk4, kalman, edit, newton, prefix, asian, lstm, heat, hidden, expression),
            *(chain, scalars, horner, linear),
        )
    }
)
#: Static arguments for JAX: the number of steps, or the ends of sums.
STATIC: Mapping[str, tuple[int, ...]] = MappingProxyType({"rk4": (4,), "heat": (1,), "scalars": (1,)})
#: Arguments without a derivative.
DISCRETE: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "factors": (2, 3),
        "bundle": (3, 4),
        "decisions": (1,),
        "csr": (1, 2),
        "messages": (1, 2),
        "mixed": (4,),
        "hidden": (3,),
        **STATIC,
    }
)


def prepare(name: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """Return value and gradient for all differentiable arguments, under jit, as a thunk."""
    of = tuple(k for k in range(len(args)) if k not in DISCRETE.get(name, ()))
    both = jax.jit(jax.value_and_grad(PROGRAMS[name], argnums=of), static_argnums=STATIC.get(name, ()))
    given = [x if k in STATIC.get(name, ()) else jax.tree.map(jnp.asarray, x) for k, x in enumerate(args)]
    return lambda: jax.block_until_ready(both(*given))
