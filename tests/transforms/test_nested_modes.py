"""The two programs of Siskind and Pearlmutter in all four pairs of modes, and powers at zero to third order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from asv_bench.programs.nested import PARTICLE, SADDLE, particle, saddle

Gradient = Callable[[Callable[[list[Any]], Any], list[Any]], list[Any]]


def reverse(f: Callable[[list[Any]], Any], x: list[Any]) -> Any:
    return te.grad(f)(x)


def forward(f: Callable[[list[Any]], Any], x: list[Any]) -> Any:
    return te.jacfwd(f)(x)


def by_tangents(f: Callable[[list[Any]], Any], x: list[Any]) -> list[Any]:
    """A run of the program for each entry, as in jvp."""
    return [te.jvp(f, (x,), ([float(i == j) for j in range(len(x))],))[1] for i in range(len(x))]


MODES = {"r": reverse, "f": forward, "t": by_tangents}
pairs = pytest.mark.parametrize(("outer", "inner"), [(a, b) for a in MODES for b in MODES])


@pairs
def test_particle(outer: str, inner: str) -> None:
    np.testing.assert_allclose(particle(MODES[outer], MODES[inner]), PARTICLE, rtol=1e-9)


@pytest.mark.slow
@pairs
def test_saddle(outer: str, inner: str) -> None:
    np.testing.assert_allclose(saddle(MODES[outer], MODES[inner]), SADDLE, rtol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("transform", [te.grad, te.jacfwd, te.jacrev], ids=["grad", "jacfwd", "jacrev"])
@pytest.mark.parametrize("power", [lambda x: x**2, lambda x: x**2.0, lambda x: tm.pow(x, 2.0), lambda x: x * x])
def test_square_at_zero(order: int, transform: Any, power: Any) -> None:
    f = power
    for _ in range(order):
        f = transform(f)
    assert f(0.0) == [0.0, 0.0, 2.0, 0.0][order]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_square_of_arrays_at_zero(order: int) -> None:
    def f(x: Any) -> Any:
        return tnp.sum(x**2)

    for _ in range(order):
        f = te.jacobian(f)
    assert np.sum(f(np.zeros(2))) == [0.0, 0.0, 4.0, 0.0][order]


@pytest.mark.parametrize("norm", [tnp.linalg.norm, lambda x: tm.hypot(x[0], x[1])], ids=["norm", "hypot"])
def test_norm_at_zero_has_a_zero_gradient(norm: Any) -> None:
    np.testing.assert_array_equal(te.grad(norm)(np.zeros(2)), [0.0, 0.0])
    np.testing.assert_array_equal(te.jacfwd(norm)(np.zeros(2)), [0.0, 0.0])


GUARDED = {
    "sqrt": lambda x: tnp.where(x > 0, tnp.sqrt(x), 0.0),
    "log": lambda x: tnp.where(x > 0, tnp.log(x), 0.0),
    "power": lambda x: tnp.where(x > 0, tnp.abs(x) ** 0.5, 0.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("guarded", GUARDED.values(), ids=GUARDED)
@pairs
def test_what_where_leaves_out_has_zero_second_derivatives(outer: str, inner: str, guarded: Any) -> None:
    """A linear map sends zero to zero, also if its coefficient is an infinite derivative of the other mode."""
    assert MODES[outer](lambda x: MODES[inner](lambda x: guarded(x[0]), x)[0], [0.0]) == [0.0]
    transforms = {"r": te.jacrev, "f": te.jacfwd, "t": te.jacfwd}
    gradient = transforms[inner](lambda x: tnp.sum(guarded(x)))
    np.testing.assert_array_equal(transforms[outer](gradient)(np.zeros(2)), np.zeros((2, 2)))
    third = te.jacfwd(transforms[outer](gradient))(np.zeros(2))
    np.testing.assert_array_equal(third, np.zeros((2, 2, 2)))


def test_perturbations_are_not_confused() -> None:
    """d/dx [x * d/dy (x + y)] is 1, in every pair of modes."""
    for outer in (te.grad, te.jacfwd):
        for inner in (te.grad, te.jacfwd):
            assert outer(lambda x, inner=inner: x * inner(lambda y: x + y)(2.0))(1.0) == 1.0


@pytest.mark.parametrize("transform", [te.jacfwd, te.jacrev], ids=["jacfwd", "jacrev"])
def test_a_jacobian_of_numbers_inside_a_trace_records_no_arrays(transform: Any) -> None:
    """Each of its numbers is one sweep's result, so the outer tape has only scalar records."""

    def inner(p: Any) -> Any:
        return {"a": p[0] * p[1] * p[1], "b": [p[0] ** 3]}

    def outer(x: Any) -> Any:
        found = transform(inner)((x, 2.0 * x))
        return found["a"][1] * found["b"][0][0]

    value, backpropagator = te.vjp(outer, 1.5)
    assert value == pytest.approx(2.0 * 1.5 * 3.0 * 3.0 * 1.5**2, rel=1e-14)
    assert backpropagator(1.0)[0] == pytest.approx(48.0 * 1.5**3, rel=1e-14)
    assert not backpropagator.tape.arrays
