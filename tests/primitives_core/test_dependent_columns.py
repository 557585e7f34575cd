"""QR of linearly dependent columns has no derivative, at whatever place rounding leaves their triangle."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

SHAPES = [(2, 2), (3, 3), (4, 3), (5, 5), (40, 3), (3, 5)]


def dependent(seed: int, shape: tuple[int, int], dtype: Any) -> Any:
    """A matrix whose first columns have a rank one less than their number, with columns of very different lengths."""
    generator = np.random.default_rng(seed)
    draw = lambda *of: generator.normal(size=of) + (1j * generator.normal(size=of) if dtype is complex else 0)  # noqa: E731
    rank = generator.integers(1, min(shape))
    a = draw(shape[0], rank) @ draw(rank, shape[1])
    if shape[1] > shape[0]:
        a[:, shape[0] :] = draw(shape[0], shape[1] - shape[0])
    return (a * 10.0 ** generator.integers(-5, 5, shape[1])).astype(dtype)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_dependent_columns_are_refused(shape, dtype):
    total = lambda a: np.sum(np.real(np.linalg.qr(a)[0])) + np.sum(np.real(np.linalg.qr(a)[1]))  # noqa: E731
    for seed in range(30):
        a = dependent(seed, shape, dtype)
        for derivative in (te.grad(total), te.grad(te.checkpoint(total)), lambda a: te.jvp(total, (a,), (a,))):
            with pytest.raises(UnsupportedError, match="linearly dependent"):
                derivative(a)
        assert np.array_equal(te.vjp(total, a)[0], total(a))  # the value is computed


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_independent_columns_have_derivatives_whatever_their_lengths(shape, dtype):
    for seed in range(10):
        generator = np.random.default_rng(seed)
        a = generator.normal(size=shape) + (1j * generator.normal(size=shape) if dtype is complex else 0)
        scales = 10.0 ** generator.integers(-12, 12, shape[1])
        t = generator.normal(size=shape)
        q = lambda a: np.linalg.qr(a)[0]  # noqa: E731
        _, found = te.jvp(q, ((a * scales).astype(dtype),), ((t * scales).astype(dtype),))
        _, expected = te.jvp(q, (a.astype(dtype),), (t.astype(dtype),))  # Q does not depend on the columns' lengths
        rounding = 1e-3 if dtype is np.float32 else 1e-9
        np.testing.assert_allclose(found, expected, rtol=rounding, atol=rounding * np.abs(expected).max())


def test_nearly_dependent_columns_have_derivatives():
    a = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    _, found = te.jvp(lambda a: np.linalg.qr(a)[1][1, 1], (a,), (np.array([[0.0, 0.0], [0.0, 1.0]]),))
    assert abs(found) == pytest.approx(np.sqrt(0.5), rel=1e-6)
