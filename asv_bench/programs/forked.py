"""Programs of tasks, in parallel or in sequence: long scalar loops, and layers on large arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from asv_bench.programs import draws

Map = Callable[[Callable[[Any], Any], Sequence[Any]], Any]


def in_order(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Run tasks in sequence."""
    return [task(item) for item in items]


def side_by_side(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Run tasks in parallel."""
    return te.fork_map(task, items)


def loops(run: Map, x: Any) -> Any:
    """Sum eight loops of 10^5 steps, each with its own start."""

    def loop(start: float) -> Any:
        acc = start * x
        for _ in range(100_000):
            acc = 0.5 * acc * tm.sin(x) + x
        return acc

    return sum(run(loop, [0.1 * k for k in range(8)]))


def layers(run: Map, w: Any) -> Any:
    """Sum the outputs of four batches behind three layers with a shared 500 x 500 matrix of weights."""

    def batch(x: Any) -> Any:
        for _ in range(3):
            x = tnp.tanh(w @ x)
        return tnp.sum(x * x)

    return sum(run(batch, [draws.array(90 + k, 500, 500) for k in range(4)]))


#: Each program with its primals.
PROGRAMS: dict[str, tuple[Callable[[Map, Any], Any], tuple[Any, ...]]] = {
    "loops": (loops, (0.7,)),
    "layers": (layers, (0.05 * draws.array(89, 500, 500),)),
}
