"""The programs rewritten for JAX: scans instead of loops, arrays instead of lists.

Each function takes the program's arguments, with arrays instead of lists of floats.
"""

from typing import Any

import jax
import jax.numpy as jnp

from asv_bench.programs.lstm import predict
from asv_bench.programs.many_outputs import SWEEPS


def scalar_loop(xs: Any) -> Any:
    """Scan over the list; both branches are computed and one is chosen."""

    def step(acc: Any, x: Any) -> tuple[Any, None]:
        sine = jnp.sin(x)
        return jnp.where(acc > 0, acc * sine + x, acc * x - sine), None

    return jax.lax.scan(step, 1.0, xs)[0]


def dot(xs: Any, ys: Any) -> Any:
    """Use the array operation."""
    return jnp.dot(xs, ys)


def particles(px: Any, py: Any, vx: Any, vy: Any, steps: int) -> Any:
    """Scan over the steps, with arrays for the four particles."""

    def step(state: Any, _: None) -> tuple[Any, None]:
        position, velocity = state
        difference = position[:, None, :] - position[None, :, :]
        weight = 1.0 / (jnp.sum(difference * difference, axis=2) + 0.1)
        velocity = velocity + 0.01 * (jnp.sum(difference * weight[:, :, None], axis=1) - position)
        return (position + 0.01 * velocity, velocity), None

    start = jnp.stack([px, py], axis=1), jnp.stack([vx, vy], axis=1)
    (position, _), _ = jax.lax.scan(step, start, None, length=steps)
    return jnp.sum(position[:, 0] * position[:, 1])


def particles_arrays(position: Any, velocity: Any, steps: int) -> Any:
    """Scan over the steps."""
    return particles(position[:, 0], position[:, 1], velocity[:, 0], velocity[:, 1], steps)


def recurrence(start: Any, n: int) -> Any:
    """Scan with the two last elements as the state."""

    def step(state: Any, _: None) -> tuple[Any, None]:
        before, last = state
        return (last, 0.6 * jnp.sin(last) + 0.4 * before), None

    return jax.lax.scan(step, (start[0], start[1]), None, length=n - 2)[0][1]


def index_reads(a: Any) -> Any:
    """Scan over the elements."""
    return jax.lax.scan(lambda total, x: (total + x * x, None), 0.0, a)[0]


def unrolled(x: Any, n: int) -> Any:
    """Scan over the steps."""
    return jnp.sum(jax.lax.scan(lambda x, _: (jnp.sin(x) * 1.1 + 0.1 * x, None), x, None, length=n)[0])


def lstm(main: Any, extra: Any, initial: Any, sequence: Any) -> Any:
    """Scan over the sequence."""

    def step(state: Any, pair: Any) -> tuple[Any, Any]:
        now, following = pair
        rows = list(state)
        y = predict(jnp, main, extra, rows, now)
        return jnp.stack(rows), jnp.sum(following * (y - jnp.log(2.0 + jnp.sum(jnp.exp(y)))))

    _, terms = jax.lax.scan(step, jnp.asarray(initial), (sequence[:-1], sequence[1:]))
    return -jnp.sum(terms) / ((len(sequence) - 1) * sequence.shape[1])


def sum_matvec(matrix: Any, vector: Any) -> Any:
    """Use the array operation."""
    return jnp.sum(matrix @ vector)


def rotations(vector: Any, quaternion: Any, times: int) -> Any:
    """Scan over the rotations, with cross products."""
    axis, w = quaternion[:3], quaternion[3]

    def step(vector: Any, _: None) -> tuple[Any, None]:
        twice = 2.0 * jnp.cross(axis, vector)
        return vector + w * twice + jnp.cross(axis, twice), None

    return jnp.sum(jax.lax.scan(step, vector, None, length=times)[0])


def forward(parameters: Any, inputs: Any) -> Any:
    """Run a network on arrays."""
    for weights, bias in parameters[:-1]:
        inputs = jnp.maximum(weights @ inputs + bias, 0.0)
    weights, bias = parameters[-1]
    return weights @ inputs + bias


def network(parameters: Any, inputs: Any) -> Any:
    """Use array operations."""
    return jnp.sum(forward(parameters, inputs))


def network_softmax(parameters: Any, inputs: Any) -> Any:
    """Use array operations."""
    return jnp.sum(jax.nn.softmax(jnp.maximum(forward(parameters, inputs), 0.0)))


def particles_friction(start: Any, steps: int) -> Any:
    """Scan over the steps, with arrays of all particles."""

    def step(state: Any, _: None) -> tuple[Any, None]:
        position, velocity = state
        force = -0.5 * position - 0.2 * velocity
        return (position + 0.05 * velocity, velocity + 0.05 * force), None

    position = jax.lax.scan(step, (start[:, 0], start[:, 1]), None, length=steps)[0][0]
    return jnp.sum(position[:, 0] * position[:, 1])


def many_outputs(xs: Any, outputs: int) -> Any:
    """Scan over the outputs, and inside over the scalars that move."""
    count = len(xs)

    def move(state: Any, i: Any) -> tuple[Any, None]:
        return state.at[i].add(0.01 * (jnp.sin(state[(i + 1) % count]) - state[i])), None

    def step(state: Any, k: Any) -> tuple[Any, Any]:
        state = jax.lax.scan(move, state, jnp.tile(jnp.arange(count), SWEEPS))[0]
        return state, state[k % count] * state[(3 * k + 1) % count]

    return jnp.sum(jax.lax.scan(step, xs, jnp.arange(outputs))[1])


def det(rows: Any) -> Any:
    """Use the array operation, which factors the matrix."""
    return jnp.linalg.det(rows)


def ode(x: Any, steps: int) -> Any:
    """Scan over the steps."""
    h = 2.0 / steps

    def slope(y: Any) -> Any:
        return x * jnp.concatenate([jnp.ones(1), y[:-1]])

    def step(y: Any, _: None) -> tuple[Any, None]:
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    return jax.lax.scan(step, jnp.zeros_like(x), None, length=steps)[0][-1]


def llsq(x: Any, n: int) -> Any:
    """Use arrays of all points and powers."""
    t = -1.0 + jnp.arange(n) * (2.0 / (n - 1))
    residual = jnp.sign(t) - jnp.vander(t, len(x), increasing=True) @ x
    return 0.5 * jnp.sum(residual * residual)


SCANS = {
    scan.__name__: scan
    for scan in (
        scalar_loop,
        dot,
        sum_matvec,
        rotations,
        network,
        network_softmax,
        particles,
        particles_friction,
        many_outputs,
        det,
        ode,
        llsq,
        particles_arrays,
        recurrence,
        index_reads,
        unrolled,
        lstm,
    )
}
