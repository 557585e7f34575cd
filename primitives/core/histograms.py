"""Histograms: sums of weights by bins. The bin of an element is discrete; weights and edges are not."""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.outputs import numpys
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import broadcast, decides, linear

from .ufuncs import of_names
from .values import as_array, holds_traced, is_complex, is_traced, ndim_of, shape_of

_X, _EDGES = numpy.array([0.3, 1.2, 0.7, 1.9, 5.0]), numpy.array([0.0, 1.0, 2.0])
_BINS = {"bins": None, "range": None}


@decides("numpy.histogram_bin_edges", Sample((_X,), {"bins": 3, "range": None}))
def _bin_edges(a: Any, *, bins: Any, range: Any) -> Any:
    """The edges of bins, on plain values."""
    return numpy.histogram_bin_edges(a, bins, range)


@decides("numpy.histogram_places", Sample((_X, _EDGES)))
def _places(a: Any, edges: Any) -> Any:
    """The bin of each element, one more than there are for those outside; the last one includes its upper edge."""
    a, edges = numpy.ravel(a), numpy.asarray(edges)
    places = numpy.searchsorted(edges, a, "right") - 1
    places[a == edges[-1]] = len(edges) - 2
    places[~((a >= edges[0]) & (a <= edges[-1]))] = len(edges) - 1
    return places


def _read(ct: Any, places: Any, space: Any) -> Any:
    """Give each weight the cotangent of its bin, and 0 to weights outside all bins."""
    padded = np.concatenate((ct, numpy.zeros(1)))
    return broadcast(np.reshape(np.take(padded, places), space.shape), space)


HISTOGRAM = linear(
    "numpy.histogram",
    lambda weights, a, edges, *, bins, range: _summed(weights, a, edges, bins, range),
    {
        "weights": lambda ct, a, edges, weights_space: _read(ct, _places(a, edges), weights_space),
        "a": None,
        "edges": None,
    },
    static=("bins", "range"),
    samples=(
        Sample((uniform((5,)), _X, _EDGES), _BINS),
        Sample((uniform((5,)), _X, numpy.linspace(0.3, 5.0, 4)), {"bins": 3, "range": None}),
    ),
    doc="sums of weights by bins; dweights = ct of the element's bin",
)


def _summed(weights: Any, a: Any, edges: Any, bins: Any, range: Any) -> Any:
    return numpy.histogram(a, edges if bins is None else bins, range, weights=weights)[0]


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Count elements, or sum their weights, by bins; see `numpy.histogram`.

    Differentiable in the weights, and in the edges, whether given by `bins` or by the extremes of `a`.
    """
    x, given = as_array(a), as_array(bins)
    edges = histogram_bin_edges(x, given if ndim_of(given) else bins, range)
    how = {"bins": None if ndim_of(given) else bins, "range": _plain(range)}
    counts = _counts(x, edges) if weights is None else HISTOGRAM(as_array(weights), x, edges, **how)
    return (counts / np.diff(edges) / np.sum(counts) if density else counts), edges


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Return the edges of bins; see `numpy.histogram_bin_edges`."""
    x, given = as_array(a), as_array(bins)
    if weights is not None:
        numpys(numpy.histogram_bin_edges, (x, given if ndim_of(given) else bins, range, as_array(weights)), {})
    if is_complex(x) and not ndim_of(given):
        raise UnsupportedError("numpy.histogram counts complex numbers by edges only: give edges in place of a number")
    return _increasing(given) if ndim_of(given) else _edges(x, bins, range)


def _counts(x: Any, edges: Any) -> Any:
    return numpy.bincount(_places(x, edges), minlength=shape_of(edges)[0])[:-1]


def _increasing(edges: Any) -> Any:
    """Return given edges; raise numpy's error if they do not increase along one axis."""
    if ndim_of(edges) > 1:
        raise ValueError("`bins` must be 1d, when an array")
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def _edges(x: Any, bins: Any, range: Any) -> Any:
    """Return equidistant edges, from the extremes of the elements unless `bins` or `range` gives them."""
    edges = _bin_edges(x, bins=_plain(bins), range=_plain(range))
    if not holds_traced(range) and (not is_traced(x) or range is not None or 0 in shape_of(x)):
        return edges
    first, last = (np.min(x), np.max(x)) if range is None else range
    if first == last:  # numpy widens an empty range
        first, last = first - 0.5, last + 0.5
    return np.linspace(first, last, shape_of(edges)[0], dtype=edges.dtype)


def _plain(range: Any) -> Any:
    """Return a range without derivatives."""
    return numpys(lambda ends: ends, (range,), {})


RULES = of_names(vars(), numpy)
