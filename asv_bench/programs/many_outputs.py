"""A scalar program of 20 inputs and 200 outputs, about 10^5 operations."""

from typing import Any

from asv_bench.programs import draws
from asv_bench.programs.program import Program

SWEEPS = 6


def many_outputs(xp: Any, xs: list[Any], outputs: int) -> list[Any]:
    """Move twenty coupled scalars, and return a product of two of them after every few sweeps."""
    sin = xp.sin
    state, count, results = list(xs), len(xs), []
    for k in range(outputs):
        for _ in range(SWEEPS):
            for i in range(count):
                state[i] = state[i] + 0.01 * (sin(state[(i + 1) % count]) - state[i])
        results.append(state[k % count] * state[(3 * k + 1) % count])
    return results


def inputs(size: int) -> tuple[list[float], int]:
    """Draw twenty floats, and take `size` outputs."""
    return draws.scalars(20, seed=9), size


PROGRAM = Program(
    "many_outputs", many_outputs, inputs, (20, 200), operations=lambda size: size * (80 * SWEEPS + 1), active=1
)
