"""The gamma function and its relatives, with derivatives with respect to every real argument."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.builders import discrete
from tapeengine.primitive import Primitive, Sample
from tapeengine_scipy._build import ufunc
from tapeengine_scipy.special.hurwitz import hurwitz_zeta

gammaln: Primitive = ufunc(
    "gammaln", {"x": lambda x: digamma(x)}, {"x": (0.2, 6.0)}, "log |gamma(x)|; d/dx = digamma(x)"
)
loggamma: Primitive = ufunc(
    "loggamma", {"z": lambda z: digamma(z)}, {"z": (0.2, 6.0)}, "principal log gamma; d/dz = digamma(z)"
)
gamma: Primitive = ufunc(
    "gamma", {"z": lambda z, out: out * digamma(z)}, {"z": (0.2, 4.0)}, "d/dz = gamma(z) digamma(z)"
)
digamma: Primitive = ufunc("psi", {"z": lambda z: polygamma(1, z)}, {"z": (0.2, 6.0)}, "d/dz = polygamma(1, z)")
psi = digamma
gammasgn = discrete(
    "scipy.special.gammasgn",
    lambda x: scipy.special.gammasgn(x),
    samples=(Sample((numpy.array([-1.5, -0.5, 2.0]),)),),
    doc="the sign of gamma(x), constant piece by piece",
)


def _rgamma_slope(z: Any, out: Any) -> Any:
    """-digamma(z)/gamma(z), and its limit (-1)^n n! at the poles z = -n of digamma."""
    place = np.real(z)
    pole = (place <= 0) & (z == np.floor(place))
    at_pole = np.where(pole, place, -1.0)
    limit = np.where(np.floor(at_pole / 2) * 2 == at_pole, 1.0, -1.0) * gamma(1 - at_pole)
    return np.where(pole, limit, -digamma(np.where(pole, 1.0, z)) * out)


rgamma: Primitive = ufunc("rgamma", {"z": _rgamma_slope}, {"z": (0.2, 4.0)}, "1/gamma(z); d/dz = -digamma(z)/gamma(z)")


def polygamma(n: Any, x: Any) -> Any:
    """Return the polygamma function, the n-th derivative of digamma; see `scipy.special.polygamma`.

    The order `n` is an integer and is not differentiated; ``d/dx = polygamma(n + 1, x)``.

    Examples
    --------
    >>> round(float(polygamma(1, 1.0)), 6)
    1.644934
    """
    order = np.asarray(n)
    if order.size and (np.any(order < 0) or np.any(order != np.floor(order))):
        raise ValueError("polygamma: the order n must be a non-negative integer")
    factorial = gamma(order + 1.0)
    sign = np.where(order % 2 == 1, 1.0, -1.0)
    if np.all(order > 0):
        return sign * factorial * zeta(order + 1.0, x)
    return np.where(order == 0, digamma(x), sign * factorial * zeta(np.where(order == 0, 2.0, order + 1.0), x))


def multigammaln(a: Any, d: int) -> Any:
    """Return the log of the multivariate gamma function of dimension `d`; see `scipy.special.multigammaln`.

    Examples
    --------
    >>> round(float(multigammaln(3.0, 2)), 6)
    1.550195
    """
    dimension = int(d)
    if dimension != d:
        raise ValueError("multigammaln: d must be a positive integer (the dimension)")
    if np.any(np.asarray(a) <= 0.5 * (dimension - 1)):
        raise ValueError(f"multigammaln: a must exceed (d - 1)/2 = {0.5 * (dimension - 1)}")
    constant = 0.25 * dimension * (dimension - 1) * np.log(np.pi)
    return constant + sum(gammaln(a - 0.5 * j) for j in range(dimension))


beta: Primitive = ufunc(
    "beta",
    {
        "a": lambda a, b, out: out * (digamma(a) - digamma(a + b)),
        "b": lambda a, b, out: out * (digamma(b) - digamma(a + b)),
    },
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d/da = beta(a, b) (digamma(a) - digamma(a + b))",
)
betaln: Primitive = ufunc(
    "betaln",
    {"a": lambda a, b: digamma(a) - digamma(a + b), "b": lambda a, b: digamma(b) - digamma(a + b)},
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d/da = digamma(a) - digamma(a + b)",
)


def zeta(x: Any, q: Any = None) -> Any:
    """Return the Hurwitz zeta function, or Riemann's where `q` is left out; see `scipy.special.zeta`.

    Differentiable in `x` > 1 and in `q`.

    Examples
    --------
    >>> round(float(zeta(2.0)), 6)
    1.644934
    """
    return _zeta(x, 1.0 if q is None else q)


_zeta: Primitive = ufunc(
    "zeta",
    {"x": lambda x, q: hurwitz_zeta(x, q, order=1), "q": lambda x, q: -x * _zeta(x + 1, q)},
    {"x": (1.5, 6.0), "q": (0.5, 4.0)},
    "Hurwitz zeta; d/dq = -x zeta(x + 1, q); d/dx by the differentiated Euler-Maclaurin sum",
)
