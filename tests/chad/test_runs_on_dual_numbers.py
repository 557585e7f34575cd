"""Programs on dual numbers run as often as the plain function, under every transform: each run may change something."""

import heapq
from typing import Any

import numpy as np
import pytest

import tapeengine as te

HEAP: list[float] = []


def untyped(x):
    return heapq.heappop(HEAP) * x * x


def typed(x: float) -> float:
    return heapq.heappop(HEAP) * x * x


def of_vectors(x: np.ndarray):
    return heapq.heappop(HEAP) * x * x


def with_others(x, k=2.0, *, s=1.0):
    return heapq.heappop(HEAP) * x * k * s


def inside(x):
    return typed(x) + untyped(x)


PROGRAMS = {untyped: 1.5, typed: 1.5, of_vectors: np.array([1.0, 2.0, 3.0]), with_others: 1.5, inside: 1.5}
TRANSFORMS = {
    "call": lambda f, x: f(x),
    "vjp": lambda f, x: te.vjp(f, x)[0],
    "value_and_grad": lambda f, x: te.value_and_grad(lambda x: np.sum(f(x)))(x),
    "jvp": lambda f, x: te.jvp(f, (x,), (x,)),
    "linearize": lambda f, x: te.linearize(f, x)[1](x),
    "jacobian": lambda f, x: te.jacobian(f)(x),
    "jacfwd": lambda f, x: te.jacfwd(f)(x),
    "jacrev": lambda f, x: te.jacrev(f)(x),
    "hvp": lambda f, x: te.hvp(lambda x: np.sum(f(x)), (x,), (x,)),
    "hessian": lambda f, x: te.hessian(lambda x: np.sum(f(x)))(x),
    "inside a trace": lambda f, x: te.vjp(lambda x: f(x), x)[0],
    "grad of grad": lambda f, x: te.vjp(lambda x: te.vjp(f, x)[1](x)[0], x)[0],
}
NAMED: dict[str, dict[str, Any]] = {"none": {}, "k": {"k": 3.0}, "s": {"s": 4.0}}


def twice(run):
    HEAP[:] = [float(k) for k in range(1, 30)]
    return [run(), run()], len(HEAP)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_runs(function, transform):
    x, apply = PROGRAMS[function], TRANSFORMS[transform]
    (want, left), (found, rest) = (twice(lambda f=f: apply(f, x)) for f in (function, te.program(function)))
    assert rest == left
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a[0] if isinstance(a, tuple) else a, b[0] if isinstance(b, tuple) else b, rtol=1e-14)


@pytest.mark.parametrize("named", NAMED)
@pytest.mark.parametrize("transform", [te.grad, te.jacobian, te.value_and_grad, te.jacfwd])
def test_other_arguments(transform, named):
    given = (with_others, te.program(with_others))
    want, found = (twice(lambda f=f: transform(f)(1.5, **NAMED[named])) for f in given)
    assert found == want


def of_views(x):
    v = x[1:]
    v *= 2.0
    return (x.sum() + v[0]) ** 2


def test_second_derivatives_of_arrays_that_the_text_reads_as_lists():
    x, rows = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])
    assert np.array_equal(te.hessian(te.program(of_views))(x), 2.0 * np.outer(rows, rows))
    assert np.array_equal(te.hvp(te.program(of_views), (x,), (x,)), 2.0 * rows * (rows @ x))


@pytest.mark.parametrize("named", NAMED)
def test_the_value_with_other_arguments(named):
    given = (with_others, te.program(with_others).value)
    want, found = (twice(lambda f=f: f(1.5, **NAMED[named])) for f in given)
    assert found == want


@pytest.mark.parametrize("function", [untyped, lambda x: x * x])
@pytest.mark.parametrize("transform", [te.grad, te.value_and_grad])
def test_a_program_without_the_auxiliary_result(function, transform):
    with pytest.raises(te.errors.ResultError, match="must return a tuple"):
        twice(lambda: transform(te.program(function), has_aux=True)(1.5))
