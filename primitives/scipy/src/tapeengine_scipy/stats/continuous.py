"""Continuous distributions: densities and distribution functions, differentiable in all arguments."""

import math
from typing import Any

import tapeengine.numpy as np
from tapeengine_scipy.special.entropy import xlog1py, xlogy
from tapeengine_scipy.special.errorfunctions import log_ndtr, ndtr
from tapeengine_scipy.special.exponential import log_one_less_exp
from tapeengine_scipy.special.gamma import betaln, gammaln
from tapeengine_scipy.special.incomplete import betainc, gammainc
from tapeengine_scipy.special.student import stdtr, t_log_density
from tapeengine_scipy.stats._support import Continuous, Symmetric

_LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


class _Norm(Symmetric):
    name = "norm"

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return -0.5 * z * z - _LOG_ROOT_TWO_PI

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return ndtr(z)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        return log_ndtr(z)


class _T(Symmetric):
    name = "t"
    shapes = ("df",)

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        (df,) = shapes
        return t_log_density(df, z)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return stdtr(shapes[0], z)


class _Gamma(Continuous):
    name = "gamma"
    shapes = ("a",)
    low = 0.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        (a,) = shapes
        return xlogy(a - 1, z) - z - gammaln(a)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return gammainc(shapes[0], z)


class _Beta(Continuous):
    name = "beta"
    shapes = ("a", "b")
    low, high = 0.0, 1.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        a, b = shapes
        return xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return betainc(*shapes, z)


class _Chi2(Continuous):
    name = "chi2"
    shapes = ("df",)
    low = 0.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        half = shapes[0] / 2
        return xlogy(half - 1, z) - z / 2 - gammaln(half) - math.log(2) * half

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return gammainc(shapes[0] / 2, z / 2)


class _Expon(Continuous):
    name = "expon"
    low = 0.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return -z

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(-z)


class _Lognorm(Continuous):
    name = "lognorm"
    shapes = ("s",)
    low = 0.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        (s,) = shapes
        log_z = np.log(np.where(z == 0, 1.0, z))
        value = -0.5 * (log_z / s) ** 2 - np.log(s) - log_z - _LOG_ROOT_TWO_PI
        return np.where(z == 0, -math.inf, value)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        value = ndtr(np.log(np.where(z == 0, 1.0, z)) / shapes[0])
        return np.where(z == 0, 0.0, value)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        value = log_ndtr(np.log(np.where(z == 0, 1.0, z)) / shapes[0])
        return np.where(z == 0, -math.inf, value)


class _Laplace(Symmetric):
    name = "laplace"

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return math.log(0.5) - np.abs(z)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z > 0, 1 - tail, tail)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z > 0, np.log1p(-tail), math.log(0.5) + z)


class _Cauchy(Symmetric):
    name = "cauchy"

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return -math.log(math.pi) - 2 * np.log(np.hypot(1.0, z))

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return np.arctan2(1.0, -z) / math.pi

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        far = z < -1e8  # arctan2(1, -z) is -1/z there, to the last bit
        near = np.log(self._cdf(np.where(far, 0.0, z)))
        return np.where(far, -np.log(np.where(far, -z, 1.0)) - math.log(math.pi), near)[()]


class _Uniform(Continuous):
    name = "uniform"
    low, high = 0.0, 1.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return np.where(z == z, 0.0, z)  # NaN stays NaN, without a derivative

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return z


class _WeibullMin(Continuous):
    name = "weibull_min"
    shapes = ("c",)
    low = 0.0

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        (c,) = shapes
        return np.log(c) + xlogy(c - 1, z) - z**c

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return -np.expm1(-(z ** shapes[0]))

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        value = log_one_less_exp(shapes[0] * np.log(np.where(z == 0, 1.0, z)))
        return np.where(z == 0, -math.inf, value)


norm = _Norm()
t = _T()
gamma = _Gamma()
beta = _Beta()
chi2 = _Chi2()
expon = _Expon()
lognorm = _Lognorm()
laplace = _Laplace()
cauchy = _Cauchy()
uniform = _Uniform()
weibull_min = _WeibullMin()
