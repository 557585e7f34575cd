"""A traced call returns a value of the class that SciPy returns, or raises SciPy's error."""

import itertools

import numpy
import pytest
import scipy

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import interpolate, ndimage, stats
from tapeengine_scipy.spatial import distance

IMAGE = numpy.arange(12.0).reshape(3, 4) ** 1.5
X = numpy.array([0.5, 1.0, 2.0])
COVARIANCES = [2.0, numpy.array([2.0]), X, numpy.diag(X), numpy.eye(2), numpy.ones((1, 3, 3)), numpy.array([[2.0]])]
METRICS = "euclidean sqeuclidean cityblock chebyshev cheb cosine l1 l2 manhattan EUCLIDEAN jaccard nonsense".split()


def pairs():
    """Yield a name, a function of ours and SciPy's, and an argument."""
    for order in range(-1, 7):
        yield (
            f"spline_filter {order}",
            ndimage,
            scipy.ndimage,
            lambda m, o=order: lambda a: m.spline_filter(a, o),
            IMAGE,
        )
    for metric in METRICS:
        for points in (lambda m, a, k: m.pdist(a, k), lambda m, a, k: m.cdist(a, a[:2], k)):
            call = lambda m, k=metric, f=points: lambda a: f(m, a, k)  # noqa: E731
            yield metric, distance, scipy.spatial.distance, call, IMAGE
    for cov in COVARIANCES:
        for mean in (None, 0.5, numpy.array([0.5]), X):
            call = lambda m, c=cov, b=mean: lambda x: m.multivariate_normal.logpdf(x, b, c)  # noqa: E731
            yield f"multivariate_normal {numpy.shape(cov)} {mean}", stats, scipy.stats, call, X
    for name, points in itertools.product(("logpdf", "pdf"), (X, numpy.array([X, -X]), numpy.ones((2, 1, 3)))):
        for cov in (numpy.ones((3, 3)), numpy.diag([1.0, 0.0, 2.0]), numpy.eye(3)):
            options = {"cov": cov, "allow_singular": True}
            call = lambda m, n=name, o=options: lambda x: getattr(m.multivariate_normal, n)(x, **o)  # noqa: E731
            yield f"multivariate_normal {name} {numpy.shape(points)} singular", stats, scipy.stats, call, points
    for name, points in itertools.product(("logpdf", "pdf"), (X, X[:, None], numpy.stack([X, X[::-1]], 1))):
        call = lambda m, n=name: lambda x: getattr(m.dirichlet, n)(x, X)  # noqa: E731
        yield f"dirichlet {name}", stats, scipy.stats, call, points / X.sum()
    for count in ([1, 2, 3], [[1, 2, 3], [2, 2, 2]], [1, 1, 1]):
        for name in ("logpmf", "pmf"):
            call = lambda m, n=name, c=count: lambda p: getattr(m.multinomial, n)(c, 6, p)  # noqa: E731
            yield f"multinomial {name}", stats, scipy.stats, call, X / X.sum()
    for y in (X**2, numpy.outer(X, X)):
        call = lambda m: lambda c: m.make_interp_spline(X, c, 2).integrate(0.6, 1.5)  # noqa: E731
        yield "integrate", interpolate, scipy.interpolate, call, y


def outcome(f, x):
    try:
        found = f(x)
    except UnsupportedError:
        return None
    except Exception as error:
        return type(error)
    return type(found), numpy.shape(found), numpy.asarray(found)


@pytest.mark.parametrize(("name", "ours", "theirs", "call", "x"), list(pairs()))
def test_as_in_scipy(name, ours, theirs, call, x):
    wanted, found = outcome(call(theirs), x), outcome(lambda x: te.vjp(call(ours), x)[0], x)
    if isinstance(wanted, type):
        assert found is wanted
    elif found is not None:
        assert found[:2] == wanted[:2]
        numpy.testing.assert_allclose(found[2], wanted[2], rtol=1e-12, atol=1e-300)
