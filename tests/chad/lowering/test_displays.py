"""A display that a loop reads is stored once, wherever the loop stands; no Python runs for the parts of an argument."""

from typing import NamedTuple

import numpy as np
import pytest
from chad.lowering.test_cost_in_place import counted
from chad.written_functions import defined
from counted_calls import calls

import tapeengine as te

LOOPS = """
for i in range(len(x)):|    s += t[i] * x[i]
for i in range(len(x)):|    for j in range(2):|        s += t[i] * t[j]
for i in range(len(x)):|    if s > 0.1:|        s += t[i]
for v in t:|    s += v * v
s += sum(v * v for v in t)
s += sum([v * x[0] for v in t])
s += max(v * x[1] for v in t)
s += sum(u * v for u, v in zip(t, x))
s += sum(t[i] * t[len(x) - 1 - i] for i in range(len(x)))
i = 0|while i < len(x):|    s += t[i]|    i += 1
if s > 0.1:|    for i in range(len(x)):|        s += t[i]
s += sum(d[k] for k in d)
s += sum(v * x[0] for v in d.values())
""".strip().splitlines()


def program(loop, n, after):
    items = [f"x[{k}] * 0.5" for k in range(n)]
    lines = [f"t = [{', '.join(items)}]"]
    lines += [f"d = {{{', '.join(f'{k}: {e}' for k, e in enumerate(items))}}}", "s = x[0] * 0.7"]
    if after:  # in a loop that computes the items
        lines = ["s = 0.3", "for o in range(2):", *(f"    {line}" for line in (*lines[:2], *loop.split("|")))]
    else:
        lines += loop.split("|")
    return te.program(defined("def f(x: list[float]):\n    " + "\n    ".join([*lines, "return s"]) + "\n"))


def of_list(d):
    return d["a"] * sum(d["c"]) + d["c"][0]


def of_numbers(d):
    return sum(v * v for v in d.values())


def of_record(r):
    return r.a * sum(r.c)


def of_row(rows):
    return sum(u * v for u, v in zip(rows[0], rows[1]))


class Record(NamedTuple):
    a: float
    c: list[float]


CASES = [
    (of_list, lambda n: {"a": 1.5, "c": [0.1 * k for k in range(n)]}, 0),
    (of_numbers, lambda n: {str(k): 0.1 * k for k in range(n)}, 1),
    (of_record, lambda n: Record(0.5, [0.1 * k for k in range(n)]), 0),
    (of_row, lambda n: [[0.1 * k for k in range(n)], [1.0] * n], 0),
    (of_row, lambda n: (np.linspace(0.1, 0.3, n), np.ones(n)), 0),
]


@pytest.mark.parametrize(("f", "argument", "each"), CASES)
def test_no_python_runs_for_the_parts_of_an_argument(f, argument, each):
    made, counts = te.program(f), {}
    for n in (100, 500):
        x = argument(n)
        for _ in range(4):
            value, back = te.vjp(made, x)
            found = back(1.0)
        counts[n] = len(calls(lambda x=x: te.vjp(made, x)[1](1.0), ("call",)))
        plain, again = te.vjp(f, x)
        assert value == pytest.approx(plain, rel=1e-13)
        np.testing.assert_allclose(leaves(found), leaves(again(1.0)), rtol=1e-12)
    assert counts[500] <= counts[100] + 420 * each + 20, counts


def leaves(x):
    if isinstance(x, dict | list | tuple | np.ndarray):
        return [y for part in (x.values() if isinstance(x, dict) else x) for y in leaves(part)]
    return [x]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_the_cost_of_reading_a_display_does_not_depend_on_its_size(loop, after):
    small, large = (counted(program(loop, n, after), n) for n in (10, 40))
    assert large <= 6 * small, (small, large)
    x = np.linspace(0.2, 0.9, 10).tolist()
    made = program(loop, 10, after)
    found, expected = ((value, back(1.0)) for value, back in (te.vjp(f, x) for f in (made, made.python)))
    assert found[0] == pytest.approx(expected[0], rel=1e-13)
    np.testing.assert_allclose(found[1][0], expected[1][0], rtol=1e-12)


def test_zeros_say_of_what_space_they_are():
    @te.program
    def horner(x: float, xs: te.Vec) -> float:
        s = 0.0
        for i in range(len(xs)):
            s = s * x + xs[i]
        return s

    assert "d_xs = zero(Array[LReal])" in horner.derivative("accumulate")
