"""The evaluation ``kmeans``: the Newton direction for the centroids of clusters.

The Hessian is diagonal, because a point's distance to the nearest centroid depends only on that centroid, and is a sum
of squares of single coordinates. So its diagonal is its product with a vector of ones.
"""

from functools import partial
from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function, entries


def cost(centroids: Any, points: Any) -> Any:
    """Return the sum of the squared distances to the nearest centroids; centroids (k, d), points (n, d)."""
    # |p - c|^2 as |p|^2 - 2 p c + |c|^2: without an array of all n k d differences
    of_centroids = np.sum(centroids * centroids, axis=1) - 2.0 * (points @ centroids.T)
    return np.sum(np.min(of_centroids, axis=1)) + onp.sum(points * points)


def direction(centroids: Any, points: Any) -> Any:
    """Return the gradient divided by the Hessian's diagonal."""
    gradient, backpropagator = te.vjp(te.grad(partial(cost, points=points)), centroids)
    [diagonal] = backpropagator(onp.ones_like(centroids))
    return gradient / diagonal


PREPARE = entries("centroids", "points")
FUNCTIONS = {"cost": Function(PREPARE, cost), "dir": Function(PREPARE, direction)}
