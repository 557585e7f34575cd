"""Incomplete gamma and beta functions, differentiable in the parameters and in the argument.

Derivatives in the parameters are central moments of the logarithm under the density, over (0, x). With
mu = digamma(a), gamma_moment of order k is 1/gamma(a) times the integral of t^(a-1) exp(-t) (log t - mu)^k, and

    d/da moment_k = moment_{k+1} - k polygamma(1, a) moment_{k-1},    d/dx moment_k = density (log x - mu)^k,

so the family is closed under differentiation, and gammainc is its member k = 0. The moments over (x, inf) obey the same
rules with the opposite sign of the density. They are used for x > a, where the moments over (0, x) are nearly those of
the whole line, so that differences would lose the dependence on x. beta_moment is analogous, with powers of
log t - digamma(a) + digamma(a+b) and of log(1-t) - digamma(b) + digamma(a+b).
"""

from math import comb
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, ufunc
from tapeengine_scipy._values import real
from tapeengine_scipy.special.entropy import xlog1py, xlogy
from tapeengine_scipy.special.gamma import betaln, digamma, gammaln, polygamma, polygamma_rise
from tapeengine_scipy.special.quadrature import half_line

#: A finite replacement for infinity: densities are zero there too, and their logarithms are finite.
LARGEST = numpy.finfo(float).max


def _power_of_zero(exponent: Any) -> Any:
    """0 to a power: the limit of a density's slope at an end."""
    exponent = np.asarray(exponent)
    return np.where(exponent > 0, 0.0, np.where(exponent == 0, 1.0, numpy.inf))


def _gamma_density(a: Any, x: Any) -> Any:
    x = numpy.minimum(x, LARGEST)
    return numpy.exp(scipy.special.xlogy(a - 1, x) - x - scipy.special.gammaln(a))


def _gamma_density_in_x(a: Any, x: Any, out: Any) -> Any:
    at_zero = (x == 0) & (a > 1)
    inside = out * (np.divide(a - 1, np.where((x == 0) & (a >= 1), 1.0, np.minimum(x, LARGEST))) - 1)
    if not np.any(at_zero):
        return inside
    return np.where(at_zero, (a - 1) * _power_of_zero(a - 2) * np.exp(-gammaln(np.where(at_zero, a, 2.0))), inside)


gamma_density: Primitive = elementwise(
    "scipy.special.gamma_density",
    _gamma_density,
    {"a": lambda a, x, out: xlogy(out, np.minimum(x, LARGEST)) - out * digamma(a), "x": _gamma_density_in_x},
    {"a": (0.3, 5.0), "x": (0.1, 8.0)},
    "x^(a-1) exp(-x) / gamma(a), the slope of gammainc in x; zero at infinity",
)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    special = scipy.special
    return numpy.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def _beta_density_in_x(a: Any, b: Any, x: Any, out: Any) -> Any:
    at_zero, at_one = (x == 0) & (a > 1), (x == 1) & (b > 1)
    low, high = np.where((x == 0) & (a >= 1), 1.0, x), np.where((x == 1) & (b >= 1), 0.0, x)
    inside = out * (np.divide(a - 1, low) - np.divide(b - 1, 1 - high))
    if not np.any(at_zero | at_one):
        return inside
    scaled = np.exp(-betaln(a, b))
    inside = np.where(at_zero, (a - 1) * _power_of_zero(a - 2) * scaled, inside)
    return np.where(at_one, (1 - b) * _power_of_zero(b - 2) * scaled, inside)


beta_density: Primitive = elementwise(
    "scipy.special.beta_density",
    _beta_density,
    {
        "a": lambda a, b, x, out: xlogy(out, x) + out * polygamma_rise(a, b, order=0),
        "b": lambda a, b, x, out: xlog1py(out, -x) + out * polygamma_rise(b, a, order=0),
        "x": _beta_density_in_x,
    },
    {"a": (0.3, 4.0), "b": (0.3, 4.0), "x": (0.1, 0.9)},
    "x^(a-1) (1-x)^(b-1) / beta(a, b), the slope of betainc in x",
)


# ---- gamma ---------------------------------------------------------------------------------------


def _central_log_moment(a: Any, order: int) -> Any:
    """The whole integral: the central moment of log t under a gamma density, from its cumulants polygamma(m-1, a)."""
    moments = [numpy.ones_like(a), numpy.zeros_like(a)]
    for n in range(2, order + 1):
        terms = (comb(n - 1, m - 1) * scipy.special.polygamma(m - 1, a) * moments[n - m] for m in range(2, n + 1))
        moments.append(sum(terms))
    return moments[order]


