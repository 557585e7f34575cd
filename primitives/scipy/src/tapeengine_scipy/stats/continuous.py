"""Continuous distributions: densities and distribution functions, differentiable in all arguments."""

import math
from collections.abc import Callable
from typing import Any

import tapeengine.numpy as np
from tapeengine_scipy.special.entropy import expit, log_expit, logit, xlog1py, xlogy
from tapeengine_scipy.special.errorfunctions import erf, log_ndtr, ndtr, ndtri
from tapeengine_scipy.special.exponential import log_one_less_exp
from tapeengine_scipy.special.gamma import betaln, gammaln
from tapeengine_scipy.special.incomplete import betainc, betaincc, gammainc, gammaincc
from tapeengine_scipy.special.student import stdtr, t_log_density
from tapeengine_scipy.stats._support import Continuous

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


def _lognorm_density(z: Any, s: Any) -> Any:
    log_z = np.log(np.where(z == 0, 1.0, z))
    value = -0.5 * (log_z / s) ** 2 - np.log(s) - log_z - _LOG_ROOT_TWO_PI
    return np.where(z == 0, -math.inf, value)


def _of_log(function: Callable[[Any, Any], Any], at_zero: float) -> Callable[[Any, Any], Any]:
    """A function of the logarithm of z and a shape, with its limit at 0."""
    return lambda z, shape: np.where(z == 0, at_zero, function(np.log(np.where(z == 0, 1.0, z)), shape))


def _laplace_tail(z: Any) -> Any:
    return 0.5 * np.exp(np.where(z > 0, -z, z))  # whose derivative at 0 is that of the lower tail


def _cauchy_cdf(z: Any) -> Any:
    return np.arctan2(1.0, -z) / math.pi


def _cauchy_logcdf(z: Any) -> Any:
    far, upper = z < -1e8, z > 0  # for far ones arctan2(1, -z) is -1/z, to the last bit
    tail = _cauchy_cdf(np.where(far, 0.0, np.where(upper, -z, z)))
    near = np.where(upper, np.log1p(-tail), np.log(tail))
    return np.where(far, -np.log(np.where(far, -z, 1.0)) - math.log(math.pi), near)[()]


def _cauchy_quantile(q: Any) -> Any:
    lower = np.where(q > 0.5, 1 - q, q)
    return np.where(q > 0.5, 1.0, -1.0) / np.tan(math.pi * lower)


def _pareto_sf(z: Any, b: Any) -> Any:
    far = np.isinf(z)
    return np.where(far, 0.0, np.where(far, 1.0, z) ** -b)


