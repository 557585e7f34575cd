"""The four particles with pairwise forces as arrays of shape (4, 2)."""

from typing import Any

import numpy as np

from asv_bench.programs import particles
from asv_bench.programs.program import Program


def particles_arrays(xp: Any, position: Any, velocity: Any, steps: int) -> Any:
    """Compute `particles.particles` with one array operation for all pairs."""
    dt = 0.01
    for _ in range(steps):
        difference = position[:, None, :] - position[None, :, :]
        weight = 1.0 / (xp.sum(difference * difference, axis=2) + 0.1)
        force = xp.sum(difference * weight[:, :, None], axis=1) - position
        velocity = velocity + dt * force
        position = position + dt * velocity
    return xp.sum(position[:, 0] * position[:, 1])


def inputs(size: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the start of the list program `particles` as arrays, and the number of steps."""
    px, py, vx, vy, steps = particles.inputs(size)
    return np.stack([px, py], axis=1), np.stack([vx, vy], axis=1), steps


PROGRAM = Program(
    "particles_arrays", particles_arrays, inputs, (10, 100, 1000), "arrays", lambda size: 118 * size, active=2
)