def _gamma_moment_beyond(a: Any, x: Any, order: int, sign: int) -> Any:
    """The integral over (0, x) for x <= a, sign -1, or over (x, inf) for x > a, with t = x exp(sign s).

    So the exponent decreases in s.
    """
    a, x = a[..., None], x[..., None]
    log_x, mu, norm = numpy.log(x), scipy.special.psi(a), scipy.special.gammaln(a)

    def integrand(s: Any) -> Any:
        s = sign * s
        return numpy.exp(a * (log_x + s) - x * numpy.exp(s) - norm) * (log_x + s - mu) ** order

    return half_line(integrand, 1 / (sign * (x - a) + numpy.sqrt(a if sign < 0 else x))[..., 0])


def _gamma_moment(a: Any, x: Any, *, order: int, upper: bool = False) -> Any:
    a, x = numpy.broadcast_arrays(real(a), real(x))
    if order == 0:
        return scipy.special.gammaincc(a, x) if upper else scipy.special.gammainc(a, x)
    with numpy.errstate(all="ignore"):
        whole = _central_log_moment(a, order)
        below = numpy.where(x <= 0, 0.0, _gamma_moment_beyond(a, numpy.minimum(x, a), order, -1))
        above = _gamma_moment_beyond(a, numpy.maximum(x, a), order, 1)
    inside = numpy.where(x <= a, below, whole - above)
    if upper:
        inside = numpy.where(x <= a, whole - below, above)
    return numpy.where(numpy.isnan(a) | numpy.isnan(x) | (a <= 0) | (x < 0), numpy.nan, inside)[()]


def _gamma_moment_in_a(a: Any, x: Any, order: int, upper: bool) -> Any:
    raised = gamma_moment(a, x, order=order + 1, upper=upper)
    if order == 0:
        return raised
    return raised - order * polygamma(1, a) * gamma_moment(a, x, order=order - 1, upper=upper)


def _gamma_moment_in_x(a: Any, x: Any, order: int, upper: bool) -> Any:
    away = np.where((x == 0) & (a > 1), 1.0, np.minimum(x, LARGEST))  # elsewhere the density is zero
    slope = gamma_density(a, x) * (np.log(away) - digamma(a)) ** order
    return -slope if upper else slope


#: Powers of the series for small parameters.
_POWERS = np.arange(1.0, 60.0)


def _gammainc_by_series(a: Any, x: Any) -> Any:
    """The slope for small numbers, by P = x^a/gamma(a + 1) (1 + a sum((-x)^n/(n! (a + n))))."""
    terms = numpy.exp(-scipy.special.gammaln(_POWERS)) * (-x[..., None]) ** _POWERS / (a[..., None] + _POWERS) ** 2
    log_x, scaled = np.log(x), np.exp(a * np.log(x) - gammaln(a + 1))
    return gammainc(a, x) * (log_x - digamma(a + 1)) + scaled * np.sum(terms, axis=-1)


def gammainc_slope(a: Any, x: Any) -> Any:
    """The series for small numbers, where moments cancel; otherwise the moment on the side of x."""
    a, x = np.asarray(a), np.asarray(x)
    small = (a >= 0) & (a < 1) & (x > 0) & (x < 2)
    if np.all(small):
        return _gammainc_by_series(a, x)
    below, large, place = x <= a, np.where(small, 2.0, a), np.where(small, 2.0, x)
    moment = gamma_moment(large, place, order=1) if np.any(below) else 0.0
    if not np.all(below):
        moment = np.where(below, moment, -gamma_moment(large, place, order=1, upper=True))
    if not np.any(small):
        return moment
    return np.where(small, _gammainc_by_series(np.where(small, a, 0.5), np.where(small, x, 0.5)), moment)