norm = Continuous("norm", lambda z: -0.5 * z * z - _LOG_ROOT_TWO_PI, ndtr, log_ndtr, ppf=ndtri)
t = Continuous("t", lambda z, df: t_log_density(df, z), lambda z, df: stdtr(df, z))
gamma = Continuous(
    "gamma",
    lambda z, a: xlogy(a - 1, z) - z - gammaln(a),
    lambda z, a: gammainc(a, z),
    sf=lambda z, a: gammaincc(a, z),
    low=0.0,
    product=lambda z, a: z ** (a - 1) * np.exp(-z - gammaln(a)),
)
beta = Continuous(
    "beta",
    lambda z, a, b: xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b),
    lambda z, a, b: betainc(a, b, z),
    sf=lambda z, a, b: betaincc(a, b, z),
    low=0.0,
    high=1.0,
    product=lambda z, a, b: z ** (a - 1) * (1 - z) ** (b - 1) * np.exp(-betaln(a, b)),
)
chi2 = Continuous(
    "chi2",
    lambda z, df: xlogy(df / 2 - 1, z) - z / 2 - gammaln(df / 2) - math.log(2) * (df / 2),
    lambda z, df: gammainc(df / 2, z / 2),
    sf=lambda z, df: gammaincc(df / 2, z / 2),
    low=0.0,
    product=lambda z, df: z ** (df / 2 - 1) * np.exp(-z / 2 - gammaln(df / 2) - math.log(2) * (df / 2)),
)
expon = Continuous(
    "expon",
    lambda z: -z,
    lambda z: -np.expm1(-z),
    sf=lambda z: np.exp(-z),
    logsf=lambda z: -z,
    ppf=lambda q: -np.log1p(-q),
    isf=lambda q: -np.log(q),
    low=0.0,
)
lognorm = Continuous(
    "lognorm",
    _lognorm_density,
    _of_log(lambda log_z, s: ndtr(log_z / s), 0.0),
    _of_log(lambda log_z, s: log_ndtr(log_z / s), -math.inf),
    sf=_of_log(lambda log_z, s: ndtr(-log_z / s), 1.0),
    logsf=_of_log(lambda log_z, s: log_ndtr(-log_z / s), 0.0),
    ppf=lambda q, s: np.exp(s * ndtri(q)),
    isf=lambda q, s: np.exp(-s * ndtri(q)),
    low=0.0,
)
laplace = Continuous(
    "laplace",
    lambda z: math.log(0.5) - np.abs(z),
    lambda z: np.where(z > 0, 1 - _laplace_tail(z), _laplace_tail(z)),
    lambda z: np.where(z > 0, np.log1p(-_laplace_tail(z)), math.log(0.5) + z),
    ppf=lambda q: np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q)),
)
cauchy = Continuous(
    "cauchy",
    lambda z: -math.log(math.pi) - 2 * np.log(np.hypot(1.0, z)),
    _cauchy_cdf,
    _cauchy_logcdf,
    ppf=_cauchy_quantile,
)
uniform = Continuous(
    "uniform",
    lambda z: np.where(z == z, 0.0, z),  # NaN stays NaN, without a derivative
    lambda z: z,
    sf=lambda z: 1 - z,
    ppf=lambda q: q,
    isf=lambda q: 1 - q,
    low=0.0,
    high=1.0,
)
weibull_min = Continuous(
    "weibull_min",
    lambda z, c: np.log(c) + xlogy(c - 1, z) - z**c,
    lambda z, c: -np.expm1(-(z**c)),
    _of_log(lambda log_z, c: log_one_less_exp(c * log_z), -math.inf),
    sf=lambda z, c: np.exp(-(z**c)),
    logsf=lambda z, c: -(z**c),
    ppf=lambda q, c: (-np.log1p(-q)) ** (1 / c),
    isf=lambda q, c: (-np.log(q)) ** (1 / c),
    low=0.0,
    product=lambda z, c: c * z ** (c - 1) * np.exp(-(z**c)),
)
logistic = Continuous("logistic", lambda z: log_expit(z) + log_expit(-z), expit, log_expit, ppf=logit)
gumbel_r = Continuous(
    "gumbel_r",
    lambda z: -z - np.exp(-z),
    lambda z: np.exp(-np.exp(-z)),
    lambda z: -np.exp(-z),
    sf=lambda z: -np.expm1(-np.exp(-z)),
    logsf=lambda z: log_one_less_exp(-z),
    ppf=lambda q: -np.log(-np.log(q)),
    isf=lambda q: -np.log(-np.log1p(-q)),
)
gumbel_l = Continuous(
    "gumbel_l",
    lambda z: z - np.exp(z),
    lambda z: -np.expm1(-np.exp(z)),
    log_one_less_exp,
    sf=lambda z: np.exp(-np.exp(z)),
    logsf=lambda z: -np.exp(z),
    ppf=lambda q: np.log(-np.log1p(-q)),
    isf=lambda q: np.log(-np.log(q)),
)
pareto = Continuous(
    "pareto",
    lambda z, b: np.log(b) - (b + 1) * np.log(z),
    lambda z, b: 1 - _pareto_sf(z, b),
    sf=_pareto_sf,
    logsf=lambda z, b: np.where(z**-b > 0.5, np.log(_pareto_sf(z, b)), -b * np.log(z)),
    ppf=lambda q, b: (1 - q) ** (-1 / b),
    isf=lambda q, b: q ** (-1 / b),
    low=1.0,
)
halfnorm = Continuous(
    "halfnorm",
    lambda z: math.log(2) - 0.5 * z * z - _LOG_ROOT_TWO_PI,
    lambda z: erf(z / math.sqrt(2)),
    sf=lambda z: 2 * ndtr(-z),
    logsf=lambda z: np.where(z < 0.5, np.log1p(-erf(np.minimum(z, 0.5) / math.sqrt(2))), math.log(2) + log_ndtr(-z)),
    ppf=lambda q: ndtri((1 + q) / 2),
    isf=lambda q: -ndtri(q / 2),
    low=0.0,
)
