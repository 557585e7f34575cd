"""Derivatives of `scipy.spatial.distance`: distances between points, pair by pair."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._names import names_of
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, floating_real, ratio, root

__all__ = ["cdist", "pdist", "squareform"]

__getattr__, __dir__ = names_of("scipy.spatial.distance", globals())


def _length(x: Any) -> Any:
    return np.linalg.norm(x, axis=-1)


def _cosine(u: Any, v: Any) -> Any:
    return 1.0 - np.sum(u * v, axis=-1) / (_length(u) * _length(v))


def _centred(x: Any) -> Any:
    return x - np.mean(x, axis=-1, keepdims=True)


METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": lambda u, v: _length(u - v),
    "sqeuclidean": lambda u, v: np.sum((u - v) ** 2, axis=-1),
    "cityblock": lambda u, v: np.sum(np.abs(u - v), axis=-1),
    "chebyshev": lambda u, v: np.max(np.abs(u - v), axis=-1),
    "minkowski": lambda u, v, p=2.0: np.linalg.norm(u - v, p, axis=-1),
    "cosine": _cosine,
    "correlation": lambda u, v: _cosine(_centred(u), _centred(v)),
    "braycurtis": lambda u, v: np.sum(np.abs(u - v), axis=-1) / np.sum(np.abs(u + v), axis=-1),
    "canberra": lambda u, v: np.sum(ratio(np.abs(u - v), np.abs(u) + np.abs(v)), axis=-1),
    "seuclidean": lambda u, v, V: root(np.sum((u - v) ** 2 / floating(V), axis=-1)),
    "mahalanobis": lambda u, v, VI: root(np.einsum("...i,ij,...j", u - v, floating(VI), u - v)),
}


#: The scales of a metric that are not given, of all points.
DEFAULTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "seuclidean": ("V", lambda points: np.var(points, axis=0, ddof=1)),
    "mahalanobis": ("VI", lambda points: np.linalg.inv(np.atleast_2d(np.cov(points.T))).T),
}


def _metric(name: Any, options: dict[str, Any], *points: Any) -> Callable[..., Any]:
    options = {key: value for key, value in options.items() if value is not None}
    if "out" in options:
        raise UnsupportedError("scipy.spatial.distance: out is not differentiated; use the result")
    if not callable(name):
        name = getattr(scipy.spatial.distance._METRIC_ALIAS.get(name.lower()), "canonical_name", name)
        if name not in METRICS:
            scipy.spatial.distance.pdist(numpy.eye(2), name)  # which refuses names that it does not know
            raise UnsupportedError(f"scipy.spatial.distance: {name!r} is not differentiated")
        if "w" in options:  # the function of two points takes weights
            name = getattr(sys.modules[__name__], name)
    if callable(name):
        return np.vectorize(partial(name, **options), signature="(n),(n)->()")
    if name in DEFAULTS and options.get(DEFAULTS[name][0]) is None:
        (key, of_points), every = DEFAULTS[name], np.concatenate(points)
        if key == "VI" and every.shape[0] <= every.shape[1]:
            raise ValueError("too few points for their covariance")
        options[key] = of_points(every)
    return partial(METRICS[name], **options)


def _points(X: Any) -> Any:
    """Points in double precision, as in SciPy."""
    return np.astype(floating_real(X), numpy.float64)


@beside("scipy.spatial.distance.cdist")
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """Return the distances of all pairs of points; see `scipy.spatial.distance.cdist`.

    The derivative of a Euclidean distance of 0 is 0.

    Examples
    --------
    >>> import numpy as np
    >>> cdist(np.zeros((1, 2)), np.ones((2, 2)), "sqeuclidean")
    array([[2., 2.]])
    """
    a, b = _points(XA), _points(XB)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"XA and XB must be two-dimensional with equally many columns, not {a.shape} and {b.shape}")
    return _metric(metric, {**kwargs, "out": out}, a, b)(a[:, None], b[None])


@beside("scipy.spatial.distance.pdist")
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """Return the distances of all pairs of different points; see `scipy.spatial.distance.pdist`.

    Examples
    --------
    >>> import numpy as np
    >>> pdist(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([5.])
    """
    points = _points(X)
    if points.ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    first, second = numpy.triu_indices(points.shape[0], 1)
    return _metric(metric, {**kwargs, "out": out}, points)(points[first], points[second])


@beside("scipy.spatial.distance.squareform")
def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """Turn a vector of distances into a matrix, and back; see `scipy.spatial.distance.squareform`.

    Examples
    --------
    >>> import numpy as np
    >>> squareform(np.array([2.0]))
    array([[0., 2.],
           [2., 0.]])
    """
    x, wanted = floating(X), {"tomatrix": 1, "tovector": 2}.get(force.lower())
    if x.ndim not in (1, 2) or wanted not in (None, x.ndim):
        raise ValueError(f"an array with {x.ndim} axes, and force={force!r}")
    if x.ndim == 2:
        if checks:
            scipy.spatial.distance.is_valid_dm(plain_value(x), throw=True, name="X")
        return x[numpy.triu_indices(x.shape[0], 1)]
    if x.shape[0] == 0:
        return numpy.zeros((1, 1), x.dtype)
    size = int(numpy.ceil(numpy.sqrt(2 * x.shape[0])))
    if size * (size - 1) != 2 * x.shape[0]:
        raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer n.")
    places = numpy.zeros((size, size), int)
    places[numpy.triu_indices(size, 1)] = numpy.arange(1, x.shape[0] + 1)
    return np.concatenate([numpy.zeros(1, x.dtype), x])[places + places.T]
