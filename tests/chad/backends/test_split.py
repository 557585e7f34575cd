"""Loops that are split, so that functions take eight numbers at once, give the bits of whole loops and of Python."""

import itertools
import math
import random

import numpy as np
import pytest
from chad.written_functions import defined
from plain_sums import in_order

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling, module
from tapeengine.chad.backends.llvm.vectors import variants

Matrix = te.Array[te.Vec]
SIZES = ((0, 3), (1, 1), (2, 0), (7, 8), (9, 5), (21, 4))

needs_vectors = pytest.mark.skipif(len(variants()) < 3, reason="this processor or C library has other functions")


def flat(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    n, d = len(ks), len(x)
    sent = [math.tanh(sum(w[i][j] * x[j] for j in range(d)) + i) for e in range(n) for i in range(n)]
    return sum(a * a for a in sent)


def summed(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """The second loop adds in order."""
    return sum(math.exp(-abs(sum(w[i][j] * x[j] for j in range(len(x))))) for i in range(len(w)))


def chosen(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """An integer of the first loop is read by the second one."""
    total = 0.0
    for i in range(len(w)):
        best = 0
        for j in range(len(x)):
            if w[i][j] > w[i][best]:
                best = j
        total += math.tanh(best + sum(v * v for v in x) * ks[i]) * w[ks[i]][0] if len(x) else 0.5
    return total


def placed(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """All steps add to one element, in a branch, or to elements that arguments choose: nothing is split."""
    out = [0.0 for _ in range(len(w) + 1)]
    for i in range(len(w)):
        y = math.exp(-abs(sum(w[i][j] * x[j] for j in range(len(x)))))
        out[0] += y
        out[ks[i]] += 0.5 * y
    return sum(a * a for a in out)


def rows(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """Each step of a recurrence makes the row that the next one reads."""
    h = [math.sin(1.0 + i) for i in range(len(w))]
    for _ in range(3):
        h = [math.tanh(sum(h[k] * w[i][0] if len(x) else h[k] for k in range(len(h)))) for i in range(len(w))]
    return sum(h)


def of_state(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """The sums need the function of the step before: nothing is split."""
    y = 0.5
    for i in range(len(w)):
        y = math.tanh(sum(w[i][j] * y + x[j] for j in range(len(x))))
    return y


def of_changed(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:
    """The sums read elements that the functions of earlier steps have changed: nothing is split."""
    a = [1.0 + i for i in range(len(w) + 1)]
    for i in range(len(w)):
        a[i + 1] = math.tanh(sum(a[k] for k in range(i + 1)) * (x[0] if len(x) else 1.0))
    return sum(a)


SPLIT, WHOLE = [flat, summed, rows], [placed, of_state, of_changed]


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


def arguments(n, d, seed=0):
    draws = np.random.default_rng((n, d, seed))
    ks = draws.integers(-n, n, n) if n else np.zeros(0, np.int64)
    return draws.standard_normal((n, d)), draws.standard_normal(d), ks


def bits(program, given):
    found = []
    for args in given:
        value, back = te.vjp(program, *args)
        found.append([np.asarray(x).tobytes() for x in (value, *(x for x in back(1.5) if x is not None))])
    return found


def check(function, monkeypatch, given):
    """Compare with Python's values, and with the bits of loops that are not split."""
    found = bits(te.program(function, backend="native"), [given[0], *given])[1:]
    plain = [in_order(function, *(x.tolist() for x in args)) for args in given]
    assert [np.float64(value).tobytes() for value in plain] == [x[0] for x in found]
    with monkeypatch.context() as patch:
        patch.setattr(module, "split", lambda function, *rest: function)
        assert found == bits(te.program(function, backend="native"), [given[0], *given])[1:]


@pytest.mark.parametrize("function", [*SPLIT, chosen, *WHOLE])
def test_the_bits_are_those_of_whole_loops_and_of_python(function, monkeypatch):
    check(function, monkeypatch, [arguments(n, d, seed) for (n, d), seed in itertools.product(SIZES, range(2))])


@needs_vectors
@pytest.mark.parametrize("function", [*SPLIT, *WHOLE])
def test_loops_are_split_unless_steps_wait_for_one_another_or_branch(function, monkeypatch):
    times, split = [], module.split
    monkeypatch.setattr(module, "split", lambda *args: (split(*args), times.append(len(args[2])))[0])
    bits(te.program(function, backend="native"), [arguments(7, 3)] * 2)
    assert any(times) == (function in SPLIT)


STATEMENTS = (
    "t = t + {f}(-abs(0.3 * s))",
    "a[i] = {f}(-abs(0.1 * s)) + a[i]",
    "a[0] += {f}(-abs(s))",
    "a[ks[i]] += 0.5 * {f}(-abs(s)) * u",
    "t = t * 0.5 + {f}(-s * s) * a[i]",
    "t += s * u",
    "c[i] = {f}(-abs(u)) * s",
)
INNER = (
    "s += w[i][j] * x[j]",
    "s = s + w[i][j] * a[j % len(a)]",
    "s += 0.1 * t * x[j]",
    "u += x[j] * c[i]",
    "u += w[i][j] * i",
)


def drawn(seed):
    """Draw a program of loops that sum, and then call functions and change numbers and arrays."""
    draw = random.Random(seed)
    lines = ["t, a, c = 0.25, [1.0 + v for v in x] + [0.5 for _ in ks], [0.5 for _ in ks]", "for i in range(len(w)):"]
    lines += ["    s, u = 0.0, 0.5", "    for j in range(len(x)):"]
    lines += [f"        {s}" for s in draw.sample(INNER, draw.randint(1, 3))]
    functions = ("math.tanh", "math.exp", "math.sin")
    lines += [f"    {s.format(f=draw.choice(functions))}" for s in draw.sample(STATEMENTS, draw.randint(1, 4))]
    lines += ["return t + sum(v * v for v in a) + sum(c)"]
    text = "def drawn(w: Matrix, x: te.Vec, ks: te.Array[int]) -> float:\n" + "".join(f"    {x}\n" for x in lines)
    return defined(text, "drawn", **globals())


@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed, monkeypatch):
    check(drawn(seed), monkeypatch, [arguments(n, d, seed) for n, d in SIZES])
