"""Elements that are read again after an array was changed, in programs written as operations on whole arrays."""

import os
import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

COUNT = 400 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 60
STATEMENTS = [
    "f = 0.5 * f + {a}[{i}][{j}]",
    "f += {a}[{i}][{j}] * {a}[{j}][{i}]",
    "{a}[{i}][{j}] += 0.3 * {b}[{i}][{j}]",
    "{a}[{i}][{j}] = f * {b}[{j}][{i}]",
    "{a}[{i}][{j}] *= {a}[{j}][{j}]",
    "v[{i}] = f - v[{j}]",
    "f = v[{i}] + 0.7 * v[{i}]",
    "f -= math.sin({a}[{i}][{j}])",
    "f += 0.1 * sum(v)",
    "if {a}[{i}][{j}] > 0.6:\n{s}    {a}[{i}][{j}] = {b}[{i}][{i}]",
]


def drawn(seed):
    """A program that changes two small grids and a list, and reads their elements, in loops and without."""
    draw = random.Random(seed)

    def block(depth, indices, space):
        lines = []
        for _ in range(draw.randint(2, 6)):
            i, j = draw.choice(indices), draw.choice(indices)
            a, b = draw.choice([("m", "h"), ("h", "m"), ("m", "m")])
            lines.append(draw.choice(STATEMENTS).format(i=i, j=j, a=a, b=b, s=space))
            if depth and draw.random() < 0.3:
                inner = block(depth - 1, [*indices, "k"], space + "    ")
                lines.append(f"for k in range(2):\n{space}    " + f"\n{space}    ".join(inner))
        return lines

    first = ["f = x", "m = [[x, 0.5], [0.25, x]]", "h = [[1.0, x], [x, 0.3]]", "v = [2.0 * x, x]"]
    lines = [*first, *block(1, ["0", "1"], "    "), "return f + m[0][0] - m[1][0] * h[1][1] + v[0]"]
    text = "def f(x: float) -> float:\n    " + "\n    ".join(lines) + "\n"
    return te.program(defined(text, math=te.math)), text


@pytest.mark.parametrize("seed", range(COUNT))
def test_what_is_read_after_a_change_is_the_changed_element(seed):
    made, text = drawn(seed)
    x = 0.7
    expected, by_duals = te.vjp(made.python, x)
    whole = made.executable.whole
    found = [te.vjp(made, x)] + ([] if whole is None else [whole.vjp((x,))])
    for value, backpropagator in found:
        np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=text)
        np.testing.assert_allclose(backpropagator(1.0)[0], by_duals(1.0)[0], rtol=1e-10, atol=1e-12, err_msg=text)


def test_two_changes_of_a_grid_by_elements_of_another():
    @te.program
    def f(x: float) -> float:
        new = [[x, 0.5], [0.25, x]]
        h = [[1.0, x], [x, 1.0]]
        new[0][0] += 0.3 * h[0][0]
        new[1][0] += 0.3 * h[1][0]
        return new[1][0]

    assert te.vjp(f, 0.7)[0] == f(0.7)
