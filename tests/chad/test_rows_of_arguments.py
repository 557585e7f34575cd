"""A list becomes a row of an argument that is a list of lists, or an array: Python's value, or a refusal."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import comparable, unless_refused

import tapeengine as te

ROWS = [[1.0, 2.0], [3.0, 4.0]]
NEW = [
    "g[1] = [x, x]", "g[i] = [x, 3 * x]", "g[-1] = [x * k for k in range(2)]", "g[1] = xs", "g[0] = list(g[1])",
    "g[1] = g[0]", "g[1] = (x, x)", "g[1] = [x]", "g[1] = [x, x, x]", "g[1] = x",
    "g[0] = g[1] = xs", "g[0], g[1] = g[1], g[0]", "g[5] = [x, x]", "g[1] = g[0] if x > 0 else xs",
]  # fmt: skip
AFTER = ["g[0] = xs", "xs[0] = 7.0", "g[1][0] += 9.0", "change(g, x)", "g[0][:] = [x, x]", "g.append(xs)"]


def change(g, x):
    g[0][1] = x


@pytest.mark.parametrize(("new", "after"), list(itertools.product(NEW, AFTER)))
def test_a_new_row(new, after):
    lines = ["i, xs = 1, [x, 2 * x]", new, after, "return g[0][0] + sum(g[1]) * 2 + xs[0] * len(g[1]), g"]
    f = defined("def f(g, x):\n    " + "\n    ".join(lines), "f", np=np, change=change)
    for make in (lambda: [[*row] for row in ROWS], lambda: np.array(ROWS)):
        expected = comparable(f, make(), 1.5)
        found = unless_refused(lambda g, x: te.vjp(te.program(f, backend="machine"), g, x)[0], make(), 1.5)
        if isinstance(found, tuple):
            assert found[0] == expected[0]
            assert repr(found[1]) == repr(expected[1]) or isinstance(expected[1], np.ndarray)
            assert isinstance(found[1], list) or np.array_equal(found[1], expected[1])
        else:
            assert found in (None, expected)


@pytest.mark.parametrize("new", NEW[:6])
def test_rows_of_lists_are_in_the_language(new):
    text = f"def f(g, x):\n    i, xs = 1, [x, 2 * x]\n    {new}\n    return g[0][0] * x + sum(g[1]) ** 2\n"
    f = defined(text, "f")
    program = te.program(f, backend="machine")
    found = te.value_and_grad(program, argnums=(0, 1))([[*row] for row in ROWS], 1.5)
    assert found == te.value_and_grad(f, argnums=(0, 1))([[*row] for row in ROWS], 1.5)
    assert program.derivative("reverse")
