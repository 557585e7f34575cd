"""Continuous distributions: densities and distribution functions, differentiable in all arguments."""

import math
from collections.abc import Callable
from typing import Any

import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise
from tapeengine_scipy.special.chances import f_log_density, fdtri
from tapeengine_scipy.special.elementary import exprel
from tapeengine_scipy.special.entropy import log_expit
from tapeengine_scipy.special.errorfunctions import erf, gauss, log_ndtr, ndtr
from tapeengine_scipy.special.exponential import log_one_less_exp
from tapeengine_scipy.special.gamma import betaln, gammaln
from tapeengine_scipy.special.incomplete import gammainc, gammaincc
from tapeengine_scipy.special.inverses import betaincinv
from tapeengine_scipy.special.student import log1p_ratio, t_log_density
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


def _laplace_logcdf(z: Any) -> Any:
    tail = 0.5 * np.exp(np.where(z > 0, -z, z))  # whose derivative at 0 is that of the lower tail
    return np.where(z > 0, np.log1p(-tail), math.log(0.5) + z)


def _cauchy_logcdf(z: Any) -> Any:
    far, upper = z < -1e8, z > 0  # for far ones arctan2(1, -z) is -1/z, to the last bit
    tail = np.arctan2(1.0, -np.where(far, 0.0, np.where(upper, -z, z))) / math.pi
    near = np.where(upper, np.log1p(-tail), np.log(tail))
    return np.where(far, -np.log(np.where(far, -z, 1.0)) - math.log(math.pi), near)[()]


def _cauchy_quantile(q: Any) -> Any:
    lower = np.where(q > 0.5, 1 - q, q)
    return np.where(q > 0.5, 1.0, -1.0) / np.tan(math.pi * lower)


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


def _end(sign: float, c: Any) -> Any:
    """The end 1/c of the support of extreme values, if c has that sign."""
    return np.where(sign * c > 0, 1 / np.where(sign * c > 0, c, 1.0), sign * math.inf)


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


