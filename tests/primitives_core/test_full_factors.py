"""Decompositions with square factors, as numpy's default of svd gives them, of matrices that are not square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

RNG = numpy.random.default_rng(7)
SHAPES = [(2, 3), (3, 2), (4, 2), (2, 4), (5, 2), (1, 4), (3, 1)]
WEIGHTS = RNG.standard_normal((5, 5))


def last(a: Any) -> Any:
    """The vectors without a singular value, as columns."""
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    return u[:, k:] if u.shape[0] > k else np.conj(vh[k:]).T


def values(a: Any) -> Any:
    return np.sum(np.linalg.svd(a)[1] ** 3)


def projector(a: Any) -> Any:
    n = last(a)
    return np.sum(np.real(WEIGHTS[: len(n), : len(n)] * (n @ np.conj(n).T))) ** 2


def product(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    return np.sum(np.abs((u[:, :k] * s**2) @ vh[:k]) ** 2)


def triangle(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.qr(a, "complete").R ** 3))


def columns(a: Any) -> Any:
    q, r = np.linalg.qr(a, "complete")
    return np.sum(np.real(WEIGHTS[: len(r), :1] * q[:, : r.shape[1]] * r[0, 0] ** 2))


def outside(a: Any) -> Any:
    n = np.linalg.qr(a, "complete").Q[:, a.shape[1] :]
    return np.sum(np.real(WEIGHTS[: len(n), : len(n)] * (n @ np.conj(n).T))) ** 2


def differences(function: Callable[[Any], Any], a: Any, t: Any) -> Any:
    """The derivative along t, extrapolated from two steps."""
    one, two = ((function(a + h * t) - function(a - h * t)) / (2 * h) for h in (1e-3, 2e-3))
    return (4 * one - two) / 3


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("function", [values, projector, product, triangle, columns, outside])
def test_functions_that_do_not_depend_on_the_basis(function: Any, shape: Any, is_complex: bool) -> None:
    a, t = RNG.standard_normal((2, *shape)) + (1j * RNG.standard_normal((2, *shape)) if is_complex else 0.0)
    value, ct = te.value_and_grad(function)(a)
    assert value == function(a)
    assert np.real(np.sum(ct * t)) == pytest.approx(differences(function, a, t), rel=1e-6)
    along = te.grad(lambda a: np.real(np.sum(te.grad(function)(a) * t)))(a)
    second = differences(te.grad(function), a, t)
    if not is_complex:
        np.testing.assert_allclose(along, second, rtol=1e-5, atol=1e-5 * np.abs(second).max())


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 3)], ids=str)
def test_one_last_vector_of_a_real_matrix_is_determined(shape: Any) -> None:
    a, t = RNG.standard_normal((2, *shape))

    def function(a: Any) -> Any:
        n = last(a)[:, 0]
        return n[0] * n[1] + (np.linalg.qr(a, "complete").Q[0, -1] ** 2 if shape[0] > shape[1] else 0.0)

    slope = differences(function, a, t)
    assert np.sum(te.grad(function)(a) * t) == pytest.approx(slope, rel=1e-6)
    assert te.jvp(function, (a,), (t,))[1] == pytest.approx(slope, rel=1e-6)
    second = te.hvp(function, (a,), (t,))
    np.testing.assert_allclose(second, differences(te.grad(function), a, t), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("is_complex", [False, True])
def test_functions_of_the_basis_are_refused(is_complex: bool) -> None:
    a = RNG.standard_normal((4, 2)) + (1j * RNG.standard_normal((4, 2)) if is_complex else 0.0)
    with pytest.raises(UnsupportedError, match=r"arbitrary basis.*full_matrices=False"):
        te.grad(lambda a: np.real(last(a)[0, 0] * last(a)[1, 0]))(a)
    with pytest.raises(UnsupportedError, match=r"tangents.*full_matrices=False"):
        te.jvp(projector, (a,), (a,))
    with pytest.raises(UnsupportedError, match=r"arbitrary basis.*mode='reduced'"):
        te.grad(lambda a: np.real(np.linalg.qr(a, "complete").Q[0, 3]))(a)
    with pytest.raises(UnsupportedError, match=r"tangents.*mode='reduced'"):
        te.jvp(outside, (a,), (a,))
    np.testing.assert_allclose(te.jvp(triangle, (a,), (a,))[1], 3 * triangle(a))


def test_stacks_of_matrices() -> None:
    a = RNG.standard_normal((3, 2, 4))
    for function, matrices in ((values, a), (triangle, a.swapaxes(1, 2))):
        alone = numpy.stack([te.grad(function)(x) for x in matrices])
        np.testing.assert_allclose(te.grad(function)(matrices), alone, rtol=1e-12)


def determined(name: str, tall: bool) -> Callable[[Any], Any]:
    """A function of what is determined in a decomposition of which other parts are not: its values, or one factor."""

    def function(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a)
        factor = vh if tall else np.conj(u).T
        last_vector = np.real(factor[-1] * np.conj(factor[-1][0]))
        return {"vector": last_vector, "values": s**2, "both": np.real(factor * np.conj(factor[:, :1])) @ s}[name]

    return function


@pytest.mark.parametrize("name", ["vector", "values", "both"])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (5, 3), (3, 1)], ids=str)
def test_tangents_of_what_is_determined(shape: Any, is_complex: bool, name: str) -> None:
    """In every mode, as the null vector of a homogeneous system; the other factor has no tangent and is not used."""
    function = determined(name, shape[0] > shape[1])
    b, c = RNG.standard_normal((2, *shape)) + (1j * RNG.standard_normal((2, *shape)) if is_complex else 0.0)

    def program(t: Any) -> Any:
        return function(b + t[0] * c + t[1] * b * b)

    def loss(t: Any) -> Any:
        return np.sum(program(t) ** 2 * WEIGHTS[0, : len(program(t))])

    t, along = numpy.array([0.3, 0.5]), numpy.array([1.0, -0.4])
    slope = differences(program, t, along)
    value, tangent = te.jvp(program, (t,), (along,))
    np.testing.assert_array_equal(value, program(t))
    np.testing.assert_allclose(tangent, slope, rtol=1e-6, atol=1e-8)
    for jacobian in (te.jacobian, te.jacfwd, te.jacrev):
        np.testing.assert_allclose(jacobian(program)(t) @ along, slope, rtol=1e-6, atol=1e-8)
    second = differences(te.grad(loss), t, along)
    for product in (te.hessian(loss)(t) @ along, te.hvp(loss, (t,), (along,)), te.vhp(loss, (t,), (along,))):
        np.testing.assert_allclose(product, second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "used", ["u", "(u, s)", "np.sum(u)", "u[0, 0]", "np.array([*u[0]])", "u[:, :1] * 2", "te.value(u) + u"]
)
@pytest.mark.parametrize(
    "transform", ["te.jvp(f, (a,), (a,))", "te.jacfwd(f)(a)", "te.grad(lambda c: np.sum(te.jvp(f, (c,), (c,))[1]))(a)"]
)
def test_tangents_of_what_is_not_determined_are_refused(used: str, transform: str) -> None:
    if used == "(u, s)" and "jvp(f, (a" not in transform:
        pytest.skip("several results")
    a = RNG.standard_normal((4, 2))

    def f(a: Any) -> Any:
        u, s, _ = np.linalg.svd(a)
        return eval(used, {"np": np, "te": te}, {"u": u, "s": s})

    with pytest.raises(UnsupportedError, match="arbitrary basis"):
        eval(transform, {"te": te, "np": np, "f": f, "a": a})
