"""Largest numbers, products and sums of rows and columns run on whole rows, with the bits of the machine."""

import functools
import math

import numpy as np
import pytest

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm.fuse import fused
from tapeengine.chad.intermediate import statements as F

NUMBERS = {
    "any": (-1.5, 0.25, 2.0, 3.75, -4.0),
    "zeros": (0.0, -0.0),
    "at most zero": (0.0, -0.0, -1.0),
    "with a NaN": (1.0, -2.0, math.nan, 0.0),
}


def extremes(x: te.Vec) -> tuple[float, float]:
    return np.max(x), np.min(x)


def products(x: te.Vec, y: te.Vec) -> float:
    return np.dot(x, y) * np.sum(2.0 * x[1:] - abs(x[:-1]) * y[1:]) + np.log(np.sum(np.exp(x - np.max(x))))


def columns(x: te.Array[te.Vec], v: te.Vec) -> float:
    down = np.sum(np.sum(np.exp(x), axis=0) ** 2) + np.sum(np.mean(x * x, axis=0) * x[0])
    return down + np.sum(v @ x) + np.sum(np.max(x, axis=0)) * np.sum(np.max(x, axis=1))


@functools.cache
def programs(f):
    return [te.program(f, backend=backend) for backend in ("native", "machine")]


def both(f, *args):
    """Value and gradient with both back ends."""
    for program in programs(f):
        value, backpropagator = te.vjp(program, *args)
        yield value, backpropagator(1.0)


def test_the_first_of_the_largest_numbers_is_the_result_and_the_first_nan():
    native, draws = te.program(extremes, backend="native"), np.random.default_rng(3)
    te.vjp(native, np.ones(3))
    for n in (1, 7, 8, 9, 15, 16, 17, 24, 33, 130):
        for kind in NUMBERS.values():
            x = draws.choice(kind, n)
            value, found = extremes(x), native.value(x)
            np.testing.assert_array_equal(found, value)
            order = [x[x == v] if v == v else x[x != x] for v in value]
            np.testing.assert_array_equal(np.signbit(found), np.signbit([each[0] for each in order]))


@pytest.mark.parametrize("n", [1, 2, 9, 130, 1000])
def test_products_of_vectors_have_the_bits_of_the_machine(n):
    x, y = np.random.default_rng(n).standard_normal((2, n))
    (value, gradient), (other, its) = both(products, x, y)
    assert value == other
    np.testing.assert_array_equal(gradient, its)
    np.testing.assert_allclose(value, products(x, y))
    step, h = np.cos(np.arange(n)), 1e-6
    slope = (products(x + h * step, y) - products(x - h * step, y)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient[0] * step), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (9, 17), (130, 5), (1, 40), (40, 1)])
def test_sums_of_columns_have_the_bits_of_the_machine(shape):
    draws = np.random.default_rng(shape)
    x, v = draws.standard_normal(shape), draws.standard_normal(shape[0])
    (value, gradient), (other, its) = both(columns, x, v)
    assert value == other
    for a, b in zip(gradient, its, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(value, columns(x, v))
    step, h = draws.standard_normal(shape), 1e-6
    slope = (columns(x + h * step, v) - columns(x - h * step, v)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient[0] * step), slope, rtol=1e-5, atol=1e-6)


def gradient_of_dot(x: te.Vec, y: te.Vec) -> float:
    return np.dot(x, y)


def sums_of_columns(x: te.Array[te.Vec]) -> float:
    return np.sum(np.sum(x, axis=0) ** 2)


def test_sums_of_columns_add_whole_rows():
    forward = fused(te.program(sums_of_columns).executable.lowered.program.functions["forward"])
    rows, squares = (s for s in forward.body if isinstance(s, F.For))
    (row,) = (s for s in rows.body if isinstance(s, F.For))
    assert row.count == squares.count != rows.count
    assert any(isinstance(s, F.AddAt) for s in row.body)


def test_code_uses_vectors_and_fills_no_array_twice():
    dot, largest = (str(te.program(f, backend="native").inspect()) for f in (gradient_of_dot, extremes))
    assert "memset" not in dot.split("main.reverse")[1]
    assert "<8 x double>" in dot.split("main.forward")[1]
    assert "call double @maximum(" in largest and "call double @minimum(" in largest
