"""ADBench's LSTM: a sequence model with diagonal gates, a sequence of small array operations."""

from typing import Any

from asv_bench.programs import adbench_data
from asv_bench.programs.program import Program


def sigmoid(xp: Any, x: Any) -> Any:
    """Return the logistic function."""
    return 1.0 / (1.0 + xp.exp(-x))


def gates(xp: Any, weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> tuple[Any, Any]:
    """Return the hidden and cell state of one layer after one step."""
    b = hidden.shape[0]
    forget = sigmoid(xp, x * weight[:b] + bias[:b])
    ingate = sigmoid(xp, hidden * weight[b : 2 * b] + bias[b : 2 * b])
    outgate = sigmoid(xp, x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
    change = xp.tanh(hidden * weight[3 * b :] + bias[3 * b :])
    cell = cell * forget + ingate * change
    return outgate * xp.tanh(cell), cell


def predict(xp: Any, main: Any, extra: Any, state: list[Any], x: Any) -> Any:
    """Return the prediction for one step; the list `state` is updated."""
    x = x * extra[0]
    for i in range(0, len(state), 2):
        state[i], state[i + 1] = gates(xp, main[i], main[i + 1], state[i], state[i + 1], x)
        x = state[i]
    return x * extra[1] + extra[2]


def lstm(xp: Any, main: Any, extra: Any, initial: Any, sequence: Any) -> Any:
    """Return the mean negative log-likelihood of a sequence; main (2l, 4b), extra (3, b), sequence (c, b)."""
    total = 0.0
    state = [initial[i] for i in range(len(initial))]
    count = len(sequence) - 1
    for t in range(count):
        y = predict(xp, main, extra, state, sequence[t])
        normalised = y - xp.log(2.0 + xp.sum(xp.exp(y)))
        total = total + xp.sum(sequence[t + 1] * normalised)
    return -total / (count * sequence.shape[1])


def inputs(size: int) -> tuple[Any, ...]:
    """Return a model of two layers and a sequence of `size` characters of 14 bits."""
    data = adbench_data.lstm(chars=size)
    return data["main"], data["extra"], data["state"], data["seq"]


PROGRAM = Program("lstm", lstm, inputs, (64, 1024), "arrays", active=2)
