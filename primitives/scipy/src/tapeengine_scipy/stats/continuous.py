"""Continuous distributions: densities and distribution functions, differentiable in all arguments."""

import math
from collections.abc import Callable
from typing import Any

import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise
from tapeengine_scipy.special.bessel import i0e
from tapeengine_scipy.special.chances import chdtri, f_log_density, fdtr, fdtrc, fdtri, stdtrit
from tapeengine_scipy.special.elementary import cosm1, exprel
from tapeengine_scipy.special.entropy import expit, log_expit, logit, xlog1py, xlogy
from tapeengine_scipy.special.errorfunctions import erf, gauss, log_ndtr, ndtr, ndtri
from tapeengine_scipy.special.exponential import log_one_less_exp
from tapeengine_scipy.special.gamma import betaln, gammaln
from tapeengine_scipy.special.incomplete import betainc, betaincc, gammainc, gammaincc
from tapeengine_scipy.special.inverses import betainccinv, betaincinv, gammainccinv, gammaincinv
from tapeengine_scipy.special.student import log1p_ratio, stdtr, t_log_density
from tapeengine_scipy.stats._support import Continuous

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
_PER_ROOT_TWO_PI = 1 / math.sqrt(2 * math.pi)


def _lognorm_density(z: Any, s: Any) -> Any:
    log_z = np.log(np.where(z == 0, 1.0, z))
    value = -0.5 * (log_z / s) ** 2 - np.log(s) - log_z - _LOG_ROOT_TWO_PI
    return np.where(z == 0, -math.inf, value)


def _of_log(function: Callable[[Any, Any], Any], at_zero: float, sign: float = 1.0) -> Callable[[Any, Any], Any]:
    """A function of the logarithm of z, or of -z, and a shape, with its limit at 0."""
    return lambda z, shape: np.where(z == 0, at_zero, function(np.log(np.where(z == 0, 1.0, sign * z)), shape))


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


def _invgamma_density(z: Any, a: Any) -> Any:
    positive = np.where(z == 0, 1.0, z)
    return np.where(z == 0, -math.inf, -(a + 1) * np.log(positive) - gammaln(a) - 1 / positive)


def _of_inverse(function: Callable[[Any, Any], Any], at_zero: float) -> Callable[[Any, Any], Any]:
    """A function of a shape and 1/z, with its limit at 0."""
    return lambda z, shape: np.where(z == 0, at_zero, function(shape, 1 / np.where(z == 0, 1.0, z)))


def _gumbel_slope(z: Any, c: Any) -> Any:
    """The slope in c; for large c z, the parts of the usual formula overflow."""
    u = -c * z
    near = np.abs(u) < 0.5
    far, shape = np.where(near, 1.0, u), np.where(near, 1.0, c)
    usual = -(z * z) * log1p_ratio(np.where(near, u, 0.0), order=1)
    return np.where(near, usual, (np.log1p(far) - far / (1 + far)) / (shape * shape))


gumbel_of: Primitive = elementwise(
    "scipy.stats.gumbel_argument",
    lambda z, c: z * log1p_ratio(-c * z),
    {"z": lambda z, c: 1 / (1 - c * z), "c": _gumbel_slope},
    {"z": (-1.0, 1.0), "c": (-0.9, 0.9)},
    "log1p(-c z)/-c, the argument of Gumbel's distribution function in that of extreme values; z for c = 0",
)


def _end(sign: float) -> Callable[[Any], Any]:
    """The end 1/c of the support of extreme values, if c has that sign."""
    return lambda c: np.where(sign * c > 0, 1 / np.where(sign * c > 0, c, 1.0), sign * math.inf)


def _is_finite(shape: Any) -> Any:
    return np.isfinite(shape)


skewnorm_cdf: Primitive = elementwise(
    "scipy.stats.skewnorm_cdf",
    lambda z, a: scipy.stats.skewnorm.cdf(z, a),
    {
        "z": lambda z, a: 2 * gauss(z * math.sqrt(0.5)) * _PER_ROOT_TWO_PI * ndtr(a * z),
        "a": lambda z, a: -gauss(z * math.sqrt(0.5)) * gauss(a * z * math.sqrt(0.5)) / (math.pi * (1 + a * a)),
    },
    {"z": (-2.0, 3.0), "a": (-2.0, 3.0)},
    "the distribution function of skewnorm, with twice Owen's function T(z, a)",
)


