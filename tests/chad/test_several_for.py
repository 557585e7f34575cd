"""What goes over several `for` is taken in Python's order: sums to the bit, and of equal numbers what Python takes."""

import math

import numpy as np
import pytest

import tapeengine as te

HEAD = "def f(a, b, m, k):\n    return "
LOOPS = (
    "for x in a for y in b",
    "for x in a if x > 0.2 for y in b",
    "for x in a if x > -0.5 if x < 1.0 for y in b if x < y",
    "for i, x in enumerate(a) for y in b[i:]",
    "for x in a for row in m for y in row if y > 0.0",
    "for i in range(len(a)) for j in range(i % 3) for x, y in [(a[i], b[j])]",
    "for x in a for y in (1.5, b[0], x)",
    "for x in (a[0], 1) for y in b",
    "for x in a[:0] for y in b",
    "for x in a for y in b[:0]",
)
SUMS = ("sum({} {})", "sum(({} {}), 0.1)", "sum(({} {}), start=a[0])", "1.0 + sum([{} {}])", "math.prod({} {})")
ELEMENTS = ("x * y", "x / (1.0 + y * y)", "k * x - y", "x if x < y else y + 0.1")
CHOICES = ("max(({} {}), default=0.0)", "min(({} {}), default=a[1])", "np.sum(np.array([{} {}]))", "list({} {})[-1]")
COUNTS = ("sum(k + i for i in range(len(a)) for j in range(3))", "sum(x > y for x in a for y in b if y > 0.0)")
BOOLS = ("any(x * y > k for x in a for y in b)", "all(x + y < k for x in a for y in b if x > 0.0)")


def of_text(tmp_path, text):
    """Return the function of a file."""
    path = tmp_path / "several.py"
    path.write_text(text)
    scope = {"math": math, "np": np}
    exec(compile(text, path, "exec"), scope)
    return scope["f"]


def inputs(draw, ties):
    """Return arguments, which have equal numbers among them if wanted."""
    numbers = (lambda n: draw.integers(-2, 3, n) / 2.0) if ties else draw.standard_normal
    return numbers(7).tolist(), numbers(6).tolist(), [numbers(3).tolist() for _ in range(4)], 2


def check(f, args):
    """Compare value and cotangents of a program with Python's value and those of dual numbers."""
    plain = f(*args)
    program = te.program(f)
    value, back = te.vjp(program, *args)
    assert value == plain
    assert isinstance(value, float) or type(value) is type(plain)  # an empty sum of floats is a float
    if isinstance(plain, float):
        assert program.for_values(args).executable.passes is not None
        _, expected = te.vjp(f, *args)
        for ours, its in zip(back(1.0)[:3], expected(1.0)[:3], strict=True):
            np.testing.assert_allclose(np.ravel(ours), np.ravel(its), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loop", LOOPS)
def test_sums_over_several_for_add_as_python_does(tmp_path, loop):
    draw = np.random.default_rng(len(loop))
    for k, form in enumerate(SUMS):
        check(of_text(tmp_path, HEAD + form.format(ELEMENTS[k % len(ELEMENTS)], loop)), inputs(draw, ties=False))


@pytest.mark.parametrize("form", CHOICES)
def test_equal_numbers_are_chosen_as_python_does(tmp_path, form):
    draw = np.random.default_rng(len(form))
    for loop in LOOPS[:3]:
        for element in ("x * y", "x + y"):
            check(of_text(tmp_path, HEAD + form.format(element, loop)), inputs(draw, ties=True))


@pytest.mark.parametrize("text", [*COUNTS, *BOOLS])
def test_integers_and_conditions_over_several_for(tmp_path, text):
    check(of_text(tmp_path, HEAD + text), inputs(np.random.default_rng(1), ties=False))
