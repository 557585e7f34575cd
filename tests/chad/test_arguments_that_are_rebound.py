"""An argument's name may get a new array anywhere; what changes then is that array, and never the caller's."""

import random

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.chad.language.errors import ProgramError

MAKING = ("a = a.copy()", "a = a * 1.5", "a: te.Vec = 2.0 * a")
CHANGING = ("a[0] += k", "a[1:] *= k", "a[i] = k * s")
OTHERS = ("s += a[0] * a[1]", "b = a", "b = a.copy()", "s += b[1]", "b[1] = s")
HEADS = ("for i in range({n}):", "if s > {t}:", "while s < {t}:")


def lines_of(draw: random.Random, depth: int = 0) -> list[str]:
    """The statements of a random block."""
    found: list[str] = []
    for _ in range(draw.randint(1, 4)):
        if depth < 2 and draw.random() < 0.4:
            head = draw.choice(HEADS).format(n=draw.randint(0, 2), t=draw.choice((0.1, 0.9)))
            inner = lines_of(draw, depth + 1) + ["s += 0.4"] * head.startswith("while")
            found += [head, *(f"    {line}" for line in inner)]
            if head.startswith("if") and draw.random() < 0.5:
                found += ["else:", *(f"    {line}" for line in lines_of(draw, depth + 1))]
        else:
            found.append(draw.choice(draw.choice((MAKING, CHANGING, OTHERS))))
    return found


def function(*lines: str):
    head, end = "s, i, b = 0.2, 0, np.array([1.0, 2.0, 3.0])", "return s + a[0] * a[1] + b[1]"
    return function_of("a: te.Vec, k: float", [head, *lines, end], te=te, np=tnp)


def test_random_changes_are_those_of_python_or_refused():
    draw, taken = random.Random(7), 0
    for _ in range(150):
        f = function(*lines_of(draw))
        given = np.array([0.3, 0.7, 0.5])
        expected, back = te.vjp(f, given.copy(), 1.1)
        try:
            value, own_back = te.vjp(te.program(f), given, 1.1)
        except ProgramError:
            continue
        taken += 1
        np.testing.assert_allclose(value, expected, 1e-12)
        for own, other in zip(own_back(1.0), back(1.0), strict=True):
            np.testing.assert_allclose(own, other, 1e-10)
        assert given.tolist() == [0.3, 0.7, 0.5]
    assert taken > 40


@pytest.mark.parametrize("change", CHANGING)
@pytest.mark.parametrize("make", MAKING)
@pytest.mark.parametrize("head", [*HEADS, "for i in range(2):\n        for j in range(2):"])
def test_a_change_of_a_new_array_in_a_block_is_taken(head, make, change):
    head = head.format(n=3, t=0.1 if head.startswith("if") else 1.5)
    f = function(head, *(f"        {line}" for line in (make, change, "s += 0.3")))
    given = (np.array([0.3, 0.7, 0.5]), 1.1)
    for own, other in zip(te.grad(te.program(f), (0, 1))(*given), te.grad(f, (0, 1))(*given), strict=True):
        np.testing.assert_allclose(own, other, 1e-10)


@pytest.mark.parametrize("change", CHANGING)
def test_a_change_that_the_argument_may_reach_is_refused(change):
    for lines in (
        ["for i in range(2):", f"    {change}", "    a = a.copy()"],
        ["for i in range(2):", "    a = a.copy()", change],
        ["if s > 1.0:", "    a = a.copy()", change],
        ["b = a", "for i in range(2):", "    a = a.copy()", f"    {change.replace('a[', 'b[')}"],
    ):
        with pytest.raises(ProgramError, match="cannot be changed in place"):
            te.program(function(*lines)).parsed()
