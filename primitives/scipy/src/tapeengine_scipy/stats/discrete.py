"""Distributions on the integers: their mass functions, differentiable in the parameters."""

from typing import Any

import tapeengine.numpy as np
from tapeengine_scipy._values import floating
from tapeengine_scipy.special.entropy import xlog1py, xlogy
from tapeengine_scipy.special.gamma import gammaln, log_rising
from tapeengine_scipy.special.incomplete import gammaincc
from tapeengine_scipy.stats._support import Discrete, bound, where_valid


class _Poisson(Discrete):
    def cdf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the probability of at most `k` events."""
        given = bound(self._shapes, {"loc": 0}, args, keywords)
        mu, k = floating(given["mu"]), np.floor(floating(k) - given["loc"])
        value = np.where(k >= 0, gammaincc(np.where(k >= 0, k, 0.0) + 1.0, mu), 0.0)
        return where_valid((mu >= 0) & (k == k), value)[()]


def _binom(k: Any, n: Any, p: Any) -> Any:
    return log_rising(n - k + 1, k) - gammaln(k + 1) + xlogy(k, p) + xlog1py(n - k, -p)


def _nbinom(k: Any, n: Any, p: Any) -> Any:
    return log_rising(n, k) - gammaln(k + 1) + n * np.log(p) + xlog1py(k, -p)


def _choices(n: Any, k: Any) -> Any:
    return np.exp(log_rising(n, k) - gammaln(k + 1))


poisson = _Poisson(
    "poisson",
    lambda k, mu: xlogy(k, mu) - gammaln(k + 1) - mu,
    support=lambda k, mu: k >= 0,
    valid=lambda mu: mu >= 0,
    product=lambda k, mu: mu**k * np.exp(-mu - gammaln(k + 1)),
)
binom = Discrete(
    "binom",
    _binom,
    support=lambda k, n, p: (k >= 0) & (k <= n),
    valid=lambda n, p: (n >= 0) & (n == np.floor(n)) & (p >= 0) & (p <= 1),
    product=lambda k, n, p: _choices(n - k + 1, k) * p**k * (1 - p) ** (n - k),
)
nbinom = Discrete(
    "nbinom",
    _nbinom,
    support=lambda k, n, p: k >= 0,
    valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    product=lambda k, n, p: _choices(n, k) * p**n * (1 - p) ** k,
)
geom = Discrete(
    "geom",
    lambda k, p: xlog1py(k - 1, -p) + np.log(p),
    support=lambda k, p: k >= 1,
    valid=lambda p: (p > 0) & (p <= 1),
    product=lambda k, p: p * (1 - p) ** (k - 1),
)
bernoulli = Discrete(
    "bernoulli",
    lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
    support=lambda k, p: (k >= 0) & (k <= 1),
    valid=lambda p: (p >= 0) & (p <= 1),
    product=lambda k, p: p**k * (1 - p) ** (1 - k),
)
