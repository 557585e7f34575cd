"""Distributions on the integers: their mass functions, differentiable in the parameters.

With large parameters the logarithms of gamma functions cancel. The values are SciPy's then too, digits that SciPy loses
included; the derivatives are closed forms, which do not cancel.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import Domain, elementwise
from tapeengine_scipy._values import floating
from tapeengine_scipy.special.entropy import quotient, xlog1py, xlogy
from tapeengine_scipy.special.gamma import betaln, digamma, gammaln, polygamma_rise
from tapeengine_scipy.special.incomplete import gammaincc
from tapeengine_scipy.stats._support import Discrete, bound, where_valid


class _Poisson(Discrete):
    def cdf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the probability of at most `k` events."""
        given = bound(self._shapes, {"loc": 0}, args, keywords)
        mu, k = floating(given["mu"]), np.floor(floating(k) - given["loc"])
        value = np.where(k >= 0, gammaincc(np.where(k >= 0, k, 0.0) + 1.0, mu), 0.0)
        return where_valid((mu >= 0) & (k == k), value)[()]


def _log_subsets(n: Any, k: Any) -> Any:
    log_factorial = scipy.special.gammaln
    return log_factorial(n + 1) - (log_factorial(k + 1) + log_factorial(n - k + 1))


log_subsets: Primitive = elementwise(
    "scipy.stats.log_subsets",
    _log_subsets,
    {
        "n": lambda n, k: polygamma_rise(n - k + 1, k, order=0),
        "k": lambda n, k: digamma(n - k + 1) - digamma(k + 1),
    },
    {"n": (3.0, 6.0), "k": (0.3, 2.0)},
    "log of n choose k",
)
log_multisets: Primitive = elementwise(
    "scipy.stats.log_multisets",
    lambda n, k: scipy.special.gammaln(n + k) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n),
    {"n": lambda n, k: polygamma_rise(n, k, order=0), "k": lambda n, k: digamma(n + k) - digamma(k + 1)},
    {"n": (0.3, 4.0), "k": (0.3, 4.0)},
    "log of n + k - 1 choose k",
)


def _mass(name: str, partials: Mapping[str, Callable[..., Any] | None], domain: Domain) -> Primitive:
    """The record of SciPy's mass function, which is accurate where the exponential of its logarithm is not."""

    def primal(*values: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return numpy.clip(getattr(scipy.stats, name)._pmf(*values), 0.0, 1.0)

    doc = f"the mass function of {name}"
    return elementwise(f"scipy.stats.{name}_pmf", primal, partials, domain, doc, args=tuple(domain))


poisson_pmf = _mass(
    "poisson",
    {
        "k": lambda k, mu, out: out * (np.log(mu) - digamma(k + 1)),
        "mu": lambda k, mu, out: out * (quotient(k, mu) - 1),
    },
    {"k": (0.3, 4.0), "mu": (0.3, 4.0)},
)
binom_pmf = _mass(
    "binom",
    {
        "k": lambda k, n, p, out: out * (digamma(n - k + 1) - digamma(k + 1) + np.log(p) - np.log1p(-p)),
        "n": lambda k, n, p, out: out * (polygamma_rise(n - k + 1, k, order=0) + np.log1p(-p)),
        "p": lambda k, n, p, out: out * (quotient(k, p) - quotient(n - k, 1 - p)),
    },
    {"k": (0.3, 2.0), "n": (3.0, 6.0), "p": (0.1, 0.9)},
)
nbinom_pmf = _mass(
    "nbinom",
    {
        "k": lambda k, n, p, out: out * (digamma(n + k) - digamma(k + 1) + np.log1p(-p)),
        "n": lambda k, n, p, out: out * (polygamma_rise(n, k, order=0) + np.log(p)),
        "p": lambda k, n, p, out: out * (np.divide(n, p) - quotient(k, 1 - p)),
    },
    {"k": (0.3, 4.0), "n": (0.3, 4.0), "p": (0.1, 0.9)},
)
geom_pmf = _mass(  # the slopes are accurate also where 1 - p is rounded
    "geom",
    {
        "k": lambda k, p: p * np.exp(xlog1py(k - 1, -p)) * np.log1p(-p),
        "p": lambda k, p: np.exp(xlog1py(k - 1, -p)) * (1 - p * quotient(k - 1, 1 - p)),
    },
    {"k": (1.0, 4.0), "p": (0.1, 0.9)},
)
bernoulli_pmf = _mass("bernoulli", {"k": None, "p": lambda k: 2 * k - 1}, {"k": (0.0, 1.0, 1.0), "p": (0.1, 0.9)})


def _choices(rest: Any, k: Any) -> Any:
    """gamma(rest + k)/(gamma(rest) k!); a number above 1e300, which is only a factor of 0, is bounded."""
    return np.exp(np.minimum(-np.log(rest + k) - betaln(rest, k + 1), 690.0))


poisson = _Poisson("poisson", lambda k, mu: mu**k * np.exp(-mu - gammaln(k + 1)), poisson_pmf)
binom = Discrete(
    "binom",
    lambda k, n, p: _choices(n - k + 1, k) * p**k * (1 - p) ** (n - k),
    binom_pmf,
    logpmf=lambda k, n, p: log_subsets(n, k) + xlogy(k, p) + xlog1py(n - k, -p),
)
nbinom = Discrete(
    "nbinom",
    lambda k, n, p: _choices(n, k) * p**n * (1 - p) ** k,
    nbinom_pmf,
    logpmf=lambda k, n, p: log_multisets(n, k) + n * np.log(p) + xlog1py(k, -p),
)
geom = Discrete("geom", lambda k, p: p * (1 - p) ** (k - 1), geom_pmf)
bernoulli = Discrete(
    "bernoulli",
    lambda k, p: p**k * (1 - p) ** (1 - k),
    bernoulli_pmf,
    logpmf=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
)
