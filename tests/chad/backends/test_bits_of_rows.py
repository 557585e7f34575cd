"""The choice of a back end changes no bit of programs on rows of any sizes, nor of programs that call primitives."""

import math
import os
import random
import re

import numpy as np
import pytest
from chad.backends.test_callbacks import damped, smooth, total
from chad.backends.test_same_bits_drawn import bits
from chad.written_functions import function_of
from plain_sums import in_order

import tapeengine as te
from tapeengine import chad
from tapeengine.chad.backends import tiers

pytestmark = [
    pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite"),
    pytest.mark.filterwarnings("error:.*runs without native code"),
]
SEEDS = range(400 if os.environ.get("TAPEENGINE_NIGHTLY") else 12)
HEAD = "rows: te.Array[te.Vec], x: te.Vec, m: te.Array[te.Vec], a: float, n: int"

#: Numbers: S stands for another one, R for a row.
NUMBERS = ["a", "s", "S * S", "S + S * a", "math.sin(S)", "math.exp(-S * S)", "S / (1.0 + S * S)", "math.tanh(S) * S"]
OF_ROWS = [*NUMBERS, "sum(R) * a", "R[0] * S", "sum([p * S for p in R])", "max(R) + S", "R[n % len(R)]"]
CALLED = ["damped(S)", "damped(S) * S", "total(R)", "smooth(R)[0] * S", "total([p * s + p for p in R])"]
CALLED += ["sum([damped(p) * p for p in R])", "np.linalg.det(m) * S", "np.linalg.det([[v + s for v in r] for r in m])"]
ROW = "rows[n % len(rows)]"
#: Loops that change the number s; E is a number of p.
LOOPS = [
    ["for r in rows:", "    for p in r:", "        s = 0.5 * s + E"],
    ["for r in rows:", "    t = sum([E for p in r])", "    s = s + t * t / (1.0 + abs(t))"],
    ["for r in rows:", "    z = [E for p in r]", "    s += sum(z) * z[0] - sum([q * q for q in z])"],
    ["made = [[E for p in r] for r in rows]", "s += sum([sum([q * q + q for q in r]) for r in made])"],
    ["for r in rows:", "    s += sum([q * a for q in np.tanh(r)]) / len(r)"],
    ["for i in range(len(rows)):", "    for j in range(len(rows[i])):", "        p = rows[i][j]", "        s += E * p"],
    ["made = []", "for r in rows:", "    made.append([E for p in r])", "s += sum([r[0] * sum(r) for r in made])"],
    ["last = rows[0]", "for r in rows:", "    s += last[0] * sum(r)", "    last = r if sum(r) > 0.1 else last"],
    ["i = 0", "while i < len(rows) and abs(s) < 50.0:", "    p = rows[i][0]", "    s = 0.9 * s + E", "    i += 1"],
    ["made = [r for r in rows if sum(r) > 0.0]", "s += sum([sum([p * a for p in r]) for r in made])"],
    ["for r in rows:", "    for q in rows:", "        p = r[0] * q[0]", "        s += 0.1 * E"],
]
ON_VECTORS = [[line.replace("rows", "m") for line in lines] for lines in LOOPS]
ON_VECTORS += [["for p in x:", "    s = 0.5 * s + E"], ["s += sum([E for p in x])"]]


def spelled(draw, kinds, row, depth):
    """A random number."""
    if not depth:
        return draw.choice(["a", "s", "p", "p * a"])
    text = re.sub(r"\bR\b", lambda _: draw.choice(["x", row]), draw.choice(kinds))
    return "(" + re.sub(r"\bS\b", lambda _: spelled(draw, kinds, row, draw.randrange(depth)), text) + ")"


def drawn(seed, loops, kinds, row):
    """A random program."""
    draw = random.Random(seed)
    lines = ["s = a", "p = a * 0.5"]
    for loop in draw.sample(loops, draw.choice([1, 1, 2, 3])):
        lines += [re.sub(r"\bE\b", lambda _: spelled(draw, kinds, row, draw.choice([1, 2, 3])), line) for line in loop]
    results = ["s", "[s, s * a]", f"np.array([s * q for q in {row}])", f"(s * s, {row})"]
    lines.append(f"return {draw.choice(results)}")
    return function_of(HEAD, lines, math=math, te=te, chad=chad, damped=damped, total=total, smooth=smooth), lines


def inputs(lengths, seed):
    """Arguments with rows of some lengths, as arrays and as a list."""
    generator = np.random.default_rng(seed)
    rows = [generator.uniform(-1.0, 1.0, n) for n in lengths]
    return rows, generator.uniform(-1.0, 1.0, 9), generator.uniform(-1.0, 1.0, (3, 3)), 0.7, 5


def outcome(program, args):
    """The bits of the value, of the gradient, and of the value with its tangent; or the kind of error."""
    try:
        value, back = te.vjp(program, *args)
        d = (1.3, np.cos(value[1])) if isinstance(value, tuple) else 1.3 * np.cos(value)
        wave = lambda x: np.cos(np.arange(x.size).reshape(x.shape))  # noqa: E731
        along = ([wave(row) for row in args[0]], wave(args[1]), wave(args[2]), 0.4, None)
        return bits((value, back(list(d) if isinstance(value, list) else d), te.jvp(program, args, along)))
    except (ArithmeticError, IndexError, ValueError) as error:
        return type(error).__name__


def promote(program):
    """Let native code take over."""
    made = program.executable
    for others in (made.others, made.along(made.continuous).others):
        if others is not None and others.native is not None:
            others.native.promote()
            assert others.native.better is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_on_rows_of_any_sizes_the_bits_stay_when_native_code_takes_over(seed):
    function, lines = drawn(seed, LOOPS, [*OF_ROWS, *CALLED][: len(OF_ROWS) + seed % 2 * len(CALLED)], ROW)
    native, machine, default = (te.program(function, backend=name) for name in ("native", "machine", None))
    for args in (inputs([3, 1, 7, 20], seed), inputs([1, 130, 9], seed)):
        wanted = outcome(native, args)
        assert outcome(machine, args) == wanted, lines
        assert outcome(default, args) == wanted, lines
        if not isinstance(wanted, str):
            assert wanted[0] == bits(in_order(function, *args)), lines
    promote(default)
    assert outcome(default, args) == wanted, lines


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_that_call_primitives_have_the_same_bits_in_both_back_ends(seed):
    function, lines = drawn(seed, ON_VECTORS, [*NUMBERS, *CALLED, *CALLED], "m[1]")
    native, machine = (te.program(function, backend=name) for name in ("native", "machine"))
    args = inputs([3, 3], seed)
    assert outcome(machine, args) == outcome(native, args), lines
