"""A grid may get another name: random programs have Python's value, or are refused."""

import os
import random

import pytest
from chad.written_functions import defined, function_of

import tapeengine as te
from tapeengine.errors import TapeEngineError

COUNT = 600 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 60
STATEMENTS = [
    "new = [[0.5 * f, f] for _ in range(2)]",
    "new = [[0.0] * 2 for _ in range(2)]",
    "new = [row[:] for row in g]",
    "g = new",
    "g = new",
    "h = g",
    "g = h",
    "new[{i}][{j}] = g[{j}][{i}] * 0.5 + f",
    "new[{i}][{j}] += 0.3 * h[{i}][{j}]",
    "f = 0.5 * f + g[{i}][{j}] - h[{j}][{i}]",
    "r = g[{i}]",
    "f += r[{j}]",
    "if f > 0.4:\n{s}    g = new",
    "if f > 0.2:\n{s}    new = [[f, 0.1] for _ in range(2)]",
]


def drawn(seed):
    """A program that makes grids, names them, and changes their elements."""
    draw = random.Random(seed)

    def block(depth, space):
        lines = []
        for _ in range(draw.randint(2, 6)):
            i, j = draw.choice("01"), draw.choice("01")
            lines.append(draw.choice(STATEMENTS).format(i=i, j=j, s=space))
            if depth and draw.random() < 0.4:
                inner = block(depth - 1, space + "    ")
                lines.append(f"for _ in range(2):\n{space}    " + f"\n{space}    ".join(inner))
        return lines

    first = ["f = x", "g = [[x, 1.0], [2.0, x]]", "new = [[x, 0.5], [0.25, x]]", "h = [[1.0, x], [x, 1.0]]"]
    lines = [*first, "r = [x, x]", *block(2, "    "), "return f + g[0][1] + 2.0 * new[1][0] - h[1][1] + r[0]"]
    text = "def f(x: float) -> float:\n    " + "\n    ".join(lines) + "\n"
    return defined(text), text


@pytest.mark.parametrize("seed", range(COUNT))
def test_names_of_a_grid_mean_what_they_mean_in_python(seed):
    function, text = drawn(seed)
    try:
        made = te.program(function)
        value, backpropagator = te.vjp(made, 0.7)
    except TapeEngineError:
        return
    expected, by_duals = te.vjp(function, 0.7)
    assert value == pytest.approx(expected, rel=1e-12), text
    assert backpropagator(1.0)[0] == pytest.approx(by_duals(1.0)[0], rel=1e-10), text


def test_a_grid_that_is_made_anew_in_each_step_may_become_another_one():
    @te.program
    def heat(grid: list[list[float]], steps: int) -> list[list[float]]:
        g = [list(row) for row in grid]
        n, m = len(g), len(g[0])
        for _ in range(steps):
            new = [[0.0] * m for _ in range(n)]
            for i in range(n):
                for j in range(m):
                    new[i][j] = 0.9 * g[i][j] + 0.1 * g[i - 1][j]
            g = new
        return g

    grid = [[1.0, 2.0], [0.5, 0.1], [3.0, 1.0]]
    value, backpropagator = te.vjp(heat, grid, 3)
    expected, by_duals = te.vjp(heat.python, grid, 3)
    assert value == expected
    assert backpropagator(value)[0] == [pytest.approx(row) for row in by_duals(expected)[0]]


#: Expressions that read rows and elements of a list of lists of numbers, which a program changes.
READS = [
    "m[1][0]", "m[-1][-2]", "sum(m[0])", "sum(m[k])", "sum([sum(r) for r in m[1:3]])", "sum([r[0] for r in m[:k]])",
    "sum([r[1] for r in m[::2]])", "sum([r[-1] for r in m[::-1]])", "sum(m[1:][0])", "len(m[1:]) * m[0][1]",
    "sum([x * y for x, y in zip(m[0], m[k])])", "sum(m[1][1:])", "m[4][0]", "sum(m[-5])",
    "sum([m[i][k] for i in range(4)])",
]  # fmt: skip


@pytest.mark.parametrize("text", READS)
def test_lists_of_lists_that_change_are_read_as_python_reads_them(text):
    lines = ["m = [[x * i + j for j in range(3)] for i in range(4)]", "m[1][0] = x * x", "m[2][2] *= 0.5"]
    f = function_of("x: float, k: int", [*lines, f"return {text}"])
    try:
        wanted, slope = f(0.7, 2), f(0.7 + 1e-30j, 2).imag / 1e-30
    except IndexError:
        with pytest.raises(IndexError):
            te.vjp(te.program(f), 0.7, 2)
        return
    value, backpropagator = te.vjp(te.program(f), 0.7, 2)
    assert (value, backpropagator(1.0)[0]) == pytest.approx((wanted, slope), rel=1e-13)
