"""The gamma function and related functions, with derivatives in every real argument."""

from math import factorial
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, ufunc
from tapeengine_scipy._values import is_complex, is_traced, real
from tapeengine_scipy.special.hurwitz import BERNOULLI, hurwitz_zeta

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
gammasgn: Primitive = ufunc("gammasgn", {}, {"x": (-1.5, -0.5, 2.0)}, "the sign of gamma(x), constant piece by piece")


def _rgamma_slope(z: Any, out: Any) -> Any:
    """-digamma(z)/gamma(z); for z < 1/2 by reflection, since sin(pi z) gamma(1 - z)/pi has no poles there."""
    left = np.real(z) < 0.5
    right = -digamma(np.where(left | np.isinf(z), 1.0, z)) * np.where(left, 1.0, out)
    if not np.any(left):
        return right
    mirrored = np.where(left, z, 0.0)
    whole = np.rint(np.real(mirrored))
    angle = numpy.pi * (mirrored - whole)
    turned = np.where(np.floor(whole / 2) * 2 == whole, 1.0, -1.0) * gamma(1 - mirrored)
    return np.where(left, turned * (np.cos(angle) - np.sin(angle) * digamma(1 - mirrored) / numpy.pi), right)


rgamma: Primitive = ufunc(
    "rgamma",
    {"z": _rgamma_slope},
    {"z": (0.2, 4.0)},
    "1/gamma(z); d/dz = -digamma(z)/gamma(z)",
    edges={"z": (0.0, -1.0, -2.0, -3.0, 0.5)},
)


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
    if is_complex(x) and np.any(order > 0):
        raise UnsupportedError("polygamma, the derivative of digamma, is known for real numbers only")
    factorial = gamma(order + 1.0)
    sign = np.where(order % 2 == 1, 1.0, -1.0)
    if np.all(order > 0):
        return np.asarray(sign * factorial * zeta(order + 1.0, x))
    return np.where(order == 0, digamma(x), sign * factorial * zeta(np.where(order == 0, 2.0, order + 1.0), x))


def _power_rise(a: Any, b: Any, n: int) -> Any:
    """(a + b)^-n - a^-n without cancellation."""
    return numpy.expm1(-n * numpy.log1p(b / a)) * a**-n


def _polygamma_rise(a: Any, b: Any, *, order: int) -> Any:
    """Term by term by the recurrence up to a >= 20 and the asymptotic series (DLMF 5.11.2), for a, b > 0."""
    a, b = numpy.broadcast_arrays(real(a), real(b))
    with numpy.errstate(all="ignore"):
        plain = scipy.special.polygamma(order, a + b) - scipy.special.polygamma(order, a)
        sign, far = (-1.0) ** order, numpy.where(a < 20, a, 20.0) + 20
        total = sum(_power_rise(numpy.where(a < 20, a, 1.0) + k, b, order + 1) for k in range(20))
        base = numpy.where(a < 20, far, a)
        rise = numpy.where(a < 20, -sign * factorial(order) * total, 0.0)
        if order == 0:
            rise = rise + numpy.log1p(b / base)
        else:
            rise = rise - sign * factorial(order - 1) * _power_rise(base, b, order)
        rise = rise - sign * factorial(order) / 2 * _power_rise(base, b, order + 1)
        for k, bernoulli in enumerate(BERNOULLI[:10], start=1):
            weight = sign * bernoulli * factorial(2 * k + order - 1) / factorial(2 * k)
            rise = rise - weight * _power_rise(base, b, 2 * k + order)
    return numpy.where((a > 0) & (b > 0), rise, plain)[()]


polygamma_rise: Primitive = elementwise(
    "scipy.special.polygamma_rise",
    _polygamma_rise,
    {
        "a": lambda a, b, order: polygamma_rise(a, b, order=order + 1),
        "b": lambda a, b, order: polygamma(order + 1, a + b),
    },
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "polygamma(n, a + b) - polygamma(n, a), also where b is small beside a",
    static={"order": 1},
)


def _divided_rise(s: Any, h: Any) -> Any:
    """(digamma(s) - digamma(s - h))/h - polygamma(1, s), by its series for small h."""
    with numpy.errstate(all="ignore"):
        direct = (scipy.special.psi(s) - scipy.special.psi(s - h)) / h - scipy.special.polygamma(1, s)
        terms = [(-h) ** k * scipy.special.polygamma(k + 1, s) / factorial(k + 1) for k in range(1, 40)]
    return numpy.where(h <= 0.5, sum(terms), direct)


