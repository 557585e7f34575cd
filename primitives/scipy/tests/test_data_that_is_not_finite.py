"""Interpolants of data with one infinite or NaN number: SciPy's values, and derivatives away from that number."""

import numpy
import pytest
import scipy.interpolate as si
import scipy.ndimage as sn

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import interpolate, ndimage

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

X = numpy.array([0.0, 1.0, 2.5, 3.0, 4.0])
BETWEEN = numpy.array([0.5, 1.75, 2.75, 3.5])
AT = numpy.concatenate([X, BETWEEN, numpy.nextafter(X, 2.0), [numpy.nan]])
GRID = {"bounds_error": False}


def spline(module, degree):
    return lambda y, q: module.BSpline(numpy.linspace(-degree, 4 + degree, 6 + degree), y, degree)(q)


#: Each interpolant as a function of values at X and places, in SciPy and in this package.
INTERPOLANTS = {
    **{
        f"interp1d {kind}": tuple(lambda y, q, m=m, k=kind: m.interp1d(X, y, kind=k)(q) for m in (si, interpolate))
        for kind in ("linear", "slinear", "nearest", "nearest-up", "previous", "next", "zero")
    },
    "interp1d of columns": tuple(
        lambda y, q, m=m: m.interp1d(X, np.stack([y, 2.0 * y]))(q)[0] for m in (si, interpolate)
    ),
    "numpy.interp": (lambda y, q: numpy.interp(q, X, y), lambda y, q: np.interp(q, X, y)),
    **{
        f"grid {method}": tuple(
            lambda y, q, m=m, k=method: m.RegularGridInterpolator((X,), y, k, **GRID)(q[:, None])
            for m in (si, interpolate)
        )
        for method in ("linear", "nearest")
    },
    **{f"B-spline {k}": (spline(si, k), spline(interpolate, k)) for k in range(4)},
}


@pytest.mark.parametrize("wild", [numpy.inf, -numpy.inf, numpy.nan])
@pytest.mark.parametrize("place", [None, 0, 1, 2, 4])
@pytest.mark.parametrize("name", INTERPOLANTS)
def test_interpolants(name, place, wild):
    theirs, ours = INTERPOLANTS[name]
    tame = numpy.array([0.3, -1.1, 0.7, 2.0, 1.2])
    y = tame.copy()
    if place is not None:
        y[place] = wild
    wanted = theirs(y, AT)
    numpy.testing.assert_allclose(te.vjp(lambda y: ours(y, AT), y)[0], wanted, rtol=1e-12, atol=1e-14)
    numpy.testing.assert_allclose(te.vjp(lambda q: ours(y, q), AT)[0], wanted, rtol=1e-12, atol=1e-14)
    ct = numpy.isfinite(theirs(y, BETWEEN)) * numpy.array([1.0, 2.0, 3.0, 4.0])
    found, clean = (te.vjp(ours, values, BETWEEN)[1](ct) for values in (y, tame))
    for one, other in zip(found, clean, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("wild", [numpy.inf, -numpy.inf, numpy.nan])
def test_the_slope_at_a_point_is_that_of_the_side_that_has_one(wild):
    y = numpy.array([0.3, -1.1, 0.7, wild, 1.2])
    slopes = te.vjp(lambda q: np.interp(q, X, y), X[:3])[1](numpy.ones(3))[0]
    numpy.testing.assert_allclose(slopes, [-1.4, 1.2, 1.2], rtol=1e-14)


@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "reflect", "mirror", "grid-wrap"])
@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("length", [2, 3, 6])
def test_images(length, order, mode):
    """At elements, halfway between them, and beyond the edges; where SciPy's sum has zero times infinity, it is NaN."""
    near, far = (numpy.arange(-n * length - 4, n * length + 4) * 0.25 for n in (8, 20))
    at = numpy.concatenate([near, far + 0.125])[None]
    for place in (None, 0, length // 2, length - 1):
        x = numpy.random.default_rng(length).normal(size=length)
        if place is not None:
            x[place] = numpy.inf
        wanted = sn.map_coordinates(x, at, order=order, mode=mode)
        try:
            value, back = te.vjp(lambda x, at: ndimage.map_coordinates(x, at, order=order, mode=mode), x, at)
        except UnsupportedError:
            return
        numpy.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-13)
        seed = numpy.random.default_rng(1).normal(size=wanted.shape)
        unit = [sn.map_coordinates(row, at, order=order, mode=mode) @ seed for row in numpy.eye(length)]
        if order < 2:  # the values are linear in the elements, whatever these are
            numpy.testing.assert_allclose(back(seed)[0], unit, rtol=1e-11, atol=1e-13)
