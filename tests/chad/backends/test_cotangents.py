"""A cotangent has the lengths of the value on every back end; any other is refused with the place."""

import numpy as np
import pytest
from chad.backends.runs import BACKENDS

import tapeengine as te
from tapeengine import chad
from tapeengine.errors import CotangentError


def layer(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    return np.tanh(w @ x)


def looped(x: te.Vec) -> te.Vec:
    return np.array([a * a if a > 0.5 else a for a in x])


def pair(x: te.Vec, n: int) -> tuple[te.Vec, int, te.Vec]:
    first = [a * a if a > 0.5 else a for a in x]
    return first, n, [a + first[0] for a in x[:n]]


def ragged(rows: list[list[float]]) -> list[list[float]]:
    return [[a * a if a > 0.0 else a for a in row] for row in rows]


def matrix(x: te.Vec) -> te.Array[te.Vec]:
    return np.array([[a * b if a > b else a for b in x] for a in x])


ONE, TWO, THREE = (np.ones(n) for n in (1, 2, 3))
CASES = {
    "layer": (layer, (THREE, np.ones((2, 3))), TWO, [ONE, THREE, np.ones(7), np.ones((2, 1))]),
    "looped": (looped, (THREE,), THREE, [TWO, np.ones(4), [1.0, 1.0], [1.0] * 4]),
    "pair": (
        pair, (THREE, 2), (THREE, None, TWO),
        [(TWO, None, TWO), (THREE, None, THREE), (np.ones(4), None, ONE), (TWO, None, THREE)],
    ),
    "ragged": (
        ragged, ([[1.0, 2.0], [3.0]],), [[1.0, 1.0], [1.0]],
        [[[1.0] * 3, [1.0]], [[1.0] * 2, [1.0], [1.0]], [[1.0, 1.0], []], [[1.0, 1.0]]],
    ),
    "matrix": (matrix, (TWO,), np.ones((2, 2)), [np.ones((2, 3)), np.ones((3, 2)), np.ones((1, 4)), np.ones((4, 1))]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_other_lengths_are_refused(name, backend):
    function, primals, right, wrong = CASES[name]
    program = chad.Program(function, backend=backend)
    for _ in range(3):
        back = te.vjp(program, *primals)[1]
        back(right)
        for cotangent in wrong:
            with pytest.raises(CotangentError):
                back(cotangent)
        back(right)
