"""BLAS multiplies large matrices, whether parameters have annotations or not; loops multiply small ones."""

import numpy as np
import pytest

import tapeengine as te


def annotated(w: te.Array[te.Vec], x: te.Array[te.Vec], n: int) -> float:
    s = 0.0
    for k in range(n):
        w = (w @ x) * 0.05
        while s < 1.0 and w[k][0] > 0.0:
            s += w[k][0] * w[1][1] + 0.3
    return s + w[0][1]


def plain(w, x, n):
    s = 0.0
    for k in range(n):
        w = (w @ x) * 0.05
        while s < 1.0 and w[k][0] > 0.0:
            s += w[k][0] * w[1][1] + 0.3
    return s + w[0][1]


def of_size(size):
    draw = np.random.default_rng(size)
    return draw.normal(size=(size, size)), draw.normal(size=(size, size)), 2


@pytest.mark.parametrize("f", [annotated, plain])
def test_large_products(f):
    made = te.program(f)
    for size in (3, 60, 4, 50, 3):
        args = of_size(size)
        for _ in range(2):
            value, back = te.vjp(made, *args)
            expected, by_duals = te.vjp(plain, *args)
            np.testing.assert_allclose(value, expected, rtol=1e-12)
            for d, e in zip(back(1.0)[:2], by_duals(1.0)[:2], strict=True):
                np.testing.assert_allclose(d, e, rtol=1e-9, atol=1e-12)
            along = te.jvp(made, args, (*args[:2], None))[1]
            np.testing.assert_allclose(along, te.jvp(plain, args, (*args[:2], None))[1], rtol=1e-9)


@pytest.mark.parametrize("f", [annotated, plain])
def test_who_multiplies(f):
    made = te.program(f)
    for size, is_large in ((3, False), (60, True), (4, False)):
        run = made.for_values(of_size(size))
        te.vjp(made, *of_size(size))
        assert ("numpy.matmul" in run.executable.primitives) == is_large


def of_vectors(w: te.Array[te.Vec], x: te.Vec) -> float:
    s = 0.0
    for i in range(len(x)):
        s += w[i][0] * x[i] if s < 9.0 else x[i]
    return s


def test_a_program_without_large_products_is_read_once():
    made = te.program(of_vectors)
    assert made.for_values((np.ones((60, 60)), np.ones(60))) is made
