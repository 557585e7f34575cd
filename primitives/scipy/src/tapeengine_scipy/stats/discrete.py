"""Distributions on the integers: their mass functions, differentiable in the parameters."""

from typing import Any

import tapeengine.numpy as np
from tapeengine_scipy._values import floating
from tapeengine_scipy.special.entropy import xlog1py, xlogy
from tapeengine_scipy.special.gamma import gammaln, log_rising
from tapeengine_scipy.special.incomplete import gammaincc
from tapeengine_scipy.stats._support import Discrete, bound, where_valid


def _is_probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


class _Poisson(Discrete):
    name = "poisson"
    shapes = ("mu",)

    def _support(self, k: Any, *shapes: Any) -> Any:
        return k >= 0

    def _valid(self, *shapes: Any) -> Any:
        return shapes[0] >= 0

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        return xlogy(k, shapes[0]) - gammaln(k + 1) - shapes[0]

    def cdf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the probability of at most `k` events."""
        given = bound(self.name, self.shapes, {"loc": 0}, args, keywords)
        mu, k = floating(given["mu"]), np.floor(floating(k) - given["loc"])
        value = np.where(k >= 0, gammaincc(np.where(k >= 0, k, 0.0) + 1.0, mu), 0.0)
        return where_valid((mu >= 0) & (k == k), value)


class _Binom(Discrete):
    name = "binom"
    shapes = ("n", "p")

    def _support(self, k: Any, *shapes: Any) -> Any:
        return (k >= 0) & (k <= shapes[0])

    def _valid(self, *shapes: Any) -> Any:
        n, p = shapes
        return (n >= 0) & (n == np.floor(n)) & _is_probability(p)

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        n, p = shapes
        ways = log_rising(n - k + 1, k) - gammaln(k + 1)
        return ways + xlogy(k, p) + xlog1py(n - k, -p)


class _NBinom(Discrete):
    name = "nbinom"
    shapes = ("n", "p")

    def _support(self, k: Any, *shapes: Any) -> Any:
        return k >= 0

    def _valid(self, *shapes: Any) -> Any:
        n, p = shapes
        return (n > 0) & (p > 0) & (p <= 1)

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        n, p = shapes
        return log_rising(n, k) - gammaln(k + 1) + n * np.log(p) + xlog1py(k, -p)


class _Geom(Discrete):
    name = "geom"
    shapes = ("p",)

    def _support(self, k: Any, *shapes: Any) -> Any:
        return k >= 1

    def _valid(self, *shapes: Any) -> Any:
        return (shapes[0] > 0) & (shapes[0] <= 1)

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        return xlog1py(k - 1, -shapes[0]) + np.log(shapes[0])


poisson = _Poisson()
binom = _Binom()
nbinom = _NBinom()
geom = _Geom()
