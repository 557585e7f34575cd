"""`isinstance` of a matrix and of a list of rows, also after a part was assigned: Python's answer, or a refusal."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

MADE = ["a * 1.0", "np.zeros((2, 2)) + a[0]", "[list(r) for r in a]", "[[a[i, j] for j in range(2)] for i in range(2)]"]
CHANGED = [
    "pass",
    "q[0][1] = a[1, 1]",
    "q[1] = [a[0, 0], 2.0]",
    "q[0][0] += a[0, 1]",
    "q[0, :] = a[1, 0]",
    "q[0, 1] = 3.0",
]
CLASSES = ["np.ndarray", "list", "tuple", "(list, np.ndarray)", "float"]


@pytest.mark.parametrize(("made", "changed"), itertools.product(MADE, CHANGED))
def test_the_class_is_pythons(made, changed):
    tests = [f"    s += {10.0**k} if isinstance(q, {cls}) else 0.0" for k, cls in enumerate(CLASSES)]
    lines = [f"q = {made}", changed, "s = q[0][0] * q[1][1]", *(line.strip() for line in tests), "return s"]
    program = te.program(function_of("a: np.ndarray", lines))
    a = np.array([[1.5, 2.5], [0.5, 3.0]])
    if made.startswith("[") and ", " in changed.split("=")[0]:
        with pytest.raises(TypeError):
            program(a)
        return
    value, back = te.vjp(program, a)
    assert value == program(a)
    np.testing.assert_allclose(back(1.0)[0], te.grad(program.python)(a), rtol=1e-14)
