"""What operations on stacks and lines declare, against dense Jacobians at several sizes: none is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.sparse.plans import plan_of
from tapeengine.sparse.structure import Structure
from tapeengine.sparse.tracing import traced

BATCHES = (1, 2, 5)
Case = tuple[Callable[[Any], Any], tuple[int, ...]]


def regular(a: Any) -> Any:
    return a + 3.0 * np.eye(a.shape[-1])


def symmetric(a: Any) -> Any:
    return a + np.swapaxes(a, -1, -2) + np.diag(4.0 * np.arange(1.0, 1 + a.shape[-1]))


#: Programs of an array of the shape (batch, *rest). Their patterns are exactly those of a dense Jacobian.
EXACT: dict[str, Case] = {
    "solve, the right-hand side": (lambda x: np.linalg.solve(regular(np.ones((3, 3))), x), (3, 2)),
    "solve, stacks of both": (lambda x: np.linalg.solve(regular(x[..., :3]), x[..., 3:]), (3, 5)),
    "inverse": (lambda x: np.linalg.inv(regular(x)), (3, 3)),
    "determinant": (lambda x: np.linalg.det(regular(x)), (3, 3)),
    "eigenvalues": (lambda x: np.linalg.eigvalsh(symmetric(x)), (3, 3)),
    "eigenvectors": (lambda x: np.linalg.eigh(symmetric(x))[1], (3, 3)),
    "singular values": (lambda x: np.linalg.svd(x, compute_uv=False), (3, 2)),
    "products of stacks": (lambda x: x @ np.swapaxes(x, -1, -2), (3, 4)),
    "products with a constant": (lambda x: x @ np.arange(1.0, 9.0).reshape(4, 2), (3, 4)),
    "products with a vector": (lambda x: x @ np.arange(1.0, 5.0), (3, 4)),
    "contractions": (lambda x: np.einsum("bij,bik->bjk", x, x), (3, 2)),
    "transforms of rows": (lambda x: np.fft.rfft(x, axis=1)[:, 1].real, (5,)),
    "running sums of rows": (lambda x: np.cumsum(x, axis=1), (6,)),
    "running products of columns": (lambda x: np.cumprod(x, axis=0), (3,)),
    "norms of rows": (lambda x: np.linalg.norm(x, axis=1), (4,)),
    "deviations of rows": (lambda x: np.std(x, axis=1), (4,)),
}
#: Programs whose patterns may have entries where a partial is zero.
WITHIN: dict[str, Case] = {
    "q and r": (lambda x: np.concatenate(np.linalg.qr(x), axis=-2), (3, 2)),
    "cholesky": (lambda x: np.linalg.cholesky(x @ np.swapaxes(x, -1, -2) + 3.0 * np.eye(3)), (3, 3)),
    "whole transforms": (lambda x: np.fft.fft(x, axis=-1).imag, (4,)),
    "pseudo-inverses": (lambda x: np.linalg.pinv(x), (3, 2)),
}
OF_SCIPY: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "lower triangle, right-hand side": (
        lambda s, x: s.linalg.solve_triangular(np.tri(4) + np.eye(4), x.T, lower=True),
        (4,),
    ),
    "upper triangle, right-hand side": (lambda s, x: s.linalg.solve_triangular(np.tri(4).T + np.eye(4), x.T), (4,)),
    "lower triangle transposed": (
        lambda s, x: s.linalg.solve_triangular(np.tri(4) + np.eye(4), x.T, trans=1, lower=True),
        (4,),
    ),
    "lower triangle, the matrix": (
        lambda s, x: s.linalg.solve_triangular(x[0] + 3.0 * np.eye(4), np.ones(4), lower=True),
        (4, 4),
    ),
    "a triangle with a unit diagonal": (
        lambda s, x: s.linalg.solve_triangular(x[0], np.ones((4, 2)), trans=1, unit_diagonal=True),
        (4, 4),
    ),
    "filters of rows": (lambda s, x: s.signal.lfilter([1.0, 0.5], [1.0, -0.3, 0.2], x, axis=1), (6,)),
    "filters without recursion": (lambda s, x: s.signal.lfilter([1.0, 0.5, 0.2], [2.0], x, axis=1), (6,)),
    "the weights of a filter": (lambda s, x: s.signal.lfilter(x[0], np.ones(2), np.arange(1.0, 8.0)), (3,)),
    "band systems": (lambda s, x: s.linalg.solve_banded((1, 1), np.arange(12.0).reshape(3, 4) % 5 + 1.0, x.T), (4,)),
    "convolutions by fft": (lambda s, x: s.signal.fftconvolve(x, np.ones((1, 3)), axes=1), (6,)),
    "blocks on a diagonal": (lambda s, x: s.linalg.block_diag(*x), (2, 2)),
}
OF_SCIPY_WITHIN: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "cosine transforms": (lambda s, x: s.fft.dct(x, axis=1), (5,)),
    "exponentials": (lambda s, x: s.linalg.expm(x), (3, 3)),
    "toeplitz": (lambda s, x: s.linalg.toeplitz(x[0]), (4,)),
    "weighted log sums": (lambda s, x: s.special.logsumexp(x, axis=1, b=np.array([1.0, 2.0, 3.0])), (3,)),
}


def compared(program: Callable[[Any], Any], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The declared pattern, and where the Jacobian at some random points is not zero up to rounding."""
    found = te.dependencies(program, np.ones(shape) + np.arange(np.prod(shape)).reshape(shape))
    assert found.dense == {}
    reached = np.zeros(found.shape, bool)
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(0.2, 1.0, shape)
        matrix = np.reshape(te.jacobian(lambda x: tnp.ravel(tnp.asarray(program(x))))(x), found.shape)
        reached |= abs(matrix) > 1e-12 * abs(matrix).max(initial=0.0)
    return found.matrix.toarray(), reached


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", [*EXACT, *WITHIN])
def test_each_of_a_stack_stays_alone(name: str, batch: int) -> None:
    program, rest = {**EXACT, **WITHIN}[name]
    pattern, reached = compared(program, (batch, *rest))
    assert not (reached & ~pattern).any()
    if name in EXACT:
        np.testing.assert_array_equal(pattern, reached)
    else:
        assert np.count_nonzero(pattern) * batch <= pattern.size


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", [*OF_SCIPY, *OF_SCIPY_WITHIN])
def test_the_same_of_scipy(name: str, batch: int) -> None:
    scipy_like = pytest.importorskip("tapeengine_scipy")
    program, rest = {**OF_SCIPY, **OF_SCIPY_WITHIN}[name]
    pattern, reached = compared(lambda x: program(scipy_like, x), (batch, *rest))
    assert not (reached & ~pattern).any()
    if name in OF_SCIPY:
        np.testing.assert_array_equal(pattern, reached)


@pytest.mark.parametrize("batch", BATCHES)
def test_jacobians_of_stacks_take_as_many_sweeps_as_one_of_them(batch: int) -> None:
    """The blocks of a block-diagonal matrix share their sweeps."""

    def program(x: Any) -> Any:
        return np.linalg.inv(regular(x))

    x = np.random.default_rng(1).uniform(0.2, 1.0, (batch, 3, 3))
    _, back = traced(te.default_engine(), program, (x,))
    assert sum(plan_of(Structure(back, apart=True), (9 * batch, 9 * batch)).counts) == 9
    matrix = te.sparse_jacobian(program)(x)
    np.testing.assert_allclose(matrix.toarray(), te.jacobian(program)(x).reshape(matrix.shape), rtol=1e-13, atol=1e-15)
