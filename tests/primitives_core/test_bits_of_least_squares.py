"""All results of `numpy.linalg.lstsq` have numpy's bits: the solution, what it leaves, the rank and singular values."""

import numpy as np
import pytest

import tapeengine as te

DTYPES = [np.float64, np.float32, np.complex128, np.complex64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rcond", [None, 0.2])
def test_bits_of_random_problems(dtype, rcond):
    generator = np.random.default_rng(3)
    for _ in range(60):
        m, n = generator.integers(1, 12, 2)
        a = generator.normal(size=(m, n)) + 1j * generator.normal(size=(m, n))
        a = (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)
        b = generator.normal(size=(m,) if m % 2 else (m, 3))
        wanted = np.linalg.lstsq(a, b, rcond)
        for layout in (np.array, np.asfortranarray):
            found = te.vjp(lambda a, b: np.linalg.lstsq(a, b, rcond), layout(a), b)[0]
            assert [np.asarray(x).tobytes() for x in found] == [np.asarray(x).tobytes() for x in wanted]


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
def test_derivatives_of_the_singular_values(shape):
    a = np.random.default_rng(4).normal(size=shape)
    weights = np.array([1.0, -2.0, 0.5])
    f = lambda a: np.sum(np.linalg.lstsq(a, np.ones(shape[0]))[3] * weights)  # noqa: E731
    g = lambda a: np.sum(np.linalg.svdvals(a) * weights)  # noqa: E731
    np.testing.assert_allclose(te.grad(f)(a), te.grad(g)(a), rtol=1e-10)
    np.testing.assert_allclose(te.hvp(f, (a,), (np.cos(a),)), te.hvp(g, (a,), (np.cos(a),)), rtol=1e-9)
