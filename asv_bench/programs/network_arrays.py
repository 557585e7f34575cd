"""The dense network 50-50-50-10 with ReLU on arrays: one input, a few numpy calls on small arrays."""

from typing import Any

import numpy as np

from asv_bench.programs import network
from asv_bench.programs.program import Program


def network_arrays(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
    """Sum the outputs of the network."""
    hidden = xp.maximum(w1 @ x + b1, 0.0)
    hidden = xp.maximum(w2 @ hidden + b2, 0.0)
    return xp.sum(w3 @ hidden + b3)


def inputs(size: int) -> tuple[Any, ...]:
    """Return the numbers of the list program `network` as arrays."""
    layers, x = network.network_inputs(size)
    return (*(np.array(part) for layer in layers for part in layer), np.array(x))


PROGRAM = Program(
    "network_arrays", network_arrays, inputs, (50,), "arrays", operations=lambda size: 4 * size * size + 20 * size + 10
)
