"""One loop over a list, with a branch that depends on the running value."""

from typing import Any

from asv_bench.programs import draws
from asv_bench.programs.program import Program


def scalar_loop(xp: Any, xs: list[Any]) -> Any:
    """Fold the list with ``acc*sin(x) + x`` where acc is positive, and with ``acc*x - sin(x)`` elsewhere."""
    sin = xp.sin
    acc = 1.0
    for x in xs:
        acc = acc * sin(x) + x if acc > 0 else acc * x - sin(x)
    return acc


def inputs(size: int) -> tuple[list[float]]:
    """Draw a list of `size` floats."""
    return (draws.scalars(size, seed=1),)


PROGRAM = Program(
    "scalar_loop", scalar_loop, inputs, (100, 1000, 10_000, 100_000, 1_000_000), operations=lambda size: 3 * size
)
