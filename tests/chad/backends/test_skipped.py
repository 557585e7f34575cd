"""Loops whose cotangents are zero are skipped: the bits are those of loops that run, with fewer instructions."""

import math
import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.backends import machine, tiers
from tapeengine.chad.backends.skipped import skipping

Matrix = te.Array[te.Vec]
HEAD = "import tapeengine as te\nimport tapeengine.math as math\nMatrix = te.Array[te.Vec]\n"
#: Programs whose cotangents are often zero: of what is not chosen, and of what a branch leaves out.
TEMPLATES = (
    "    total = 0.0\n    for i in range(len(a)):\n        inner = {2}\n        for j in range(len(x)):\n"
    "            inner = inner * 0.5 + {0}\n        if inner > {1}:\n            total = total + inner * {1}\n"
    "    return total\n",
    "    return sum({3}(sum({0} for j in range(len(x))) * {1} for k in range(3)) for i in range(len(a)))\n",
    "    best = {3}(sum({0} for j in range(len(x))) for i in range(len(a)))\n    return best * {1}\n",
    "    total = {2}\n    for i in range(len(a)):\n        row = [{0} for j in range(len(x))]\n"
    "        share = -sum(row) if row[0] > {1} else {2}\n"
    "        total = total - share * (row[1] if share > 0.0 else 1.0)\n"
    "    return total\n",
    "    out = [0.0 for _ in range(len(x))]\n    for i in range(len(a)):\n        if {1} > 0.0:\n"
    "            out = [out[j] - {0} for j in range(len(x))]\n    return {3}(-o for o in out)\n",
    "    y = [-sum({0} for j in range(len(x))) for i in range(len(a))]\n    z = [v if v > {2} else 0.0 for v in y]\n"
    "    return z[0] * z[1] + {3}(z) * {2}\n",
)


def expression(draw, names, depth=2):
    """Write an expression of numbers of a size near one."""
    if depth == 0:
        return draw.choice([*names, f"{draw.uniform(-2, 2):.3f}"])
    a, b = (expression(draw, names, depth - 1) for _ in range(2))
    return draw.choice([f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"-({a})", f"math.sin({a})", f"max({a}, {b})"])


def drawn(seed):
    """Return a random program."""
    draw = random.Random(seed)
    inner, outer = expression(draw, ["a[i][j]", "x[j]"]), expression(draw, ["x[0]", "x[1]"], 1)
    body = TEMPLATES[seed % len(TEMPLATES)].format(
        inner, outer, expression(draw, ["x[2]"], 1), draw.choice(["max", "min"])
    )
    return defined(f"{HEAD}def program(a: Matrix, x: te.Vec) -> float:\n{body}", "program")


def arguments(rows=5, columns=4):
    """Return rows, and a vector."""
    draws = np.random.default_rng(3)
    return draws.standard_normal((rows, columns)), draws.standard_normal(columns)


def bits(program, backend):
    """Return the bits of a value and of its cotangents."""
    value, backpropagator = te.vjp(te.program(program, backend=backend), *arguments())
    return [np.asarray(x).tobytes() for x in (value, *backpropagator(1.25), *backpropagator(-0.0))]


def never(monkeypatch):
    """Let all loops run."""
    monkeypatch.setattr(machine, "skipping", lambda f: f)
    if tiers.is_installed():
        from tapeengine.chad.backends.llvm import module

        monkeypatch.setattr(module, "skipping", lambda f: f)


@pytest.mark.parametrize("start", range(0, 24, 12))
def test_skipping_changes_no_bit(monkeypatch, start):
    backends = ["machine", "native"] if tiers.is_installed() else ["machine"]
    skipped = 0

    def counted(f):
        nonlocal skipped
        found = skipping(f)
        skipped += found is not f
        return found

    for seed in range(start, start + 12):
        program = drawn(seed)
        with monkeypatch.context() as patch:
            patch.setattr(machine, "skipping", counted)
            found = [bits(program, backend) for backend in backends]
        with monkeypatch.context() as patch:
            never(patch)
            found += [bits(program, backend) for backend in backends]
        assert all(x == found[0] for x in found), seed
        _, back = te.vjp(program, *arguments())
        for ours, theirs in zip(te.vjp(te.program(program), *arguments())[1](1.0), back(1.0), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    assert skipped > 3


def approached(a: Matrix, x: te.Vec) -> float:
    total = 0.0
    best = 1e9
    for row in a:
        best = min(best, sum((row[j] - x[j]) ** 2 for j in range(len(x))))
        total = total + best
    return total


def signs(a: Matrix, x: te.Vec) -> float:
    total = 0.0
    for row in a:
        if row[0] > 100.0:
            for v in x:
                total = total - v * row[0]
    return total


def passed(rows):
    """Return the instructions of a reverse pass."""
    _, back = te.program(approached, backend="native").executable.entry.vjp(*arguments(rows, 6))
    return back.passed(1.0)


@pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
def test_a_running_minimum_runs_the_loops_of_few_rows(monkeypatch):
    few, many = passed(10), passed(20)
    never(monkeypatch)
    all_few, all_many = passed(10), passed(20)
    assert many - few < 0.5 * (all_many - all_few)


@pytest.mark.parametrize("backend", ["machine", "native"])
def test_zeros_keep_their_sign(backend):
    if backend == "native" and not tiers.is_installed():
        pytest.skip("native code needs llvmlite")
    _, back = te.vjp(te.program(signs, backend=backend), *arguments())
    for cotangent in back(1.0):
        assert not np.signbit(cotangent).any()
        assert math.fsum(np.abs(cotangent).ravel()) == 0.0
