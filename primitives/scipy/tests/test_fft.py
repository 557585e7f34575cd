import numpy as np
import pytest
import scipy.fft
from differences import assert_gradient, gradient

from tapeengine_scipy import fft

RNG = np.random.default_rng(5)
REAL = RNG.standard_normal((4, 5))
COMPLEX = REAL + 1j * RNG.standard_normal((4, 5))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(
    "name",
    [name for name in fft.__all__ if "shift" not in name and "freq" not in name and name[-3:] not in ("dct", "dst")],
)
def test_fourier_transforms(name, norm):
    x = REAL if name.startswith(("rfft", "ihfft")) else COMPLEX
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    np.testing.assert_allclose(ours(x, norm=norm), theirs(x, norm=norm), atol=1e-12)
    if name.endswith(("n", "2")):
        options = {"s": (3, 7), "axes": (1, 0)}
    else:
        options = {"n": 6, "axis": 0}
    np.testing.assert_allclose(ours(x, norm=norm, **options), theirs(x, norm=norm, **options), atol=1e-12)
    weights = RNG.standard_normal(theirs(x, **options).shape)
    assert_gradient(lambda r: np.sum(weights * np.abs(ours(r, norm=norm, **options)) ** 2), REAL)


@pytest.mark.parametrize("orthogonalize", [None, True, False])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosine_and_sine_transforms(name, kind, norm, orthogonalize):
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    options = {"n": 3, "axis": 0, "norm": norm, "orthogonalize": orthogonalize}
    np.testing.assert_allclose(ours(REAL, kind, **options), theirs(REAL, kind, **options), atol=1e-13)
    matrix = theirs(np.eye(4), kind, **options)
    weights = RNG.standard_normal((3, 4))
    found = gradient(lambda x: np.sum(weights * ours(x, kind, **options)), np.eye(4))
    np.testing.assert_allclose(found, matrix.T @ weights, atol=1e-13)


def test_shifts():
    for x in (REAL, REAL[:, :4]):
        np.testing.assert_array_equal(fft.fftshift(x), scipy.fft.fftshift(x))
        np.testing.assert_array_equal(fft.ifftshift(x, axes=1), scipy.fft.ifftshift(x, axes=1))
    assert_gradient(lambda x: np.sum(np.sin(fft.fftshift(x)) * REAL), REAL)
