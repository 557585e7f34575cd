"""Lists that are copies of one of several lists, and then change, leave the others as they are; indices of any form."""

import itertools
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

XS, C, STEP = [0.5, -1.25, 2.0, 0.75], 0.625, 1e-20
MADE = ("ys", "[w * w for w in ys]", "vs")
#: Indices that count from the front or from the end.
INDICES = ("k", "k - len(zs)", "-1 - k", "len(zs) - 1 - k", "(k + 3) % len(zs)", "(k - 5) % len(zs)", "-(k % 2) - 1")
CHOICES = {
    "if": "    zs = {0}.copy()\n    if c > {c}:\n        zs = {1}.copy()\n",
    "loop": "    zs = {0}.copy()\n    for k in range(2):\n        if c > {c} + 0.1 * k:\n            zs = {1}.copy()\n",
    "while": "    zs, m = {0}.copy(), 0\n    while m < 3 and c > {c}:\n        zs, m = {1}.copy(), m + 1\n",
}


def program(choice: str, first: str, second: str, index: str, least: float) -> Any:
    head = "def f(xs: te.Vec, c: float) -> float:\n    ys, vs = [2.0 * x for x in xs], [c - x for x in xs]\n"
    chosen = CHOICES[choice].format(first, second, c=least)
    loop = (
        f"    for k in range(len(xs)):\n        zs[{index}] = zs[{index}] * c + ys[k]\n        ys[k] += vs[0] * zs[k]\n"
    )
    end = "    return sum([(j + 1.5) * ys[j] * vs[j] + zs[j] * zs[j] for j in range(len(xs))])\n"
    return defined(head + chosen + loop + end, te=te)


def check(f: Any) -> None:
    """Compare a typed program with the plain one, complex steps in the list and differences in the number."""
    steps = [[x + STEP * 1j * (j == k) for j, x in enumerate(XS)] for k in range(len(XS))]
    value, back = te.vjp(te.program(f), XS, C)
    assert value == pytest.approx(f(XS, C), rel=1e-14)
    xs, c = back(1.0)
    np.testing.assert_allclose(xs, [f(x, C).imag / STEP for x in steps], rtol=1e-12)
    assert c == pytest.approx((f(XS, C + 1e-6) - f(XS, C - 1e-6)) / 2e-6, rel=1e-7)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("first", "second"), list(itertools.product(MADE, MADE)))
@pytest.mark.parametrize("least", [0.5, 0.7])
def test_the_other_lists_stay(choice: str, first: str, second: str, least: float) -> None:
    k = len(choice) + MADE.index(first) + 2 * MADE.index(second)
    check(program(choice, first, second, INDICES[k % len(INDICES)], least))


@pytest.mark.parametrize("index", INDICES)
def test_indices(index: str) -> None:
    check(program("if", "ys", "vs", index, 0.5))
