"""JAX in three idioms: eager, under jit, and rewritten with `lax.scan` under jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from asv_bench.peers.jax_scans import SCANS
from asv_bench.peers.leaves import leaves, rebuilt, stacked, total
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program

jax.config.update("jax_enable_x64", True)

# The back end starts with the first operation, which counts as part of the import.
jax.block_until_ready(jnp.zeros(1) + 1.0)


def derivative_of(program: Program, size: int, wrap: Callable[[Any], Any]) -> Derivative:
    """Return value and gradient of the unchanged program, optionally wrapped in `jax.jit`."""
    run, primals = program.problem(size, jnp, functional=True)
    parts = [jnp.asarray(part) for part in leaves(primals)]
    both = wrap(jax.value_and_grad(lambda arrays: total(run(*rebuilt(primals, arrays)))))
    return lambda: jax.block_until_ready(both(parts))  # type: ignore[no-any-return]


def eager(program: Program, size: int) -> Derivative:
    """Trace and run operation by operation."""
    return derivative_of(program, size, lambda f: f)


def jit(program: Program, size: int) -> Derivative:
    """Compile the unchanged program: loops are unrolled, branches on values are refused."""
    return derivative_of(program, size, jax.jit)


def scan(program: Program, size: int) -> Derivative:
    """Compile the program that was rewritten for JAX."""
    run, arguments = SCANS[program.name], program.inputs(size)
    primals = jax.tree.map(jnp.asarray, [stacked(part) for part in arguments[: program.active]])
    constants = arguments[program.active :] if program.active else ()
    both = jax.jit(jax.value_and_grad(lambda arrays: run(*arrays, *constants)))
    return lambda: jax.block_until_ready(both(primals))  # type: ignore[no-any-return]


def not_rewritten(program: Program) -> str | None:
    """Refuse the programs that have no version for JAX."""
    if program.name == "tree":
        return "the tree would have to be flattened into arrays by hand"
    return None if program.name in SCANS else "has no loop to rewrite: JAX jit runs it"


TOOLS = (Tool("JAX eager", eager), Tool("JAX jit", jit), Tool("JAX scan", scan, not_rewritten))
