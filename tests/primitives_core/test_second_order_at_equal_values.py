"""Second derivatives where eigenvalues or singular values are equal, compared with differences of plain gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

RANDOM = np.random.default_rng(3)
VALUES = [5.0, 2.0, 2.0, 2.0, 1.0, 1.0]


def unitary(n: int, dtype: Any) -> Any:
    a = RANDOM.normal(size=(n, n)).astype(dtype)
    return np.linalg.qr(a + 1j * RANDOM.normal(size=(n, n)) if dtype is complex else a)[0]


def of_values(m: int, n: int, dtype: Any) -> Any:
    """A matrix of given singular values."""
    k = min(m, n)
    return (unitary(m, dtype)[:, :k] * VALUES[:k]) @ unitary(n, dtype)[:k]


def hermitian(a: Any) -> Any:
    return 0.5 * (a + np.conj(a.T))


def of_vectors(a: Any, partials: Callable[[Any], Any]) -> Any:
    """The gradient of a function of eigenvalues, by its meaning: a Hermitian matrix of the same vectors."""
    w, v = np.linalg.eigh(a)
    return (v * partials(w)) @ v.conj().T


def of_singular_vectors(a: Any, partials: Callable[[Any], Any]) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * partials(s)) @ vh


#: Functions of values that have second derivatives, and their partials.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "squares": (lambda w: tnp.sum(w**2), lambda w: 2.0 * w),
    "exponentials": (lambda w: tnp.sum(tnp.exp(0.3 * w)), lambda w: 0.3 * np.exp(0.3 * w)),
    "a product of sums": (
        lambda w: tnp.sum(w**3) * tnp.sum(w),
        lambda w: 3.0 * w**2 * np.sum(w) + np.sum(w**3),
    ),
    "the logarithm of a product": (lambda w: tnp.sum(tnp.log(w)), lambda w: 1.0 / w),
    "the largest": (lambda w: tnp.max(w), lambda w: 1.0 * (w == w.max())),
}


def derivative(gradient: Callable[[Any], Any], a: Any, t: Any, step: float = 1e-3) -> Any:
    one, two = (gradient(a + k * step * t) - gradient(a - k * step * t) for k in (1, 2))
    return (8.0 * one - two) / (12.0 * step)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_eigenvalues(name: str, dtype: Any) -> None:
    f, partials = FUNCTIONS[name]
    v, t = unitary(6, dtype), hermitian(unitary(6, dtype))
    a = hermitian((v * VALUES) @ v.conj().T)
    expected = derivative(lambda a: of_vectors(a, partials), a, t)
    for triangle in ("L", "U"):

        def program(a: Any, triangle: str = triangle) -> Any:
            return f(tnp.linalg.eigvalsh(0.5 * (a + tnp.conj(tnp.swapaxes(a, 0, 1))), triangle))

        for product in (te.hvp, te.vhp):
            found = product(program, (a,), (t,))
            np.testing.assert_allclose(found, expected.conj(), rtol=0, atol=1e-7)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("m", "n"), [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_singular_values(name: str, m: int, n: int, dtype: Any) -> None:
    f, partials = FUNCTIONS[name]
    a, t = of_values(m, n, dtype), of_values(m, n, dtype) / 3.0
    expected = derivative(lambda a: of_singular_vectors(a, partials), a, t)
    found = te.hvp(lambda a: f(tnp.linalg.svd(a, compute_uv=False)), (a,), (t,))
    np.testing.assert_allclose(found, expected.conj(), rtol=0, atol=1e-7)


@pytest.mark.parametrize("order", ["nuc", 2, "fro"])
def test_norms_and_their_hessians(order: Any) -> None:
    partials = {
        "nuc": np.ones_like,
        2: lambda s: 1.0 * (s == s.max()),
        "fro": lambda s: s / np.linalg.norm(s),
    }[order]
    a = of_values(4, 3, float)
    hessian = te.hessian(lambda a: tnp.linalg.norm(a, order))(a)
    for t in (RANDOM.normal(size=a.shape), RANDOM.normal(size=a.shape)):
        expected = derivative(lambda a: of_singular_vectors(a, partials), a, t / 10.0) * 10.0
        np.testing.assert_allclose(np.tensordot(hessian, t, 2), expected, rtol=0, atol=1e-6)


def test_the_hessian_of_the_sum_of_squares_is_twice_the_identity() -> None:
    a = np.diag([1.0, 1.0, 3.0])
    found = te.hessian(lambda a: tnp.sum(tnp.linalg.eigvalsh(0.5 * (a + a.T)) ** 2))(a).reshape(9, 9)
    swap = np.eye(9).reshape(3, 3, 9).swapaxes(0, 1).reshape(9, 9)
    np.testing.assert_allclose(found, np.eye(9) + swap, atol=1e-14)


def test_what_is_not_known_is_refused() -> None:
    def f(a: Any) -> Any:
        return tnp.sum(tnp.linalg.eigvalsh(a) ** 3)

    a, t = np.diag([1.0, 1.0, 3.0]), hermitian(RANDOM.normal(size=(3, 3)))
    with pytest.raises(te.errors.UnsupportedError, match="equal"):
        te.vjp(te.grad(f), a)[1](t)
    with pytest.raises(te.errors.UnsupportedError, match="equal"):
        te.hvp(lambda a: tnp.sum(tnp.linalg.svd(a, compute_uv=False) ** 3), (np.diag([2.0, 0.0, 0.0]),), (t,))
