"""The error functions and the normal distribution function.

The closed forms of the derivatives of erfcx are differences that cancel in the tail. The derivatives are computed as
scaled repeated integrals I_n(x) = exp(x^2) i^n erfc(x) (DLMF 7.18), with I_0 = erfcx and I_n' = -2 (n+1) I_{n+1}, which
do not change sign.
"""

import math
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, of_orders, ufunc
from tapeengine_scipy._values import is_complex, real

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


def _finite(x: Any) -> Any:
    """The argument, with 0 for an infinite one, since the product with its factor is 0 there."""
    return np.where(np.isinf(x), 0.0, x)


def _gauss(x: Any) -> Any:
    return numpy.exp(-x * x)


gauss: Primitive = elementwise(
    "scipy.special.gauss", _gauss, {"x": lambda x, out: -2 * out * _finite(x)}, {"x": (-2.0, 2.0)}, "exp(-x^2)"
)
erf: Primitive = ufunc(
    "erf", {"x": lambda x: _TWO_OVER_ROOT_PI * gauss(x)}, {"x": (-2.0, 2.0)}, "d/dx = 2/sqrt(pi) exp(-x^2)"
)
erfc: Primitive = ufunc(
    "erfc", {"x": lambda x: -_TWO_OVER_ROOT_PI * gauss(x)}, {"x": (-2.0, 2.0)}, "d/dx = -2/sqrt(pi) exp(-x^2)"
)


#: From here on the recurrence for I_n cancels too much: the continued fraction (`_by_ratios`) has so many terms.
_FAR, _VERY_FAR = 1.5, 3.0
_TERMS, _FEW_TERMS = 64, 30


@of_orders(
    "scipy.special.erfcx_integral",
    (-2.0, 3.0),
    "exp(x^2) i^n erfc(x), the repeated integrals of erfc; d/dx = -2 (n+1) times the next",
    1,
    lambda order: -2 * (order + 1),
)
def erfcx_integral(x: Any, *, order: int) -> Any:
    """I_n by its recurrence (DLMF 7.18.7) for x < 3/2, and for larger x by the continued fraction of I_n/I_{n-1}."""
    x = real(x)
    near = numpy.minimum(x, _FAR)
    with numpy.errstate(all="ignore"):
        before, value = numpy.full_like(near, _TWO_OVER_ROOT_PI), numpy.asarray(scipy.special.erfcx(near))
        for n in range(1, order + 1):
            before, value = value, numpy.asarray((before - 2 * near * value) / (2 * n))
        far, very_far = (x >= _FAR) & (x < _VERY_FAR), x >= _VERY_FAR
        value[far] = _by_ratios(x[far], order, _TERMS)
        value[very_far] = _by_ratios(x[very_far], order, _FEW_TERMS)
    return value[()]


def _by_ratios(x: Any, order: int, terms: int) -> Any:
    """I_0 times the ratios I_n/I_{n-1} = (1/2) / (x + (n+1) I_{n+1}/I_n), DLMF 7.18.13, whose terms are all positive.

    The first ratio is the fixed point of this recurrence. From it on, 64 terms give all digits for x >= 3/2, and 30
    terms give them for x >= 3.
    """
    last = order + terms
    ratio = 1 / (x + numpy.hypot(x, math.sqrt(2 * (last + 1))))
    value = scipy.special.erfcx(x)
    for n in range(last, 0, -1):
        ratio = 0.5 / (x + (n + 1) * ratio)
        if n <= order:
            value = value * ratio
    return value


erfcx: Primitive = ufunc(
    "erfcx",
    {"x": lambda x, out: 2 * x * out - _TWO_OVER_ROOT_PI if is_complex(x) else -2 * erfcx_integral(x, order=1)},
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
    "ndtr",
    {"x": lambda x: gauss(math.sqrt(0.5) * x) / _ROOT_TWO_PI},
    {"x": (-3.0, 3.0)},
    "d/dx = exp(-x^2/2)/sqrt(2 pi)",
)
ndtri: Primitive = ufunc(
    "ndtri", {"y": lambda out: _ROOT_TWO_PI * np.exp(0.5 * out * out)}, {"y": (0.05, 0.95)}, "1/ndtr'(ndtri(y))"
)


def _hazard(x: Any) -> Any:
    with numpy.errstate(all="ignore"):
        return math.sqrt(2 / math.pi) / scipy.special.erfcx(-x / math.sqrt(2))


def _excess(x: Any, out: Any) -> Any:
    """x + hazard(x), computed as sqrt(2) I_1/I_0 at -x/sqrt(2), because the sum cancels for negative x."""
    z = np.where(x < 0, -x, 0.0) / math.sqrt(2)
    ratio = math.sqrt(2) * erfcx_integral(z, order=1) / erfcx_integral(z, order=0)
    return np.where(x < 0, ratio, _finite(x) + out)


hazard: Primitive = elementwise(
    "scipy.special.normal_hazard",
    _hazard,
    {"x": lambda x, out: -out * _excess(x, out)},
    {"x": (-5.0, 4.0)},
    "h(x) = ndtr'(x)/ndtr(x); d/dx = -h (x + h)",
)
log_ndtr: Primitive = ufunc(
    "log_ndtr",
    {"x": lambda x, out: np.exp(-0.5 * x * x - out) / _ROOT_TWO_PI if is_complex(x) else hazard(x)},
    {"x": (-5.0, 4.0)},
    "log(ndtr(x)); d/dx = ndtr'(x)/ndtr(x)",
)
