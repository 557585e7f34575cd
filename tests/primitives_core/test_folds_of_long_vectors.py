"""Folds of long vectors: derivatives as of the numbers one by one, and records that do not grow with the length."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
from tapeengine_primitives.ufunc_methods import RULES

NAMES = sorted({ufunc.__name__ for ufunc, method in RULES if method == "reduceat"})
CASES = [
    (name, method)
    for name, method in itertools.product(NAMES, ("reduce", "accumulate", "reduceat"))
    if method == "accumulate" or name not in ("arctan2", "power")  # which numpy computes in another order
]


def by_numbers(ufunc: Any, method: str, x: Any, indices: list[int]) -> list[Any]:
    """The values as the method defines them, from operations on single numbers."""
    xs = list(x)
    if method == "accumulate":
        return list(itertools.accumulate(xs, ufunc))
    if method == "reduce":
        return [functools.reduce(ufunc, xs)]
    ends = [max(stop, start + 1) for start, stop in itertools.pairwise([*indices, len(xs)])]
    return [functools.reduce(ufunc, xs[start:stop]) for start, stop in zip(indices, ends, strict=True)]


def called(name: str, method: str, indices: list[int]) -> Callable[[Any], Any]:
    function = getattr(getattr(numpy, name), method)
    return lambda x: function(x, indices) if method == "reduceat" else function(x)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "method"), CASES)
def test_derivatives_are_those_of_the_numbers(name: str, method: str, seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    x = rng.uniform(0.6, 1.4, 23)
    indices = rng.integers(0, 23, 7).tolist()
    program = called(name, method, indices)
    weights = rng.normal(size=numpy.shape(program(x)) or 1)

    def wanted(x: Any) -> Any:
        return sum(w * v for w, v in zip(weights, by_numbers(getattr(numpy, name), method, x, indices), strict=True))

    def found(x: Any) -> Any:
        return numpy.sum(weights * program(x))

    numpy.testing.assert_allclose(te.grad(found)(x), te.grad(wanted)(x), rtol=1e-10, atol=1e-12)
    t = rng.normal(size=23)
    assert te.jvp(found, (x,), (t,))[1] == pytest.approx(te.jvp(wanted, (x,), (t,))[1], rel=1e-10, abs=1e-12)
    product, expected = te.hvp(found, (x,), (t,)), te.hvp(wanted, (x,), (t,))
    numpy.testing.assert_allclose(product, expected, rtol=1e-9, atol=1e-9 * max(1.0, numpy.abs(expected).max()))


@pytest.mark.parametrize(("name", "method"), CASES)
def test_records_do_not_grow(name: str, method: str) -> None:
    counts = []
    for n in (40, 400):
        program = called(name, method, list(range(0, n, 7)))
        counts.append(len(te.vjp(program, numpy.linspace(1.0, 1.001, n))[1].tape))
    assert counts[0] == counts[1] < 12


@pytest.mark.parametrize("name", NAMES)
def test_many_values_at_one_place(name: str) -> None:
    rng = numpy.random.default_rng(4)
    x, b, index = rng.uniform(0.6, 1.4, (2, 3)), rng.uniform(0.9, 1.1, 40), rng.integers(0, 4, 40)
    weights, ufunc = rng.normal(size=(2, 3)), getattr(numpy, name)

    def whole(x: Any, b: Any) -> Any:
        y = x * 1.0
        ufunc.at(y, (index // 3, index % 3), b)
        return numpy.sum(y * weights)

    def by_one(x: Any, b: Any) -> Any:
        items = [x[k // 3, k % 3] for k in range(6)]
        for k, place in enumerate(index):
            items[place] = ufunc(items[place], b[k])
        return sum(w * item for w, item in zip(weights.ravel(), items, strict=True))

    assert whole(x, b) == pytest.approx(te.vjp(whole, x, b)[0], rel=1e-15)
    for found, expected in zip(te.grad(whole, (0, 1))(x, b), te.grad(by_one, (0, 1))(x, b), strict=True):
        numpy.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
