"""Shapes, lengths and axes drawn by hypothesis."""

import numpy as np
import scipy.fft
import scipy.special
from differences import gradient
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine_scipy import fft, linalg, signal, special

FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)


@FEW
@given(SEEDS, st.sampled_from(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]), st.integers(2, 7), st.integers(1, 9),
       st.integers(0, 1), st.sampled_from([None, "ortho", "forward"]))  # fmt: skip
def test_transforms_and_their_transposes(seed, name, length, n, axis, norm):
    generator = np.random.default_rng(seed)
    shape = (length, 3) if axis == 0 else (3, length)
    x, t = generator.standard_normal(shape), generator.standard_normal(shape)
    if not name.startswith(("rfft", "ihfft")):
        x, t = x + 1j * generator.standard_normal(shape), t - 1j * generator.standard_normal(shape)
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    value, backpropagator = te.vjp(lambda x: ours(x, n, axis, norm), x)
    np.testing.assert_allclose(value, theirs(x, n, axis, norm), atol=1e-12)
    ct = generator.standard_normal(value.shape) + (
        1j * generator.standard_normal(value.shape) if value.dtype.kind == "c" else 0
    )
    forwards, backwards = np.sum(ct * theirs(t, n, axis, norm)).real, np.sum(backpropagator(ct)[0] * t).real
    scale = np.linalg.norm(ct) * np.linalg.norm(theirs(t, n, axis, norm))
    assert abs(forwards - backwards) <= 1e-13 * max(scale, 1e-300)


@FEW
@given(SEEDS, st.integers(1, 5), st.sampled_from([(), (1,), (3,)]), st.sampled_from([(), (2,), (2, 1)]))
def test_solves_of_any_shape(seed, n, columns, stack):
    generator = np.random.default_rng(seed)
    a = generator.standard_normal((*stack, n, n)) + 4 * np.eye(n)
    b = generator.standard_normal((*stack, n, *(columns or ((1,) if stack else ()))))
    x, backpropagator = te.vjp(linalg.solve, a, b)
    ct = generator.standard_normal(x.shape)
    ct_a, ct_b = backpropagator(ct)
    da, db = generator.standard_normal(a.shape), generator.standard_normal(b.shape)
    change = da @ x - db
    dx = -np.linalg.solve(a, change[..., None] if b.ndim == 1 else change).reshape(x.shape)
    np.testing.assert_allclose(np.sum(ct_a * da) + np.sum(ct_b * db), np.sum(ct * dx), rtol=1e-10, atol=1e-12)


@FEW
@given(SEEDS, st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4))
def test_blocks_of_any_shape(seed, shapes):
    generator = np.random.default_rng(seed)
    blocks = [generator.standard_normal(shape) for shape in shapes]
    whole, backpropagator = te.vjp(linalg.block_diag, *blocks)
    for block, cotangent in zip(blocks, backpropagator(whole), strict=True):
        np.testing.assert_array_equal(cotangent, block)


@FEW
@given(SEEDS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 6))
def test_filters_of_any_length(seed, count_b, count_a, length):
    generator = np.random.default_rng(seed)
    b, x = generator.standard_normal(count_b), generator.standard_normal(length)
    a = np.concatenate([[2.0], 0.3 * generator.standard_normal(count_a - 1)])
    ct, t = generator.standard_normal(length), generator.standard_normal(length)
    y, backpropagator = te.vjp(signal.lfilter, b, a, x)
    ct_b, ct_a, ct_x = backpropagator(ct)
    np.testing.assert_allclose(np.sum(ct_x * t), np.sum(ct * signal.lfilter(b, a, t)), rtol=1e-10, atol=1e-12)
    # y has degree 1 in b and degree -1 in a
    np.testing.assert_allclose(np.sum(ct_b * b), np.sum(ct * y), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.sum(ct_a * a), -np.sum(ct * y), rtol=1e-10, atol=1e-12)


@FEW
@given(SEEDS, st.integers(1, 4), st.integers(1, 4), st.sampled_from([None, 0, 1, -1, (0, 1)]), st.booleans())
def test_the_derivative_of_logsumexp_is_softmax(seed, rows, columns, axis, keepdims):
    x = np.random.default_rng(seed).standard_normal((rows, columns))
    found = gradient(lambda x: np.sum(special.logsumexp(x, axis=axis, keepdims=keepdims)), x)
    np.testing.assert_allclose(found, scipy.special.softmax(x, axis=axis), rtol=1e-12)
