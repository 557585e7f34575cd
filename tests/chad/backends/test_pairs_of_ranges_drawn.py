"""Random programs whose steps divide their index: native code of all levels and the machine give the same bits."""

import math
import os
import random

import numpy as np
import pytest
from chad.backends.runs import run
from chad.written_functions import function_of
from plain_sums import in_order

import tapeengine as te
from tapeengine import chad
from tapeengine.chad.backends import tiers

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
SEEDS = range(400 if os.environ.get("TAPEENGINE_NIGHTLY") else 16)
SIZES = [(7, 5), (3, 1), (1, 9), (0, 4), (5, 16), (4, 67), (13, 3), (70, 2)]
HEADS = {"flat": "x: te.Vec, y: te.Vec, w: te.Vec, at: chad.Array[int]"}
HEADS["rows"] = HEADS["flat"].replace("w: te.Vec", "w: chad.Array[chad.Array[float]]")


def expression(draw, kind, depth):
    """A number of the step (a, i)."""
    both = {"flat": ["w[a * m + i]", "w[k]"], "rows": ["w[a][i]", "w[at[a]][i]"]}[kind]
    sums = {
        "flat": "sum(w[a * m + j] * y[j] for j in range(m))",
        "rows": "sum(w[i % n][j] * w[a][j] for j in range(m))",
    }
    leaves = ["x[a]", "y[i]", "x[at[a]]", "x[(a + 1) % n]", "float(a)", "float(i + 1)", *both]
    if depth == 0:
        return draw.choice(leaves)
    a, b = (expression(draw, kind, depth - 1) for _ in range(2))
    forms = [f"({a} + {b})", f"({a} * {b})", f"({a} - 0.5 * {b})", f"math.tanh({a})", f"math.exp(-({a}) * ({a}))"]
    forms += [f"sum({a} * x[j] + {b} for j in range(n))", sums[kind], f"math.sqrt({a} * {a} + 1.0)", f"np.sin({a})"]
    return draw.choice(forms)


def drawn(seed):
    """A program with loops over two ranges, and the kind of its matrix."""
    draw = random.Random(seed)
    kind = draw.choice(["flat", "rows"])
    pick = lambda: expression(draw, kind, draw.choice([1, 2, 3]))  # noqa: E731
    ends = [
        ["r = chad.scatter([0.0 for _ in range(n * m)], [at[k // m] * m + k % m for k in range(n * m)], p)"],
        ["r = [p[k] * q[n * m - 1 - k] for k in range(n * m)]"],
        [
            *["s = 0.5", "for k in range(n * m):", "    a = k // m", "    i = k % m"],
            f"    s = 0.5 * s * y[i] + p[k] * {pick()}",
            "r = [s * q[k] for k in range(n * m)]",
        ],
    ]
    lines = ["n = len(x)", "m = len(y)"]
    for name in "pq":
        lines.append(f"{name} = [{pick().replace('w[k]', 'w[a * m + i]')} for a in range(n) for i in range(m)]")
    lines += [*draw.choice(ends), "return sum(r[k] * r[k] * p[k] for k in range(n * m)) + sum(q)"]
    return kind, function_of(HEADS[kind], lines, math=math, te=te, chad=chad)


def inputs(kind, n, m):
    generator = np.random.default_rng(n + 100 * m)
    w = generator.uniform(-1.0, 1.0, (n, m))
    at = generator.integers(0, max(n, 1), n)
    return generator.uniform(-1.0, 1.0, n), generator.uniform(-1.0, 1.0, m), w if kind == "rows" else w.ravel(), at


def outcome(program, args):
    """The bits of the value and of all derivatives, or the kind of the error."""
    try:
        value, gradient = run(program, *args)
    except (ArithmeticError, IndexError, ValueError) as error:
        return type(error).__name__
    return [np.float64(value).tobytes(), *(np.asarray(g).tobytes() for g in gradient[:3])]


def as_python(function, args):
    """The value of plain Python, or the kind of its error."""
    try:
        return np.float64(in_order(function, *(a.tolist() for a in args))).tobytes()
    except (ArithmeticError, IndexError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize("seed", SEEDS)
def test_all_levels_give_the_bits_of_python_and_of_the_machine(seed):
    kind, function = drawn(seed)
    program = te.program(function, backend="native")
    machine = te.program(function, backend="machine")
    cases = [inputs(kind, *size) for size in SIZES]
    found = [[outcome(program, args) for args in cases]]
    for _ in range(2):  # with few optimisations, with all, and for long loops
        program.ways.native.promote()
        found.append([outcome(program, args) for args in cases])
    for level in found[1:]:
        assert level == found[0]
    for args, first in zip(cases, found[0], strict=True):
        wanted = as_python(function, args)
        assert (first if isinstance(first, str) else first[0]) == wanted
        assert outcome(machine, args) == first
