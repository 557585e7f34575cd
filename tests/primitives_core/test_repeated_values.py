"""Repeated eigenvalues and singular values: correct where a derivative exists, refused where it is undetermined."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError

RNG = np.random.default_rng(3)


def symmetric(*values: float) -> Any:
    """A symmetric matrix with given eigenvalues, which rounding makes equal only up to some units in the last place."""
    q = np.linalg.qr(RNG.standard_normal((len(values), len(values))))[0]
    a = (q * np.array(values)) @ q.T
    return (a + a.T) / 2


def rotated(*values: float) -> Any:
    u, v = (np.linalg.qr(RNG.standard_normal((len(values), len(values))))[0] for _ in range(2))
    return (u * np.array(values)) @ v


HERMITIAN = {
    "identity": np.eye(3),
    "diagonal": np.diag([2.0, 2.0, 5.0]),
    "two pairs": symmetric(1.0, 1.0, 3.0, 3.0),
    "nearly": np.diag([1.0, 1.0 + 1e-15, 2.0]),
    "zero": np.zeros((2, 2)),
    "stack": np.stack([symmetric(2.0, 2.0, 5.0), symmetric(1.0, 2.0, 3.0)]),
    "float32": np.diag([2.0, 2.0, 5.0]).astype(np.float32),
}
GENERAL = {"orthogonal": rotated(1.0, 1.0, 1.0), "pair": rotated(3.0, 3.0, 1.0), "tall": rotated(2.0, 2.0, 1.0)[:, :2]}
SYMMETRIC_FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "squares": (lambda w: np.sum(w**2), lambda a: 2 * a),
    "exponentials": (lambda w: np.sum(np.exp(w)), lambda a: of_eigenvalues(np.exp, a)),
    "product": (lambda w: np.sum(np.prod(w + 3.0, axis=-1)), lambda a: cofactors(a + 3.0 * np.eye(a.shape[-1]))),
}


def of_eigenvalues(function: Callable[[Any], Any], a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * function(w)[..., None, :]) @ np.swapaxes(v, -1, -2)


def cofactors(a: Any) -> Any:
    return np.linalg.det(a)[..., None, None] * np.linalg.inv(a)


def whole(triangle: Any) -> Any:
    """The symmetric cotangent whose folded form is `triangle`."""
    return (triangle + np.swapaxes(triangle, -1, -2)) / 2


@pytest.mark.parametrize("function", SYMMETRIC_FUNCTIONS)
@pytest.mark.parametrize("name", HERMITIAN)
def test_symmetric_functions_of_equal_eigenvalues(name: str, function: str) -> None:
    a = HERMITIAN[name]
    program, expected = SYMMETRIC_FUNCTIONS[function]
    tolerance = 1e-4 if a.dtype == np.float32 else 1e-11
    found = te.grad(lambda a: program(np.linalg.eigvalsh(a)))(a)
    np.testing.assert_allclose(whole(found), expected(a), rtol=tolerance, atol=tolerance)
    t = RNG.standard_normal(a.shape).astype(a.dtype)
    forward = te.jvp(lambda a: program(np.linalg.eigvalsh(a)), (a,), (t,))[1]
    np.testing.assert_allclose(forward, np.sum(found * t), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", GENERAL)
def test_symmetric_functions_of_equal_singular_values(name: str) -> None:
    a = GENERAL[name]
    t = RNG.standard_normal(a.shape)
    found = te.grad(lambda a: np.sum(np.linalg.svdvals(a) ** 4))(a)
    np.testing.assert_allclose(found, 4 * a @ a.T @ a, rtol=1e-11, atol=1e-11)
    forward = te.jvp(lambda a: np.sum(np.linalg.svdvals(a) ** 4), (a,), (t,))[1]
    np.testing.assert_allclose(forward, np.sum(found * t), rtol=1e-11)


#: Values from functions that also return vectors, which the program does not use.
BESIDE_VECTORS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "eigh": (lambda a: np.linalg.eigh(a)[0], lambda a: np.linalg.eigvalsh(a)),
    "eig": (lambda a: np.real(np.linalg.eig(a)[0]), lambda a: np.real(np.linalg.eigvals(a))),
    "svd": (lambda a: np.linalg.svd(a)[1], lambda a: np.linalg.svdvals(a)),
    "reduced svd": (lambda a: np.linalg.svd(a, full_matrices=False)[1], lambda a: np.linalg.svdvals(a)),
}


@pytest.mark.parametrize("function", SYMMETRIC_FUNCTIONS)
@pytest.mark.parametrize("name", BESIDE_VECTORS)
@pytest.mark.parametrize("a", [np.eye(3), np.diag([2.0, 2.0, 5.0]), symmetric(1.0, 1.0, 3.0, 3.0)], ids=str)
def test_values_beside_vectors_that_are_not_used(a: Any, name: str, function: str) -> None:
    whole_result, alone = BESIDE_VECTORS[name]
    program = SYMMETRIC_FUNCTIONS[function][0]
    expected = te.grad(lambda a: program(alone(a)))(a)
    np.testing.assert_allclose(te.grad(lambda a: program(whole_result(a)))(a), expected, rtol=1e-11, atol=1e-11)
    rows = te.jacrev(lambda a: tnp.stack([k * program(whole_result(a)) for k in range(12)]))(a)
    np.testing.assert_allclose(rows[3], 3.0 * expected, rtol=1e-11, atol=1e-11)
    with pytest.raises(UnsupportedError, match="equal"):
        te.grad(lambda a: whole_result(a) @ np.arange(float(len(a))))(a)
    with pytest.raises(UnsupportedError, match="equal"):
        te.hessian(lambda a: program(whole_result(a)))(a)


def refused() -> Iterator[tuple[str, Callable[[Any], Any], Any]]:
    pair, orthogonal = HERMITIAN["diagonal"], GENERAL["orthogonal"]
    weights = RNG.standard_normal((3, 3))
    yield "smallest", lambda a: np.linalg.eigvalsh(a)[0], pair
    yield "one singular value", lambda a: np.linalg.svdvals(a)[0], orthogonal
    yield "a vector", lambda a: np.linalg.eigh(a)[1][0, 0], pair
    yield "one function", lambda a: np.sum(weights * spectral(a, np.exp)), pair
    yield "zero of a function", lambda a: np.sum(spectral(a, np.log)), np.eye(3)
    yield "an element off the diagonal", lambda a: spectral(a, np.exp)[0, 1], np.eye(3)
    yield "general", lambda a: np.real(np.linalg.eig(a)[1][0, 0]), pair
    yield "polar factor", lambda a: np.sum(weights * (np.linalg.svd(a)[0] @ np.linalg.svd(a)[2])), orthogonal
    yield "second derivative", lambda a: np.sum(weights * te.grad(squares)(a)), pair
    yield "no basis of eigenvectors", lambda a: np.sum(np.linalg.eigvals(a)).real, np.array([[1.0, 1.0], [0.0, 1.0]])


def spectral(a: Any, function: Callable[[Any], Any]) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * function(w)) @ v.T


def squares(a: Any) -> Any:
    return np.sum(np.linalg.eigvalsh(a) ** 2)


@pytest.mark.parametrize(("program", "a"), [pytest.param(f, a, id=name) for name, f, a in refused()])
def test_what_is_not_determined_is_refused(program: Callable[[Any], Any], a: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"equal|basis"):
        te.grad(program)(a)


def test_a_function_of_the_trace_kind_is_right_with_vectors() -> None:
    a = HERMITIAN["two pairs"]
    np.testing.assert_allclose(whole(te.grad(lambda a: np.trace(spectral(a, np.exp)))(a)), of_eigenvalues(np.exp, a))


def test_groups_beside_the_one_that_is_used_do_not_matter() -> None:
    a = np.diag([2.0, 2.0, 5.0])
    found = te.grad(lambda a: np.linalg.eigh(a)[0][2])(a)
    np.testing.assert_allclose(found, np.diag([0.0, 0.0, 1.0]))
