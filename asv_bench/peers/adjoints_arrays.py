"""Adjoints written by hand for programs of array operations, and for programs that can be written as such."""

from typing import Any

import numpy as np

from asv_bench.programs.products import matmul_by_hand, matvec_by_hand


def multiply(x: float, y: float) -> Any:
    """Return the other factors."""
    return x * y, (y, x)


def network_arrays(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
    """Keep the two hidden layers, then walk back."""
    first = np.maximum(w1 @ x + b1, 0.0)
    second = np.maximum(w2 @ first + b2, 0.0)
    total = np.sum(w3 @ second + b3)
    d3 = np.ones(len(b3))
    d2 = (w3.T @ d3) * (second > 0.0)
    d1 = (w2.T @ d2) * (first > 0.0)
    return total, (np.outer(d1, x), d1, np.outer(d2, first), d2, np.outer(d3, second), d3, w1.T @ d1)


def network(layers: Any, x: Any) -> Any:
    """Do on arrays what the program does on lists."""
    (w1, b1), (w2, b2), (w3, b3) = layers
    return network_arrays(w1, b1, w2, b2, w3, b3, x)


def network_softmax(layers: Any, x: Any) -> Any:
    """Keep both layers and the softmax, whose sum has a gradient that is zero up to rounding."""
    (w1, b1), (w2, b2) = layers
    first = np.maximum(w1 @ x + b1, 0.0)
    second = np.maximum(w2 @ first + b2, 0.0)
    exponentials = np.exp(second - np.max(second))
    scale = np.sum(exponentials)
    softmax = exponentials / scale
    d2 = (softmax - softmax * np.sum(softmax)) * (second > 0.0)
    d1 = (w2.T @ d2) * (first > 0.0)
    return np.sum(softmax), (np.outer(d1, x), d1, np.outer(d2, first), d2, w1.T @ d1)


def det(rows: Any) -> Any:
    """Return the determinant times the transposed inverse."""
    value = np.linalg.det(rows)
    return value, (value * np.linalg.inv(rows).T,)


def lse(x: Any) -> Any:
    """Return the softmax."""
    largest = np.max(x)
    exponentials = np.exp(x - largest)
    scale = np.sum(exponentials)
    return largest + np.log(scale), (exponentials / scale,)


def kmeans(points: Any, centroids: Any) -> Any:
    """Pull each point and its nearest centroid together."""
    total, by_point, by_centroid = 0.0, np.empty_like(points), np.zeros_like(centroids)
    for i in range(len(points)):
        nearest, least = 0, np.inf
        for k in range(len(centroids)):
            distance = 0.0
            for j in range(points.shape[1]):
                distance += (points[i, j] - centroids[k, j]) ** 2
            if distance < least:
                nearest, least = k, distance
        total += least
        by_point[i] = 2.0 * (points[i] - centroids[nearest])
        by_centroid[nearest] -= by_point[i]
    return total, (by_point, by_centroid)


ARRAYS = {
    "matvec_arrays": matvec_by_hand,
    "matmul": matmul_by_hand,
    **{f.__name__: f for f in (multiply, network_arrays, network, network_softmax, det, lse, kmeans)},
}
