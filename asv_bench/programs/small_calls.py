"""Programs of few numbers, whose calls cost more than their arithmetic: results and arguments of every kind."""

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np


def transform(re, im):  # type: ignore[no-untyped-def]
    """Return the Fourier transform of complex numbers, by halves."""
    n = len(re)
    if n == 1:
        return re, im
    (even_re, even_im), (odd_re, odd_im) = transform(re[0::2], im[0::2]), transform(re[1::2], im[1::2])
    found_re, found_im = [0.0] * n, [0.0] * n
    for k in range(n // 2):
        c, s = math.cos(-2.0 * math.pi * k / n), math.sin(-2.0 * math.pi * k / n)
        turned_re, turned_im = c * odd_re[k] - s * odd_im[k], c * odd_im[k] + s * odd_re[k]
        found_re[k], found_im[k] = even_re[k] + turned_re, even_im[k] + turned_im
        found_re[k + n // 2], found_im[k + n // 2] = even_re[k] - turned_re, even_im[k] - turned_im
    return found_re, found_im


def rotations(a):  # type: ignore[no-untyped-def]
    """Return the orthogonal and the triangular factor of a matrix, by rotations of Givens."""
    n = len(a)
    r = [row[:] for row in a]
    q = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for j in range(n):
        for i in range(n - 1, j, -1):
            x, y = r[i - 1][j], r[i][j]
            length = math.sqrt(x * x + y * y)
            if length == 0.0:
                continue
            c, s = x / length, y / length
            for k in range(n):
                r[i - 1][k], r[i][k] = c * r[i - 1][k] + s * r[i][k], c * r[i][k] - s * r[i - 1][k]
                q[k][i - 1], q[k][i] = c * q[k][i - 1] + s * q[k][i], c * q[k][i] - s * q[k][i - 1]
    return q, r


def labelled(x, steps):  # type: ignore[no-untyped-def]
    """Return a number with an integer, a truth value and a text."""
    return {"value": x * x, "steps": steps + 1, "is large": x > 1.0, "label": "high" if x > 0.5 else "low"}


def total(xs):  # type: ignore[no-untyped-def]
    """Return the sum of squares."""
    found = 0.0
    for x in xs:
        found += x * x
    return found


def layer(weights):  # type: ignore[no-untyped-def]
    """Return the output of a neuron whose weights are in a dict."""
    return math.tanh(weights["w"][0] * 0.5 + weights["w"][1] * 0.25 + weights["bias"])


#: Each program with its arguments.
SMALL: MappingProxyType[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = MappingProxyType(
    {
        "lists of arguments": (transform, lambda: ([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 2.0])),
        "lists in lists": (rotations, lambda: ([[1.0, 2.0, 0.5], [3.0, 4.0, 1.0], [0.5, 1.0, 2.0]],)),
        "texts": (labelled, lambda: (1.5, 2)),
        "numpy's floats": (total, lambda: (list(np.arange(1.0, 6.0)),)),
        "dicts": (layer, lambda: ({"w": [1.0, 2.0], "bias": 0.1},)),
    }
)
