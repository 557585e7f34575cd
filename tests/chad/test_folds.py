"""Folds: their derivatives in both directions as on dual numbers, and what the reverse pass makes."""

import math

import numpy as np
import pytest

import tapeengine as te


@te.program
def horner(c: te.Vec, x: float) -> float:
    value, _ = te.fold(lambda a, b: (a[0] * b[1] + b[0], a[1] * b[1]), [(each, x) for each in c])
    return value


@te.program
def of_products(c: te.Vec) -> float:
    return te.fold(lambda a, b: a * b + a, c) * c[0]


@te.program
def row_products(rows: te.Array[te.Vec]) -> float:
    return sum(math.prod(row) for row in rows)


DRAWN = np.random.default_rng(8)
CASES = [
    *((horner, (DRAWN.normal(size=n), 0.7)) for n in (1, 2, 5)),
    *((of_products, (DRAWN.normal(size=n),)) for n in (1, 2, 6)),
    *((row_products, (DRAWN.normal(size=(3, n)),)) for n in (1, 4)),
]


@pytest.mark.parametrize(("program", "args"), CASES)
def test_derivatives_are_those_on_dual_numbers(program, args):
    value, back = te.vjp(program, *args)
    wanted, other = te.vjp(program.python, *args)
    assert value == pytest.approx(wanted, rel=1e-14)
    for found, d in zip(back(1.5), other(1.5), strict=True):
        np.testing.assert_allclose(found, d, rtol=1e-12)
    tangents = tuple(np.cos(a) for a in args)
    along = te.jvp(program.python, args, tangents)
    np.testing.assert_allclose(te.jvp(program, args, tangents), along, rtol=1e-12)


def test_the_reverse_pass_adds_to_one_array():
    text = of_products.derivative("reverse")
    assert text[text.index("def reverse") :].count("= [0.0] *") == 1
