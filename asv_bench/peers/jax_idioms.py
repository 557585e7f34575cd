"""JAX in three idioms: eager, under jit, and rewritten with `lax.scan` under jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, NotExpressible, Tool
from asv_bench.programs.lstm import predict
from asv_bench.programs.program import Program

__all__ = ["TOOLS"]

jax.config.update("jax_enable_x64", True)

# The back end starts with the first operation; that counts as importing.
jax.block_until_ready(jnp.zeros(1) + 1.0)


def derivative_of(program: Program, size: int, wrap: Callable[[Any], Any]) -> Derivative:
    """Return value and gradient of the program as it is, wrapped in `jax.jit` or nothing."""
    run, primals = program.problem(size, jnp, functional=True)
    parts = [jnp.asarray(part) for part in leaves(primals)]
    both = wrap(jax.value_and_grad(lambda arrays: total(run(*rebuilt(primals, arrays)))))
    return lambda: jax.block_until_ready(both(parts))  # type: ignore[no-any-return]


def eager(program: Program, size: int) -> Derivative:
    """Trace and run operation by operation."""
    return derivative_of(program, size, lambda f: f)


def jit(program: Program, size: int) -> Derivative:
    """Compile the program as it is: loops unroll, branches on values are refused."""
    return derivative_of(program, size, jax.jit)


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


SCANS = {
    scan.__name__: scan
    for scan in (scalar_loop, dot, particles, particles_arrays, recurrence, index_reads, unrolled, lstm)
}


def scan(program: Program, size: int) -> Derivative:
    """Compile the rewritten program."""
    if program.name not in SCANS:
        raise NotExpressible("not rewritten with scan")
    arguments = program.inputs(size)
    primals = [jnp.asarray(np.array(part)) for part in arguments[: program.active]]
    constants = arguments[program.active :] if program.active else ()
    run = SCANS[program.name]
    both = jax.jit(jax.value_and_grad(lambda arrays: run(*arrays, *constants)))
    return lambda: jax.block_until_ready(both(primals))  # type: ignore[no-any-return]


TOOLS = (Tool("JAX eager", "jax", eager), Tool("JAX jit", "jax", jit), Tool("JAX scan", "jax", scan, rewritten=True))
