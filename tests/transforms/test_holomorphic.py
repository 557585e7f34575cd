"""Gradients and Jacobians with complex numbers: which are allowed, compared with differences and JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import ResultError, UnsupportedError

Z = np.array([0.4 + 0.3j, -0.7 + 0.2j, 1.1 - 0.5j])
A = np.array([[0.2 + 0.1j, -0.5, 1.0j], [0.3, 0.9 - 0.2j, -0.1], [1.1, 0.4j, 0.4]])
MODES: list[tuple[Callable[..., Any], str]] = [(te.jacfwd, "jacfwd"), (te.jacrev, "jacrev"), (te.jacobian, "jacobian")]

# Each maps C^3 to C^n and is holomorphic at Z.
HOLOMORPHIC: dict[str, Callable[[Any, Any], Any]] = {
    "elementwise": lambda xp, z: xp.exp(z) * z / (z + 2.0),
    "matrix": lambda xp, z: A @ xp.sin(A @ z) + z**3,
    "indexed": lambda xp, z: z[::-1] * z[xp.array([0, 0, 2])],
    "one": lambda xp, z: xp.reshape(xp.sum(z * z) * z[1], (1,)),
    "many": lambda xp, z: xp.reshape(xp.outer(z, xp.log(z + 2.0)), (9,)),
    "stacked": lambda xp, z: xp.concatenate([z * 1j, xp.sqrt(z + 3.0)]),
}


def complex_derivative(f: Callable[[Any], Any], z: Any, step: float = 1e-5) -> Any:
    """Fourth-order differences along each real part, as columns; a holomorphic program has no other derivatives."""
    columns = []
    for e in np.eye(z.size).reshape(z.size, *z.shape):
        one, two = (np.asarray(f(z + k * step * e)) - np.asarray(f(z - k * step * e)) for k in (1, 2))
        columns.append((8.0 * one - two) / (12.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize(("transform", "name"), MODES)
@pytest.mark.parametrize("case", sorted(HOLOMORPHIC))
def test_jacobians_of_holomorphic_programs(transform: Any, name: str, case: str) -> None:
    found = transform(lambda z: HOLOMORPHIC[case](tnp, z), holomorphic=True)(Z)
    assert found.dtype == complex
    expected = complex_derivative(lambda z: HOLOMORPHIC[case](np, z), Z)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_gradients_of_holomorphic_programs() -> None:
    def program(z: Any) -> Any:
        return tnp.sum(tnp.exp(z) * z[0])

    expected = complex_derivative(lambda z: np.sum(np.exp(z) * z[0]), Z)
    np.testing.assert_allclose(te.grad(program, holomorphic=True)(Z), expected, rtol=1e-10)
    value, gradient = te.value_and_grad(program, holomorphic=True)(Z)
    assert value == np.sum(np.exp(Z) * Z[0])
    np.testing.assert_allclose(gradient, expected, rtol=1e-10)
    (value, aux), gradient = te.value_and_grad(lambda z: (program(z), 7), has_aux=True, holomorphic=True)(Z)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10)
    assert aux == 7
    assert te.grad(lambda z: (z * z, "aux"), has_aux=True, holomorphic=True)(1.0 + 2.0j) == (2.0 + 4.0j, "aux")
    assert te.grad(lambda z, w: z * w, (0, 1), holomorphic=True)(1.0j, 2.0 + 0j) == (2.0, 1.0j)


@settings(max_examples=30, deadline=None)
@given(st.complex_numbers(max_magnitude=2.0, allow_subnormal=False))
def test_second_derivatives(z: complex) -> None:
    def cubic(z: Any) -> Any:
        return z * z * z * (1.0 + 2.0j)

    point = np.array(z)
    assert te.grad(te.grad(cubic, holomorphic=True), holomorphic=True)(point) == pytest.approx(6.0 * z * (1.0 + 2.0j))
    assert te.hessian(cubic, holomorphic=True)(point) == pytest.approx(6.0 * z * (1.0 + 2.0j))


def test_columns_of_real_inputs_may_be_complex() -> None:
    def program(x: Any) -> Any:
        return {"z": tnp.exp(1j * x), "x": x * 2.0}

    x = np.array([0.3, -1.2])
    for transform in (te.jacfwd, te.jacobian):
        found = transform(program)(x)
        np.testing.assert_allclose(found["z"], np.diag(1j * np.exp(1j * x)))
        assert found["x"].dtype == float
        np.testing.assert_array_equal(found["x"], 2.0 * np.eye(2))
    with pytest.raises(UnsupportedError, match=r"jacrev does not take complex results.*Use jacfwd.*holomorphic=True"):
        te.jacrev(program)(x)


def test_rows_of_real_results_may_be_complex() -> None:
    """The cotangent of a complex input pairs with a tangent without conjugation: |z|^2 has 2 conj(z)."""

    def program(z: Any) -> Any:
        return tnp.concatenate([tnp.abs(z) ** 2, tnp.real(z * z)])

    expected = np.concatenate([np.diag(2.0 * np.conj(Z)), np.diag(2.0 * Z)])
    for transform in (te.jacrev, te.jacobian):
        np.testing.assert_allclose(transform(program)(Z), expected, rtol=1e-14)
    np.testing.assert_allclose(te.grad(lambda z: tnp.sum(tnp.abs(z) ** 2))(Z), 2.0 * np.conj(Z))
    with pytest.raises(UnsupportedError, match=r"jacfwd does not take complex inputs.*Use jacrev.*holomorphic=True"):
        te.jacfwd(program)(Z)


@pytest.mark.parametrize(("transform", "name"), MODES)
def test_what_is_complex_on_both_sides_must_be_said_to_be_holomorphic(transform: Any, name: str) -> None:
    with pytest.raises(UnsupportedError, match="holomorphic=True"):
        transform(lambda z: z * z)(Z)
    with pytest.raises(UnsupportedError, match="needs the inputs to be complex"):
        transform(lambda z: z * 1j, holomorphic=True)(np.ones(3))
    with pytest.raises(UnsupportedError, match="needs the result to be complex"):
        transform(lambda z: tnp.real(z), holomorphic=True)(Z)


def test_gradients_refuse_what_is_not_one_complex_number() -> None:
    with pytest.raises(ResultError, match="say holomorphic=True"):
        te.grad(lambda z: z * z)(1.0 + 2.0j)
    with pytest.raises(UnsupportedError, match="needs the inputs to be complex"):
        te.grad(lambda x: x * 1j, holomorphic=True)(2.0)
    wrong: dict[str, Callable[[Any], Any]] = {
        r"complex128 of shape \(3,\)": lambda z: z * z,
        r"float64 of shape \(1,\)": lambda z: tnp.real(z[:1]),
        r"float64 of shape \(\)": lambda z: tnp.real(z[0]),
        "list": lambda z: [z[0]],
        "int": lambda z: 3,
    }
    for form, program in wrong.items():
        with pytest.raises(ResultError, match=rf"returns one complex number, and this one returned {form}\. "):
            te.grad(program, holomorphic=True)(Z)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(HOLOMORPHIC))
def test_against_jax(case: str) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    for ours, theirs in ((te.jacfwd, jax.jacfwd), (te.jacrev, jax.jacrev)):
        found = ours(lambda z: HOLOMORPHIC[case](tnp, z), holomorphic=True)(Z)
        expected = theirs(lambda z: HOLOMORPHIC[case](jax.numpy, z), holomorphic=True)(Z)
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-12, atol=1e-13)

    def real(xp: Any, z: Any) -> Any:
        return xp.abs(HOLOMORPHIC[case](xp, z)) ** 2

    expected = np.asarray(jax.jacrev(lambda z: real(jax.numpy, z))(Z))
    np.testing.assert_allclose(te.jacrev(lambda z: real(tnp, z))(Z), expected, rtol=1e-12, atol=1e-13)
    x = Z.real
    expected = np.asarray(jax.jacfwd(lambda x: HOLOMORPHIC[case](jax.numpy, x + 0.5j))(x))
    found = te.jacfwd(lambda x: HOLOMORPHIC[case](tnp, x + 0.5j))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