gamma_moment: Primitive = elementwise(
    "scipy.special.gamma_moment",
    _gamma_moment,
    {"a": _gamma_moment_in_a, "x": _gamma_moment_in_x},
    {"a": (0.3, 5.0), "x": (0.1, 8.0)},
    "central moment of log t under the gamma density over (0, x); the slopes of gammainc in a",
    static={"order": 1},
)
gammainc: Primitive = ufunc(
    "gammainc",
    {"a": gammainc_slope, "x": lambda a, x: gamma_density(a, x)},
    {"a": (0.3, 5.0), "x": (0.1, 8.0)},
    "d/dx = x^(a-1) exp(-x)/gamma(a); d/da by quadrature of the differentiated integral",
)
gammaincc: Primitive = ufunc(
    "gammaincc",
    {"a": lambda a, x: -gammainc_slope(a, x), "x": lambda a, x: -gamma_density(a, x)},
    {"a": (0.3, 5.0), "x": (0.1, 8.0)},
    "1 - gammainc(a, x)",
)

# ---- beta ----------------------------------------------------------------------------------------


def _beta_cumulant(a: Any, b: Any, i: int, j: int) -> Any:
    """A joint cumulant of log t and log(1 - t) under a beta density: a derivative of log beta(a, b)."""
    if i + j < 2:
        return numpy.zeros_like(a)
    both = scipy.special.polygamma(i + j - 1, a + b)
    if i and j:
        return -both
    return scipy.special.polygamma(i + j - 1, a if i else b) - both


def _beta_central_moment(a: Any, b: Any, i: int, j: int) -> Any:
    """The whole integral, from joint cumulants by the recursion for joint moments."""
    if i + j == 0:
        return numpy.ones_like(a)
    if i == 0:
        return _beta_central_moment(b, a, j, 0)
    total = numpy.zeros_like(a)
    for p in range(i):
        for q in range(j + 1):
            cumulant = _beta_cumulant(a, b, i - p, j - q)
            total = total + comb(i - 1, p) * comb(j, q) * cumulant * _beta_central_moment(a, b, p, q)
    return total


def _lower_beta_moment(a: Any, b: Any, x: Any, i: int, j: int) -> Any:
    """The integral over (0, x) for x up to the mean a/(a+b), with t = x exp(-s)."""
    scale = 1 / ((a - b * x / (1 - x)).clip(0) + numpy.sqrt(a))
    a, b, x = a[..., None], b[..., None], x[..., None]
    log_x, norm, both = numpy.log(x), scipy.special.betaln(a, b), scipy.special.psi(a + b)
    mu, nu = scipy.special.psi(a) - both, scipy.special.psi(b) - both

    def integrand(s: Any) -> Any:
        log_rest = numpy.log1p(-x * numpy.exp(-s))
        density = numpy.exp(a * (log_x - s) + (b - 1) * log_rest - norm)
        return density * (log_x - s - mu) ** i * (log_rest - nu) ** j

    return half_line(integrand, scale)


def _beta_moment(a: Any, b: Any, x: Any, *, order_a: int, order_b: int) -> Any:
    a, b, x = numpy.broadcast_arrays(*(real(value) for value in (a, b, x)))
    if order_a == order_b == 0:
        return scipy.special.betainc(a, b, x)
    mean = a / (a + b)
    with numpy.errstate(all="ignore"):
        below = _lower_beta_moment(a, b, numpy.minimum(x, mean), order_a, order_b)
        above = _lower_beta_moment(b, a, numpy.minimum(1 - x, 1 - mean), order_b, order_a)
        inside = numpy.where(x <= mean, below, _beta_central_moment(a, b, order_a, order_b) - above)
    ends = numpy.where(x <= 0, 0.0, numpy.where(x >= 1, _beta_central_moment(a, b, order_a, order_b), inside))
    return numpy.where(numpy.isnan(a + b + x) | (a <= 0) | (b <= 0) | (x < 0) | (x > 1), numpy.nan, ends)[()]


def _beta_moment_in(which: int, a: Any, b: Any, x: Any, *orders: int) -> Any:
    """The slope in a (0) or in b (1)."""

    def moment(changed: int, by: int) -> Any:
        order_a, order_b = (order + by * (k == changed) for k, order in enumerate(orders))
        return beta_moment(a, b, x, order_a=order_a, order_b=order_b)

    slope, both = moment(which, 1), polygamma(1, a + b)
    for k, order in enumerate(orders):
        if order:
            spread = polygamma(1, b if k else a) - both if k == which else -both
            slope = slope - order * spread * moment(k, -1)
    return slope


