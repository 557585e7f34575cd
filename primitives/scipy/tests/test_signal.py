import numpy as np
import pytest
import scipy.signal
from differences import assert_gradient, assert_second_order

import tapeengine as te
from tapeengine_scipy import signal

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", [((7,), (3,)), ((3,), (4,)), ((5, 6), (3, 2)), ((2, 2), (4, 5))])
def test_convolutions_are_scipys(mode, shapes):
    x, y = (RNG.standard_normal(shape) for shape in shapes)
    for name in ("convolve", "fftconvolve"):
        ours, theirs = getattr(signal, name), getattr(scipy.signal, name)
        np.testing.assert_allclose(ours(x, y, mode), theirs(x, y, mode), atol=1e-13)
        assert_gradient(lambda x, f=ours: np.sum(np.sin(f(x, y, mode))), x)
        assert_gradient(lambda y, f=ours: np.sum(np.sin(f(x, y, mode))), y)


def test_convolution_along_axes_broadcasts():
    x, y = RNG.standard_normal((2, 6)), RNG.standard_normal((1, 3))
    np.testing.assert_allclose(
        signal.fftconvolve(x, y, "same", axes=1), scipy.signal.fftconvolve(x, y, "same", axes=1), atol=1e-13
    )
    assert_gradient(lambda y: np.sum(np.sin(signal.fftconvolve(x, y, "same", axes=1))), y)


@pytest.mark.parametrize("length", [2, 7])
def test_filter_with_state(length):
    b, a = RNG.standard_normal(3), np.array([2.0, 0.3, -0.2, 0.1])
    x, zi = RNG.standard_normal((2, length)), RNG.standard_normal((2, 3))
    for ours, theirs in zip(signal.lfilter(b, a, x, zi=zi), scipy.signal.lfilter(b, a, x, zi=zi), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    np.testing.assert_allclose(signal.lfilter(b, a, x.T, axis=0), scipy.signal.lfilter(b, a, x.T, axis=0), atol=1e-13)

    def total(b, a, x, zi):
        y, state = signal.lfilter(b, a, x, zi=zi)
        return np.sum(np.sin(y)) + np.sum(np.cos(state))

    assert_gradient(lambda b: total(b, a, x, zi), b)
    assert_gradient(lambda a: total(b, a, x, zi), a)
    assert_gradient(lambda x: total(b, a, x, zi), x)
    assert_gradient(lambda zi: total(b, a, x, zi), zi)
    assert_second_order(lambda a: total(b, a, x, zi), a)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("method", ["images", "nonsense"])
def test_methods_that_scipy_lacks_are_refused(name: str, method: str) -> None:
    with pytest.raises(ValueError, match="Acceptable method flags"):
        getattr(scipy.signal, name)(np.ones(5), np.ones(2), method=method)
    with pytest.raises(ValueError, match="Acceptable method flags"):
        te.vjp(lambda x: getattr(signal, name)(x, np.ones(2), method=method), np.ones(5))


@pytest.mark.parametrize("shape", [(7,), (3, 5)])
@pytest.mark.parametrize(("up", "down"), [(1, 1), (3, 2), (2, 5)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_upfirdn(dtype, up, down, shape):
    rng = np.random.default_rng(up)
    h, x = rng.normal(size=4).astype(dtype), rng.normal(size=shape).astype(dtype)
    for axis in range(-len(shape), len(shape)):
        wanted = scipy.signal.upfirdn(h, x, up, down, axis)
        value, back = te.vjp(lambda h, x, axis=axis: signal.upfirdn(h, x, up, down, axis), h, x)
        assert (value.dtype, value.shape) == (wanted.dtype, wanted.shape)
        accuracy = 1e-5 if dtype == "float32" else 1e-13
        np.testing.assert_allclose(value, wanted, rtol=accuracy, atol=accuracy)
        weights, change = rng.normal(size=wanted.shape).astype(dtype), rng.normal(size=shape).astype(dtype)
        moved = scipy.signal.upfirdn(h, change, up, down, axis)  # the filter is linear in the signal, and in itself
        np.testing.assert_allclose(np.sum(back(weights)[1] * change), np.sum(weights * moved), rtol=30 * accuracy)
        np.testing.assert_allclose(np.sum(back(weights)[0] * h), np.sum(weights * wanted), rtol=30 * accuracy)
    for options in ({"mode": "line"}, {"cval": 1.0}):
        with pytest.raises(te.errors.UnsupportedError, match="beyond their ends"):
            te.vjp(lambda x, options=options: signal.upfirdn(h, x, **options), x)


@pytest.mark.parametrize("state", [None, np.zeros((1, 2), np.float32)])
def test_sections_of_single_precision(state):
    sos, x = np.array([[1.0, 0.5, 0.0, 1.0, -0.4, 0.1]], np.float32), np.ones(5, np.float32)
    wanted = scipy.signal.sosfilt(sos, x, zi=state)
    found = te.vjp(lambda sos, x: signal.sosfilt(sos, x, zi=state), sos, x)[0]
    for part, expected in zip(found, wanted, strict=True):
        assert part.dtype == expected.dtype
        np.testing.assert_allclose(part, expected, rtol=1e-6)