norm = Continuous("norm", lambda z: -0.5 * z * z - _LOG_ROOT_TWO_PI, ndtr, log_ndtr, ppf=ndtri)
t = Continuous("t", lambda z, df: t_log_density(df, z), lambda z, df: stdtr(df, z), ppf=lambda q, df: stdtrit(df, q))
f = Continuous(
    "f",
    lambda z, dfn, dfd: f_log_density(dfn, dfd, z),
    lambda z, dfn, dfd: fdtr(dfn, dfd, z),
    sf=lambda z, dfn, dfd: fdtrc(dfn, dfd, z),
    ppf=lambda q, dfn, dfd: fdtri(dfn, dfd, q),
    isf=lambda q, dfn, dfd: fdtri(dfn, dfd, 1 - q),
    low=0.0,
    product=lambda z, dfn, dfd: z ** (dfn / 2 - 1) * np.exp(f_log_density(dfn, dfd, z, 1 - dfn / 2)),
)
gamma = Continuous(
    "gamma",
    lambda z, a: xlogy(a - 1, z) - z - gammaln(a),
    lambda z, a: gammainc(a, z),
    sf=lambda z, a: gammaincc(a, z),
    ppf=lambda q, a: gammaincinv(a, q),
    isf=lambda q, a: gammainccinv(a, q),
    low=0.0,
    product=lambda z, a: z ** (a - 1) * np.exp(-z - gammaln(a)),
)
beta = Continuous(
    "beta",
    lambda z, a, b: xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b),
    lambda z, a, b: betainc(a, b, z),
    sf=lambda z, a, b: betaincc(a, b, z),
    ppf=lambda q, a, b: betaincinv(a, b, q),
    isf=lambda q, a, b: betainccinv(a, b, q),
    low=0.0,
    high=1.0,
    product=lambda z, a, b: z ** (a - 1) * (1 - z) ** (b - 1) * np.exp(-betaln(a, b)),
)
chi2 = Continuous(
    "chi2",
    lambda z, df: xlogy(df / 2 - 1, z) - z / 2 - gammaln(df / 2) - math.log(2) * (df / 2),
    lambda z, df: gammainc(df / 2, z / 2),
    sf=lambda z, df: gammaincc(df / 2, z / 2),
    ppf=lambda q, df: 2 * gammaincinv(df / 2, q),
    isf=lambda q, df: chdtri(df, q),
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
invgamma = Continuous(
    "invgamma",
    _invgamma_density,
    _of_inverse(gammaincc, 0.0),
    sf=_of_inverse(gammainc, 1.0),
    ppf=lambda q, a: 1 / gammainccinv(a, q),
    isf=lambda q, a: 1 / gammaincinv(a, q),
    low=0.0,
)
genextreme = Continuous(
    "genextreme",
    lambda z, c: -np.exp(-gumbel_of(z, c)) - gumbel_of(z, c) - np.log1p(-c * z),
    lambda z, c: np.exp(-np.exp(-gumbel_of(z, c))),
    lambda z, c: -np.exp(-gumbel_of(z, c)),
    sf=lambda z, c: -np.expm1(-np.exp(-gumbel_of(z, c))),
    logsf=lambda z, c: log_one_less_exp(-gumbel_of(z, c)),
    ppf=lambda q, c: -np.log(-np.log(q)) * exprel(c * np.log(-np.log(q))),
    isf=lambda q, c: -np.log(-np.log1p(-q)) * exprel(c * np.log(-np.log1p(-q))),
    low=_end(-1.0),
    high=_end(1.0),
    valid=_is_finite,
    decays=True,
)
rayleigh = Continuous(
    "rayleigh",
    lambda z: np.where(z == 0, -math.inf, np.log(np.where(z == 0, 1.0, z)) - 0.5 * z * z),
    lambda z: -np.expm1(-0.5 * z * z),
    sf=lambda z: np.exp(-0.5 * z * z),
    logsf=lambda z: -0.5 * z * z,
    ppf=lambda q: np.sqrt(-2 * np.log1p(-q)),
    isf=lambda q: np.sqrt(-2 * np.log(q)),
    low=0.0,
    product=lambda z: z * np.exp(-0.5 * z * z),
    decays=True,
)
weibull_max = Continuous(
    "weibull_max",
    lambda z, c: np.log(c) + xlogy(c - 1, -z) - (-z) ** c,
    lambda z, c: np.exp(-((-z) ** c)),
    lambda z, c: -((-z) ** c),
    sf=lambda z, c: -np.expm1(-((-z) ** c)),
    logsf=_of_log(lambda log_z, c: log_one_less_exp(c * log_z), -math.inf, -1.0),
    ppf=lambda q, c: -((-np.log(q)) ** (1 / c)),
    isf=lambda q, c: -((-np.log(1 - q)) ** (1 / c)),
    high=0.0,
    product=lambda z, c: c * (-z) ** (c - 1) * np.exp(-((-z) ** c)),
)
skewnorm = Continuous(
    "skewnorm",
    lambda z, a: math.log(2) - 0.5 * z * z - _LOG_ROOT_TWO_PI + log_ndtr(a * z),
    skewnorm_cdf,
    sf=lambda z, a: skewnorm_cdf(-z, -a),
    valid=_is_finite,
    decays=True,
)
vonmises = Continuous(
    "vonmises",
    lambda z, kappa: kappa * cosm1(z) - math.log(2 * math.pi) - np.log(i0e(kappa)),
    valid=lambda kappa: kappa >= 0,
)