norm = Continuous("norm", "logpdf cdf logcdf sf logsf ppf isf")
t = Continuous("t", "cdf sf ppf isf", logpdf=lambda z, df: t_log_density(df, z))
f = Continuous(
    "f",
    "cdf sf ppf",
    lambda z, dfn, dfd: z ** (dfn / 2 - 1) * np.exp(f_log_density(dfn, dfd, z, 1 - dfn / 2)),
    logpdf=lambda z, dfn, dfd: f_log_density(dfn, dfd, z),
    isf=lambda q, dfn, dfd: fdtri(dfn, dfd, 1 - q),
)
gamma = Continuous("gamma", "logpdf cdf sf ppf isf", lambda z, a: z ** (a - 1) * np.exp(-z - gammaln(a)))
beta = Continuous(
    "beta",
    "logpdf cdf sf isf",
    lambda z, a, b: z ** (a - 1) * (1 - z) ** (b - 1) * np.exp(-betaln(a, b)),
    ppf=lambda q, a, b: betaincinv(a, b, q),
)
chi2 = Continuous(
    "chi2",
    "logpdf cdf sf ppf isf",
    lambda z, df: z ** (df / 2 - 1) * np.exp(-z / 2 - gammaln(df / 2) - math.log(2) * (df / 2)),
)
expon = Continuous("expon", "logpdf cdf sf logsf isf", ppf=lambda q: -np.log1p(-q))
lognorm = Continuous(
    "lognorm",
    "ppf isf",
    logpdf=_lognorm_density,
    cdf=_of_log(lambda log_z, s: ndtr(log_z / s), 0.0),
    logcdf=_of_log(lambda log_z, s: log_ndtr(log_z / s), -math.inf),
    sf=_of_log(lambda log_z, s: ndtr(-log_z / s), 1.0),
    logsf=_of_log(lambda log_z, s: log_ndtr(-log_z / s), 0.0),
)
laplace = Continuous(
    "laplace",
    "cdf sf ppf isf",
    logpdf=lambda z: math.log(0.5) - np.abs(z),
    logcdf=_laplace_logcdf,
    logsf=lambda z: _laplace_logcdf(-z),
)
cauchy = Continuous(
    "cauchy",
    "cdf sf",
    logpdf=lambda z: -math.log(math.pi) - 2 * np.log(np.hypot(1.0, z)),
    logcdf=_cauchy_logcdf,
    logsf=lambda z: _cauchy_logcdf(-z),
    ppf=_cauchy_quantile,
    isf=lambda q: -_cauchy_quantile(q),
)
uniform = Continuous(
    "uniform",
    "cdf ppf",
    logpdf=lambda z: np.where(z == z, 0.0, z),  # NaN stays NaN, without a derivative
    sf=lambda z: 1 - z,
    isf=lambda q: 1 - q,
)
weibull_min = Continuous(
    "weibull_min",
    "logpdf cdf sf logsf ppf isf",
    lambda z, c: c * z ** (c - 1) * np.exp(-(z**c)),
    logcdf=_of_log(lambda log_z, c: log_one_less_exp(c * log_z), -math.inf),
)
logistic = Continuous("logistic", "cdf logcdf sf logsf ppf isf", logpdf=lambda z: log_expit(z) + log_expit(-z))
gumbel_r = Continuous("gumbel_r", "logpdf cdf logcdf sf ppf isf", logsf=lambda z: log_one_less_exp(-z))
gumbel_l = Continuous("gumbel_l", "logpdf cdf sf logsf ppf isf", logcdf=log_one_less_exp)
pareto = Continuous(
    "pareto",
    "cdf sf ppf isf",
    logpdf=lambda z, b: np.log(b) - (b + 1) * np.log(z),
    logsf=lambda z, b: np.where(z**-b > 0.5, np.log(z**-b), -b * np.log(z)),
)
halfnorm = Continuous(
    "halfnorm",
    "logpdf cdf sf ppf isf",
    logsf=lambda z: np.where(z < 0.5, np.log1p(-erf(np.minimum(z, 0.5) / math.sqrt(2))), math.log(2) + log_ndtr(-z)),
)
invgamma = Continuous(
    "invgamma",
    "ppf isf",
    logpdf=_invgamma_density,
    cdf=_of_inverse(gammaincc, 0.0),
    sf=_of_inverse(gammainc, 1.0),
)
genextreme = Continuous(
    "genextreme",
    ends=lambda c: (_end(-1.0, c), _end(1.0, c)),
    decays=True,
    logpdf=lambda z, c: -np.exp(-gumbel_of(z, c)) - gumbel_of(z, c) - np.log1p(-c * z),
    cdf=lambda z, c: np.exp(-np.exp(-gumbel_of(z, c))),
    logcdf=lambda z, c: -np.exp(-gumbel_of(z, c)),
    sf=lambda z, c: -np.expm1(-np.exp(-gumbel_of(z, c))),
    logsf=lambda z, c: log_one_less_exp(-gumbel_of(z, c)),
    ppf=lambda q, c: -np.log(-np.log(q)) * exprel(c * np.log(-np.log(q))),
    isf=lambda q, c: -np.log(-np.log1p(-q)) * exprel(c * np.log(-np.log1p(-q))),
)
rayleigh = Continuous(
    "rayleigh",
    "cdf sf logsf ppf isf",
    lambda z: z * np.exp(-0.5 * z * z),
    decays=True,
    logpdf=lambda z: np.where(z == 0, -math.inf, np.log(np.where(z == 0, 1.0, z)) - 0.5 * z * z),
)
weibull_max = Continuous(
    "weibull_max",
    "logpdf cdf logcdf sf ppf",
    lambda z, c: c * (-z) ** (c - 1) * np.exp(-((-z) ** c)),
    logsf=_of_log(lambda log_z, c: log_one_less_exp(c * log_z), -math.inf, -1.0),
    isf=lambda q, c: -((-np.log(1 - q)) ** (1 / c)),
)
skewnorm = Continuous(
    "skewnorm",
    decays=True,
    logpdf=lambda z, a: math.log(2) - 0.5 * z * z - _LOG_ROOT_TWO_PI + log_ndtr(a * z),
    cdf=skewnorm_cdf,
    sf=lambda z, a: skewnorm_cdf(-z, -a),
)
vonmises = Continuous("vonmises", "logpdf")
