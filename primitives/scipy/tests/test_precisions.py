"""Results of images, points and distributions have SciPy's dtype in every precision, or SciPy's error."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.spatial
import scipy.stats

import tapeengine as te
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy import ndimage, spatial, stats

MODULES = {"ndimage": (ndimage, scipy.ndimage), "spatial": (spatial, scipy.spatial), "stats": (stats, scipy.stats)}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "gaussian_filter": (1.5,), "gaussian_filter1d": (1.5,), "gaussian_laplace": (1.5,),
    "gaussian_gradient_magnitude": (1.5,), "uniform_filter": (3,), "uniform_filter1d": (3,), "median_filter": (3,),
    "maximum_filter": (3,), "minimum_filter": (3,), "laplace": (), "sobel": (), "prewitt": (),
    "correlate": (np.arange(4.0).reshape(2, 2),), "convolve": (np.arange(4.0).reshape(2, 2),),
    "correlate1d": (np.arange(3.0),), "convolve1d": (np.arange(3.0),), "shift": (0.3,), "spline_filter": (),
    "affine_transform": (np.eye(2) * 0.9,), "map_coordinates": (np.array([[0.5, 1.2], [0.7, 2.1]]),),
}  # fmt: skip
CALLS = [
    *(("ndimage", lambda m, x, n=name, rest=rest: getattr(m, n)(x, *rest)) for name, rest in OPTIONS.items()),
    *(("spatial", lambda m, x, n=n: m.distance.cdist(x, x[::-1] + 1, n)) for n in ("euclidean", "cityblock", "cosine")),
    ("spatial", lambda m, x: m.distance.pdist(x)),
    ("spatial", lambda m, x: m.distance.squareform(x[0, :3])),
    *(("stats", lambda m, x, n=n: getattr(m.norm, n)(x, x + 0.1, x)) for n in ("pdf", "logpdf", "cdf", "logcdf", "sf")),
    ("stats", lambda m, x: m.gamma.pdf(x, x, x, x)),
    ("stats", lambda m, x: m.expon.cdf(x)),
    ("stats", lambda m, x: m.poisson.logpmf(2, x)),
    ("stats", lambda m, x: m.multivariate_normal.logpdf(x, np.zeros(4), np.eye(4))),
]
X = np.random.default_rng(0).uniform(0.5, 2.0, (4, 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_dtypes(number, dtype):
    name, call = CALLS[number]
    (ours, theirs), x = MODULES[name], X.astype(dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            wanted = call(theirs, x)
    except np.exceptions.ComplexWarning:  # SciPy drops the imaginary part
        with pytest.raises(TapeEngineError):
            te.vjp(lambda x: call(ours, x), x)
        return
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            te.vjp(lambda x: call(ours, x), x)
        assert str(caught.value) == str(error)
        return
    found, back = te.vjp(lambda x: call(ours, x), x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-11 if X.astype(dtype).real.dtype == float else 2e-6, atol=1e-7)
    gradient = back(np.ones_like(found))[0]
    assert gradient.dtype == dtype
    if dtype == np.float32:
        exact = te.grad(lambda x: np.sum(call(ours, x)))(X)
        np.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-4)
        curved, other = (te.hvp(lambda x: np.sum(call(ours, x)), (y,), (y,)) for y in (x, X))
        np.testing.assert_allclose(curved, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "program",
    [
        lambda image, s: ndimage.gaussian_filter(image, s),
        lambda image, s: ndimage.shift(image, s, order=1),
        lambda image, s: ndimage.correlate(image, s * np.ones((2, 2))),
        lambda image, s: ndimage.map_coordinates(image, s * np.ones((2, 1)), order=1),
    ],
)
def test_images_of_integers_are_refused(program):
    image = np.array([[300, 200, 500], [500, 800, 300]])
    for whole in (image, image.tolist(), image > 300):
        with pytest.raises(UnsupportedError, match=r"astype\(float\)"):
            te.grad(lambda s, whole=whole: np.sum(program(whole, s)))(0.7)
    assert te.grad(lambda s: np.sum(program(image * 1.0, s)))(0.7) != 0.0


@pytest.mark.parametrize("output", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "uniform_filter"])  # SciPy's means accumulate
def test_images_in_single_precision_with_results_in_another(name, output):
    x = X.astype(np.float32)
    wanted = getattr(scipy.ndimage, name)(x, *OPTIONS[name], output=output)
    value, _ = te.vjp(lambda x: getattr(ndimage, name)(x, *OPTIONS[name], output=output), x)
    assert value.dtype == wanted.dtype
    np.testing.assert_allclose(value, wanted, rtol=1e-13 if output == np.float64 else 1e-7, atol=1e-13)