def _beta_mixed(a: Any, b: Any) -> Any:
    """d^2/da db of beta: out ((digamma(a) - digamma(s))(digamma(b) - digamma(s)) - polygamma(1, s)), s = a + b.

    For a small argument the terms cancel. With psi(x) = psi(x + 1) - 1/x, the large parts are those in 1/s^2, which
    cancel analytically; the rest consists of small differences around s + 1.
    """
    a, b = real(a), real(b)
    s = a + b
    out = scipy.special.beta(a, b)
    with numpy.errstate(all="ignore"):
        far = polygamma_rise(a, b, order=0) * polygamma_rise(b, a, order=0) - scipy.special.polygamma(1, s)
        rises = polygamma_rise(a + 1, b, order=0) * polygamma_rise(b + 1, a, order=0)
        near = rises + a / s * _divided_rise(s + 1, b) + b / s * _divided_rise(s + 1, a)
        small = (numpy.minimum(a, b) <= 0.5) & (numpy.minimum(a, b) > 0)
        return (out * numpy.where(small, near, far))[()]


def _beta_mixed_slope(a: Any, b: Any, out: Any) -> Any:
    """The slope of `beta_mixed` in a; the slope in b is the same with the arguments exchanged."""
    in_a, in_b = -polygamma_rise(a, b, order=0), -polygamma_rise(b, a, order=0)
    first, second = polygamma(1, a + b), polygamma(2, a + b)
    return out * in_a + beta(a, b) * ((polygamma(1, a) - first) * in_b - in_a * first - second)


beta_mixed: Primitive = elementwise(
    "scipy.special.beta_mixed",
    _beta_mixed,
    {"a": _beta_mixed_slope, "b": lambda a, b, out: _beta_mixed_slope(b, a, out)},
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d^2/da db beta(a, b)",
)


def _beta_slope(a: Any, b: Any) -> Any:
    with numpy.errstate(over="ignore", invalid="ignore"):
        return -scipy.special.beta(a, b) * polygamma_rise(a, b, order=0)


beta_slope: Primitive = elementwise(
    "scipy.special.beta_slope",
    _beta_slope,
    {
        "a": lambda a, b, out: -out * polygamma_rise(a, b, order=0) - beta(a, b) * polygamma_rise(a, b, order=1),
        "b": lambda a, b: beta_mixed(a, b),
    },
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d/da beta(a, b) = beta(a, b) (digamma(a) - digamma(a + b))",
)
beta: Primitive = ufunc(
    "beta",
    {"a": lambda a, b: beta_slope(a, b), "b": lambda a, b: beta_slope(b, a)},
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d/da = beta(a, b) (digamma(a) - digamma(a + b))",
)
betaln: Primitive = ufunc(
    "betaln",
    {"a": lambda a, b: -polygamma_rise(a, b, order=0), "b": lambda a, b: -polygamma_rise(b, a, order=0)},
    {"a": (0.3, 4.0), "b": (0.3, 4.0)},
    "d/da = digamma(a) - digamma(a + b)",
)
poch: Primitive = ufunc(
    "poch",
    {"z": lambda z, m, out: out * polygamma_rise(z, m, order=0), "m": lambda z, m, out: out * digamma(z + m)},
    {"z": (0.3, 4.0), "m": (0.3, 4.0)},
    "gamma(z + m)/gamma(z); d/dz = poch(z, m) (digamma(z + m) - digamma(z))",
)
binom: Primitive = ufunc(
    "binom",
    {
        "n": lambda n, k, out: out * polygamma_rise(n - k + 1, k, order=0),
        "k": lambda n, k, out: out * (digamma(n - k + 1) - digamma(k + 1)),
    },
    {"n": (4.0, 9.0), "k": (0.3, 4.0)},
    "gamma(n + 1)/(gamma(k + 1) gamma(n - k + 1)); d/dk = binom(n, k) (digamma(n - k + 1) - digamma(k + 1))",
)


def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """Return the Hurwitz zeta function, or Riemann's where `q` is left out; see `scipy.special.zeta`.

    Differentiable in `x` > 1 and in `q`.

    Examples
    --------
    >>> round(float(zeta(2.0)), 6)
    1.644934
    """
    if out is not None:
        if is_traced(x) or is_traced(q):
            raise UnsupportedError("zeta: out= is not supported for traced values; use the result")
        return scipy.special.zeta(x, q, out)
    if q is not None:
        return _zeta(x, q)
    if is_traced(x) and (is_complex(x) or np.any(np.less(x, 1.0))):
        raise UnsupportedError("zeta without q is differentiated for real numbers above 1 only")
    return _riemann_zeta(x)


_riemann_zeta: Primitive = elementwise(
    "scipy.special.riemann_zeta",
    lambda x: scipy.special.zeta(x),
    {"x": lambda x: hurwitz_zeta(x, 1.0, order=1)},
    {"x": (1.5, 6.0)},
    "zeta, which SciPy computes otherwise than Hurwitz's at 1",
)
_zeta: Primitive = ufunc(
    "zeta",
    {"x": lambda x, q: hurwitz_zeta(x, q, order=1), "q": lambda x, q: -x * _zeta(x + 1, q)},
    {"x": (1.5, 6.0), "q": (0.5, 4.0)},
    "Hurwitz zeta; d/dq = -x zeta(x + 1, q); d/dx by the differentiated Euler-Maclaurin sum",
)
