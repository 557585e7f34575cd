"""Tuples that are assigned or added to parts of arrays and lists: what numpy and Python make of them, or a refusal."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of
from outcomes import comparable, unless_refused

import tapeengine as te

TARGETS = [
    *("A[1, 0:3]", "A[i]", "A[:, 0]", "A[0:2]", "A[[0, 1]]", "A[0, m]", "A[...]", "A[m]"),
    *("V[1:4]", "V[[0, 1, 2]]", "L[0:3]", "G[1]"),
]
VALUES = ["h[0], 2 * h[1], h[2]", "t", "(t, t)", "[t, t]"]
BEFORE = ["A, V, L = np.zeros((3, 3)), np.zeros(5), [0.0] * 5", "G = [[0.0] * 3 for _ in range(2)]"]
AFTER = "return np.sum(A * 2) + np.sum(V * h[1]) + sum(L) + len(L) + sum(G[0]) + sum(G[1])"


@pytest.mark.parametrize(("target", "value", "op"), list(itertools.product(TARGETS, VALUES, ("=", "+="))))
def test_a_part(target, value, op):
    lines = [*BEFORE, "t = (h[0], 2, h[2])", "i, m = 1, np.array([True, False, True])", f"{target} {op} {value}", AFTER]
    f = function_of("h", lines)
    h = np.array([1.0, 2.0, 3.0])
    found = unless_refused(te.value_and_grad(te.program(f, backend="machine")), h)
    value, gradient = found if isinstance(found, tuple) else (found, None)
    assert value in (None, comparable(f, h))
    if gradient is not None:  # differences of a polynomial of the second degree are exact
        differences = [f(h + e) - f(h - e) for e in np.eye(3)]
        assert np.allclose(gradient, np.array(differences) / 2, 1e-14)
