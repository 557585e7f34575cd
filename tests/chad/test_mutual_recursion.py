"""Functions that call each other need no annotations: their types are those of the paths that do not."""

import os
import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.parse.rewrites.results import Outside

COUNT = 300 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 40
BASES = {"number": ("x", "0", "1.5", "n", "x * x", "-x"), "pair": ("(x, n)", "(0, 1)", "(x, 2.0)", "(n, x)")}
STEPS = {
    "number": """
{f}(n - 1, 0.5 * x) + x
x * {f}(n - 1, x)
{f}(n - 2, x) if x > 0.3 else {g}(n - 1, x * x)
max({f}(n - 1, x), {g}(n - 2, 0.9 * x))
{f}(n - 1, 1.0 * {g}(n - 2, x))
{f}(n - 1, x) - 0.5 * {g}(n - 2, x)
sum([{f}(n - 2, x), x])
""",
    "pair": """
{f}(n - 1, x)
({f}(n - 1, x)[0] * 0.5, n)
(x, {g}(n - 2, 0.5 * x)[1])
{f}(n - 2, x) if x > 0.3 else {g}(n - 1, x * x)
(lambda a, b: (a + x, b))(*{f}(n - 1, x))
""",
}


def drawn(seed):
    """The first of several functions that call each other."""
    draw = random.Random(seed)
    kind, count = draw.choice(("number", "number", "pair")), draw.randint(2, 4)
    lines = []
    for k in range(count):
        f, g = (f"f{draw.randrange(count)}" for _ in "fg")
        step = draw.choice(STEPS[kind].strip().split("\n")).format(f=f, g=g)
        base = f"    if n <= {draw.randint(0, 2)}:\n        return {draw.choice(BASES[kind])}"
        lines.append(f"def f{k}(n, x):\n{base}\n    return {step}\n\n")
    text = "\n".join(lines)
    return defined(text, "f0"), text


def numbers(value):
    return [float(x) for x in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("seed", range(COUNT))
def test_functions_that_call_each_other_need_no_annotations(seed):
    f, text = drawn(seed)
    made = te.program(f, backend="native" if is_installed() else None)
    for n, x in ((0, 0.4), (1, 0.25), (4, 0.9), (5, -0.7)):
        (value, back), (expected, by_duals) = te.vjp(made, n, x), te.vjp(f, n, x)
        assert isinstance(value, tuple) == isinstance(expected, tuple), text
        np.testing.assert_allclose(numbers(value), numbers(expected), rtol=1e-12, err_msg=text)
        if isinstance(expected, float):
            np.testing.assert_allclose(back(1.0)[1], by_duals(1.0)[1] or 0.0, rtol=1e-10, atol=1e-13, err_msg=text)


def reads(levels, monkeypatch):
    """How many texts are read for functions of which two of each level call both of the next one."""
    lines = [f"def {name}0(n, x):\n    return x * n\n" for name in "ab"]
    for k in range(levels):
        call = f"return a{k}(n, x) + b{k}(n, 0.5 * x)"
        lines += [f"def {name}{k + 1}(n, x):\n    {call}\n" for name in "ab"]
    f, count, read = defined("\n".join(lines), f"a{levels}"), [], Outside.read
    monkeypatch.setattr(Outside, "read", lambda *args: count.append(1) or read(*args))
    te.vjp(te.program(f), 2, 0.5)
    monkeypatch.undo()
    return len(count)


def test_functions_that_many_call_are_read_once(monkeypatch):
    assert reads(10, monkeypatch) <= 6 * reads(5, monkeypatch)
