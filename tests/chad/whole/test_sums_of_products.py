"""Sums as numpy does them with least work: signs, products that only a sum needs, reads behind a mask, layouts."""

import re

import numpy as np
import pytest
from chad import evaluated as specification

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.whole import running

ENGINE = tapeengine.Engine()
Cube = te.Array[te.Array[te.Vec]]


@te.program
def differences(x: te.Array[te.Vec], m: te.Array[te.Vec]) -> Cube:
    """Arrays of rank three with a minus: the cotangent of `m` is a sum with its sign changed."""
    return [[[x[p][i] - m[c][i] for i in range(len(m[0]))] for c in range(len(m))] for p in range(len(x))]


@te.program
def weighted(w: te.Array[te.Vec], a: Cube) -> Cube:
    """A product whose cotangent with respect to `w` is a sum of products."""
    return [
        [[2.0 * w[c][i] * w[c][i] * a[p][c][i] for i in range(len(w[0]))] for c in range(len(w))] for p in range(len(a))
    ]


@te.program
def triangle(x: te.Array[te.Vec], m: te.Array[te.Vec], w: te.Array[te.Vec]) -> float:
    """The same difference, read everywhere and below a diagonal."""
    return sum(
        sum((x[p][i] - m[0][i]) ** 2 + sum(w[i][j] * (x[p][j] - m[0][j]) for j in range(i)) for i in range(len(m[0])))
        for p in range(len(x))
    )


def draw(*shape):
    return np.random.default_rng(7).normal(size=shape)


CASES = {
    "differences": (differences, (draw(7, 3), draw(4, 3))),
    "weighted": (weighted, (draw(4, 3), draw(7, 4, 3))),
    "triangle": (triangle, (draw(7, 4), draw(2, 4), draw(4, 4))),
}


def lists(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", CASES)
def test_cotangents_are_those_of_the_evaluator(name):
    program, args = CASES[name]
    value, back = program.executable.vjp(args)
    wanted, wanted_back = specification.vjp(program.executable, args)
    ct = np.random.default_rng(8).normal(size=np.shape(value)) if np.ndim(value) else 1.5
    np.testing.assert_allclose(np.array(value), np.array(wanted), rtol=1e-13)
    for found, expected in zip(back(ct), wanted_back(ct), strict=True):
        np.testing.assert_allclose(np.array(lists(found)), np.array(lists(expected)), rtol=1e-12, atol=1e-13)


def test_a_sign_is_changed_after_the_sum():
    text = differences.executable.whole.text
    assert re.search(r"-d(_\d+)?\.sum\(0\)", text)
    assert text.split("def reverse")[1].count("-") == 1


def test_a_product_that_only_sums_need_is_never_laid_out():
    @te.program
    def scaled(w: te.Array[te.Vec], a: te.Array[te.Vec]) -> Cube:
        return [[[w[c][i] * a[p][i] for i in range(len(w[0]))] for c in range(len(w))] for p in range(len(a))]

    reverse = scaled.executable.whole.text.split("def reverse")[1]
    assert reverse.count("np.einsum('abc,") + reverse.count("np.einsum('ab,abc") == 2
    assert " * " not in reverse


def test_a_product_that_something_else_needs_is_made_once():
    @te.program
    def once(w: te.Vec, a: te.Array[te.Vec]) -> te.Array[te.Vec]:
        return [[np.exp(w[i]) * (a[p][i] - w[i]) for i in range(len(w))] for p in range(len(a))]

    assert once.executable.whole.text.count("np.exp(") == 1


@pytest.mark.parametrize("sizes", [(100, 3, 4), (3, 4, 100), (5, 5, 5), (0, 3, 4)])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_products_of_transposed_factors(sizes, order):
    n, k, m = sizes
    a, b = draw(2, k, n).transpose(0, 2, 1), draw(2, m, k).transpose(0, 2, 1)
    result = running.products(a, b, order)
    np.testing.assert_allclose(result.transpose(order), a @ b, rtol=1e-13, atol=1e-14)
    assert result.flags.c_contiguous
