"""The evaluation ``lstm``: the loss of ADBench's sequence model, whose weight matrices are diagonal."""

from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function


def layer(weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> tuple[Any, Any]:
    """Return the hidden and the cell state of one layer; `weight` has its four gates concatenated."""
    b = len(hidden)
    sums = np.concatenate([x, hidden, x, hidden]) * weight + bias
    forget, ingate, outgate = np.reshape(1.0 / (1.0 + np.exp(-sums[: 3 * b])), (3, b))
    cell = cell * forget + ingate * np.tanh(sums[3 * b :])
    return outgate * np.tanh(cell), cell


def loss(parameters: tuple[Any, Any], initial: Any, sequence: Any) -> Any:
    """Return the mean negative log-likelihood; main (2 l, 4 b) and extra (3, b), initial (2 l, b), sequence (c, b)."""
    main, extra = parameters
    layers = [(main[i], main[i + 1]) for i in range(0, len(main), 2)]
    scale, out_scale, out_shift = extra[0], extra[1], extra[2]
    states = [(initial[i], initial[i + 1]) for i in range(0, len(initial), 2)]
    outputs = []
    for x in sequence[:-1]:
        passed = x * scale
        for i, (weight, bias) in enumerate(layers):
            states[i] = layer(weight, bias, *states[i], passed)
            passed = states[i][0]
        outputs.append(passed)
    predicted = np.stack(outputs) * out_scale + out_shift
    normalised = predicted - np.log(2.0 + np.sum(np.exp(predicted), axis=1))[:, None]
    return -np.sum(sequence[1:] * normalised) / normalised.size


def prepare(given: dict[str, Any]) -> tuple[Any, ...]:
    """The parameters, the initial state and the sequence as arrays."""
    main, extra, state, sequence = (
        onp.array(given[name], dtype=float) for name in ("main_params", "extra_params", "state", "sequence")
    )
    return (main, extra), state, sequence


def flat(gradients: tuple[Any, Any]) -> list[float]:
    """One list, row by row."""
    return [entry for gradient in gradients for entry in gradient.reshape(-1).tolist()]


FUNCTIONS = {"objective": Function(prepare, loss), "jacobian": Function(prepare, te.grad(loss), flat)}
