"""The error functions and the normal distribution function."""

import math

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)

erf: Primitive = ufunc(
    "erf", {"x": lambda x: _TWO_OVER_ROOT_PI * np.exp(-x * x)}, {"x": (-2.0, 2.0)}, "d/dx = 2/sqrt(pi) exp(-x^2)"
)
erfc: Primitive = ufunc(
    "erfc", {"x": lambda x: -_TWO_OVER_ROOT_PI * np.exp(-x * x)}, {"x": (-2.0, 2.0)}, "d/dx = -2/sqrt(pi) exp(-x^2)"
)
erfcx: Primitive = ufunc(
    "erfcx",
    {"x": lambda x, out: 2 * x * out - _TWO_OVER_ROOT_PI},
    {"x": (-2.0, 3.0)},
    "exp(x^2) erfc(x); d/dx = 2 x erfcx(x) - 2/sqrt(pi)",
)
erfinv: Primitive = ufunc(
    "erfinv", {"y": lambda out: np.exp(out * out) / _TWO_OVER_ROOT_PI}, {"y": (-0.9, 0.9)}, "1/erf'(erfinv(y))"
)
erfcinv: Primitive = ufunc(
    "erfcinv", {"y": lambda out: -np.exp(out * out) / _TWO_OVER_ROOT_PI}, {"y": (0.1, 1.9)}, "1/erfc'(erfcinv(y))"
)
ndtr: Primitive = ufunc(
    "ndtr", {"x": lambda x: np.exp(-0.5 * x * x) / _ROOT_TWO_PI}, {"x": (-3.0, 3.0)}, "d/dx = exp(-x^2/2)/sqrt(2 pi)"
)
ndtri: Primitive = ufunc(
    "ndtri", {"y": lambda out: _ROOT_TWO_PI * np.exp(0.5 * out * out)}, {"y": (0.05, 0.95)}, "1/ndtr'(ndtri(y))"
)
log_ndtr: Primitive = ufunc(
    "log_ndtr",
    {"x": lambda x, out: np.exp(-0.5 * x * x - out) / _ROOT_TWO_PI},
    {"x": (-5.0, 4.0)},
    "log(ndtr(x)); d/dx = exp(-x^2/2 - log_ndtr(x))/sqrt(2 pi)",
)
