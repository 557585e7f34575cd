"""Dense networks with ReLU on nested lists of scalars; `network_arrays` is the version on arrays."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from asv_bench.programs import draws
from asv_bench.programs.program import Program

Layer = tuple[list[list[Any]], list[Any]]


def dense(weights: list[list[Any]], bias: list[Any], inputs: list[Any]) -> list[Any]:
    """Return weights times inputs plus bias."""
    result = []
    for row, total in zip(weights, bias):
        for w, x in zip(row, inputs):
            total = total + w * x
        result.append(total)
    return result


def forward(parameters: Sequence[Layer], inputs: list[Any]) -> list[Any]:
    """Run all layers, with ReLU between them."""
    for weights, bias in parameters[:-1]:
        inputs = [x if x > 0.0 else 0.0 for x in dense(weights, bias, inputs)]
    weights, bias = parameters[-1]
    return dense(weights, bias, inputs)


def network(xp: Any, parameters: Sequence[Layer], inputs: list[Any]) -> Any:
    """Sum the outputs of a 50-50-50-10 network."""
    total = 0.0
    for x in forward(parameters, inputs):
        total = total + x
    return total


def network_softmax(xp: Any, parameters: Sequence[Layer], inputs: list[Any]) -> Any:
    """Sum the softmax of the outputs, shifted by their maximum (DN Table 1, `neural`)."""
    hidden = [x if x > 0.0 else 0.0 for x in forward(parameters, inputs)]
    largest = max(hidden)
    exponentials = [xp.exp(x - largest) for x in hidden]
    scale = sum(exponentials)
    return sum(x / scale for x in exponentials)


def layers(widths: Sequence[int]) -> list[Layer]:
    """Draw weights and biases for a network of the given widths."""
    return [
        ([draws.scalars(n, seed=100 * k + i, low=-0.3, high=0.3) for i in range(m)], draws.scalars(m, seed=50 + k))
        for k, (n, m) in enumerate(pairwise(widths))
    ]


def network_inputs(size: int) -> tuple[list[Layer], list[float]]:
    """Draw the parameters of a network `size`-`size`-`size`-10 and one input."""
    return layers((size, size, size, 10)), draws.scalars(size, seed=5)


def softmax_inputs(size: int) -> tuple[list[Layer], list[float]]:
    """Draw the parameters of a network `size`-2`size`-`size` and one input, as in DN section 13."""
    return layers((size, 2 * size, size)), draws.scalars(size, seed=5)


PROGRAM = Program("network", network, network_inputs, (50,), operations=lambda size: 4 * size * size + 20 * size + 10)
SOFTMAX = Program("network_softmax", network_softmax, softmax_inputs, (50,), operations=lambda size: 8 * size * size)