def _beta_moment_in_x(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    both = digamma(a + b)
    powers = (np.log(x) - digamma(a) + both) ** order_a * (np.log1p(-x) - digamma(b) + both) ** order_b
    return beta_density(a, b, x) * powers


beta_moment: Primitive = elementwise(
    "scipy.special.beta_moment",
    _beta_moment,
    {
        "a": lambda a, b, x, order_a, order_b: _beta_moment_in(0, a, b, x, order_a, order_b),
        "b": lambda a, b, x, order_a, order_b: _beta_moment_in(1, a, b, x, order_a, order_b),
        "x": _beta_moment_in_x,
    },
    {"a": (0.4, 4.0), "b": (0.4, 4.0), "x": (0.1, 0.9)},
    "central moments of log t and log(1-t) under the beta density over (0, x); the slopes of betainc",
    static={"order_a": 1, "order_b": 0},
)


def beta_slope(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    """The first moment of log t or log(1-t), on the side of the mean a/(a+b) where x is; a series if both are small."""
    a, b, x = np.asarray(a), np.asarray(b), np.asarray(x)
    small = (a > 0) & (a < 1) & (b > 0) & (b < 1) & (x > 0) & (x < 1)
    if not np.any(small):
        return _beta_slope_by_moments(a, b, x, order_a, order_b)
    inside = [np.where(small, value, 0.5) for value in (a, b, x)]
    outside = [np.where(small, 0.5, value) for value in (a, b, x)]
    moments = 0.0 if np.all(small) else _beta_slope_by_moments(*outside, order_a, order_b)
    return np.where(small, _beta_slope_by_series(*inside, order_a), moments)


def _beta_slope_by_series(a: Any, b: Any, x: Any, order_a: int) -> Any:
    """The slope in one parameter, by the series of betainc(a, b, x), or of 1 - betainc(b, a, 1 - x) if x > 1/2."""
    mirrored = x > 0.5
    near = np.where(mirrored, 1 - x, x)
    first, second = np.where(mirrored, b, a), np.where(mirrored, a, b)
    in_first, in_second = _series_slopes(first, second, near)
    return np.where(mirrored, -in_second, in_first) if order_a else np.where(mirrored, -in_first, in_second)


def _series_slopes(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The slopes of c x^a (1 + a sum((1-b)_n x^n/(n! (a+n)))) in a and in b, with c = 1/(a beta(a, b))."""
    log_x, whole = np.log(x), betainc(a, b, x)
    scaled = np.exp(a * log_x + gammaln(a + b + 1) - gammaln(a + 1) - gammaln(b + 1)) * b / (a + b)
    n, b_column = _POWERS, b[..., None]
    terms = np.cumprod((n - b_column) / n * x[..., None], axis=-1) / (a[..., None] + n)
    in_a = np.sum(terms * n / (a[..., None] + n), axis=-1)
    in_b = -np.sum(terms * np.cumsum(1 / (n - b_column), axis=-1), axis=-1)
    in_log_a = log_x + polygamma_rise(a + 1, b, order=0) - 1 / (a + b)
    in_log_b = polygamma_rise(b + 1, a, order=0) + a / (b * (a + b))
    return whole * in_log_a + scaled * in_a, whole * in_log_b + scaled * a * in_b


def _beta_slope_by_moments(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    below = x * (a + b) <= a
    if np.all(below):
        return beta_moment(a, b, x, order_a=order_a, order_b=order_b)
    above = -beta_moment(b, a, 1 - x, order_a=order_b, order_b=order_a)
    return np.where(below, beta_moment(a, b, x, order_a=order_a, order_b=order_b), above) if np.any(below) else above


betainc: Primitive = ufunc(
    "betainc",
    {
        "a": lambda a, b, x: beta_slope(a, b, x, 1, 0),
        "b": lambda a, b, x: beta_slope(a, b, x, 0, 1),
        "x": lambda a, b, x: beta_density(a, b, x),
    },
    {"a": (0.4, 4.0), "b": (0.4, 4.0), "x": (0.1, 0.9)},
    "d/dx = x^(a-1) (1-x)^(b-1)/beta(a, b); d/da and d/db by quadrature of the differentiated integral",
)
betaincc: Primitive = ufunc(
    "betaincc",
    {
        "a": lambda a, b, x: -beta_slope(a, b, x, 1, 0),
        "b": lambda a, b, x: -beta_slope(a, b, x, 0, 1),
        "x": lambda a, b, x: -beta_density(a, b, x),
    },
    {"a": (0.4, 4.0), "b": (0.4, 4.0), "x": (0.1, 0.9)},
    "1 - betainc(a, b, x)",
)
